"""Generate the page of measured strength from the saved results of `benchmarks/strength`.

Cross-tables come first. Similar events share a table: in a gauntlet, where one bot plays several
others, each opponent has a row; if a bot plays copies of another one, each number of seats has a
row. Every row, or the line above its table, has its commit and date. Claims come last; only failed
claims have a row. The page depends only on the results, so the
same results always give the same page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from benchmarks.strength import tables
from benchmarks.strength.results import CaseResult, PlayerResult
from benchmarks.strength.tables import TableResult
from docs.generate.markdown import table
from kibitz_arena.report import formatting
from kibitz_games.core import registry

HEAD = """\
Each table is an event, played on its own server with a separate process for every bot. [How the
bots search](explanation/search.md) explains the algorithms. A name such as `brs-hand` that is not
in the list of [house bots](reference/house-bots.md) means a search with an evaluation:
`brs:evaluation=hand`.

- Counts such as 6-1-3 are games won, drawn and lost. In a cross-table, they count the games of the
  row's bot against the column's bot; elsewhere, those of the bot that the table or the row
  describes.
- *Score* is the share of all points; a draw counts as half. The 95% interval contains the
  true share in 19 of 20 measurements. An opening, played once from each seat, is one unit
  of the interval ([how it is computed](explanation/ratings.md#claims)).
- *Mean score* is in the game's own points.
- *Limit* is the bot's time per move; a dash means that the event sets none. *Mean move* and *p99
  move* are the mean and the 99th percentile of the measured times per move, on a machine that
  may have been doing other work. In the table of a gauntlet, all three are those of the opponent.
- *Faults* are games that a bot lost by a crash, on time, or by an illegal move. Events that list no
  faults had none.
- *Measured* is the last commit that changed the bots or what they run on, and the day. A dagger (†)
  marks an older result that was stored without them: the commit and the day are those at which it
  was first stored. Its games were not stored by opening either, so its interval counts each opening
  as a single game, which is the widest interval that the games allow.

`make strength` replays all events overnight and generates this page, and resumes after an
interruption. `python -m benchmarks.strength NAME --write` replays one event, and `python -m
docs.generate` generates the page from the stored results. `benchmarks/strength/matrix.yaml` defines
the events, with the parameters of every bot."""
NOTHING = "–"
ITSELF = "·"
TIMES = ("limit", "mean move", "p99 move")

Named = tuple[str, CaseResult]
"""The name of an event and its result."""


def page(
    results: Mapping[str, CaseResult],
    events: Collection[str] = (),
    seated: Sequence[TableResult] = (),
) -> str:
    """Return the page of these results, which are keyed by the names of their `events`.

    `seated` are the results of `benchmarks.strength.tables`.
    """
    ordered = sorted(results.items(), key=lambda pair: (pair[1].event.game, pair[0]))
    parts = ["# Strength\n", f"{_summary([*results.values()])}\n", f"{HEAD}\n"]
    for game, group in groupby(ordered, key=lambda pair: pair[1].event.game):
        title = registry.get(game).info.title
        parts += [f"## {title}\n", *_game([*group])]
        if game == tables.GAME:
            parts += _seats(seated)
    return "\n".join([*parts, *_claims(ordered), *_missing(events, results)])


def _summary(results: Sequence[CaseResult]) -> str:
    """Describe when the events were measured, newest first."""
    exact = Counter(
        (each.measured.date, each.measured.commit)
        for each in results
        if not each.measured.stored_only
    )
    parts = [
        f"{_events(count)} measured at commit `{commit}` on {date}"
        for (date, commit), count in sorted(exact.items(), reverse=True)
    ]
    old = sorted(each.measured.date for each in results if each.measured.stored_only)
    if old:
        parts.append(f"{_events(len(old))} of earlier commits, stored from {old[0]} to {old[-1]}")
    opening = "This page shows the measured strength of the house bots"
    return f"{opening}: {'; '.join(parts) or 'no events yet'}."


def _events(count: int) -> str:
    return f"{count} event" if count == 1 else f"{count} events"


def _missing(events: Collection[str], results: Mapping[str, CaseResult]) -> Iterator[str]:
    """Yield the list of the events without a result, if there are any."""
    missing = [f"`{name}`" for name in events if name not in results]
    if missing:
        yield "## Not measured\n"
        yield f"These events have no result yet: {', '.join(missing)}.\n"


def _game(results: Sequence[Named]) -> Iterator[str]:
    """Yield the parts of a game's section."""
    crossed = [pair for pair in results if kind_of(pair[1]) == "cross"]
    if crossed:
        yield "### Cross-tables\n"
        for name, result in crossed:
            yield from _cross_table(name, result)
    for kind, title, rows in (
        ("gauntlet", "Gauntlets: one bot against each opponent", _gauntlet_rows),
        ("copies", "One bot against copies of another", _copies_rows),
        ("pair", "Pairs", _pair_rows),
    ):
        chosen = [result for _, result in results if kind_of(result) == kind]
        if chosen:
            yield f"### {title}\n"
            yield from rows(chosen)


def kind_of(result: CaseResult) -> str:
    """Return the kind of an event's table: ``pair``, ``gauntlet``, ``copies`` or ``cross``."""
    if len(result.players) == 2:
        return "pair"
    if result.event.format == "gauntlet":
        return "gauntlet"
    others = {player.what for player in _others(result)}
    return "copies" if len(others) == 1 else "cross"


def challenger(result: CaseResult) -> PlayerResult:
    """Return the entrant that the event tests: among bots without copies, that with most games."""
    bots = [player.what for player in result.players]
    single = [player for player in result.players if bots.count(player.what) == 1]
    return max(single or result.players, key=lambda player: player.games)


def _others(result: CaseResult) -> list[PlayerResult]:
    first = challenger(result)
    return [player for player in result.players if player is not first]


def _conditions(result: CaseResult) -> str:
    """Describe the conditions of an event: ``2 seats, size=3, clock move=2``."""
    event = result.event
    parts = [f"{event.seats} seats", formatting.game_options(event), formatting.clock(event)]
    return ", ".join(part for part in parts if part)


def _faults(result: CaseResult) -> str:
    return "" if result.faults() == "none" else f"; faults: {result.faults()}"


# --- tables -----------------------------------------------------------------------------------


def _cross_table(name: str, result: CaseResult) -> Iterator[str]:
    names = [player.name for player in result.players]
    yield f"`{name}`: {_conditions(result)}{_faults(result)}; measured: {_measured(result)}\n"
    yield table(
        ("entrant", *names, "games", "score", "95% interval", "mean score", *TIMES),
        [
            [player.name, *map(_cell, row), str(player.games), *_figures(player)]
            for player, row in zip(result.players, result.crosstable, strict=True)
        ],
    )


def _gauntlet_rows(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield a table for all gauntlets of the same bot under the same conditions."""
    keyed = sorted(results, key=_gauntlet)
    for (first, conditions), group in groupby(keyed, key=_gauntlet):
        rows = [row for result in group for row in _gauntlet_lines(result)]
        rows.sort(key=lambda row: row[0])
        yield f"`{first}`: {conditions}\n"
        yield table(
            ("opponent", "games", "won-drawn-lost", "score", "95% interval", *TIMES, "measured"),
            [line for _, line in rows],
        )


def _gauntlet(result: CaseResult) -> tuple[str, str]:
    return challenger(result).name, _conditions(result) + _faults(result)


def _gauntlet_lines(result: CaseResult) -> Iterator[tuple[float, list[str]]]:
    """Yield each opponent's sort key, strongest first, and its row.

    An opponent plays only the challenger, so the challenger's score against it is 1 minus its own.
    """
    first = result.players.index(challenger(result))
    for player in _others(result):
        counts = result.crosstable[first][result.players.index(player)]
        score = formatting.percent(1 - player.score, 1)
        interval = _interval(1 - player.high, 1 - player.low)
        figures = [str(player.games), _cell(counts), score, interval, *_times(player)]
        yield -player.score, [player.name, *figures, _measured(result)]


def _copies_rows(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield one table for all bots that played copies of another bot."""
    ordered = sorted(results, key=lambda result: (result.event.seats, -challenger(result).score))
    rows = [_copies_row(result) for result in ordered]
    yield table(
        (
            *("bot", "others", "conditions", "games", "score", "95% interval", "mean score"),
            *(*TIMES, "measured"),
        ),
        rows,
    )


def _copies_row(result: CaseResult) -> list[str]:
    first, others = challenger(result), _others(result)
    opponents = f"{len(others)} x {others[0].what.removeprefix('bot ')}"
    conditions = _conditions(result) + _faults(result)
    figures = [str(first.games), *_figures(first), _measured(result)]
    return [first.name, opponents, conditions, *figures]


def _pair_rows(results: Sequence[CaseResult]) -> Iterator[str]:
    yield table(
        (
            *("bot", "opponent", "conditions", "games", "won-drawn-lost", "score"),
            *("95% interval", "mean score", *TIMES, "measured"),
        ),
        [_pair_row(result) for result in results],
    )


def _pair_row(result: CaseResult) -> list[str]:
    first, second = result.players
    counts = _cell(result.crosstable[0][1])
    conditions = _conditions(result) + _faults(result)
    names = [first.name, second.name]
    return [*names, conditions, str(first.games), counts, *_figures(first), _measured(result)]


def _figures(player: PlayerResult) -> list[str]:
    """Return score, interval, mean score and times per move."""
    score, mean = formatting.percent(player.score, 1), formatting.decimal(player.mean_score, 1)
    interval = _interval(player.low, player.high)
    return [score, interval, mean, *_times(player)]


def _times(player: PlayerResult) -> list[str]:
    """Return the time limit per move, and the mean and the 99th percentile of the times."""
    limit = NOTHING if player.time_limit is None else f"{player.time_limit} s"
    mean = NOTHING if player.mean_ms is None else f"{player.mean_ms:.1f} ms"
    return [limit, mean, f"{player.p99_ms} ms"]


def _measured(result: CaseResult) -> str:
    """Return the commit and the day of a measurement; a dagger if they are only bounds."""
    measured = result.measured
    return f"{measured.commit} {measured.date}{' †' if measured.stored_only else ''}"


def _interval(low: float, high: float) -> str:
    return f"{formatting.percent(low, 1)} to {formatting.percent(high, 1)}"


def _cell(counts: str | None) -> str:
    """Return a cell of a cross-table; in some formats, not all entrants play each other."""
    if counts is None:
        return ITSELF
    return NOTHING if counts == "0-0-0" else counts


def _seats(results: Sequence[TableResult]) -> Iterator[str]:
    """Yield the table of bots in one seat among copies of another."""
    if not results:
        return
    yield "### One seat among copies of another bot\n"
    yield (
        "These games are played in one process, with the same CPU time per move for all seats,"
        " until the first player has finished (`python -m benchmarks.strength.tables`). Every"
        " opening is played from every seat. *Fair* is the share of first places among equals.\n"
    )
    yield table(
        (
            *("bot", "others", "seats", "time per move", "games", "first", "share"),
            *("95% interval", "fair", "measured"),
        ),
        [_seats_row(result) for result in results],
    )


def _seats_row(result: TableResult) -> list[str]:
    dagger = "" if result.openings else " †"
    return [
        *(result.subject, result.other, str(result.seats), f"{result.seconds:g} s"),
        *(str(result.games), f"{result.firsts:g}", formatting.percent(result.share, 1)),
        *(_interval(*result.bounds), formatting.percent(result.fair, 1)),
        f"{result.commit} {result.date}{dagger}",
    ]


# --- claims -----------------------------------------------------------------------------------


def _claims(results: Sequence[Named]) -> Iterator[str]:
    """Yield the number of claims that hold, and a table of those that do not."""
    checked = [(name, result, claim) for name, result in results for claim in result.claims]
    failed = [each for each in checked if not each[2].holds]
    yield "## Claims\n"
    held = len(checked) - len(failed)
    yield f"The events test {len(checked)} claims. {held} of them hold.\n"
    if failed:
        yield (
            "These claims do not hold. A claim that a bot is better needs an interval above one"
            " half, so it also fails if there are too few games:\n"
        )
        yield table(
            (
                *("claim", "event", "conditions", "games", "won-drawn-lost", "value"),
                *("95% interval", "measured"),
            ),
            [
                [
                    claim.claim,
                    name,
                    _conditions(result),
                    str(claim.games),
                    formatting.claim_counts(claim),
                    formatting.claim_measured(claim),
                    formatting.claim_bounds(claim),
                    _measured(result),
                ]
                for name, result, claim in failed
            ],
        )
