"""`kibitz report` and `kibitz retry`: why a seat dropped out, and the same input once more."""

from __future__ import annotations

import json
import shlex
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from kibitz.box import games
from kibitz.connection import server_option
from kibitz.foreign import WithProgram, given, one_of
from kibitz.notation import sentence
from kibitz.output import echo, echo_json
from kibitz_protocol import printable
from kibitz_protocol.recordfile import Record, read_record
from kibitz_protocol.reports import MatchReport, Received, SeatReport

if TYPE_CHECKING:
    from kibitz_bots.sdk import Bot
    from kibitz_games.api import State

ILLEGAL = 1
"""The exit status of a retry whose answer is not legal."""


def of(record: Record, seat: int | None = None) -> MatchReport:
    """Return the report of a record. Raises `ValueError` where it cannot be made."""
    from kibitz_server import inquest

    game = games("plain").get(record.setup.game)
    if game is None:
        raise ValueError(f"no game {record.setup.game!r} here")
    return inquest.report(game, record.setup, record.entries, seat)


def leave(path: Path) -> Path | None:
    """Write a report beside the record at `path` if a seat was at fault; return where it is."""
    return write(of(read_record(path)), path, path.parent)


def write(found: MatchReport, record: Path, directory: Path) -> Path | None:
    """Write a report if a seat, or the server, was at fault; return where it is.

    The match of ``MATCH.jsonl`` gets ``MATCH.report.txt`` for people and ``MATCH.report.json``
    for programs.
    """
    if not found.seats and found.cause != "infrastructure":
        return None
    written = directory / f"{record.stem}.report.txt"
    written.write_text("\n".join(lines(found, str(record))) + "\n", encoding="utf-8")
    told = printable.json(found.model_dump_json(indent=1))
    written.with_suffix(".json").write_text(told, encoding="utf-8")
    return written


def lines(found: MatchReport, record: str) -> Iterator[str]:
    """Yield a report for a person; `record` is where its record is."""
    return map(printable.line, _lines(found, record))


def _lines(found: MatchReport, record: str) -> Iterator[str]:
    reason = f", {found.reason}" if found.reason else ""
    ended = f"ended by {found.cause}{reason} after {found.plies} plies"
    yield f"match {found.match}: {found.game}, {ended}"
    if not found.seats:
        yield "no seat is at fault"
    for seat in found.seats:
        yield ""
        yield from _seat_lines(seat, record)


def _seat_lines(seat: SeatReport, record: str) -> Iterator[str]:
    detail = f": {seat.detail}" if seat.detail else ""
    yield f"seat {seat.seat}, {seat.player.name}: {seat.cause or 'no fault'}{detail}"
    yield f"  last sent:     {json.dumps(seat.sent) if seat.sent else 'no turn at all'}"
    yield f"  last received: {_received(seat.received)}"
    for refused in seat.refused[-5:]:
        yield f"  refused:       {_received(refused)}"
    yield "  its output:" if seat.notes else "  its output:    nothing was noted"
    yield from (f"    | {line}" for line in seat.notes)
    yield "  its clock (milliseconds):"
    if seat.earlier:
        yield f"    ... {seat.earlier} turns before"
    yield "       ply   elapsed allowance   charged      left"
    for each in seat.ledger:
        left = "-" if each.left_ms is None else each.left_ms
        flag = "  the flag fell" if each.flagged else ""
        lag = f"  and {each.lag_ms} for which the server stood still" if each.lag_ms else ""
        numbers = (each.ply, each.elapsed_ms, each.allowance_ms, each.charged_ms, left)
        yield "    " + "{:>6}{:>10}{:>10}{:>10}{:>10}".format(*numbers) + flag + lag
    if seat.sent is not None:
        yield f"  once more:     {again(record, seat.seat, int(str(seat.sent['ply'])))}"


def again(record: str, seat: int, ply: int) -> str:
    """Return the command that sends the same turn to a bot once more."""
    words = ["kibitz", "retry", record, "--seat", str(seat), "--ply", str(ply)]
    return f"{shlex.join(words)} BOT"


def _received(what: Received | None) -> str:
    if what is None:
        return "nothing"
    action = f" {what.action}" if what.action else ""
    said = f" ({what.detail})" if what.detail else ""
    return f"{what.kind}{action} at ply {what.ply}{said}"


@click.command(short_help="Say why a seat dropped out of a match.")
@click.argument("match", metavar="MATCH|FILE")
@click.option("--seat", type=click.IntRange(0, 15), help="This seat, whether at fault or not.")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--resume-file",
    type=click.Path(path_type=Path, exists=True),
    help="Holds the secret of the player, or the host, who asks.",
)
def report(
    match: str, seat: int | None, server: str, as_json: bool, resume_file: Path | None
) -> None:
    """Report on the seats at fault in a record FILE, or in a MATCH of a server.

    A server tells the player of a seat about that seat, and the host of the lobby about all of
    them, once the match is over.
    """
    path = Path(match)
    try:
        found = (
            of(read_record(path), seat)
            if path.is_file()
            else _asked(match, seat, server, resume_file)
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    shown = path if path.is_file() else Path(f"{match}.jsonl")
    if as_json:
        echo_json(found.model_dump_json())
    else:
        echo("\n".join(lines(found, str(shown))))


def _asked(match: str, seat: int | None, server: str, resume_file: Path | None) -> MatchReport:
    from kibitz.running import run
    from kibitz_protocol.client import Client

    secret = None if resume_file is None else resume_file.read_text(encoding="utf-8").strip()

    async def ask() -> MatchReport:
        async with Client(server, kind="human", resume=secret, agent="kibitz report") as client:
            return (await client.report(match, seat)).report

    return run(ask())


@click.command(cls=WithProgram, short_help="Send a recorded turn to a bot once more.")
@click.argument("record", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--seat", type=click.IntRange(0, 15), required=True)
@click.option("--ply", type=click.IntRange(0), help="Which turn of the seat; the last if not said.")
@click.option("--all", "from_start", is_flag=True, help="Send the turns before it too, in order.")
@click.argument("bots", nargs=-1, metavar="[BOT]")
def retry(
    record: Path, seat: int, ply: int | None, from_start: bool, bots: tuple[str, ...]
) -> None:
    """Send a turn of RECORD to BOT, or to PROGRAM over stdio, and print what it answers.

    A bot that remembers earlier turns needs --all. The status is 1 for an answer that is not legal.
    """
    try:
        bot = _bot(one_of(bots), foreign=bool(given()))
        answer, trouble = _again(read_record(record), seat, ply, from_start, bot)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    echo(answer)
    echo("legal" if trouble is None else f"not legal: {trouble}")
    sys.exit(0 if trouble is None else ILLEGAL)


def _again(
    record: Record, seat: int, ply: int | None, from_start: bool, bot: Bot
) -> tuple[str, str | None]:
    """Return the answer to a recorded turn, and why it is not legal, if it is not."""
    from kibitz_bots import sdk
    from kibitz_server import inquest

    box = games("plain")
    game, setup = box[record.setup.game], record.setup
    at, told = inquest.turn(game, setup, record.entries, seat, ply)
    match = sdk.Match.of(at.snapshot(seat, "rejoined", seat))
    bot.started(match)
    try:
        if from_start:
            for before in _before(record, seat, told.ply):
                bot.choose(_turn(before, match))
        turn = _turn(told, match)
        try:
            answer = bot.choose(turn)
        except Exception as error:  # noqa: BLE001 - a bot may raise anything
            echo(traceback.format_exc().rstrip(), err=True)
            return "no answer", f"it crashed: {type(error).__name__}: {error}"
        try:
            action, _ = sdk.read(answer, turn)
        except ValueError as error:
            return f"{answer!r}", str(error)
        return json.dumps(action), _trouble(at.game, at.state, action)
    finally:
        close = getattr(bot, "_program", None)
        if close is not None:
            close.close()


def _before(record: Record, seat: int, ply: int) -> Iterator[Any]:
    from kibitz_server import inquest

    game = games("plain")[record.setup.game]
    for entry in record.entries:
        if entry.kind == "move" and entry.seat == seat and entry.ply < ply:
            yield inquest.turn(game, record.setup, record.entries, seat, entry.ply)[1]


def _turn(told: Any, match: Any) -> Any:
    import time

    from kibitz_bots.budget import Overhead, plan
    from kibitz_bots.sdk import Turn

    own = told.clocks[told.seat] if told.clocks else None
    control, reading = match.time_control, time.monotonic
    budget = plan(control, own, told.left_ms, overhead=Overhead(), clock=reading)
    return Turn.of(told, match, budget)


def _bot(words: Sequence[str], *, foreign: bool) -> Bot:
    from kibitz_bots.bridges import stdio
    from kibitz_bots.loading import load

    return stdio.factory(words)() if foreign else load(words[0])()


def _trouble(game: Any, state: State, action: dict[str, Any]) -> str | None:
    """Say why the rules do not allow an action, None where they do."""
    try:
        game.decode(state, game.Move.read(action))
    except ValueError as error:
        return sentence(error) if isinstance(error, ValidationError) else str(error)
    return None
