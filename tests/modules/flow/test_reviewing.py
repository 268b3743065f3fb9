"""Reviews over a page and over a warehouse, and the panel: scripted models, real pages, a real warehouse and sandbox."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from finexpert.core.answers import Answer, AnswerFormat
from finexpert.core.plans import Plan
from finexpert.core.reviews import Review
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import (
    BudgetExceeded,
    ConfigurationError,
    ModelUnreachable,
    OutputError,
    PlanError,
    SandboxFailure,
    UnknownPrompt,
)
from finexpert.filings.page.filing import Filing
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modes import MODES
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.testing import fields

ROWS = [["( in millions )", "2014", "2013", "2012"], ["net sales", "486.2", "441.5", "430.0"]]
PAGE = Filing("AAA/2014/page_1.pdf", ["orders were $ 12.5 million in 2014 ."], ROWS, [])
QUESTION = "what were net sales in 2013?"
NUMBER = "918273645"

# The first output field tells who is asked.
ROLES = {
    "entity": "planning",
    "objections": "extraction_critic",
    "asked": "calculation_critic",
    "reading": "calculation_critic",
    "brief": "manager",
    "extraction": "extractor",
    "calculation": "reasoner",
    "synthesis": "synthesiser",
    "interpretation": "planning",
    "selects": "sql_extraction",
    "absent": "sql_extraction",
    "code": "script_generation",
}
Said = str | BaseException


class Roles:
    """A model that answers role by role, in turn; the last answer of a role is repeated, and errors are raised."""

    def __init__(self, **said: Said | list[Said]) -> None:
        self.said = {role: list(each) if isinstance(each, list) else [each] for role, each in said.items()}
        self.calls: list[tuple[str, str]] = []
        model = ScriptedModel(self.reply)
        self.models = LanguageModels(model, strong=model)

    def reply(self, messages: list[dict[str, str]]) -> str:
        prompt = "\n".join(message["content"] for message in messages)
        found = re.search(r"starting with the field `\[\[ ## (\w+) ## \]\]`", prompt)
        role = ROLES[found[1]] if found else "unknown"
        self.calls.append((role, prompt))
        answers = self.said[role]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def asked(self) -> list[str]:
        return [role for role, _ in self.calls]

    def prompts(self, role: str) -> list[str]:
        return [prompt for each, prompt in self.calls if each == role]


def cell(year: int, id: int = 1) -> dict[str, Any]:
    return {"kind": "cell", "id": id, "row": "net sales", "column": str(year)}


def planned(year: int) -> str:
    return fields(entity="net sales", steps=[cell(year)], answer="step 1")


def derived(year: int) -> str:
    return fields(asked="net sales", formula="net sales", steps=[cell(year)], answer="step 1")


def objecting(year: int, row: str = "net sales", step: int = 1) -> str:
    place = cell(year) | {"row": row}
    return fields(objections=[{"step": step, "reason": "another year", "instead": place}])


CONTENT = fields(objections=[])


def over_page(
    roles: Roles, mode: str = "reviewed", turns: list[Turn] | None = None, **given: Any
) -> tuple[Answer, Review]:
    options = Options(**given).within(MODES[mode])
    with using(roles.models):
        made = FinancialExpert()(
            question=QUESTION, source=PAGE, workspace=Workspace(turns=list(turns or [])), options=options
        )
    return made.answer, made.review


def test_agreement_of_one_model_with_itself_adds_nothing_to_the_confidence() -> None:
    roles = Roles(planning=planned(2013), extraction_critic=CONTENT, calculation_critic=derived(2013))
    plain, none = over_page(roles, "checked")
    answer, review = over_page(roles)
    assert none is None
    assert (answer.value, review.agreement, answer.flags) == (441.5, "agreed", [])
    assert answer.confidence == plain.confidence
    assert answer.usage.by_layer == {"planning": 1, "extraction_critic": 1, "calculation_critic": 1}
    assert {stage.name: stage.ending for stage in review.stages} == {
        "extraction_critic": "done",
        "calculation_critic": "done",
    }


def test_the_calculation_critic_is_not_shown_the_first_plan() -> None:
    roles = Roles(planning=planned(2012), extraction_critic=CONTENT, calculation_critic=derived(2012))
    over_page(roles)
    (audit,), (derive,) = roles.prompts("extraction_critic"), roles.prompts("calculation_critic")
    said = "row 'net sales', column '2012': 430.0"
    assert said in audit
    assert said not in derive
    assert "step 1: net sales / 2012" not in derive


@pytest.mark.parametrize(
    ("revised", "value", "agreement", "at_most"),
    [(2013, 441.5, "settled", 70), (2014, 486.2, "settled", 70), (2012, 430.0, "disputed", 35)],
)
def test_disagreement_triggers_one_revision(revised: int, value: float, agreement: str, at_most: int) -> None:
    """First 2014, independently 2013: what two of three plans give stands."""
    roles = Roles(
        planning=[planned(2014), planned(revised)], extraction_critic=CONTENT, calculation_critic=derived(2013)
    )
    answer, review = over_page(roles)
    assert (answer.value, review.agreement, review.revised) == (value, agreement, True)
    assert answer.confidence is not None
    assert answer.confidence <= at_most
    assert roles.asked.count("planning") == 2
    told = roles.prompts("planning")[1]
    assert "It ran and gave 486.2" in told
    assert "an independent plan gives 441.5" in told
    assert any(flag.startswith("critics: an independent plan gave 441.5 instead of 486.2") for flag in answer.flags)
    assert answer.record.plan.steps[0].column == str({430.0: 2012, 441.5: 2013, 486.2: 2014}[value])


@pytest.mark.parametrize(
    "objection",
    [
        pytest.param(objecting(1999), id="no such column"),
        pytest.param(objecting(2014, row="cost of goods"), id="no such row"),
        pytest.param(objecting(2013), id="the same value"),
        pytest.param(objecting(2014, step=7), id="no such step"),
        pytest.param(
            fields(objections=[{"step": 1, "reason": "?", "instead": {"kind": "quote", "id": 1, "quote": "orders fell", "value": "5"}}]),
            id="words that are not there",
        ),
    ],
)  # fmt: skip
def test_an_objection_that_the_page_does_not_bear_out_changes_nothing(objection: str) -> None:
    roles = Roles(planning=planned(2013), extraction_critic=objection, calculation_critic=derived(2013))
    answer, review = over_page(roles)
    assert (answer.value, review.agreement, review.revised) == (441.5, "agreed", False)
    assert roles.asked.count("planning") == 1


def test_an_objection_that_the_page_bears_out_is_put_to_the_planner() -> None:
    roles = Roles(
        planning=[planned(2014), planned(2013)], extraction_critic=objecting(2013), calculation_critic=derived(2013)
    )
    answer, review = over_page(roles)
    assert (answer.value, review.agreement) == (441.5, "settled")
    assert "step 1 should read row 'net sales', column '2013', where 441.5 stands" in roles.prompts("planning")[1]


def test_a_critic_alone_does_not_outvote_two_plans() -> None:
    roles = Roles(
        planning=[planned(2014), planned(2013)], extraction_critic=objecting(2013), calculation_critic=derived(2014)
    )
    answer, review = over_page(roles)
    assert (answer.value, review.agreement, review.revised) == (486.2, "settled", True)


# the panel

BRIEF = fields(brief={"restated": "net sales in 2013", "repeats_turn": 0, "needs": ["net sales, 2013"]})
FOUND = fields(extraction={"values": [cell(2013, 4), cell(2012, 9)]})
CHANGE = {"kind": "compute", "id": 3, "operation": "subtract", "arguments": ["step 1", "step 2"]}


def calculated(answer: str, *steps: dict[str, Any]) -> str:
    return fields(calculation={"formula": "as found", "steps": list(steps), "answer": answer})


def synthesised(status: str) -> str:
    return fields(synthesis={"status": status, "summary": "mind the year"})


def test_the_panel_hands_on_typed_results() -> None:
    roles = Roles(
        manager=BRIEF,
        extractor=FOUND,
        reasoner=calculated("step 1"),
        extraction_critic=CONTENT,
        calculation_critic=derived(2013),
    )
    answer, review = over_page(roles, "panel")
    assert (answer.value, review.agreement) == (441.5, "agreed")
    assert roles.asked[:3] == ["manager", "extractor", "reasoner"]
    assert sorted(roles.asked[3:]) == ["calculation_critic", "extraction_critic"]
    assert answer.usage.by_layer == {
        "manager": 1,
        "extractor": 1,
        "reasoner": 1,
        "extraction_critic": 1,
        "calculation_critic": 1,
    }
    assert [step.id for step in answer.record.plan.steps] == [1]  # 2012 was found, and is not used
    assert "step 2: row 'net sales', column '2012': 430.0" in roles.prompts("reasoner")[0]


@pytest.mark.parametrize(("status", "value"), [("final", 11.5), ("revise", 44.7)])
def test_the_synthesiser_decides_where_critics_disagree(status: str, value: float) -> None:
    other = fields(
        asked="the change",
        formula="2014 less 2013",
        steps=[cell(2014), cell(2013, 2), CHANGE],
        answer="step 3",
    )
    # Asked again, the reasoner has the value for 2014 as step 3, which the critic's plan read.
    again = calculated("step 4", CHANGE | {"id": 4, "arguments": ["step 3", "step 1"]})
    roles = Roles(
        manager=BRIEF,
        extractor=FOUND,
        reasoner=[calculated("step 3", CHANGE), again],
        extraction_critic=CONTENT,
        calculation_critic=other,
        synthesiser=synthesised(status),
    )
    answer, review = over_page(roles, "panel")
    assert answer.value == pytest.approx(value)
    assert review.agreement == ("settled" if status == "revise" else "disputed")
    assert roles.asked.count("reasoner") == (2 if status == "revise" else 1)
    if status == "revise":
        assert "mind the year" in roles.prompts("reasoner")[1]
        assert "step 3: row 'net sales', column '2014': 486.2" in roles.prompts("reasoner")[1]


def test_what_the_extractor_does_not_find_goes_back_to_it() -> None:
    wrong = fields(extraction={"values": [cell(1999)]})
    roles = Roles(
        manager=BRIEF,
        extractor=[wrong, FOUND],
        reasoner=calculated("step 1"),
        extraction_critic=CONTENT,
        calculation_critic=derived(2013),
    )
    answer, _ = over_page(roles, "panel")
    assert answer.value == 441.5
    assert "1999" in roles.prompts("extractor")[1].split("[[ ## feedback ## ]]")[-1]


def test_the_manager_answers_what_was_answered_before() -> None:
    again = fields(brief={"restated": "the same", "repeats_turn": 1, "needs": []})
    turns = [Turn("what were net sales?", Value(7.5), plan=Plan(steps=[], answer="turn 1"))]
    roles = Roles(manager=again, extraction_critic=CONTENT, calculation_critic=fields(asked="the same", formula="turn 1", steps=[], answer="turn 1"))  # fmt: skip
    answer, _ = over_page(roles, "panel", turns)
    assert answer.value == 7.5
    assert roles.asked == ["manager", "calculation_critic"]


# budgets and faults


def everyone(first: int = 2014, other: int = 2013, **said: Any) -> Roles:
    """Every role has something to say; `first` and `other` are the years that plan and critic read."""
    usual: dict[str, Any] = {
        "planning": [planned(first), planned(other)],
        "extraction_critic": CONTENT,
        "calculation_critic": derived(other),
        "manager": BRIEF,
        "extractor": fields(extraction={"values": [cell(first)]}),
        "reasoner": calculated("step 1"),
        "synthesiser": synthesised("revise"),
    }
    return Roles(**usual | said)


@pytest.mark.parametrize(("calls", "value", "cut"), [(0, None, None), (1, 486.2, "critic"), (3, 486.2, "revision")])
def test_what_the_budget_leaves_is_the_best_answer_so_far(calls: int, value: float | None, cut: str | None) -> None:
    roles = everyone()
    with Budget(calls=calls):
        answer, review = over_page(roles)
    assert answer.value == value
    assert len(roles.calls) == calls
    if cut is None:
        assert answer.failure is not None
        assert answer.failure.layer == "budget"
    else:
        assert answer.confidence is not None
        assert answer.confidence <= 30
        assert review.cut_short is not None
        assert cut in review.cut_short.name
        assert any(flag.startswith("low confidence: the budget ended before") for flag in answer.flags)


def test_another_revision_where_it_is_set() -> None:
    """2014 first, 2013 independently: the first revision reads 2012, and only a second one can settle it."""
    said: dict[str, Any] = {"planning": [planned(2014), planned(2012), planned(2013)]}
    answers = [over_page(everyone(**said), revisions=times) for times in (0, 1, 2)]
    assert [(answer.value, review.agreement) for answer, review in answers] == [
        (486.2, "disputed"),
        (430.0, "disputed"),
        (441.5, "settled"),
    ]
    assert [review.revised for _, review in answers] == [False, True, True]


FAULTS = [OutputError("no form"), PlanError("no plan"), ModelUnreachable("gone"), BudgetExceeded("no more"), SandboxFailure("broke")]  # fmt: skip


LATER = [("reviewed", role) for role in ("extraction_critic", "calculation_critic", "revision")] + [
    ("panel", role) for role in ("extraction_critic", "calculation_critic", "revision", "synthesiser", "manager")
]


@pytest.mark.parametrize(("mode", "role"), LATER)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_fault_after_the_first_value_leaves_it_standing(role: str, mode: str, fault: BaseException) -> None:
    planner = "planning" if mode == "reviewed" else "reasoner"
    first = planned(2014) if mode == "reviewed" else calculated("step 1")
    said: dict[str, Any] = {planner: [first, fault]} if role == "revision" else {role: fault}
    answer, review = over_page(everyone(**said), mode)
    assert answer.status == "answered"
    assert answer.value in (486.2, 441.5)
    endings = {stage.name: stage.ending for stage in review.stages}
    assert endings[role] in ("failed", "unreachable", "budget")
    assert answer.flags


@pytest.mark.parametrize("fault", FAULTS[:2] + FAULTS[3:4], ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize(("mode", "role"), [("direct", "planning"), ("checked", "planning"), ("reviewed", "planning"), ("panel", "extractor"), ("panel", "reasoner")])  # fmt: skip
def test_a_fault_before_the_first_value_is_a_failed_answer(mode: str, role: str, fault: BaseException) -> None:
    said: dict[str, Any] = {role: fault}
    answer, _ = over_page(everyone(**said), mode)
    assert (answer.status, answer.value) == ("failed", None)
    assert answer.failure is not None


def test_a_prompt_that_was_not_recorded_is_not_taken_for_a_fault() -> None:
    with pytest.raises(UnknownPrompt):
        over_page(everyone(calculation_critic=UnknownPrompt("not recorded")))


# modes


def test_direct_checks_nothing() -> None:
    answer, review = over_page(Roles(planning=planned(2013)), "direct")
    assert answer.value == 441.5
    assert [answer.confidence, answer.flags, review] == [None, [], None]
    failed, _ = over_page(direct := Roles(planning=planned(1999)), "direct")
    assert failed.status == "failed"
    assert direct.asked == ["planning"]


def test_a_library_is_asked_in_the_mode_that_it_has(tmp_path: Any) -> None:
    from finexpert.modes import fits

    with pytest.raises(ConfigurationError, match="there it is one of: checked"):
        fits(MODES["panel"], "library")


# over a warehouse

SELECT = "SELECT date, amount FROM sales ORDER BY date"
SELECTS = [{"df_name": "sales", "df_columns": ["date", "amount"], "select_query": SELECT}]


def drafted(code: str) -> str:
    return fields(interpretation="as asked", selects=SELECTS, code=code, answer_kind="number", unit="")


def recomputed(code: str) -> str:
    return fields(reading="as asked", selects=SELECTS, code=code)


Ask = Callable[..., tuple[Answer, Review, Workspace]]


@pytest.fixture
def over_sales(warehouse: Any, sandbox: Any) -> Ask:
    def ask(roles: Roles, mode: str = "reviewed", **given: Any) -> tuple[Answer, Review, Workspace]:
        workspace = Workspace()
        with using(roles.models):
            made = FinancialExpert()(
                question="how large were sales at most?",
                source=warehouse,
                sandbox=sandbox,
                workspace=workspace,
                answer_format=AnswerFormat(kind="number"),
                as_of=dt.date(2020, 12, 31),
                options=Options(**given).within(MODES[mode]),
            )
        return made.answer, made.review, workspace

    return ask


MOST, LEAST, LAST = "answer = sales.amount.max()", "answer = sales.amount.min()", "answer = sales.amount.iloc[-1]"


def test_a_second_program_that_agrees(over_sales: Ask) -> None:
    answer, review, _ = over_sales(Roles(planning=drafted(MOST), calculation_critic=recomputed(LAST)))
    assert (review.agreement, answer.confidence) == ("agreed", 80)
    assert answer.value == float(NUMBER) + 5.5


@pytest.mark.parametrize("mode", ["reviewed", "panel"])
def test_programs_that_differ_are_settled_without_showing_a_value(over_sales: Ask, mode: str) -> None:
    """The revision runs apart, and its frames replace those of the first program."""
    other = [{"df_name": "more", "df_columns": ["date", "amount"], "select_query": SELECT}]
    revised = fields(
        interpretation="as asked", selects=other, code=LAST.replace("sales", "more"), answer_kind="number", unit=""
    )
    plan = fields(
        interpretation="as asked",
        frames=[{"df_name": "sales", "purpose": "all", "df_columns": ["date", "amount"]}],
        task="the least",
        answer_kind="number",
        unit="",
    )
    roles = Roles(
        planning=[drafted(LEAST), revised] if mode == "reviewed" else plan,
        sql_extraction=fields(selects=SELECTS),
        script_generation=[fields(code=LEAST), fields(code=MOST)],
        calculation_critic=recomputed(MOST),
        synthesiser=synthesised("revise"),
    )
    answer, review, workspace = over_sales(roles, mode)
    assert (answer.value, review.agreement) == (float(NUMBER) + 5.5, "settled")
    assert list(workspace.frames) == (["more"] if mode == "reviewed" else ["sales"])
    assert len(workspace.turns) == 1
    assert not [prompt for _, prompt in roles.calls if NUMBER[:6] in prompt or "zyxwcanary" in prompt]
    second = roles.prompts("planning")[1]
    assert MOST in second
    assert LEAST in second
    assert LEAST not in roles.prompts("calculation_critic")[0]


@pytest.mark.parametrize("code", ["answer = sales.nothing", "answer = 'word'"])
def test_a_second_program_that_does_not_run_changes_nothing(over_sales: Ask, code: str) -> None:
    roles = Roles(planning=drafted(MOST), calculation_critic=recomputed(code))
    answer, review, _ = over_sales(roles)
    assert (answer.status, review.agreement, roles.asked) == (
        "answered",
        "unchecked",
        ["planning", "calculation_critic"],
    )
    assert any(flag.startswith("not reviewed by the calculation critic") for flag in answer.flags)


def test_a_second_look_that_finds_nothing_leaves_the_first_answer_standing(over_sales: Ask) -> None:
    nothing = fields(interpretation="as asked", missing="no sales here", selects=[], code="", answer_kind="", unit="")
    roles = Roles(planning=[drafted(LEAST), nothing], calculation_critic=recomputed(MOST))
    answer, review, _ = over_sales(roles)
    assert (answer.status, review.agreement) == ("answered", "disputed")
    assert {stage.name: stage.ending for stage in review.stages}["revision"] == "failed"


def test_a_single_call_over_a_warehouse_needs_the_type_of_the_answer(warehouse: Any, sandbox: Any) -> None:
    with using(Roles().models), pytest.raises(ConfigurationError, match="needs the type of the answer"):
        FinancialExpert()(
            question="how many?", source=warehouse, sandbox=sandbox, options=Options().within(MODES["single-call"])
        )


def everyone_over_sales(first: str = LEAST, other: str = MOST, **said: Any) -> Roles:
    """Every role of every mode over the warehouse; drafts of `first`, and a second program of `other`."""
    plan = fields(
        interpretation="as asked",
        frames=[{"df_name": "sales", "purpose": "all", "df_columns": ["date", "amount"]}],
        task="as asked",
        answer_kind="number",
        unit="",
    )
    usual: dict[str, Any] = {
        "planning": [drafted(first), drafted(other)],
        "sql_extraction": fields(selects=SELECTS),
        "script_generation": [fields(code=first), fields(code=other)],
        "calculation_critic": recomputed(other),
        "synthesiser": synthesised("revise"),
        "single_call": fields(select_query=f"SELECT {'max' if first == MOST else 'min'}(amount) AS amount FROM sales"),
    }
    if said.pop("mode", "") == "panel":
        usual["planning"] = plan
    return Roles(**usual | said)


@pytest.fixture
def single_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROLES, "select_query", "single_call")
    monkeypatch.setitem(ROLES, "working", "single_call")


def test_random_budgets_hold_in_every_mode_over_every_source(over_sales: Ask, single_call: None) -> None:
    """200 answers: calls are never passed, tokens by no more than one call; the value is one of a plan, or none."""
    chance = random.Random(88)
    seen: set[tuple[str, str, str]] = set()
    programs = {MOST: float(NUMBER) + 5.5, LEAST: float(NUMBER) + 0.5, LAST: float(NUMBER) + 5.5}
    for number in range(200):
        mode, over = chance.choice(list(MODES)), "warehouse" if number % 5 == 0 else "filing"
        calls, tokens = chance.choice([None, chance.randint(0, 7)]), chance.choice([None, chance.randint(0, 9_000)])
        with Budget(calls=calls, tokens=tokens) as budget:
            if over == "filing":
                years = chance.choice([2012, 2013, 2014]), chance.choice([2012, 2013, 2014])
                roles = everyone(*years, single_call=fields(working="", answer="441.5"))
                answer, review = over_page(roles, mode)
                values = {430.0, 441.5, 486.2}
            else:
                roles = everyone_over_sales(chance.choice([MOST, LEAST]), chance.choice([MOST, LEAST]), mode=mode)
                answer, review, _ = over_sales(roles, mode)
                values = set(programs.values())
        assert calls is None or len(roles.calls) <= calls
        if tokens is not None:
            assert budget.spent["tokens"] - budget._largest.get("tokens", 0.0) < max(tokens, 1)
        if answer.status == "answered":
            assert answer.value in values
        else:
            assert answer.value is None
            assert answer.failure is not None
            assert "FINEXPERT_BUDGET_" in answer.failure.message
        if review is not None and review.cut_short:
            assert answer.confidence is not None
            assert answer.confidence <= 30
            assert any("FINEXPERT_BUDGET_" in flag for flag in answer.flags)
            assert answer.record.budgets["answer"]
        seen.add((over, mode, "cut" if review is not None and review.cut_short else answer.status))
    for over in ("filing", "warehouse"):
        assert {mode for where, mode, _ in seen if where == over} == set(MODES)
    assert {(over, mode) for over, mode, ending in seen if ending == "cut"} >= {
        ("filing", "reviewed"),
        ("filing", "panel"),
    }


# Every stage of every mode that asks a model, with the source that it is for.
STAGES = [
    ("filing", mode, role)
    for mode, roles in {
        "direct": ["planning"],
        "checked": ["planning"],
        "reviewed": ["planning", "extraction_critic", "calculation_critic"],
        "panel": ["manager", "extractor", "reasoner", "extraction_critic", "calculation_critic", "synthesiser"],
        "single-call": ["single_call"],
    }.items()
    for role in roles
] + [
    ("warehouse", mode, role)
    for mode, roles in {
        "direct": ["planning"],
        "checked": ["planning"],
        "reviewed": ["planning", "calculation_critic"],
        "panel": ["planning", "sql_extraction", "script_generation", "calculation_critic", "synthesiser"],
        "single-call": ["single_call"],
    }.items()
    for role in roles
]


@pytest.mark.parametrize(("over", "mode", "role"), STAGES)
@pytest.mark.parametrize("fault", [OutputError("no form"), BudgetExceeded("no more")], ids=["output", "budget"])
def test_a_fault_in_any_stage_of_any_mode_leaves_an_answer_or_a_reason(
    over: str, mode: str, role: str, fault: BaseException, over_sales: Ask, single_call: None
) -> None:
    if over == "filing":
        said: dict[str, Any] = {"single_call": fields(working="", answer="441.5"), role: fault}
        answer, _ = over_page(roles := everyone(**said), mode)
    else:
        said = {role: fault}
        answer, _, _ = over_sales(roles := everyone_over_sales(mode=mode, **said), mode)
    assert role in roles.asked
    later = {"manager", "extraction_critic", "calculation_critic", "synthesiser"}
    assert answer.status == ("answered" if role in later else "failed")
    assert (answer.value is None) == (answer.failure is not None)
    assert role not in later or answer.flags
