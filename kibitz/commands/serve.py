"""`kibitz serve`: a server, configured by its command line and a TOML file."""

from __future__ import annotations

import dataclasses
import gc
import json
import logging
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import click
import platformdirs

from kibitz.compiled_server import is_compiled
from kibitz.options import match as options_match
from kibitz.options.notation import error_message
from kibitz.output import echo, echo_json
from kibitz.process.house_bots import BOT_MEMORY_MIB
from kibitz_protocol import printable
from kibitz_server.storage.location import Database, PostgresURL, database_of

if TYPE_CHECKING:
    from kibitz_server.app import Config, Server

PORT = 8765
DATABASE = Path(platformdirs.user_data_dir("kibitz", appauthor=False)) / "kibitz.db"
"""Where the database is if nothing else is said."""


class DatabaseType(click.ParamType[Database]):
    """The path of a file, or an address such as ``postgresql://user@host/name``."""

    name = "database"
    _path = click.Path(path_type=Path, dir_okay=False)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Database:
        found = database_of(value)
        if isinstance(found, PostgresURL):
            return found
        path = self._path.convert(value, param, ctx)
        if not isinstance(path, Path):
            raise AssertionError("click.Path makes a Path of a path")
        return path


db_option = click.option(
    "--db",
    type=DatabaseType(),
    default=DATABASE,
    envvar="KIBITZ_DB",
    show_envvar=True,
    show_default="kibitz.db in the user's data directory",
    metavar="FILE|URL",
    help="The server's database: a file, or postgresql://user@host/name.",
)


def require_file(db: Database, instead: str) -> Path:
    """Return the file of a SQLite database; refuse another one and say what is used instead."""
    if isinstance(db, PostgresURL):
        raise click.ClickException(
            f"{str(db)!r} is no SQLite file, and this command is for those: {instead}"
        )
    return db


class Age(click.ParamType[float]):
    """A time in days, such as ``90d`` or ``12w``, of a day at least."""

    name = "age"
    _FORM = re.compile(r"([0-9]{1,6})([dw])")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = self._FORM.fullmatch(str(value))
        days = int(found[1]) * (7 if found[2] == "w" else 1) if found else 0
        if not days:
            self.fail(f"expected days or weeks, such as 90d or 12w, not {value!r}", param, ctx)
        return float(days)


@click.command(short_help="Run a server.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: a free one."
)
@db_option
@click.option(
    "--node",
    metavar="NAME",
    help="Be one of several servers on one PostgreSQL database; with --public-url.",
)
@click.option(
    "--public-url", metavar="URL", help="Where clients reach this node: wss://a.example.org."
)
@click.option("--name", default="kibitz", show_default=True, help="What it calls itself.")
@click.option(
    "--guests",
    type=click.Choice(["loopback", "anyone", "nobody"]),
    default="loopback",
    show_default=True,
    help="Who may come without a token.",
)
@click.option(
    "--guests-from",
    "guests_from",
    multiple=True,
    metavar="NETWORK=N",
    help="Let N guests at a time in from a network, such as a classroom's, whoever else may come.",
)
@click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    help="An account that may end matches without a result, by `kibitz abort`.",
)
@click.option(
    "--origin", "origins", multiple=True, metavar="URL", help="Whose pages browsers connect from."
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name that the server is reached by, besides addresses and this machine's own name.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    metavar="ADDR|NETWORK",
    help="A proxy that says truly, in X-Forwarded-For, where connections come from.",
)
@click.option(
    "--keep",
    type=Age(),
    metavar="AGE",
    help="Delete closed matches and lobbies that are older, such as 90d.  [default: keep all]",
)
@click.option(
    "--max-connections",
    "connections",
    type=click.IntRange(1),
    metavar="N",
    help="Most connections.  [default: 10000]",
)
@click.option(
    "--max-lobbies",
    "lobbies_in_all",
    type=click.IntRange(1),
    metavar="N",
    help="Most lobbies that are open.  [default: 1000]",
)
@click.option(
    "--max-house-bots",
    "house_bots_in_all",
    type=click.IntRange(0),
    metavar="N",
    help="Most house bots; each is a process.  [default: 64]",
)
@click.option(
    "--pace",
    default=0.0,
    type=click.FloatRange(0, 60),
    help="Seconds that house bots take for a move at least, so that people can follow.",
)
@click.option(
    "--bot-memory",
    default=BOT_MEMORY_MIB,
    show_default=True,
    type=click.IntRange(1),
    metavar="MIB",
    help="Most resident memory of a house bot, which is ended beyond it.",
)
@click.option(
    "--bot-cpu", type=click.IntRange(1), metavar="S", help="Most CPU time of a house bot."
)
@click.option(
    "--notes", is_flag=True, help="Downloaded records hold what bots noted for themselves."
)
@click.option("--no-web", is_flag=True, help="No pages for browsers.")
@click.option(
    "--event",
    type=click.Path(path_type=Path, dir_okay=False),
    hidden=True,
    help="The document of a running event, which `kibitz arena` writes.",
)
@click.option(
    "--organizer-fd",
    type=int,
    hidden=True,
    help="An inherited descriptor with the secret of the organizer whose own server this is.",
)
@click.option("--unlimited", is_flag=True, help="No limits on how much is asked of it.")
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A TOML file with these options and more; the command line has the last word.",
)
@click.option("--json", "as_json", is_flag=True, help="Say where it is as a line of JSON.")
@click.pass_context
def serve(
    context: click.Context,
    /,
    file: Path | None,
    pace: float,
    bot_memory: int,
    bot_cpu: int | None,
    as_json: bool,
    no_web: bool,
    event: Path | None,
    organizer_fd: int | None,
    keep: float | None,
    connections: int | None,
    lobbies_in_all: int | None,
    house_bots_in_all: int | None,
    **given: Any,
) -> None:
    """Run a server until Ctrl-C or SIGTERM, which suspend its matches and tell everybody.

    The next start with the same database takes up every match where it was.
    """
    gc.disable()  # until it serves: what the modules make stays, and walking over it is slow
    from kibitz.builtin_games import load_games
    from kibitz.event_site import EventSite
    from kibitz.process import rules_compiler
    from kibitz.process.house_bots import LocalBotLauncher
    from kibitz.text import rule_pages
    from kibitz_clients.web.site import web_site
    from kibitz_server.app import run
    from kibitz_server.storage.errors import StoreError

    usual = {key: value for key, value in given.items() if _is_default(context, key)}
    values = usual | _read_file(file) | {k: v for k, v in given.items() if k not in usual}
    quotas = {
        "connections": connections,
        "lobbies_in_all": lobbies_in_all,
        "house_bots_in_all": house_bots_in_all,
    }
    values = _override(_override(values, "quotas", quotas), "keeping", {"days": keep})
    if organizer_fd is not None:
        values["organizer"] = _inherited_secret(organizer_fd)
    config = make_config(values, file)
    _log()
    house = LocalBotLauncher(
        pace, options_match.limit_arguments(None, bot_cpu, resident_mib=bot_memory)
    )
    site = None if no_web else EventSite(web_site(rules=rule_pages.fragments()), event)
    told = _serve(config, web=not no_web, as_json=as_json)
    try:
        run(
            config,
            load_games("compiled"),
            house,
            site=site,
            compile_command=rules_compiler.command,
            started=told,
        )
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def _inherited_secret(descriptor: int) -> str:
    """Read the secret of a descriptor, to its end; nothing else inherits it."""
    try:
        with open(descriptor, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        message = f"expected an inherited descriptor: {error}"
        raise click.BadParameter(message, param_hint="--organizer-fd") from None


def _log() -> None:
    """Log to stderr what is worth a warning, a line for each message whatever is in it."""
    handler = logging.StreamHandler()
    handler.setFormatter(printable.LogFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def _override(values: Mapping[str, Any], part: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in which what the command line says of a part stands before the file's."""
    chosen = {key: value for key, value in said.items() if value is not None}
    known = values.get(part, {})
    if not chosen or not isinstance(known, Mapping):
        return dict(values)
    return {**values, part: {**known, **chosen}}


def _is_default(context: click.Context, key: str) -> bool:
    return context.get_parameter_source(key) is click.core.ParameterSource.DEFAULT


def _read_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--config") from None


def make_config(values: Mapping[str, Any], file: Path | None) -> Config:
    """Return the configuration, or raise `click.BadParameter` with the path of what is wrong."""
    from pydantic import TypeAdapter, ValidationError

    from kibitz_server.app import Config

    where = f"{file}: " if file else ""
    if unknown := next(_unknown(values, Config), None):
        raise click.BadParameter(f"{where}{unknown}")
    try:
        return TypeAdapter(Config).validate_python(values)
    except ValidationError as error:
        raise click.BadParameter(f"{where}{error_message(error)}") from None


def _unknown(values: Mapping[str, Any], kind: Any, path: str = "") -> Iterator[str]:
    """Yield a sentence for each key that the dataclass `kind`, or one inside it, does not have."""
    kinds = get_type_hints(kind)
    for key, value in values.items():
        if key not in kinds:
            yield f"{path}{key}: expected one of {', '.join(kinds)}"
        elif isinstance(value, dict) and dataclasses.is_dataclass(kinds[key]):
            yield from _unknown(value, kinds[key], f"{path}{key}.")


def _check_advice(file: Path) -> str:
    return f"; `kibitz db check {shlex.quote(str(file))}` tells which, and why"


def _serve(config: Config, *, web: bool, as_json: bool) -> Any:
    def told(server: Server) -> None:
        where = {"url": server.url, "http_url": server.http_url, "db": str(config.db)}
        compiled = is_compiled()
        damaged = server.directory.quarantine.count
        if as_json:
            echo_json(json.dumps(where | {"damaged": damaged, "compiled": compiled}))
        else:
            form = "kibitz, compiled," if compiled else "kibitz"
            echo(f"{form} is at {server.url}; its matches are kept in {config.db}")
            if damaged:
                more = "" if isinstance(config.db, PostgresURL) else _check_advice(config.db)
                echo(f"set aside as damaged: {damaged} of its matches and lobbies{more}")
            if web:
                echo(f"in a browser: {server.http_url}/")
            echo("open a lobby with `kibitz host`, look around with `kibitz watch`")

    return told
