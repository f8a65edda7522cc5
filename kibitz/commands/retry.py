"""`kibitz record retry`: send a recorded turn to a bot again."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from kibitz.builtin_games import load_games
from kibitz.options.notation import error_message
from kibitz.options.program import bot_or_program
from kibitz.options.record import SEAT, require_seat, seat_from_zero
from kibitz.output import echo
from kibitz_bots.adapters.external_program import WithProgram, program_words
from kibitz_bots.number_types import NATURAL
from kibitz_protocol.wire.recordfile import Record, read_record

if TYPE_CHECKING:
    from kibitz_bots.sdk import Bot
    from kibitz_games.core.game import State

EXIT_ILLEGAL = 1
"""The exit status if the answer is not legal."""


@click.command(cls=WithProgram, short_help="Send a recorded turn to a bot again.")
@click.argument("record", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    required=True,
    help="The seat, counted from 1.",
)
@click.option("--ply", type=NATURAL, help="Ply of the turn; by default the seat's last turn.")
@click.option("--all", "from_start", is_flag=True, help="Send all earlier turns first, in order.")
@click.argument("bots", nargs=-1, metavar="[BOT]")
def retry(
    record: Path, seat: int, ply: int | None, from_start: bool, bots: tuple[str, ...]
) -> None:
    """Send a turn of RECORD to BOT, or to PROGRAM over stdio, and print the answer.

    Bots that remember earlier turns need --all. The exit status is 1 if the answer is not legal.
    """
    try:
        bot = _bot(bot_or_program(bots), foreign=bool(program_words()))
        answer, trouble = _retry_turn(read_record(record), seat, ply, from_start, bot)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    echo(answer)
    echo("legal" if trouble is None else f"not legal: {trouble}")
    sys.exit(0 if trouble is None else EXIT_ILLEGAL)


def _retry_turn(
    record: Record, seat: int, ply: int | None, from_start: bool, bot: Bot
) -> tuple[str, str | None]:
    """Return the answer to a recorded turn, and why it is illegal (None if it is legal)."""
    from kibitz.analysis.recorded_turns import recorded_turns
    from kibitz.analysis.seated_bot import SeatedBot
    from kibitz_bots import sdk
    from kibitz_server.match import report as match_report

    require_seat(seat, len(record.setup.seats))
    game, setup = load_games("plain")[record.setup.game], record.setup
    at, request = match_report.replay_turn(game, setup, record.entries, seat, ply)
    try:
        seated = SeatedBot(bot, at, seat, None, setup.match)
        for before in recorded_turns(game, record) if from_start else ():
            if before.seat == seat and before.ply < request.ply:
                seated.choose(before.before)
        try:
            answer, turn = seated.choose(at)
        except Exception as error:  # noqa: BLE001 - a bot may raise anything
            echo(traceback.format_exc().rstrip(), err=True)
            return "no answer", f"the bot crashed: {type(error).__name__}: {error}"
        try:
            action, _ = sdk.parse_answer(answer, turn)
        except ValueError as error:
            return f"{answer!r}", str(error)
        return json.dumps(action), _illegality(at.game, at.game_state, action)
    finally:
        close = getattr(bot, "_program", None)
        if close is not None:
            close.close()


def _bot(words: Sequence[str], *, foreign: bool) -> Bot:
    from kibitz_bots.adapters import stdio
    from kibitz_bots.loading import load

    return stdio.factory(words)() if foreign else load(words[0])()


def _illegality(game: Any, state: State, action: dict[str, Any]) -> str | None:
    """Return why the rules forbid an action, None if it is legal."""
    try:
        game.decode(state, game.Move.from_wire(action))
    except ValueError as error:
        return error_message(error, path=True) if isinstance(error, ValidationError) else str(error)
    return None
