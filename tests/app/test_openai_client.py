"""OpenAI's own client against a running server: the FRED demo, a filings demo, streams, questions back and errors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from openai import APIStatusError, AuthenticationError, NotFoundError, OpenAI, RateLimitError
from sample_library import sample_info, sample_pages
from served import running

from finexpert.app.desk import Desk, GivenSource, local_person
from finexpert.app.options import ServeOptions
from finexpert.app.server import create_app
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.settings import Settings

RECESSIONS = "How many recessions have there been in the last 30 years?"
UNEMPLOYMENT = "Plot the unemployment rate and its 12-month moving average since January 2000, and tell me when the moving average was highest."


@contextmanager
def served(made: Desk, key: str = "none") -> Iterator[OpenAI]:
    """A client of the desk's server on a free port."""
    config = uvicorn.Config(create_app(made, close=False), port=0, log_level="error")
    with (
        closing(made),
        running(config) as (host, port),
        OpenAI(base_url=f"http://{host}:{port}/v1", api_key=key, max_retries=0) as client,
    ):
        yield client


def asked(client: OpenAI, *messages: str, model: str = "finexpert") -> str:
    """What is answered to the last message of a chat that began with a question of the person."""
    roles = ("user", "assistant")
    chat: Any = [{"role": roles[at % 2], "content": text} for at, text in enumerate(messages)]
    return client.chat.completions.create(model=model, messages=chat).choices[0].message.content or ""


@pytest.fixture
def fred(own_home: Path) -> Iterator[OpenAI]:
    """The sample economy with recorded completions."""
    with served(Desk(Settings(home=own_home, as_of=dt.date(2024, 9, 30), lm="recorded"), ServeOptions())) as client:
        yield client


@pytest.fixture
def several(desk: Any, own_home: Path, tmp_path: Path) -> Iterator[OpenAI]:
    """Sales and made-up filings, with a model that answers from a script."""
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as library:
        for page in islice(sample_pages(), 3):
            library.add([page], sample_info(page))
    given = [
        GivenSource("sales", "data", str(desk.warehouse.path)),
        GivenSource("filings", "library", str(tmp_path / "filings")),
    ]
    settings = Settings(home=own_home, as_of=dt.date(2020, 12, 31), cache=False, embedder="words", ask_below=0)
    options = ServeOptions(questions_per_minute=3)
    with served(Desk(settings, options, given=given, models=desk.models, sandbox=desk.sandbox)) as client:
        yield client


def test_the_fred_demo(fred: OpenAI) -> None:
    assert [model.id for model in fred.models.list()] == ["finexpert", "finexpert/Economy"]
    assert asked(fred, RECESSIONS).startswith("**3 recessions**")
    chart = asked(fred, UNEMPLOYMENT).partition("![Chart 1](")[2].partition(")")[0]
    # A chat loads pictures without a key.
    assert httpx.get(chart).content.startswith(b"\x89PNG")
    with pytest.raises(APIStatusError, match="not among the recorded ones"):
        asked(fred, "Something that nobody recorded?")


def test_a_stream_tells_its_stages_and_then_the_answer(fred: OpenAI) -> None:
    chat: Any = [{"role": "user", "content": RECESSIONS}]
    content, stages, total = "", "", 0
    options: Any = {"include_usage": True}
    for chunk in fred.chat.completions.create(model="finexpert", messages=chat, stream=True, stream_options=options):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            stages += getattr(choice.delta, "reasoning_content", None) or ""
        total = chunk.usage.total_tokens if chunk.usage else total
    assert content.startswith("**3 recessions**")
    assert "Planning ...\nRunning the SELECT ..." in stages
    assert total > 0


def test_the_filings_demo(several: OpenAI, desk: Any) -> None:
    steps = [{"kind": "cell", "id": 1, "row": "net revenue", "column": "2022"}]
    desk.says("page", desk.fields(answers="true", entity="net revenue", steps=steps, answer="step 1"))
    said = asked(several, "What was the net revenue of Harborlight Ferries in 2022?", model="finexpert/filings")
    assert "412.00 million USD" in said
    assert "Harborlight" in said


def test_a_question_back_is_replied_to_in_the_next_message(several: OpenAI, desk: Any) -> None:
    wrong = "SELECT date, region, amount FROM sales WHERE region = 'nroth' ORDER BY date"
    desk.says("planning", desk.plan(select=wrong))
    back = asked(several, "How many in nroth?", model="finexpert/sales")
    assert "1. north" in back
    assert asked(several, "How many in nroth?", back, "1", model="finexpert/sales").startswith("**3**")


def test_errors_are_those_that_a_client_knows(several: OpenAI, desk: Any) -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        asked(several, "How many months?", model="finexpert/nothing")
    desk.says("planning", desk.plan())
    for _ in range(3):
        asked(several, "How many months?", model="finexpert/sales")
    with pytest.raises(RateLimitError, match="3 questions in a minute") as limited:
        asked(several, "How many months?", model="finexpert/sales")
    assert int(limited.value.response.headers["retry-after"]) > 0


def test_a_token_is_the_key(desk: Any, own_home: Path) -> None:
    options = ServeOptions(login=True)
    given = [GivenSource("sales", "data", str(desk.warehouse.path))]
    settings = Settings(home=own_home, as_of=dt.date(2020, 12, 31), cache=False, memory=False)
    made = Desk(settings, options, given=given, models=desk.models, sandbox=desk.sandbox)
    _, secret = made.make_token(local_person(), "ann", role="reader", days=1)
    desk.says("planning", desk.plan())
    with served(made, secret) as client:
        assert asked(client, "How many months?").startswith("**6**")
        with pytest.raises(AuthenticationError):
            asked(client.with_options(api_key="fx_wrong"), "How many months?")
