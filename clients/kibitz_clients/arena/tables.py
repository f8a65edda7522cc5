"""Results as text for a terminal: standings, cross-table, ends, the sequential test.

Everything reads without colour. Columns of numbers end together, names are cut where there is
no room for them, and a table that cannot be made to fit is left out with a line that says so.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import cell_len, set_cell_size

from kibitz_clients import plain
from kibitz_clients.arena import wording
from kibitz_clients.arena.results import Pair, Results, Standing
from kibitz_clients.arena.sequential import Verdict
from kibitz_protocol import printable

NAME: Final = 32
"""The most columns that a name has."""
SHORTEST: Final = 8
"""A name is not cut to fewer columns."""
GAUGE: Final = 41
"""Columns of the picture of a sequential test."""
SELF: Final = "·"
"""An entrant against itself, and what did not happen."""

Cell: TypeAlias = Callable[[Pair], str]


@dataclass(frozen=True)
class Column:
    """A column: its head, a cell a row, and what may become of it where there is little room."""

    head: str
    cells: Sequence[str]
    left: bool = False
    """Whether cells begin together; else they end together."""
    elastic: bool = False
    """Whether cells may be cut."""
    spare: bool = False
    """Whether it may be left out."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *self.cells)))


def text(results: Results, width: int = plain.WIDTH, *, superiority: bool = False) -> str:
    """Return all of `results` in lines of at most `width` columns, which are 80 or more.

    With `superiority` the matrix of who is likely to be stronger than whom is there too.
    """
    parts = [
        _header(results, width),
        _standings(results, width),
        _crosstable(results, width),
        *([_superiority(results, width)] if superiority else []),
        _ends(results, width),
        _sequential(results.sequential, width) if results.sequential else [],
        [line for each in results.claims for line in _folded(wording.held(each), width)],
        [line for note in wording.notes(results) for line in _folded(note, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _folded(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(
        printable.line(sentence), width, subsequent_indent="  ", break_on_hyphens=False
    )


def _header(results: Results, width: int) -> list[str]:
    event = results.event
    rules = f"{wording.game(event)}, {event.seats} seats, {wording.clock(event)}"
    entrants = f"{event.format} of {len(results.standings)} entrants, seed {event.seed}"
    time = f"{wording.duration(results.seconds)} of play"
    sentences = (f"{event.name}: {rules}", entrants, f"{wording.progress(results)}, {time}")
    return [line for sentence in sentences for line in _folded(sentence, width)]


# Standings


def _standings(results: Results, width: int) -> list[str]:
    entrants = results.standings
    scores = [wording.percent(wording.score(row), 1) for row in results.crosstable]
    columns = [
        _ranks(results),
        _names(results),
        Column("rating", [wording.elo(each.rating) for each in entrants]),
        Column("±", [_reach(each) for each in entrants]),
        Column("95% interval", [_interval(each) for each in entrants], spare=True),
        Column("games", [str(each.games) for each in entrants]),
        Column("points", wording.column_of_points([each.points for each in entrants])),
        Column("score", scores),
        *(_pairwise(entrants) if results.event.seats == 2 else _placed(entrants)),
    ]
    if any(each.byes for each in entrants):
        columns.append(Column("byes", [str(each.byes) for each in entrants]))
    return _grid(columns, width)


def _ranks(results: Results) -> Column:
    return Column("#", [str(rank) for rank in range(1, len(results.standings) + 1)])


def _names(results: Results) -> Column:
    names = [printable.line(each.name) for each in results.standings]
    return Column("entrant", names, left=True, elastic=True)


def _reach(entrant: Standing) -> str:
    return "anchor" if entrant.anchor else wording.elo(wording.reach(entrant), signed=False)


def _interval(entrant: Standing) -> str:
    if wording.reach(entrant) is None:
        return wording.NOTHING
    return f"{wording.elo(entrant.low)} to {wording.elo(entrant.high)}"


def _pairwise(entrants: Sequence[Standing]) -> list[Column]:
    return [
        Column("W", [str(each.wins) for each in entrants]),
        Column("D", [str(each.draws) for each in entrants]),
        Column("L", [str(each.losses) for each in entrants]),
    ]


def _placed(entrants: Sequence[Standing]) -> list[Column]:
    return [
        Column("mean place", [wording.decimal(each.mean_place, 2) for each in entrants]),
        Column("1st", [str(each.wins) for each in entrants]),
        Column("shared 1st", [str(each.draws) for each in entrants], spare=True),
    ]


# Everybody against everybody


def _crosstable(results: Results, width: int) -> list[str]:
    """Return the richest cross-table that fits: counts of all three kinds, or points alone."""
    if not results.played:
        return []
    points, each = "points of the row against the column", wording.per_pairing(results)
    of = f", of {wording.counted(each, 'game')} each" if each else ", of games"
    forms: list[tuple[str, Cell]] = [
        (wording.meeting(results), _counts),
        *([] if each else [(points + of, _points_of)]),
        (points + of if each else points, _points),
    ]
    for caption, cell in forms:
        cells = [[cell(pair) if pair else SELF for pair in row] for row in results.crosstable]
        lines = _square(results, cells, width)
        if lines:
            return [*_folded(f"cross-table: {caption}", width), *lines]
    return _too_wide("cross-table", results, width)


def _counts(pair: Pair) -> str:
    return f"{pair.wins}-{pair.draws}-{pair.losses}" if pair.games else wording.NOTHING


def _points(pair: Pair) -> str:
    return wording.points(pair.points)


def _points_of(pair: Pair) -> str:
    return f"{wording.points(pair.points)}/{pair.games}" if pair.games else wording.NOTHING


def _superiority(results: Results, width: int) -> list[str]:
    if not results.played:
        return []
    cells = [[_chance(chance) for chance in row] for row in results.superiority]
    for index, row in enumerate(cells):
        row[index] = SELF
    lines = _square(results, cells, width)
    if not lines:
        return _too_wide("likelihood of superiority", results, width)
    caption = "likelihood of superiority: percent that the row is stronger than the column"
    return [*_folded(caption, width), *lines]


def _chance(chance: float | None) -> str:
    return wording.percent(chance).removesuffix("%")


def _square(results: Results, cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return a table with a column for each entrant, empty where that is too wide.

    Columns are headed by short names; a column of these beside the names tells whose they are.
    """
    names = [printable.line(each.name) for each in results.standings]
    short = wording.abbreviations(names)
    legend = [] if short == names else [Column("", short, left=True)]
    columns = [
        Column(head, column) for head, column in zip(short, zip(*cells, strict=True), strict=True)
    ]
    return _grid([_ranks(results), _names(results), *legend, *columns], width)


def _too_wide(what: str, results: Results, width: int) -> list[str]:
    count = len(results.standings)
    why = f"{what}: too wide for {width} columns with {count} entrants; the page has it"
    return _folded(why, width)


# Ends


def _ends(results: Results, width: int) -> list[str]:
    if not results.played:
        return []
    summary = _folded(f"games ended: {wording.terminations(results.games)}", width)
    rows = wording.ends(results)
    if not rows:
        return summary
    columns = [
        Column("ended for", [printable.line(row.name) for row in rows], left=True, elastic=True),
        Column("games", [str(row.games) for row in rows]),
    ]
    columns += [
        Column(word, [str(row.counts.get(word) or SELF) for row in rows])
        for word in wording.end_words(rows)
    ]
    return [*summary, *_grid(columns, width)]


# The sequential test


def _sequential(test: Verdict, width: int) -> list[str]:
    return [
        *_folded(f"sequential test: {wording.verdict(test)}", width),
        *(f"  {line}" for line in _folded(wording.hypotheses(test), width - 2)),
        f"  LLR {wording.bound(test.llr)}   {_gauge(test)}",
    ]


def _gauge(test: Verdict) -> str:
    """Draw the way from H0 to H1 and how far on it the test is."""
    share = (test.llr - test.lower) / (test.upper - test.lower)
    at = round(min(max(share, 0.0), 1.0) * (GAUGE - 1))
    zero = round(-test.lower / (test.upper - test.lower) * (GAUGE - 1))
    line = "".join("#" if spot == at else "|" if spot == zero else "-" for spot in range(GAUGE))
    return f"H0 {wording.bound(test.lower)} [{line}] {wording.bound(test.upper)} H1"


# Columns


def _grid(columns: Sequence[Column], width: int) -> list[str]:
    """Return a head and rows, empty where they do not fit with spares left out and names cut."""
    fixed = sum(column.width for column in columns if not column.elastic)
    room = width - fixed - 2 * (len(columns) - 1)
    spare = next((column for column in reversed(columns) if column.spare), None)
    wanted = max((min(column.width, NAME) for column in columns if column.elastic), default=0)
    if spare is not None and room < wanted:
        return _grid([column for column in columns if column is not spare], width)
    if room < min(wanted, SHORTEST):
        return []
    shown = [_laid_out(column, room) for column in columns]
    return ["  ".join(cells).rstrip() for cells in zip(*shown, strict=True)]


def _laid_out(column: Column, room: int) -> Iterator[str]:
    width = min(column.width, room, NAME) if column.elastic else column.width
    for cell in (column.head, *column.cells):
        cut = _cut(cell, width)
        pad = " " * (width - cell_len(cut))
        yield cut + pad if column.left else pad + cut


def _cut(name: str, width: int) -> str:
    """Return a name that has at most `width` columns."""
    if cell_len(name) <= width:
        return name
    return set_cell_size(name, width - 1).rstrip() + "…"
