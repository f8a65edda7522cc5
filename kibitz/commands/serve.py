"""`kibitz serve`: run a server configured by its command line and a TOML file."""

from __future__ import annotations

import dataclasses
import errno
import gc
import json
import logging
import shlex
import signal
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import click

from kibitz.options import match as options_match
from kibitz.options import settings
from kibitz.options.age import Age
from kibitz.options.database import DATABASE, DatabaseType
from kibitz.options.settings import Setting
from kibitz.output import echo, echo_json
from kibitz.process.house_bots import BOT_MEMORY_MIB
from kibitz.process.interrupts import EXIT_INTERRUPTED
from kibitz_bots.number_types import COUNT, NATURAL, FiniteRange
from kibitz_protocol import printable
from kibitz_server.storage.location import PostgresURL

if TYPE_CHECKING:
    from pydantic import ValidationError

    from kibitz_server.app import Config, Server

PORT = 8765
MAX_PORT = 65535

SETTINGS = (
    Setting(
        name="host",
        param="host",
        kind=click.STRING,
        default="127.0.0.1",
        metavar="ADDRESS",
        help="Address to listen on.",
    ),
    Setting(
        name="port",
        param="port",
        kind=click.IntRange(0, MAX_PORT),
        default=PORT,
        help="Port to listen on; 0 picks a free one.",
    ),
    Setting(
        name="db",
        param="db",
        kind=DatabaseType(),
        default=DATABASE,
        shown_default="kibitz.db in the user's data directory",
        variables=("KIBITZ_DB",),
        metavar="FILE|URL",
        help="The server's database: a file, or postgresql://user@host/name.",
    ),
    Setting(
        name="node",
        param="node",
        kind=click.STRING,
        metavar="NAME",
        help="Name of this node if several servers share a PostgreSQL database; needs"
        " --public-url.",
    ),
    Setting(
        name="public-url",
        param="public_url",
        kind=click.STRING,
        metavar="URL",
        help="URL at which clients reach this node, such as wss://a.example.org.",
    ),
    Setting(
        name="name",
        param="name",
        kind=click.STRING,
        default="kibitz",
        metavar="TEXT",
        help="Name of the server, shown to clients.",
    ),
    Setting(
        name="guests",
        param="guests",
        kind=click.Choice(["loopback", "anyone", "nobody"]),
        default="loopback",
        help="Who may connect without a token.",
    ),
    Setting(
        name="public-boards",
        param="public_boards",
        kind=click.BOOL,
        help="Let everybody watch without signing in.",
    ),
    Setting(
        name="guests-from",
        param="guests_from",
        kind=click.STRING,
        multiple=True,
        metavar="NETWORK=N",
        help="Also admit up to N guests at a time from this network, such as a classroom.",
    ),
    Setting(
        name="operator",
        param="operators",
        kind=click.STRING,
        multiple=True,
        metavar="NAME",
        help="Account that may end matches without a result (`kibitz match abort`).",
    ),
    Setting(
        name="origin",
        param="origins",
        kind=click.STRING,
        multiple=True,
        metavar="URL",
        help="Web origin from which browser pages may connect.",
    ),
    Setting(
        name="allow-host",
        param="hosts",
        kind=click.STRING,
        multiple=True,
        metavar="NAME",
        help="Additional host name of the server; IP addresses and this machine's name always"
        " work.",
    ),
    Setting(
        name="trusted-proxy",
        param="proxies",
        kind=click.STRING,
        multiple=True,
        metavar="ADDR|NETWORK",
        help="Proxy whose X-Forwarded-For header is trusted for client addresses.",
    ),
    Setting(
        name="keep",
        param="days",
        part="keeping",
        kind=Age(),
        shown_default="keep all",
        metavar="AGE",
        help="Delete closed matches and lobbies older than this, such as 90d.",
    ),
    Setting(
        name="max-connections",
        param="connections",
        part="quotas",
        kind=COUNT,
        shown_default="10000",
        metavar="N",
        help="Maximum number of connections.",
    ),
    Setting(
        name="max-lobbies",
        param="lobbies_in_all",
        part="quotas",
        kind=COUNT,
        shown_default="1000",
        metavar="N",
        help="Maximum number of open lobbies.",
    ),
    Setting(
        name="max-house-bots",
        param="house_bots_in_all",
        part="quotas",
        kind=NATURAL,
        shown_default="64",
        metavar="N",
        help="Maximum number of house bots; each is a process.",
    ),
    Setting(
        name="drain",
        param="drain_s",
        kind=FiniteRange(0, 3600),
        default=10.0,
        metavar="S",
        help="Seconds for clients to disconnect when the server stops.",
    ),
    Setting(
        name="pace",
        param="pace",
        kind=FiniteRange(0, 60),
        default=0.0,
        metavar="S",
        help="Minimum seconds per move of a house bot, so that people can follow.",
    ),
    Setting(
        name="bot-memory",
        param="bot_memory",
        kind=COUNT,
        default=BOT_MEMORY_MIB,
        metavar="MIB",
        help="Memory limit of a house bot; the server kills a bot that exceeds it.",
    ),
    Setting(
        name="bot-cpu",
        param="bot_cpu",
        kind=COUNT,
        metavar="S",
        help="CPU time limit of a house bot.",
    ),
    Setting(
        name="notes",
        param="notes",
        kind=click.BOOL,
        help="Include the bots' private notes in downloaded records.",
    ),
    Setting(
        name="no-web",
        param="no_web",
        kind=click.BOOL,
        help="Do not serve browser pages.",
    ),
    Setting(
        name="no-analysis",
        param="no_analysis",
        kind=click.BOOL,
        help="Do not offer hints and analyses in the browser.",
    ),
    Setting(
        name="log-level",
        param="log_level",
        kind=click.Choice(["debug", "info", "warning", "error"]),
        default="warning",
        help="Minimum level of messages on stderr; info includes joins, matches and refusals.",
    ),
    Setting(
        name="unlimited",
        param="unlimited",
        kind=click.BOOL,
        help="Lift rate limits and quotas.",
    ),
)
"""Every setting of a server, for the command line, the environment and the file."""
PROCESS_SETTINGS = frozenset(
    {"pace", "bot_memory", "bot_cpu", "no_web", "no_analysis", "log_level"}
)
"""Settings of the house bots, the pages and the log, not of the server itself."""


def _use_file(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    """Use the settings in the file as defaults, and keep its tables for `make_config`."""
    if file is None:
        return None
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        values, context.obj = settings.read_table(SETTINGS, table, _tables())
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--config") from None
    context.default_map = values
    return file


def _tables() -> list[str]:
    """Return the keys of a file that are not settings: its tables and a secret."""
    from kibitz_server.app import Config

    known = {setting.param for setting in SETTINGS if setting.part is None}
    return [name for name in get_type_hints(Config) if name not in known]


@click.command(short_help="Run a server.")
@settings.options(SETTINGS)
@click.option(
    "--event",
    type=click.Path(path_type=Path, dir_okay=False),
    hidden=True,
    help="The event document written by `kibitz arena`.",
)
@click.option(
    "--organizer-fd",
    type=NATURAL,
    hidden=True,
    help="File descriptor to read the secret of this server's organizer from.",
)
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_use_file,
    is_eager=True,
    help="A TOML file with these options and more; the command line takes precedence.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the server's address as one line of JSON."
)
@click.pass_context
def serve(
    context: click.Context,
    /,
    file: Path | None,
    pace: float,
    bot_memory: int,
    bot_cpu: int | None,
    no_web: bool,
    no_analysis: bool,
    log_level: str,
    as_json: bool,
    event: Path | None,
    organizer_fd: int | None,
    **given: Any,
) -> None:
    """Run a server until Ctrl-C, SIGTERM or SIGHUP, which suspend its matches and notify all
    clients.

    The next start with the same database resumes every match.
    """
    gc.disable()  # until it serves: collecting while modules load is slow and frees nothing
    from kibitz.analysis.match_process import analysis_command
    from kibitz.builtin_games import load_games
    from kibitz.local.event_site import EventSite
    from kibitz.process import rules_compiler
    from kibitz.process.house_bots import LocalBotLauncher
    from kibitz.text import rule_pages
    from kibitz_clients.web.site import web_site
    from kibitz_server.app import run

    values = _config_values(context, given)
    if organizer_fd is not None:
        values["organizer"] = _inherited_secret(organizer_fd)
    config = make_config(values, file)
    _log(log_level)
    limits = options_match.limit_arguments(None, bot_cpu, resident_mib=bot_memory)
    house = LocalBotLauncher(pace, limits)
    site = None if no_web else EventSite(web_site(rules=rule_pages.fragments()), event).file
    announce = _serve(config, web=not no_web, as_json=as_json)
    try:
        ended_by = run(
            config,
            load_games("compiled"),
            house,
            site=site,
            compile_command=rules_compiler.command,
            analysis_command=None if no_analysis else analysis_command(limits),
            started=announce,
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise click.ClickException(_port_in_use(config.host, config.port)) from None
    context.exit(EXIT_INTERRUPTED if ended_by == signal.SIGINT else 0)


def _inherited_secret(descriptor: int) -> str:
    """Read a secret from an inherited descriptor, and close it."""
    try:
        with open(descriptor, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        message = f"expected an inherited descriptor: {error}"
        raise click.BadParameter(message, param_hint="--organizer-fd") from None


def _log(level: str) -> None:
    """Log to stderr from `level` up; every message is one line, even with line breaks."""
    handler = logging.StreamHandler()
    handler.setFormatter(printable.LogFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=level.upper())


def _config_values(context: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a `Config`; settings override the tables of the file."""
    values: dict[str, Any] = dict(context.obj or {})
    for setting in SETTINGS:
        if setting.param in PROCESS_SETTINGS or given[setting.param] is None:
            continue
        if setting.part is None:
            values[setting.param] = given[setting.param]
        elif isinstance(part := values.get(setting.part, {}), Mapping):
            values[setting.part] = {**part, setting.param: given[setting.param]}
    return values


def make_config(values: Mapping[str, Any], file: Path | None) -> Config:
    """Return the configuration, or raise `click.BadParameter` with the path of the wrong key."""
    from pydantic import TypeAdapter, ValidationError

    from kibitz_server.app import Config

    where = f"{file}: " if file else ""
    if wrong := next(_unknown(values, Config), None):
        raise click.BadParameter(f"{where}{wrong}")
    try:
        return TypeAdapter(Config).validate_python(values)
    except ValidationError as error:
        raise click.BadParameter(f"{where}{_complaint(error)}") from None


def _complaint(error: ValidationError) -> str:
    """Return the first error: the key and what was expected, without any value.

    Values may be secrets, and a check across keys would print the whole configuration.
    """
    first = error.errors(include_input=False, include_url=False)[0]
    text = first["msg"].removeprefix("Value error, ")
    names = {setting.param: setting.name for setting in SETTINGS if setting.part is None}
    match first["loc"]:
        case ():
            return text
        case (str(key), *_) if key in names:
            return f"{names[key]}: {text}"
        case path:
            return f"{'.'.join(map(str, path))}: {text}"


def _unknown(values: Mapping[str, Any], kind: Any, path: str = "") -> Iterator[str]:
    """Yield an error for each key that the dataclass `kind`, or one nested in it, does not have."""
    kinds = get_type_hints(kind)
    for key, value in values.items():
        if key not in kinds:
            yield settings.unknown(f"{path}{key}", [*kinds])
        elif dataclasses.is_dataclass(kinds[key]):
            if isinstance(value, dict):
                yield from _unknown(value, kinds[key], f"{path}{key}.")
            elif not isinstance(value, kinds[key]):
                yield f"{path}{key}: expected a table"


def _port_in_use(host: str, port: int) -> str:
    near = port + 1 if port < MAX_PORT else port - 1
    other = f"`kibitz serve --port {near}` uses another port, and --port 0 a free one"
    return f"port {port} on {host} is already in use, perhaps by another server; {other}"


_GUESTS = {
    "loopback": "guests on this machine; others need a token (see `kibitz token` and --guests)",
    "anyone": "anyone, no token needed",
    "nobody": "only accounts with a token (see `kibitz token`)",
}
"""A description of the players admitted by each value of `guests`."""


def _check_advice(file: Path) -> str:
    return f"; `kibitz db check {shlex.quote(str(file))}` lists them with reasons"


def _serve(config: Config, *, web: bool, as_json: bool) -> Any:
    def told(server: Server) -> None:
        where = {"url": server.url, "http_url": server.http_url, "db": str(config.db)}
        damaged = server.backend.directory.quarantine.count
        if as_json:
            echo_json(json.dumps(where | {"damaged": damaged}))
        else:
            rows = {"address": server.url}
            if web:
                rows["browser"] = f"{server.http_url}/"
            rows |= {"players": _GUESTS[config.guests], "data": str(config.db)}
            if damaged:
                more = "" if isinstance(config.db, PostgresURL) else _check_advice(config.db)
                rows["damaged"] = f"{damaged} matches and lobbies were set aside{more}"
            rows["stop"] = "Ctrl-C; the next start resumes every match"
            echo("\n".join(["kibitz is running", *(f"  {key:<8} {rows[key]}" for key in rows)]))

    return told
