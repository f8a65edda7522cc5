"""`kibitz record analyze`: a bot's own move and evaluation at every turn of a recorded match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from kibitz.builtin_games import load_games
from kibitz.options.analysis import bot_option, comparing, loaded_bot, ms_option, record_argument
from kibitz.options.connection import server_option
from kibitz.options.output_path import OutputPath
from kibitz.options.record import require_seat, seat_option
from kibitz.output import echo, echo_json
from kibitz.text import progress_bar

if TYPE_CHECKING:
    from kibitz.analysis.evaluation import MoveEvaluation
    from kibitz_protocol.wire.recordfile import Record

Write: TypeAlias = "Callable[[Record, Sequence[MoveEvaluation], str, int], str]"


@click.command(short_help="Evaluate every move of a record with a bot.")
@record_argument
@bot_option(
    "--by",
    help="The evaluating bot: a house bot or a Python file; by default the game's strongest.",
)
@ms_option
@seat_option
@click.option(
    "--out",
    type=OutputPath(),
    help="Also write the analysis to a file: .svg (chart), .json, or .html (replay with values).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@server_option
def analyze(
    source: str,
    by: str | None,
    ms: int,
    seat: int | None,
    out: Path | None,
    as_json: bool,
    server: str,
) -> None:
    """Print the move BOT would have played at each turn of RECORD, and its evaluation.

    RECORD is a file (.jsonl, or another program's .psq or .sgf) or a finished match on a server.
    The bot sees only what the seat to move saw. Values are in the bot's own unit, from the point of
    view of the seat that moved; "won in 7" is proven. The exit status is 3 if the bot crashed or
    did not answer with a legal move.
    """
    write = None if out is None else FORMATS.get(out.suffix.lower())
    if out is not None and write is None:
        raise click.UsageError(f"expected a file name that ends with one of {', '.join(FORMATS)}")
    from kibitz.analysis import decisive_move, evaluation, evaluation_text, record_source
    from kibitz.analysis.recorded_turns import game_of

    games = load_games("compiled")
    with comparing():
        record = record_source.load(source, server)
        game = game_of(record, games)
        require_seat(seat, len(record.setup.seats))
        by = by or decisive_move.strongest(game, valuing=True)
        factory = loaded_bot(by, record.setup.game)
        total = sum(entry.kind == "move" for entry in record.entries)
        with progress_bar.shown() as progress:
            evaluations = evaluation.evaluate(
                game,
                record,
                factory,
                ms,
                seats=None if seat is None else [seat],
                on_move=lambda evaluated: progress.progress(
                    evaluated.ply + 1, total, evaluated.played
                ),
            )
        if out is not None and write is not None:
            out.write_text(write(record, evaluations, by, ms), encoding="utf-8")
    if as_json:
        return echo_json(evaluation_text.to_json(record, evaluations, by, ms))
    for line in evaluation_text.lines(record, evaluations):
        echo(line)
    if out is not None:
        echo(f"wrote {out}", err=True)
    return None


def _svg(record: Record, evaluations: Sequence[MoveEvaluation], by: str, ms: int) -> str:
    from kibitz.analysis import evaluation_text

    return evaluation_text.svg(
        record, evaluations, f"{record.setup.match} by {by}, {ms} ms per move"
    )


def _json(record: Record, evaluations: Sequence[MoveEvaluation], by: str, ms: int) -> str:
    from kibitz.analysis import evaluation_text

    return evaluation_text.to_json(record, evaluations, by, ms) + "\n"


def _html(record: Record, evaluations: Sequence[MoveEvaluation], by: str, ms: int) -> str:
    from kibitz.analysis.evaluation import annotated
    from kibitz.analysis.recorded_turns import game_of
    from kibitz_clients.matches.recorded_match import LoadedRecord, build_timeline
    from kibitz_clients.web import record_page

    game = game_of(record, load_games("compiled"))
    shown = annotated(record, evaluations)
    return record_page.render_html(LoadedRecord(game, shown, build_timeline(game, shown)))


FORMATS: dict[str, Write] = {".svg": _svg, ".json": _json, ".html": _html}
"""The writer of each file suffix."""
