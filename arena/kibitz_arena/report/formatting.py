"""Text formatting of results: numbers and sentences shared by the tables and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from kibitz_arena.claims import CheckedClaim
from kibitz_arena.game_line import GameLine, Termination
from kibitz_arena.pentanomial import Pentanomial
from kibitz_arena.results import EntrantStanding, HeadToHead, Results, TournamentInfo
from kibitz_arena.sprt import SprtResult
from kibitz_protocol.wire.records import Cause

TERMINATION_WORDS: Final[tuple[Termination, ...]] = get_args(Termination)
ABANDONED_LABELS: Final[dict[Cause, str]] = {
    Cause.CRASH: "crashed",
    Cause.DISCONNECT: "disconnected",
    Cause.ABANDONED: "left",
    Cause.TAKEOVER: "taken over",
    Cause.KICKED: "removed by the host",
}
"""Labels for the specific causes behind PGN's ``abandoned``."""
CAUSE_LABELS: Final[dict[Cause, str]] = ABANDONED_LABELS | {
    Cause.RULES: "by the rules",
    Cause.RESIGNATION: "resigned",
    Cause.TIME: "out of time",
    Cause.ILLEGAL: "illegal move",
    Cause.ABORTED: "aborted by the operator",
    Cause.INFRASTRUCTURE: "server failure",
}
"""Labels for the causes of drop-outs."""
ISOLATION_NOTES: Final = {
    "bwrap": "Entrants ran isolated (bwrap), with separate files and processes.",
    "setpriv": "Entrants ran isolated (setpriv), as separate users on a shared network.",
    "none": "Entrants were not isolated from each other.",
}
"""Notes on the isolation of entrants, by tool."""
STOP_LABELS: Final = {
    "decided": "decided by the sequential test",
    "deadline": "stopped at the deadline",
    "asked": "stopped on request",
    "failed": "stopped because of a failure",
}
"""Labels for the reasons that the journal gives for a stop."""
TERMINATION_LABELS: Final = (
    "normal",
    *TERMINATION_WORDS[1:-1],
    *ABANDONED_LABELS.values(),
    TERMINATION_WORDS[-1],
)
"""`TERMINATION_WORDS` combined with `ABANDONED_LABELS`."""
NO_VALUE: Final = "–"
"""The placeholder for a missing number."""
_MINUS: Final = str.maketrans("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class TerminationCounts:
    """How games ended, for an entrant or for all entrants."""

    name: str
    games: int
    counts: Mapping[str, int]
    """Counts by `TERMINATION_LABELS`, without zeros."""


# Numbers


def elo(value: float | None, *, signed: bool = True) -> str:
    """Format a rating or a margin in whole Elo: ``+212``, ``−13``, ``0``."""
    if value is None:
        return NO_VALUE
    whole = round(value)
    return f"{whole:+d}".translate(_MINUS) if signed and whole else str(whole)


def decimal(value: float | None, places: int) -> str:
    """Format a number with the given number of decimals and a true minus sign."""
    return NO_VALUE if value is None else f"{value:.{places}f}".translate(_MINUS)


def signed_decimal(value: float) -> str:
    """Format a signed number, such as an LLR: ``+2.94``."""
    return f"{value:+.2f}".translate(_MINUS)


def points(value: float) -> str:
    """Format points with one decimal only if necessary: ``7``, ``7.5``."""
    return f"{value:.1f}".removesuffix(".0")


def points_column(values: Sequence[float]) -> list[str]:
    """Format a column of points: all with a decimal if any of them needs one."""
    whole = all(value.is_integer() for value in values)
    return [f"{value:.0f}" if whole else f"{value:.1f}" for value in values]


def placings(ranks: Sequence[int], names: Sequence[str], causes: Sequence[Cause | None]) -> str:
    """Format the places, best first: ``1. ada  2. bob (crash)``."""
    seats = sorted(zip(ranks, names, causes, strict=True), key=lambda seat: seat[:2])
    return "  ".join(
        f"{rank}. {name}" + (f" ({cause})" if cause else "") for rank, name, cause in seats
    )


def percent(share: float | None, places: int = 0) -> str:
    """Format a share as a percentage; only exact values are shown as 0% or 100%."""
    if share is None:
        return NO_VALUE
    least = 0.5 / 10 ** (places + 2)
    if 0 < share <= least or 1 - least <= share < 1:
        edge = 10.0**-places
        return f"<{edge:.{places}f}%" if share < 0.5 else f">{100 - edge:.{places}f}%"
    return f"{100 * share:.{places}f}%"


def margin_of_error(standing: EntrantStanding) -> float | None:
    """Return half the width of the interval; None for an anchor or without a rating."""
    if standing.anchor or standing.low is None or standing.high is None:
        return None
    return (standing.high - standing.low) / 2


def margin(standing: EntrantStanding) -> str:
    """Format the margin of error of a rating, or "anchor" for an anchor."""
    return "anchor" if standing.anchor else elo(margin_of_error(standing), signed=False)


def score(pairs: Sequence[HeadToHead | None]) -> float | None:
    """Return the share of points that an entrant scored, from its row of the cross-table.

    Byes are excluded, since they are not games.
    """
    met = [pair for pair in pairs if pair is not None]
    games = sum(pair.games for pair in met)
    return sum(pair.points for pair in met) / games if games else None


def games_per_pairing(results: Results) -> int | None:
    """Return the number of games between any two entrants, None if it is not the same for all."""
    counts = {pair.games for row in results.crosstable for pair in row if pair is not None}
    return counts.pop() if len(counts) == 1 else None


# Sentences


def game_name(tournament: TournamentInfo) -> str:
    """Format the game and its options: ``chinese-checkers (board=small)``."""
    options = game_options(tournament)
    return f"{tournament.game} ({options})" if options else tournament.game


def game_options(tournament: TournamentInfo) -> str:
    """Format the game's options: ``board=small, pegs=6``; empty if none were set."""
    return ", ".join(f"{key}={option_value(value)}" for key, value in tournament.options.items())


def option_value(value: object) -> str:
    """Format the value of an option as typed on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return str(value)


def clock(tournament: TournamentInfo) -> str:
    """Describe the clock."""
    return "no clock" if tournament.time_control == "none" else f"clock {tournament.time_control}"


def clock_time(seconds: float) -> str:
    """Format whole seconds like a clock: ``2:03``, or ``1:02:03`` from one hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """Format a duration: ``41 s``, ``12:05``, ``1:02:03``."""
    return f"{seconds:.0f} s" if seconds < 60 else clock_time(int(seconds))


def quantity(count: int, noun: str) -> str:
    """Format a count with its noun: ``1 game``, ``2 games``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def progress(results: Results) -> str:
    """Describe the tournament's progress."""
    done = f"{results.played:,} of {quantity(results.planned, 'game')}"
    if results.finished and results.played == results.planned:
        return f"{done}, finished"
    left = f"{done}, {results.planned - results.played:,} left"
    return f"{left}, {_stop_reason(results.stopped)}" if results.stopped else left


def _stop_reason(why: str) -> str:
    reason, _, detail = why.partition(": ")
    label = STOP_LABELS.get(reason)
    if label is None:
        return f"stopped: {why}"
    return f"{label} ({detail})" if detail else label


def terminations(games: Sequence[GameLine]) -> str:
    """Describe how games ended: ``249 normal, 3 time forfeit, 2 abandoned (1 crashed, 1 left)``."""
    counts = Counter(game.termination for game in games)
    gone = Counter(ABANDONED_LABELS[game.cause] for game in games if game.cause in ABANDONED_LABELS)
    parts = {word: f"{counts[word]:,} {word}" for word in TERMINATION_WORDS if counts[word]}
    if gone:
        parts["abandoned"] += f" ({', '.join(f'{count:,} {word}' for word, count in gone.items())})"
    return ", ".join(parts.values())


def crosstable_caption(results: Results) -> str:
    """Return the caption of the cross-table."""
    per_pairing = games_per_pairing(results)
    of = f", of {quantity(per_pairing, 'game')} each" if per_pairing else ""
    if results.event.seats == 2:
        return f"wins-draws-losses of the row against the column{of}"
    return f"how often the row finished ahead of, level with and behind the column{of}"


def notes(results: Results) -> Iterator[str]:
    """Yield additional notes for readers, one sentence each."""
    if any(standing.anchor for standing in results.standings):
        names = ", ".join(anchor.name for anchor in results.standings if anchor.anchor)
        yield f"The scale is anchored to known ratings: {names} (anchor)."
    if any(standing.byes for standing in results.standings):
        yield "Points count a bye as a won block; all other numbers exclude byes."
    yield from (ISOLATION_NOTES[tool] for tool in results.isolation)
    taken = [game for game in results.games if any(game.takeovers)]
    if taken:
        names = ", ".join(game.tag for game in taken[:5]) + (", ..." if len(taken) > 5 else "")
        yield (
            f"In {quantity(len(taken), 'game')} a seat was taken over by another connection while"
            f" its own was open: {names}. Find out why before you trust the results."
        )
    if results.requeued:
        was = "was" if results.requeued == 1 else "were"
        games = quantity(results.requeued, "game")
        yield f"{games} {was} replayed after an infrastructure failure; only the" + (
            " replay counts." if results.requeued == 1 else " replays count."
        )
    if results.interruptions:
        yield (
            f"The tournament was interrupted {quantity(results.interruptions, 'time')} and resumed;"
            " no game was played twice."
        )


def sprt_conclusion(test: SprtResult) -> str:
    """Describe the state of a sequential test."""
    better, other = test.better
    match test.state:
        case "accepted H1":
            return f"{better} is better than {other} (H1 accepted)"
        case "accepted H0":
            return f"{better} is not better than {other} (H0 accepted)"
        case "running":
            return f"not decided yet whether {better} is better than {other}"


def sprt_hypotheses(test: SprtResult) -> str:
    """Describe the hypotheses and the data of a sequential test."""
    scored = f", in which {test.better[0]} scored {percent(test.score, 1)}"
    return (
        f"H0 {_elo(test.elo0)}, H1 {_elo(test.elo1)}, errors {test.alpha:g} and {test.beta:g};"
        f" {quantity(test.blocks, 'block')}{scored if test.score is not None else ''}"
    )


def sprt_pairs(test: SprtResult) -> str | None:
    """Describe the pairs of games of a sequential test with two seats; None for other tests."""
    if test.pairs is None or not test.blocks:
        return None
    counted = Pentanomial(test.pairs)
    return (
        f"pairs with 0, 1/2, 1, 3/2 and 2 points: {', '.join(map(str, test.pairs))};"
        f" Elo {counted.elo}, normalized Elo {counted.normalized_elo}"
    )


def claim_result(claim: CheckedClaim) -> str:
    """Describe whether a claim holds: ``holds: Ada is better than Bob: 97.5% (94.1% to 98.9%)``."""
    word = {True: "holds", False: "fails", None: "not played"}[claim.holds]
    if claim.measured is None:
        return f"{word}: {claim.claim}"
    figures = f"{claim_measured(claim)} ({claim_bounds(claim)}), {claim_counts(claim)}"
    return f"{word}: {claim.claim}: {figures}"


def claim_counts(claim: CheckedClaim) -> str:
    """Format the game counts of a claim: ``38-0-2``, won, drawn and lost."""
    return f"{claim.wins}-{claim.draws}-{claim.losses}"


def claim_measured(claim: CheckedClaim) -> str:
    """Format the measured value of a claim."""
    return _amount(claim, claim.measured)


def claim_bounds(claim: CheckedClaim) -> str:
    """Format the 95% interval of a claim's value."""
    if claim.low is None or claim.high is None:
        return NO_VALUE
    return f"{_amount(claim, claim.low)} to {_amount(claim, claim.high)}"


def _amount(claim: CheckedClaim, value: float | None) -> str:
    return percent(value, 1) if claim.share else decimal(value, 1)


def _elo(value: float) -> str:
    return f"{value:+g} Elo".translate(_MINUS) if value else "0 Elo"


# Terminations


def termination_rows(results: Results) -> list[TerminationCounts]:
    """Return the counts of entrants with abnormal terminations, and a total row.

    The total counts seats, not games. The list is empty if all games ended normally.
    """
    rows = [_termination_counts(standing) for standing in results.standings]
    odd = [row for row in rows if row.counts.keys() - {"normal"}]
    return [*odd, _total_row(rows)] if odd else []


def termination_columns(rows: Sequence[TerminationCounts]) -> list[str]:
    """Return the `TERMINATION_LABELS` that occur in `rows`, in order."""
    return [word for word in TERMINATION_LABELS if any(word in row.counts for row in rows)]


def _termination_counts(standing: EntrantStanding) -> TerminationCounts:
    gone = {word: standing.causes.get(cause, 0) for cause, word in ABANDONED_LABELS.items()}
    counts: dict[str, int] = {**dict(standing.terminations.items()), **gone}
    counts["abandoned"] = max(0, counts.get("abandoned", 0) - sum(gone.values()))
    happened = {word: count for word, count in counts.items() if count}
    return TerminationCounts(standing.name, standing.games, happened)


def _total_row(rows: Sequence[TerminationCounts]) -> TerminationCounts:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.counts)
    return TerminationCounts(f"all {len(rows)} entrants", sum(row.games for row in rows), counts)
