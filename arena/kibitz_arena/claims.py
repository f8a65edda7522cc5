"""Claims: hypotheses about a tournament's result, in words, checked against its games.

    Ada scores at least 95% against Bob    her share of the points of the games that both were in
    Ada scores at least 60%                her share against everybody
    Ada is better than Bob                 the 95% interval of that share lies above one half
    Ada wins at least 95%                  of her games, alone in the first place; `against` too
    Ada never loses to Bob                 who never finishes before her
    Ada has a mean score of at least 1850  in the points of the game itself

A claim about a number holds if the measured number reaches it; the interval shows how
sure that is. Shares have Wilson's interval (E. B. Wilson, JASA 22, 1927), which stays inside 0 to
1; a drawn game counts as half a success. Mean scores have the normal one. Both take games as
independent of each other.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import Field

from kibitz_arena.game_line import GameLine
from kibitz_protocol.wire.shares import Z_95, share_interval
from kibitz_protocol.wire.values import Tolerant

Kind: TypeAlias = Literal["scores", "better", "wins", "never loses", "mean score"]
_AMOUNT: Final = r"(?P<least>\d+(?:\.\d+)?)"
_PATTERNS: Final[dict[Kind, re.Pattern[str]]] = {
    "scores": re.compile(rf"(?P<who>.+?) scores at least {_AMOUNT}%(?: against (?P<other>.+))?"),
    "better": re.compile(r"(?P<who>.+?) is better than (?P<other>.+)"),
    "wins": re.compile(rf"(?P<who>.+?) wins at least {_AMOUNT}%(?: against (?P<other>.+))?"),
    "never loses": re.compile(r"(?P<who>.+?) never loses to (?P<other>.+)"),
    "mean score": re.compile(rf"(?P<who>.+?) has a mean score of at least {_AMOUNT}"),
}
"""The wording of each kind."""


@dataclass(frozen=True)
class Claim:
    """One claim."""

    text: str
    kind: Kind
    entrant: str
    opponent: str | None = None
    """The opponent; None for all opponents."""
    threshold: float = 0.0
    """The share, 0 to 1, or the score that it takes."""

    @property
    def names(self) -> list[str]:
        """The entrants that it names."""
        return [self.entrant] if self.opponent is None else [self.entrant, self.opponent]

    @property
    def is_share(self) -> bool:
        """Whether it is about a share, not about a score."""
        return self.kind != "mean score"


def parse(text: str) -> Claim:
    """Read a claim; raises `ValueError` that says what can be claimed."""
    for kind, form in _PATTERNS.items():
        if form_match := form.fullmatch(text):
            parts = form_match.groupdict()
            least = float(parts.get("least") or 0.0)
            if kind != "mean score":
                least /= 100
            return Claim(text, kind, parts["who"], parts.get("other"), least)
    raise ValueError(
        "expected a claim: 'A scores at least 95% against B', 'A is better than B',"
        " 'A wins at least 95%', 'A never loses to B' or 'A has a mean score of at least 1850'"
    )


class CheckedClaim(Tolerant):
    """A claim held to the games that were played."""

    claim: str
    games: int = Field(description="games that the claim is about")
    wins: int = Field(description="in which it finished before the other, or alone before all")
    draws: int
    losses: int
    share: bool = Field(description="whether numbers are shares of 1, not scores of the game")
    measured: float | None = Field(description="what is claimed to be large; None without games")
    low: float | None = Field(description="bounds of the 95% interval")
    high: float | None
    holds: bool | None = Field(description="None while there are no games")


def check(claim: Claim, games: Sequence[GameLine]) -> CheckedClaim:
    """Hold a claim to the games of a tournament so far."""
    about = [game for game in games if set(claim.names) <= set(game.players)]
    outcomes = [_outcome(claim, game) for game in about]
    values = [*_sample(claim, about, outcomes)]
    measured = statistics.fmean(values) if values else None
    low, high = mean_interval(values, share=claim.is_share)
    return CheckedClaim(
        claim=claim.text,
        games=len(about),
        wins=outcomes.count(1.0),
        draws=outcomes.count(0.5),
        losses=outcomes.count(0.0),
        share=claim.is_share,
        measured=measured,
        low=low,
        high=high,
        holds=None if measured is None else _holds(claim, outcomes, measured, low),
    )


def _outcome(claim: Claim, game: GameLine) -> float:
    """Return 1 for a win, 0.5 for a draw, 0 for a loss."""
    own = game.places[game.players.index(claim.entrant)]
    if claim.opponent is not None:
        rival = game.places[game.players.index(claim.opponent)]
    else:
        seat = game.players.index(claim.entrant)
        rival = min(place for number, place in enumerate(game.places) if number != seat)
    return 1.0 if own < rival else 0.5 if own == rival else 0.0


def _sample(claim: Claim, games: Sequence[GameLine], outcomes: Sequence[float]) -> Iterator[float]:
    """Yield what the claim is about, a number for each game."""
    for game, outcome in zip(games, outcomes, strict=True):
        seat = game.players.index(claim.entrant)
        if claim.kind == "mean score":
            yield game.scores[seat]
        elif claim.kind in ("wins", "never loses"):
            yield float(outcome == 1.0) if claim.kind == "wins" else float(outcome > 0.0)
        else:
            yield outcome if claim.opponent is not None else game.share(seat)


def mean_interval(values: Sequence[float], *, share: bool) -> tuple[float | None, float | None]:
    """Return the 95% interval of the mean of `values`, which are 0 to 1 where it is a `share`."""
    count = len(values)
    if count < (1 if share else 2):
        return None, None
    mean = statistics.fmean(values)
    if not share:
        reach = Z_95 * statistics.stdev(values) / math.sqrt(count)
        return mean - reach, mean + reach
    return share_interval(mean, count)


def _holds(claim: Claim, outcomes: Sequence[float], measured: float, low: float | None) -> bool:
    match claim.kind:
        case "better":
            return low is not None and low > 0.5
        case "never loses":
            return 0.0 not in outcomes
        case _:
            return measured >= claim.threshold
