"""`finexpert serve`: a web page, REST, an OpenAI-compatible API and MCP over the same program.

finexpert serve                                                  on 127.0.0.1, without a login
finexpert serve --data trades=trades.duckdb --library filings/
finexpert serve token create anna --role owner                   a token for a server that others reach
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from finexpert.cli import common
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.app.actions.places import GivenSource
    from finexpert.app.options import ServeOptions
    from finexpert.app.state.state import State
    from finexpert.settings import Settings

serve_app = typer.Typer(help="Serve the web page, REST, an OpenAI-compatible API and MCP.", invoke_without_command=True)
token_app = typer.Typer(help="Tokens of people and programs that use a server.", no_args_is_help=True)
serve_app.add_typer(token_app, name="token")

Host = Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 if not given.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 8400 if not given, 0 for any.")]
Url = Annotated[str | None, typer.Option(help="Address by which people reach it, if a proxy is before it.")]
StateAt = Annotated[
    str | None, typer.Option("--state", help="postgresql:// address of the state, for several servers; a file at home.")
]
DataOf = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="[NAME=]PLACE", help="A source of data, as for `ask`; may be repeated."),
]
LibraryOf = Annotated[
    list[str] | None, typer.Option("--library", metavar="[NAME=]FOLDER", help="A library of filings; may be repeated.")
]


@serve_app.callback()
@takes("as_of lm api_base mode recordings store program")
def serve(
    given: Given,
    context: typer.Context,
    host: Host = None,
    port: Port = None,
    url: Url = None,
    state: StateAt = None,
    data: DataOf = None,
    library: LibraryOf = None,
) -> None:
    """Serve until Ctrl-C. On 127.0.0.1 nobody else reaches it, and there is no login; elsewhere a token or a company's login is needed.

    Without --data and --library it is asked of what the settings name, else of what `finexpert data fred` built, or the sample economy.
    """
    if context.invoked_subcommand is not None:
        return
    _installed()
    from finexpert.app.desk import Desk
    from finexpert.app.serving import serve as run

    expert, settings = given.expert(given.settings())
    options = options_from(host=host, port=port, url=url, state=state)
    desk = Desk(settings, options, given=given_sources(data, library, settings), expert=expert)
    try:
        run(desk, lambda address: common.echo(f"finexpert serves on {address}   (Ctrl-C ends it)"), common.echo)
    finally:
        desk.close()


Name = Annotated[str, typer.Argument(help="Whose it is: a person, or a program.")]


@token_app.command("create")
def create_token(
    name: Name,
    role: Annotated[str, typer.Option(help="reader, teacher or owner.")] = "reader",
    team: Annotated[str | None, typer.Option(help="Whose taught knowledge and shared sources it sees.")] = None,
    days: Annotated[float, typer.Option(help="How long it is good.")] = 90,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", help="read, ask, teach or manage; may be repeated; all if not given.")
    ] = None,
    state: StateAt = None,
) -> None:
    """Make a token. Its secret is printed this once, and kept nowhere."""
    _installed()
    from finexpert.app.people import access
    from finexpert.app.people.people import RIGHTS

    options, settings = options_from(state=state), common.settings_from()
    with _state(options) as kept:
        wanted: Any = scope or RIGHTS
        given: Any = role
        info, secret = access.make_token(
            kept, name, role=given, team=team or options.team, days=days, made_by=settings.teacher, scopes=wanted
        )
    typer.echo(secret)
    typer.echo(
        f"{info.name}: {info.role} of {info.team}, until {info.expires:%Y-%m-%d}. Keep it: it is not shown again.",
        err=True,
    )


@token_app.command("list")
def list_tokens(state: StateAt = None) -> None:
    """Print the tokens, without their secrets."""
    _installed()
    from finexpert.app.people import access
    from finexpert.app.state.naming import now

    with _state(options_from(state=state)) as kept:
        found = access.tokens(kept)
        if not found:
            typer.echo("There is no token yet. Next: finexpert serve token create NAME --role owner", err=True)
        for token in found:
            over = (
                "revoked"
                if token.revoked
                else "expired"
                if token.expires <= now()
                else f"until {token.expires:%Y-%m-%d}"
            )
            used = f"last used {token.used:%Y-%m-%d}" if token.used else "never used"
            common.echo(
                f"{token.id}  {token.name}: {token.role} of {token.team}, {', '.join(token.scopes)}; {over}, {used}"
            )


@token_app.command("renew")
def renew_token(
    token: Annotated[str, typer.Argument(help="Its name or its id.")],
    days: Annotated[float, typer.Option(help="How long it is good from now on.")] = 90,
    state: StateAt = None,
) -> None:
    """Give a token another secret and more time; the old secret ends. Conversations stay with whose it is."""
    _installed()
    from finexpert.app.people import access

    with _state(options_from(state=state)) as kept:
        info, secret = access.renew_token(kept, token, days, common.settings_from().teacher)
    typer.echo(secret)
    typer.echo(f"{info.name}: until {info.expires:%Y-%m-%d}. Keep it: it is not shown again.", err=True)


@token_app.command("revoke")
def revoke_token(token: Annotated[str, typer.Argument(help="Its name or its id.")], state: StateAt = None) -> None:
    """End a token at once, with the logins that were made with it."""
    _installed()
    from finexpert.app.people import access

    with _state(options_from(state=state)) as kept:
        info = access.revoke_token(kept, token, common.settings_from().teacher)
    common.echo(f"{info.name} is revoked")


def given_sources(data: list[str] | None, library: list[str] | None, settings: Settings) -> list[GivenSource]:
    """The sources of the command line, else those of the settings; ConfigurationError where two have one name.

    >>> given = given_sources(["Trades=x/trades.duckdb"], ["filings"], common.settings_from())
    >>> [(source.name, source.kind, source.place) for source in given]
    [('Trades', 'data', 'x/trades.duckdb'), ('filings', 'library', 'filings')]
    """
    from finexpert.errors import ConfigurationError

    found = [_given("data", text) for text in data or ()] + [_given("library", text) for text in library or ()]
    found = found or _in_settings(settings)
    names = [source.name for source in found]
    if twice := next((source for source in found if names.count(source.name) > 1), None):
        raise ConfigurationError(
            f"two sources are called {twice.name!r}: name one otherwise, with --{twice.kind} NAME=PLACE"
        )
    return found


def _in_settings(settings: Settings) -> list[GivenSource]:
    """What `sources` of the settings names, or else `data` and `library`."""
    from finexpert.answers.sources.opening import is_library

    if settings.sources:
        return [_given("library" if is_library(place) else "data", place) for place in settings.sources]
    data = [_given("data", settings.data)] if settings.data else []
    return [*data, _given("library", str(settings.library))] if settings.library else data


def _given(kind: Literal["data", "library"], text: str) -> GivenSource:
    from finexpert.app.actions.places import GivenSource

    name, place = _named(text)
    return GivenSource(name, kind, place)


def _named(text: str) -> tuple[str, str]:
    """The name and the place of `NAME=PLACE`; an address has its `=` behind the scheme, and is no name."""
    name, found, place = text.partition("=")
    if found and "/" not in name and ":" not in name:
        return name, place
    shown = text.partition("?")[0].rstrip("/")
    return Path(shown).stem if "://" not in text else shown.rpartition("/")[2] or "database", text


def options_from(**given: Any) -> ServeOptions:
    """The options of the server with those that were given; ConfigurationError names a wrong one."""
    from pydantic import ValidationError

    from finexpert.app.options import ServeOptions
    from finexpert.errors import ConfigurationError

    try:
        return ServeOptions(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"the option {name} of the server cannot be used: {first['msg']}. It comes from an option, "
            f"FINEXPERT_SERVE_{name.upper()} or the table [serve] of finexpert.toml."
        ) from error


def _state(options: ServeOptions) -> State:
    from finexpert.app.state.state import State

    return State.open(common.settings_from(), options.state)


def _installed() -> None:
    """ConfigurationError where the extra is missing."""
    from importlib.util import find_spec

    from finexpert.errors import ConfigurationError

    missing = [name for name in ("fastapi", "uvicorn", "cryptography", "prometheus_client") if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f"{missing[0]} is not installed: `pip install 'finexpert[serve]'`")
