"""`kibitz arena`: a whole event, from its file or from flags to its tables, interrupted at will."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kibitz import connection, notation, report, terms
from kibitz.bounds import MIB
from kibitz.event.entrants import seen, untrusted
from kibitz.event.folder import EventFolder, NoEvent, others, write
from kibitz.event.house import START_SECONDS, House, Site
from kibitz.event.ticker import Ticker
from kibitz.foreign import WithProgram, given
from kibitz.isolation.backends import TRUSTED, BackendError, Isolation, choose
from kibitz.isolation.launch import reachable_only_here
from kibitz.output import echo, echo_json
from kibitz.play import check_bot, distinct, name_of
from kibitz.running import INTERRUPTED, draining, run
from kibitz_clients.arena import exports, tables
from kibitz_clients.arena.event import Entrant, Event, EventError, Flaw, build, load
from kibitz_clients.arena.journal import JournalError, Progress
from kibitz_clients.arena.lines import Document
from kibitz_clients.arena.lines import Path as Place
from kibitz_clients.arena.page import page
from kibitz_clients.arena.results import Results

FORMATS = ("round-robin", "gauntlet", "swiss", "free-for-all")
UNABLE = 2
"""The exit status of an event that could not begin."""


@click.command(cls=WithProgram, short_help="Hold a whole event: tournaments with ratings.")
@click.argument("words", nargs=-1, metavar="[EVENT.yaml | DIRECTORY]")
@click.option("--game", metavar="GAME", help="Hold an event that these flags say.")
@click.option("--players", multiple=True, metavar="BOT...", help="Who plays: bots, Python files.")
@click.option("--remote", multiple=True, metavar="NAME", help="Who plays and comes by itself.")
@click.option("--stdio", "kind", flag_value="stdio", help="Speak lines of JSON to PROGRAM.")
@click.option("--gomocup", "kind", flag_value="gomocup", help="Speak the Gomocup protocol to it.")
@click.option("--memory", type=click.IntRange(1), metavar="MIB", help="Most memory of a process.")
@click.option("--cpu", type=click.IntRange(1), metavar="S", help="Most CPU time of a process.")
@click.option(
    "--format", type=click.Choice(FORMATS), help="Who meets whom.  [default: round-robin]"
)
@click.option("--seats", type=click.IntRange(2, 6), help="Seats of a game.")
@click.option("--games", type=click.IntRange(1), help="Games of each pairing or group.")
@click.option("--blocks", type=click.IntRange(1), help="The same in blocks: games in all seats.")
@click.option("--rounds", type=click.IntRange(1), help="Rounds of a Swiss event.")
@click.option("--challengers", type=click.IntRange(1), help="Gauntlet: the first so many do.")
@click.option("--tc", metavar="TC", help="10+0.1, move=1, none, ...")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Everything random follows.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Of the game.")
@click.option(
    "--opening",
    "openings",
    multiple=True,
    metavar="KEY=VALUE,..",
    help="Options of a block, each set in turn; or random=N moves.",
)
@click.option("--sprt", metavar="ELO0,ELO1", help="Stop once the first is better than the second.")
@click.option("--rated", is_flag=True, help="The server's ladder counts the games.")
@click.option("--concurrency", metavar="N|auto", help="Games at the same time.  [default: auto]")
@click.option("--name", "title", help="What the event is called.")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="The event's directory.  [default: NAME.arena beside its file]",
)
@click.option("--server", metavar="URL", help="Play on this server, not on one of the event's own.")
@click.option("--token-file", type=click.Path(path_type=Path), help="Holds your token there.")
@click.option(
    "--wait",
    default=START_SECONDS,
    show_default=True,
    type=click.FloatRange(1),
    metavar="S",
    help="How long to wait until everybody is there.",
)
@terms.isolation_option
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="The page, here too.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Do not tell how it goes.")
@click.option("-v", "--verbose", is_flag=True, help="Tell of every game.")
def arena(words: tuple[str, ...], **said: Any) -> None:
    """Hold the event that EVENT.yaml says, or flags do, or go on with the one in DIRECTORY.

    Every entrant is one process, isolated from the others where it is code of others, and so is
    the event's own server; or it plays on the one at --server, where others may join from
    elsewhere. Ctrl-C lets the running games end, and prints the command that goes on; a second one
    ends at once. Whatever ends it, the same command again goes on with nothing lost and nothing
    played twice.

    The status is 0 when all is played and all was well, 1 when a bot crashed or went away, or
    the event cannot go on, 2 when it could not begin, 130 when it was interrupted.

    \b
    kibitz arena final.yaml
    kibitz arena final.arena
    kibitz arena --game line-nim --players line-nim/random mybot.py --games 20 --tc 10+0.1
    kibitz arena --game five-in-a-row --players five-in-a-row/greedy --gomocup -- ./pbrain-engine
    kibitz arena final.yaml --server ws://127.0.0.1:8765 --token-file host.token
    """
    event, folder, base = _found(words, said)
    if said["concurrency"] and said["game"] is None:
        event = _changed(event, said["concurrency"])
    token = connection.token(said["token_file"], None) if said["token_file"] else None
    site = Site(server=said["server"], token=token, wait=said["wait"])
    ticker = Ticker(sys.stderr, loud=said["verbose"], quiet=said["quiet"])
    folder.make(base)
    house = House(event, folder, site, ticker, _isolation(event, folder, said))
    if house.isolated is not None:
        ticker.say(house.isolation.sentence)
    again = _again(folder, site, said)
    try:
        progress = run(_held(house, again))
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    finally:
        ticker.close()
    sys.exit(_finish(house, progress, again, said))


def _isolation(event: Event, folder: EventFolder, said: dict[str, Any]) -> Isolation:
    """Return how entrants of foreign code are kept apart; end where that cannot be as asked."""
    base = folder.base()
    strangers = [each for each in event.entrants if untrusted(each)]
    readable = {path for each in strangers for path in seen(event, each, base)}
    tokens = [base / each.token_file for each in event.entrants if each.token_file is not None]
    tokens += [said["token_file"].absolute()] if said["token_file"] else []
    hidden = {folder.path.absolute(), *tokens}
    if not strangers:
        return TRUSTED
    try:
        found = choose(said["isolation"], sorted(readable), sorted(hidden), [*others(readable)])
    except BackendError as error:
        echo(f"Error: {error}", err=True)
        sys.exit(UNABLE)
    server = said["server"]
    return replace(found, elsewhere=server is not None and not reachable_only_here(server))


async def _held(house: House, again: str) -> Progress:
    """Hold the event; the first Ctrl-C or SIGTERM lets it drain."""

    async def drain() -> None:
        house.ticker.say("finishing the running games; Ctrl-C ends at once")
        await house.drain()

    try:
        async with draining(drain, (signal.SIGINT, signal.SIGTERM)):
            return await house.hold()
    except asyncio.CancelledError:
        house.ticker.close()
        house.ticker.say(f"go on with: {again}")
        raise


# What to play


def _found(words: Sequence[str], said: dict[str, Any]) -> tuple[Event, EventFolder, Path]:
    """Return the event, its directory, and where its paths are seen from; refuse nonsense."""
    from kibitz_games import kernels

    kernels.choose("plain")
    try:
        if said["game"] is not None:
            return _by_flags(words, said)
        _require_no_flags(said)
        if len(words) != 1:
            raise click.UsageError("expected an event's file or directory, or --game and --players")
        path = Path(words[0])
        return _resumed(path, said) if path.is_dir() else _by_file(path, said)
    except (EventError, NoEvent, JournalError) as error:
        echo(f"Error: {error}", err=True)
        sys.exit(2)


def _by_file(path: Path, said: dict[str, Any]) -> tuple[Event, EventFolder, Path]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoEvent(f"{path}: expected an event's file: {error}") from None
    event = load(text, str(path))
    folder = EventFolder(said["directory"] or path.parent / f"{event.name}.arena")
    said["server"] = said["server"] or _before(folder)
    flaws = [*_flaws(event, path.parent, said["server"])]
    if flaws:
        raise EventError(str(path), flaws, _plain_paths(Document.read(text).lines))
    return event, folder, path.parent


def _before(folder: EventFolder) -> str | None:
    """Return the server that an event goes on on, if that is not one of its own."""
    place = folder.place()
    return None if place is None else place.server


def _resumed(path: Path, said: dict[str, Any]) -> tuple[Event, EventFolder, Path]:
    folder = EventFolder(path)
    event, base = folder.event(), folder.base()
    said["server"] = said["server"] or _before(folder)
    flaws = [*_flaws(event, base, said["server"])]
    if flaws:
        raise EventError(str(folder.journal), flaws, {})
    return event, folder, base


_FLAGS = {
    "format": "format",
    "seats": "seats",
    "games": "games",
    "blocks": "blocks",
    "rounds": "rounds",
    "challengers": "challengers",
    "tc": "time_control",
    "seed": "seed",
    "concurrency": "concurrency",
}
"""Flags that are keys of an event, and which."""
_IN_FILES = {flag: f"--{flag}" for flag in _FLAGS if flag != "concurrency"} | {
    "players": "--players",
    "remote": "--remote",
    "kind": "--stdio or --gomocup",
    "memory": "--memory",
    "cpu": "--cpu",
    "options": "--option",
    "openings": "--opening",
    "sprt": "--sprt",
    "rated": "--rated",
    "title": "--name",
}
"""What an event's file says in place of a flag, and the flag."""


def _by_flags(words: Sequence[str], said: dict[str, Any]) -> tuple[Event, EventFolder, Path]:
    values = {key: said[flag] for flag, key in _FLAGS.items() if said[flag] is not None}
    values |= {"name": said["title"] or "event", "entrants": [*_entrants(words, said)]}
    values |= _game(said)
    if said["rated"]:
        values["rated"] = True
    limits = {key: said[key] for key in ("memory", "cpu") if said[key] is not None}
    if limits:
        values["limits"] = limits | ({"memory": said["memory"] * MIB} if said["memory"] else {})
    if said["concurrency"] not in (None, "auto"):
        values["concurrency"] = _number(said["concurrency"])
    if said["sprt"]:
        values["stop"] = _stop(said["sprt"], values["entrants"])
    event = build(values, "flags")
    flaws = [*_flaws(event, Path(), said["server"])]
    if flaws:
        raise EventError("flags", flaws, {})
    if not said["title"]:
        # The same flags again are the same event, and others are another.
        event = event.model_copy(update={"name": f"{event.game.name}-{event.hash[:8]}"})
    return event, EventFolder(said["directory"] or Path(f"{event.name}.arena")), Path()


def _game(said: dict[str, Any]) -> dict[str, Any]:
    """Return the game with its options, and the openings, as an event has them."""
    try:
        chosen = notation.game(said["game"])
        options = chosen.options | notation.options(said["options"], chosen.name)
        found: dict[str, Any] = {"game": {"name": chosen.name, "options": options}}
        if said["openings"]:
            found["openings"] = _openings(said["openings"], chosen.name)
    except ValueError as error:
        raise EventError("flags", [Flaw((), str(error))], {}) from None
    return found


def _openings(texts: Sequence[str], game: str) -> Any:
    if len(texts) == 1 and (random := re.fullmatch(r"random=(\d+)", texts[0])):
        return {"random_plies": int(random[1])}
    return [notation.options(text.split(","), game) for text in texts]


def _entrants(words: Sequence[str], said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the entrants of flags: `--players` and the words after it, then the program."""
    from kibitz_bots.bridges.program import named

    bots = [*said["players"], *words]
    command = [*given()]
    names = distinct([*map(name_of, bots), *([named(command)] if command else [])])
    for name, bot in zip(names, bots, strict=False):
        yield {"name": name, "bot": bot}
    for name in said["remote"]:
        yield {"name": name, "remote": True}
    if command:
        yield {"name": names[-1], said["kind"] or "command": command}
    elif said["kind"]:
        raise click.UsageError(
            f"--{said['kind']} is for a program after --, such as -- node bot.js"
        )


def _stop(text: str, entrants: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if not 2 <= len(numbers) <= 4 or len(entrants) < 2:
        raise click.UsageError(f"--sprt: expected ELO0,ELO1 and two players or more, not {text!r}")
    values = dict(zip(("elo0", "elo1", "alpha", "beta"), numbers, strict=False))
    return {"better": [each["name"] for each in entrants[:2]], **values}


def _require_no_flags(said: dict[str, Any]) -> None:
    """Refuse what an event's file says when a file is what is played."""
    told = next((flag for key, flag in _IN_FILES.items() if said[key]), None)
    if told is not None or given():
        raise click.UsageError(
            f"{told or 'a program after --'} goes with --game; an event's file says it itself"
        )


def _changed(event: Event, concurrency: str) -> Event:
    number = "auto" if concurrency == "auto" else _number(concurrency)
    return event.model_copy(update={"concurrency": number})


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise click.UsageError(f"--concurrency: expected a number from 1, or auto, not {text!r}")
    return int(text)


def _plain_paths(lines: Mapping[Place, int]) -> dict[Place, int]:
    """Return the lines by the paths of keys as the event has them, with underscores."""
    return {
        tuple(part.replace("-", "_") if isinstance(part, str) else part for part in path): line
        for path, line in lines.items()
    }


def _flaws(event: Event, base: Path, server: str | None) -> Iterator[Flaw]:
    """Yield what cannot be started here, before anything is."""
    if event.rated and server is None:
        yield Flaw(("rated",), "expected --server: a server of the event's own has no ladder")
    for index, entrant in enumerate(event.entrants):
        for key, sentence in _unable(event, entrant, base, server):
            yield Flaw(("entrants", index, key), sentence)


def _unable(
    event: Event, entrant: Entrant, base: Path, server: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the key and the sentence of everything that keeps an entrant from playing."""
    from kibitz_bots.loading import SpecError

    try:
        _check(event, entrant, base)
    except SpecError as error:
        yield entrant.source, str(error)
    if entrant.remote and server is None:
        yield "remote", "expected --server: nobody can join a server of the event's own"
    if entrant.token_file is not None and server is None:
        yield "token_file", "expected --server: a server of the event's own has no accounts"
    elif entrant.token_file is not None:
        try:
            connection.token(base / entrant.token_file, None)
        except click.BadParameter as error:
            yield "token_file", error.message
    elif event.rated and not entrant.remote:
        yield "token_file", "expected the token of an account, since guests are not rated"


def _check(event: Event, entrant: Entrant, base: Path) -> None:
    """Raise `SpecError` for what cannot be started."""
    from kibitz_bots.bridges.foreign import there
    from kibitz_bots.bridges.gomocup import fit

    if entrant.bot is not None:
        check_bot(str(base / entrant.bot) if entrant.bot.endswith(".py") else entrant.bot)
    elif not entrant.remote:
        there(_seen_from(base, getattr(entrant, entrant.source)), entrant.source)
    if entrant.gomocup is not None:
        fit(event.game.name, event.game.options)


def _seen_from(base: Path, command: Sequence[str]) -> list[str]:
    """Return a command with the path of its program as it is seen from here."""
    first = command[0]
    return [str(base / first) if "/" in first else first, *command[1:]]


# What comes of it


def _again(folder: EventFolder, site: Site, said: dict[str, Any]) -> str:
    """Return the command that goes on."""
    words = ["kibitz", "arena", str(folder.path)]
    words += ["--server", site.server] if site.server else []
    words += ["--token-file", str(said["token_file"])] if said["token_file"] else []
    words += ["--concurrency", said["concurrency"]] if said["concurrency"] else []
    words += ["--jail", said["isolation"]] if said["isolation"] != "auto" else []
    words += ["--wait", f"{said['wait']:g}"] if said["wait"] != START_SECONDS else []
    return shlex.join(words)


def _finish(house: House, progress: Progress, again: str, said: dict[str, Any]) -> int:
    """Write and print the results, and return the exit status."""
    results = Results.of(house.event, progress)
    publish(results, house.folder, said["html"])
    width = max(80, shutil.get_terminal_size((100, 24)).columns)
    if said["as_json"]:
        echo_json(exports.as_json(results), nl=False)
    else:
        echo(tables.text(results, width), nl=False)
    if not said["as_json"] and not said["quiet"]:
        echo(f"results: {house.folder.path / 'results.html'}", err=True)
        _tell_reports(results, house.folder)
    if house.failure is not None:
        echo(f"Error: {house.failure}", err=True)
    return _status(house, progress, again)


def _tell_reports(results: Results, folder: EventFolder) -> None:
    reports = [game.report for game in results.games if game.report is not None]
    if reports:
        games = "a game" if len(reports) == 1 else f"{len(reports)} games"
        echo(f"a seat was at fault in {games}: {folder.path / reports[-1]}", err=True)


def _status(house: House, progress: Progress, again: str) -> int:
    stopped = progress.stopped
    if progress.finished or (stopped is not None and stopped.reason == "deadline"):
        return 1 if _abnormal(progress) else 0
    if stopped is not None and stopped.reason == "failed" and house.failure is None:
        echo(f"Error: the event cannot go on: {stopped.detail}", err=True)
    echo(f"go on with: {again}", err=True)
    if house.failure is not None:
        return 1 if progress.played else UNABLE
    return INTERRUPTED if house.asked else 1


def _abnormal(progress: Progress) -> bool:
    return any(
        seat.cause in report.ABNORMAL or seat.takeover
        for ended in progress.ended.values()
        for seat in ended.result.seats
    )


def publish(results: Results, folder: EventFolder, html: Path | None) -> None:
    """Write the results into the event's directory, and the page to `html` too."""
    folder.write("results.json", exports.as_json(results))
    folder.write("results.csv", exports.ratings_csv(results))
    folder.write("games.csv", exports.games_csv(results))
    folder.write("results.html", page(results, _records(results, folder, folder.path)))
    if html is not None:
        write(html, page(results, _records(results, folder, html.parent)))


def _records(results: Results, folder: EventFolder, seen_from: Path) -> dict[str, str]:
    """Return the paths of the records that are there, from a page's folder, by tag."""
    import os

    here = seen_from.resolve()
    return {
        game.tag: Path(os.path.relpath((folder.path / game.record).resolve(), here)).as_posix()
        for game in results.games
        if game.record is not None and (folder.path / game.record).is_file()
    }
