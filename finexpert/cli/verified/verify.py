"""`finexpert verify`: the question of a recorded answer is kept with its SELECT.

finexpert verify 20240930T101500-3f2a1c --by anna --variable year=2023
"""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores
from finexpert.cli.terminal import completing


def verify(
    record: Annotated[
        str, typer.Argument(help="A record's file, or its id, as `ask` prints it.", autocompletion=completing.records)
    ],
    by: Annotated[str | None, typer.Option("--by", help="Who approves it; FINEXPERT_BY or the login name.")] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(
            "--variable",
            help="A part of the question that may be another one, as year=2023, quarter=Q3 or region=North; may be repeated. Without it, "
            "those are found that the question names and the SELECT holds once.",
        ),
    ] = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Without variables: no other year, number or name is answered by it.")
    ] = False,
    data: common.Data = None,
    store: common.Store = None,
    as_json: common.Json = False,
) -> None:
    """Keep the question of a recorded answer with its SELECT: asked again, it is answered without a model.

    The answer has to be one SELECT over tables. The SELECT is tried first, and runs with all checks each time that it is used.
    """
    settings = common.settings_from(store=store)
    from finexpert.cli.kept_source import source_of
    from finexpert.cli.record import load
    from finexpert.core.answers import show as shown
    from finexpert.core.encoding import encode
    from finexpert.errors import RecordError
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.knowledge.verifying import Day, value_now
    from finexpert.modules.flow.verifying import verified_query

    kept, file = load(record, settings)
    if not kept.seal:
        raise RecordError(f"the record {file} carries no seal, so it may have been changed: ask the question again")
    source = source_of(kept, file, settings, data)
    if isinstance(source, Filing | Library):
        raise RecordError(f"the record {kept.id} is of a {kept.source.dialect}: only answers over tables are verified")
    with closing(source), stores.opened(store) as (taught, teacher):
        query = verified_query(kept, source, taught, _pairs(variable, as_it_stands))
        value = value_now(query, source, Day(kept.as_of, kept.as_of_given))
        query = taught.verified.verify(query, by or teacher)
    if as_json:
        stores.as_json({**query.model_dump(mode="json"), "value": encode(value)})
        return
    stores.say(f"verified: {query.title} ({query.id[:8]}, version {query.version}, by {query.taught_by})")
    if query.variables and not variable:
        found = ", ".join(f"{each.name}={each.value}" for each in query.variables)
        stores.say(f"It answers other values of {found} too; --as-it-stands keeps these alone.")
    # A record may be somebody else's: what is approved is this SELECT, whatever the question says.
    stores.say(f"Its SELECT: {query.sql}")
    stores.say(f"It gives: {shown(value, query.answer_format)}")
    if encode(value) != kept.value:
        stores.say("The recorded answer was another one: the data were changed since.")


def _pairs(given: list[str] | None, as_it_stands: bool) -> dict[str, str] | None:
    """The variables by name; None where they are to be found."""
    if not given:
        return {} if as_it_stands else None
    pairs = dict(text.partition("=")[::2] for text in given)
    if any("=" not in text for text in given) or len(pairs) != len(given):
        raise typer.BadParameter(
            "a variable is NAME=VALUE, each name once: --variable year=2023", param_hint="--variable"
        )
    return pairs
