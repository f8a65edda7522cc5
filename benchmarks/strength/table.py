"""The table of measured strength in `docs/bots.md`, between two markers; nobody writes it by hand.

It has figures only: what was claimed, what was measured, in how many games on which clock. So
the same outcomes make the same text whenever and wherever they are rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchmarks.strength.outcome import Outcome, Player
from kibitz_clients.arena import claims, wording

BEGIN = (
    "<!-- strength: `python -m benchmarks.strength --write` writes what is between the marks -->"
)
END = "<!-- strength ends -->"
FOLDER = "../benchmarks/strength"
"""Where the event files are, seen from the page."""
HEADS = (
    *("claim", "event", "clock", "games", "won-drawn-lost", "measured", "95% interval"),
    *("p99 move", "faults", "holds"),
)
YES = {True: "yes", False: "**no**", None: "–"}
MORE = 2
"""An event with more entrants than this has a cross-table too."""

Named = tuple[str, Outcome]
"""The name of a target and its outcome."""


class NoMarks(ValueError):
    """A page without the marks."""


def written(page: str, outcomes: Sequence[Named]) -> str:
    """Return the page with the table of these outcomes between its marks; raises `NoMarks`."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoMarks(f"expected the lines {BEGIN!r} and {END!r} in the page")
    return f"{before}{BEGIN}\n{text(outcomes)}{END}{after}"


def text(outcomes: Sequence[Named]) -> str:
    """Return the table: a section for each game, a row for each claim."""
    ordered = sorted(outcomes, key=lambda pair: (pair[1].event.game, pair[0]))
    lines: list[str] = []
    for game, group in groupby(ordered, key=lambda pair: pair[1].event.game):
        lines += ["", f"### {game}", *_section([*group])]
    return "\n".join([*lines, "", ""])


def _section(outcomes: Sequence[Named]) -> Iterator[str]:
    rows = [row for name, outcome in outcomes for row in _claims(name, outcome)]
    if rows:
        yield ""
        yield from _rows(HEADS, rows)
    for name, outcome in outcomes:
        if len(outcome.players) > MORE or not outcome.claims:
            yield ""
            clock, faults = wording.clock(outcome.event), outcome.faults()
            yield f"{_link(name)}, {_terms(outcome)}, {clock}, faults: {faults}"
            yield ""
            yield from _standings(outcome)


def _claims(name: str, outcome: Outcome) -> Iterator[list[str]]:
    clock = outcome.event.time_control
    for held in outcome.claims:
        yield [
            held.claim,
            f"{_link(name)}, {_terms(outcome)}",
            clock,
            str(held.games),
            wording.counts(held),
            wording.measured(held),
            wording.bounds(held),
            _p99(outcome.player(claims.read(held.claim).who)),
            outcome.faults(),
            YES[held.holds],
        ]


def _link(name: str) -> str:
    return f"[{name}]({FOLDER}/{name}.yaml)"


def _terms(outcome: Outcome) -> str:
    """Name the seats and the options: ``2 seats, size=3``."""
    options = wording.options(outcome.event)
    return ", ".join([f"{outcome.event.seats} seats", *([options] if options else [])])


def _standings(outcome: Outcome) -> Iterator[str]:
    """Yield everybody against everybody: the row's games won, drawn and lost against the column."""
    names = [each.name for each in outcome.players]
    heads = ("entrant", "games", "score", "95% interval", "mean score", *names, "p99 move")
    rows = [
        [*_standing(player), *map(_cell, row), _p99(player)]
        for player, row in zip(outcome.players, outcome.crosstable, strict=True)
    ]
    yield from _rows(heads, rows)


def _cell(counts: str | None) -> str:
    """Return what stands in a cell; in a gauntlet not everybody meets everybody."""
    if counts is None:
        return "·"
    return "–" if counts == "0-0-0" else counts


def _standing(player: Player) -> list[str]:
    low, high = wording.percent(player.low, 1), wording.percent(player.high, 1)
    score, mean = wording.percent(player.score, 1), wording.decimal(player.mean_score, 1)
    return [player.name, str(player.games), score, f"{low} to {high}", mean]


def _p99(player: Player) -> str:
    return f"{player.p99_ms / 1000:.2f} s"


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield "|" + "---|" * len(heads)
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
