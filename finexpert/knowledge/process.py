"""A process: how an expert does an analysis, in general terms, so that other questions can follow it.

    Process(
        heading="Recession Calculation", aliases=["Determine recession periods"],
        variables=[Variable(name="start_date", meaning="first quarter looked at", example="2000-01-01")],
        steps=[ProcessStep(text="Get quarterly real GDP from <start_date>.", sql="SELECT date, gdpc1 FROM gdp ...")],
    )

The SELECT of a step may have a name, by which later steps and questions read it like a table. What may stand in the texts is said in
`finexpert.text.texts`. A process does not say whether it is right: that is found out by running its taught case.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from finexpert.core.answers import AnswerFormat
from finexpert.knowledge.items import Item
from finexpert.text.texts import (
    CASE_LENGTH,
    MEANING_LENGTH,
    STEP_LENGTH,
    Chunk,
    Name,
    Note,
    StepText,
    as_json,
    block,
    full_block,
)
from finexpert.warehouse.named_selects import PLACEHOLDER, NamedSelect, literal

# The note of a process that was in use and was changed: it is a draft until it is tried again.
EDITED = "edited; not checked again"
MOST_STEPS = 60
MOST_ALIASES = 40
MOST_VARIABLES = 40

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Variable(BaseModel):
    """What differs from question to question; a step writes it `<name>`."""

    model_config = _STRICT

    name: Name
    meaning: Note = ""
    example: Annotated[str, AfterValidator(block(MEANING_LENGTH))] = ""


class ProcessStep(BaseModel):
    """One step, with the SELECT and the lines of a script that carry it out. By its `name` the SELECT is read like a table."""

    model_config = _STRICT

    text: StepText
    sql: Chunk = None
    code: Chunk = None
    name: Annotated[str | None, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")] = None

    @model_validator(mode="after")
    def _names_a_select(self) -> Self:
        if self.name and not self.sql:
            raise ValueError(f"{self.name} names a SELECT, and the step has none")
        return self


class TaughtCase(BaseModel):
    """The question on which a process was taught, and the answer that the expert accepted."""

    model_config = _STRICT

    question: Annotated[str, AfterValidator(full_block(STEP_LENGTH))]
    as_of: dt.date
    answer_format: AnswerFormat
    expected: Any = Field(description="as `finexpert.answers.records.encode` gives it")
    source: str = Field(default="", description="fingerprint of the data")

    @field_validator("expected")
    @classmethod
    def _is_json(cls, value: Any) -> Any:
        try:
            written = as_json(value)
        except (TypeError, ValueError) as error:
            raise ValueError("is not JSON: encode it first (finexpert.answers.records.encode)") from error
        if len(written) > CASE_LENGTH:
            raise ValueError(f"has {len(written):,} characters, and at most {CASE_LENGTH:,} are kept")
        return json.loads(written)


class Process(Item):
    """A generalised recipe. `note` says why it is still a draft."""

    heading: Name
    aliases: list[Name] = Field(default_factory=list, max_length=MOST_ALIASES)
    variables: list[Variable] = Field(default_factory=list, max_length=MOST_VARIABLES)
    steps: list[ProcessStep] = Field(min_length=1, max_length=MOST_STEPS)
    conversation: Annotated[str, AfterValidator(block(CASE_LENGTH))] = ""
    case: TaughtCase | None = None
    note: Note = ""

    @field_validator("steps")
    @classmethod
    def _named_once(cls, steps: list[ProcessStep]) -> list[ProcessStep]:
        names = [step.name for step in steps if step.name]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two steps have the name {twice}")
        return steps

    @property
    def title(self) -> str:
        return self.heading

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.heading, *self.aliases)))

    @property
    def named_selects(self) -> list[NamedSelect]:
        """The SELECTs of its steps, in their order, as they are read by name; one that nobody named has a name made of the heading.

        >>> rungs = ProcessStep(text="Rungs.", sql="SELECT date FROM rates WHERE dff > <most>", name="rungs")
        >>> process = Process(heading="Rate Ladder", variables=[Variable(name="most", example="5")], steps=[rungs, ProcessStep(text="a", sql="FROM rungs")])
        >>> [one.call for one in process.named_selects]
        ['rungs(5)', 'rate_ladder(5)']
        """
        with_sql = [(number, step) for number, step in enumerate(self.steps, 1) if step.sql]
        unnamed = sum(not step.name for _, step in with_sql)
        stem = re.sub(r"[^a-z0-9]+", "_", self.heading.lower()).strip("_") or "process"
        stem = stem if stem[0].isalpha() else f"process_{stem}"
        made: dict[str, NamedSelect] = {}
        for number, step in with_sql:
            name = step.name or (stem if unnamed == 1 else f"{stem}_{number}")
            read = {
                each for other in made if re.search(rf"\b{other}\b", step.sql or "") for each in made[other].variables
            }
            used = read | set(PLACEHOLDER.findall(step.sql or ""))
            made[name] = NamedSelect(
                name,
                step.sql or "",
                f"step {number} of the process {self.heading!r}",
                {each.name: literal(each.example) for each in self.variables if each.name in used},
                frozenset(made),
                step.text,
            )
        return list(made.values())

    @property
    def searched(self) -> tuple[str, ...]:
        """Its names, and beside them what it does: a question often says the steps and not the name."""
        return (*self.phrases, f"{'; '.join(self.phrases)}: {' '.join(step.text for step in self.steps)}")

    def same_as(self, other: Process) -> bool:
        """Whether both say the same, whoever taught them."""
        said = {"heading", "aliases", "variables", "steps", "case"}
        return self.model_dump(include=said) == other.model_dump(include=said)

    def does_as(self, other: Process) -> bool:
        """Whether both do the same, whatever they are called: then what was tried of one holds for the other."""
        does = {"steps", "variables", "case"}
        return self.model_dump(include=does) == other.model_dump(include=does)

    def recipe(self) -> str:
        """The text for a prompt: no case, and not who taught it.

        >>> step = ProcessStep(text="Get real GDP from <start>.", sql="SELECT date, gdpc1 FROM gdp")
        >>> print(Process(heading="Recessions", variables=[Variable(name="start")], steps=[step]).recipe())
        Process: Recessions
        Variables:
        - <start>
        Steps:
        1. Get real GDP from <start>.
           SQL:
           SELECT date, gdpc1 FROM gdp
        """
        lines = [f"Process: {self.heading}"]
        if self.variables:
            lines += ["Variables:", *(_variable(variable) for variable in self.variables)]
        lines.append("Steps:")
        for number, step in enumerate(self.steps, 1):
            margin = " " * (len(str(number)) + 2)
            parts = [step.text]
            named = f", read like a table by the name {step.name}" if step.name else ""
            parts += [f"SQL{named}:\n{step.sql}"] if step.sql else []
            parts += [f"Code:\n{step.code}"] if step.code else []
            body = "\n".join(parts).replace("\n", f"\n{margin}")
            lines.append(f"{number}. {body}")
        return "\n".join(lines)


def _variable(variable: Variable) -> str:
    meaning = f": {variable.meaning}" if variable.meaning else ""
    example = f" (for example {variable.example})" if variable.example else ""
    return f"- <{variable.name}>{meaning}{example}"
