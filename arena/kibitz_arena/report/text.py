"""Results as text for a terminal: standings, cross-table, terminations, sequential test.

Nothing depends on color. Numbers are right-aligned, long names are truncated, and a table that does
not fit is replaced with a note.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kibitz_arena.report import formatting
from kibitz_arena.results import EntrantStanding, HeadToHead, Results, TournamentInfo
from kibitz_arena.sprt import SprtResult
from kibitz_protocol import printable

WIDTH: Final = 80
"""The assumed width of a terminal, in columns."""
MAX_NAME_WIDTH: Final = 32
"""The maximum width of a name."""
MIN_NAME_WIDTH: Final = 8
"""The minimum width of a truncated name."""
SPRT_WIDTH: Final = 41
"""The width of the chart of a sequential test."""
EMPTY_CELL: Final = "·"
"""The cell for an entrant against itself and for missing values."""

Cell: TypeAlias = Callable[[HeadToHead], str]


@dataclass(frozen=True)
class TableColumn:
    """A column: its header, its cells, and how it may shrink if space is short."""

    head: str
    cells: Sequence[str]
    left: bool = False
    """Whether cells are left-aligned; otherwise they are right-aligned."""
    elastic: bool = False
    """Whether cells may be truncated."""
    spare: bool = False
    """Whether the column may be omitted."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *self.cells)))


def render_text(results: Results, width: int = WIDTH) -> str:
    """Render `results` in lines of at most `width` columns; `width` must be at least 80."""
    parts = [
        _header(results, width),
        _grid(standing_columns(results), width),
        _crosstable(results, width),
        _ends(results, width),
        _sequential(results.sequential, width) if results.sequential else [],
        [
            line
            for claim in results.claims
            for line in _folded(formatting.claim_result(claim), width)
        ],
        [line for note in formatting.notes(results) for line in _folded(note, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _folded(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(
        printable.line(sentence), width, subsequent_indent="  ", break_on_hyphens=False
    )


def _header(results: Results, width: int) -> list[str]:
    tournament = results.event
    game, clock = formatting.game_name(tournament), formatting.clock(tournament)
    rules = f"{game}, {tournament.seats} seats, {clock}"
    entrants = f"{tournament.format} of {len(results.standings)} entrants, {_seed(tournament)}"
    time = f"{formatting.duration(results.seconds)} of play"
    sentences = (f"{tournament.name}: {rules}", entrants, f"{formatting.progress(results)}, {time}")
    return [line for sentence in sentences for line in _folded(sentence, width)]


def _seed(tournament: TournamentInfo) -> str:
    if tournament.seed is None:
        return f"seed with SHA-256 {tournament.commitment}"
    known = f" (SHA-256 {tournament.commitment})" if tournament.commitment else ""
    return f"seed {tournament.seed}{known}"


# Standings


def standing_columns(results: Results) -> list[TableColumn]:
    """Return the columns of the table of entrants, best first."""
    entrants = results.standings
    scores = [formatting.percent(formatting.score(row), 1) for row in results.crosstable]
    columns = [
        _ranks(results),
        _names(results),
        TableColumn("rating", [formatting.elo(entrant.rating) for entrant in entrants]),
        TableColumn("±", [formatting.margin(entrant) for entrant in entrants]),
        TableColumn("95% interval", [_interval(entrant) for entrant in entrants], spare=True),
        TableColumn("games", [str(entrant.games) for entrant in entrants]),
        TableColumn("points", formatting.points_column([entrant.points for entrant in entrants])),
        TableColumn("score", scores),
        *(_pairwise(entrants) if results.event.seats == 2 else _placed(entrants)),
    ]
    if any(entrant.byes for entrant in entrants):
        columns.append(TableColumn("byes", [str(entrant.byes) for entrant in entrants]))
    return columns


def _ranks(results: Results) -> TableColumn:
    return TableColumn("#", [str(rank) for rank in range(1, len(results.standings) + 1)])


def _names(results: Results) -> TableColumn:
    names = [printable.line(standing.name) for standing in results.standings]
    return TableColumn("entrant", names, left=True, elastic=True)


def _interval(entrant: EntrantStanding) -> str:
    if formatting.margin_of_error(entrant) is None:
        return formatting.NO_VALUE
    return f"{formatting.elo(entrant.low)} to {formatting.elo(entrant.high)}"


def _pairwise(entrants: Sequence[EntrantStanding]) -> list[TableColumn]:
    return [
        TableColumn("W", [str(entrant.wins) for entrant in entrants]),
        TableColumn("D", [str(entrant.draws) for entrant in entrants]),
        TableColumn("L", [str(entrant.losses) for entrant in entrants]),
    ]


def _placed(entrants: Sequence[EntrantStanding]) -> list[TableColumn]:
    return [
        TableColumn(
            "mean place", [formatting.decimal(entrant.mean_place, 2) for entrant in entrants]
        ),
        TableColumn("1st", [str(entrant.wins) for entrant in entrants]),
        TableColumn("shared 1st", [str(entrant.draws) for entrant in entrants], spare=True),
    ]


# Cross-table


def _crosstable(results: Results, width: int) -> list[str]:
    """Return the most detailed cross-table that fits: wins, draws and losses, or only points."""
    if not results.played:
        return []
    points, per_pairing = (
        "points of the row against the column",
        formatting.games_per_pairing(results),
    )
    of = f", of {formatting.quantity(per_pairing, 'game')} each" if per_pairing else ", of games"
    forms: list[tuple[str, Cell]] = [
        (formatting.crosstable_caption(results), _counts),
        *([] if per_pairing else [(points + of, points_of)]),
        (points + of if per_pairing else points, _points),
    ]
    for caption, cell in forms:
        lines = _grid(crosstable_columns(results, cell), width)
        if lines:
            return [*_folded(f"cross-table: {caption}", width), *lines]
    return _too_wide("cross-table", results, width)


def _counts(pair: HeadToHead) -> str:
    return f"{pair.wins}-{pair.draws}-{pair.losses}" if pair.games else formatting.NO_VALUE


def _points(pair: HeadToHead) -> str:
    return formatting.points(pair.points)


def points_of(pair: HeadToHead) -> str:
    """Format points and games: ``7.5/10``."""
    return f"{formatting.points(pair.points)}/{pair.games}" if pair.games else formatting.NO_VALUE


def crosstable_columns(results: Results, cell: Cell) -> list[TableColumn]:
    """Return the columns of a cross-table: rank and name, and one for each entrant."""
    ranks = _ranks(results)
    cells = [[cell(pair) if pair else EMPTY_CELL for pair in row] for row in results.crosstable]
    columns = map(TableColumn, ranks.cells, zip(*cells, strict=True))
    return [ranks, _names(results), *columns]


def _too_wide(what: str, results: Results, width: int) -> list[str]:
    count = len(results.standings)
    why = f"{what}: too wide for {width} columns with {count} entrants; see the HTML page"
    return _folded(why, width)


# Terminations


def _ends(results: Results, width: int) -> list[str]:
    if not results.played:
        return []
    summary = _folded(f"games ended: {formatting.terminations(results.games)}", width)
    rows = formatting.termination_rows(results)
    if not rows:
        return summary
    columns = [
        TableColumn(
            "ended for", [printable.line(row.name) for row in rows], left=True, elastic=True
        ),
        TableColumn("games", [str(row.games) for row in rows]),
    ]
    columns += [
        TableColumn(word, [str(row.counts.get(word) or EMPTY_CELL) for row in rows])
        for word in formatting.termination_columns(rows)
    ]
    return [*summary, *_grid(columns, width)]


# The sequential test


def _sequential(test: SprtResult, width: int) -> list[str]:
    return [
        *_folded(f"sequential test: {formatting.sprt_conclusion(test)}", width),
        *(f"  {line}" for line in _folded(formatting.sprt_hypotheses(test), width - 2)),
        *(f"  {line}" for line in _folded(formatting.sprt_pairs(test) or "", width - 2)),
        f"  LLR {formatting.signed_decimal(test.llr)}   {_sprt_line(test)}",
    ]


def _sprt_line(test: SprtResult) -> str:
    """Draw a line from H0 to H1 with the position of the test."""
    share = (test.llr - test.lower) / (test.upper - test.lower)
    at = round(min(max(share, 0.0), 1.0) * (SPRT_WIDTH - 1))
    zero = round(-test.lower / (test.upper - test.lower) * (SPRT_WIDTH - 1))
    line = "".join(
        "#" if spot == at else "|" if spot == zero else "-" for spot in range(SPRT_WIDTH)
    )
    lower, upper = map(formatting.signed_decimal, (test.lower, test.upper))
    return f"H0 {lower} [{line}] {upper} H1"


# Tables


def _grid(columns: Sequence[TableColumn], width: int) -> list[str]:
    """Return the header and rows, shrunk to fit; empty if they are still too wide."""
    fixed = sum(column.width for column in columns if not column.elastic)
    room = width - fixed - 2 * (len(columns) - 1)
    spare = next((column for column in reversed(columns) if column.spare), None)
    wanted = max(
        (min(column.width, MAX_NAME_WIDTH) for column in columns if column.elastic), default=0
    )
    if spare is not None and room < wanted:
        return _grid([column for column in columns if column is not spare], width)
    if room < min(wanted, MIN_NAME_WIDTH):
        return []
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="none")
    for column in columns:
        table.add_column(
            Text(column.head),
            justify="left" if column.left else "right",
            no_wrap=True,
            overflow="ellipsis",
            width=min(column.width, room, MAX_NAME_WIDTH) if column.elastic else column.width,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]
