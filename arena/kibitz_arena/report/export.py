"""Results as files for other programs: one JSON file, and CSV files for ratings and games.

The JSON contains all of `Results`. Keys are in the order of the model, or alphabetical in
`options`, `causes` and `terminations`, so that equal results yield equal files. The first key is
the schema. The CSV files start with a header row, format numbers as Python does, and leave unknown
cells empty. The names of columns that exist once per seat end with the seat's number, from 1.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting
from kibitz_arena.results import EntrantStanding, HeadToHead, Results
from kibitz_protocol import printable


def results_json(results: Results) -> str:
    """Return `results` as JSON, which ``Results.model_validate_json`` parses."""
    document = results.model_dump(mode="json")
    _sort_keys(document["event"], "options")
    for standing in document["standings"]:
        _sort_keys(standing, "causes", "terminations")
    written = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return printable.json(written) + "\n"


def _sort_keys(part: dict[str, Any], *keys: str) -> None:
    for key in keys:
        part[key] = dict(sorted(part[key].items()))


def ratings_csv(results: Results) -> str:
    """Return a CSV with one row per entrant, best first."""
    heads = (
        *("rank", "name", "what", "rating", "low", "high", "anchor", "games", "points", "score"),
        *("wins", "draws", "losses", "mean_place", "byes", "used_ms"),
        *(word.replace(" ", "_") for word in formatting.TERMINATION_WORDS),
    )
    rows = zip(results.standings, results.crosstable, strict=True)
    return _csv(heads, (_standing_row(rank, *row) for rank, row in enumerate(rows, 1)))


def _standing_row(
    rank: int, entrant: EntrantStanding, pairs: Sequence[HeadToHead | None]
) -> list[object]:
    return [
        rank,
        entrant.name,
        entrant.what,
        entrant.rating,
        entrant.low,
        entrant.high,
        "yes" if entrant.anchor else "no",
        entrant.games,
        entrant.points,
        formatting.score(pairs),
        entrant.wins,
        entrant.draws,
        entrant.losses,
        entrant.mean_place,
        entrant.byes,
        entrant.used_ms,
        *(entrant.terminations.get(word, 0) for word in formatting.TERMINATION_WORDS),
    ]


def games_csv(results: Results) -> str:
    """Return a CSV with one row per game, in the order in which they ended."""
    by_seat = ("player", "place", "score", "cause", "used_ms")
    seats = range(1, results.event.seats + 1)
    heads = (
        *("tag", "block", "round", "match", "termination", "cause", "reason", "plies", "record"),
        "report",
        *(f"{name}{seat}" for seat in seats for name in by_seat),
    )
    return _csv(heads, map(_game_row, results.games))


def _game_row(game: GameLine) -> list[object]:
    row: list[object] = [
        game.tag,
        game.block,
        game.round,
        game.match,
        game.termination,
        game.cause,
        game.reason,
        game.plies,
        game.record,
        game.report,
    ]
    for seat, player in enumerate(game.players):
        used = game.used_ms[seat] if game.used_ms else None
        row += [player, game.places[seat], game.share(seat), game.causes[seat], used]
    return row


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(
        [printable.line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return file.getvalue()
