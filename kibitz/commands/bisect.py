"""`kibitz record bisect`: find the move that decided a match, and write a test for it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.builtin_games import load_games
from kibitz.options.analysis import bot_option, comparing, loaded_bot, ms_option
from kibitz.options.output_path import OutputPath
from kibitz.options.record import FILE, SEAT, require_seat, seat_from_zero
from kibitz.output import echo
from kibitz.text import progress_bar

if TYPE_CHECKING:
    from kibitz.analysis.decisive_move import DecisiveMove

EXIT_NONE = 1
"""The exit status if no move decided the match."""
SHOWN_MOVES = 8


@click.command(short_help="Find the move that decided a match.")
@click.argument("file", type=FILE)
@click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    required=True,
    help="The seat, counted from 1.",
)
@bot_option("--by", help="The bot that plays on from each turn; by default the game's strongest.")
@ms_option
@bot_option("--bot", default="mybot.py", show_default=True, help="The bot to test.")
@click.option(
    "--test",
    type=OutputPath(parents=True),
    help="Write a pytest file that checks that --bot no longer plays this move, and copy the"
    " record beside it.",
)
def bisect(file: Path, seat: int, by: str | None, ms: int, bot: str, test: Path | None) -> None:
    """Print the move of --seat after which it could no longer get a better result.

    The search goes back from the end of the match in FILE. From each turn of the seat, the bot of
    --by plays all seats to the end. The answer is only as reliable as that bot's play. The exit
    status is 1 if the seat could not have done better from any turn, and 3 if that bot failed.
    """
    from kibitz.analysis import decisive_move
    from kibitz.analysis.recorded_turns import game_of
    from kibitz_protocol.wire.recordfile import read_record

    games = load_games("compiled")
    with comparing():
        record = read_record(file)
        game = game_of(record, games)
        require_seat(seat, len(record.setup.seats))
        judge = by or decisive_move.strongest(game)
        factory = loaded_bot(judge, record.setup.game)
        total = sum(e.kind == "move" and e.seat == seat for e in record.entries)
        tried = 0
        with progress_bar.shown() as progress:

            def count(turn: object) -> None:
                nonlocal tried
                tried += 1
                progress.progress(tried, total, "turns tried")

            decisive = decisive_move.decisive_move(game, record, seat, factory, ms, on_turn=count)
        if decisive is None:
            echo(
                f"seat {seat + 1} could not have done better from any of its turns, according to"
                f" {judge}"
            )
            sys.exit(EXIT_NONE)
        for line in _lines(decisive, judge, file, bot):
            echo(line)
        if test is not None:
            _write_test(decisive, record.setup.match, file, bot, test)
            echo(f"wrote {test}", err=True)


def _lines(decisive: DecisiveMove, judge: str, file: Path, bot: str) -> list[str]:
    seat, ply = decisive.turn.seat + 1, decisive.turn.ply
    own = decisive.result.seats[decisive.turn.seat]
    line = " ".join(decisive.line[:SHOWN_MOVES])
    more = " ..." if len(decisive.line) > SHOWN_MOVES else ""
    again = (
        f"kibitz record retry {shlex.quote(str(file))} {shlex.quote(bot)} --seat {seat} --ply {ply}"
    )
    return [
        f"ply {ply}: seat {seat} played {decisive.played}",
        f"after {decisive.better} it gets place {own.rank}, score {own.score:.3f}, according to"
        f" {judge}:",
        f"  {line}{more}",
        f"to ask a bot again: {again} --all",
    ]


def _write_test(decisive: DecisiveMove, match: str, file: Path, bot: str, test: Path) -> None:
    """Write the test, and copy the record beside it unless it is already there."""
    from kibitz.analysis.regression_test import regression_test

    beside = test.parent / file.name
    test.parent.mkdir(parents=True, exist_ok=True)
    if not beside.exists():
        shutil.copyfile(file, beside)
    named = os.path.relpath(bot, test.parent) if bot.endswith(".py") else bot
    test.write_text(regression_test(decisive, match, beside, named), encoding="utf-8")
