"""Claims: hypotheses about a tournament, written as sentences and checked against its games.

    Ada scores at least 95% against Bob    her share of the points in the games that both played
    Ada scores at least 60%                her share of the points against all opponents
    Ada is better than Bob                 the 95% interval of that share is above one half
    Ada wins at least 95%                  of her games, as the sole winner; `against` works too
    Ada never loses to Bob                 Bob never finishes ahead of her
    Ada has a mean score of at least 1850  in the game's own points

A claim about a number holds if the measured value reaches that number; the interval shows the
uncertainty, with the blocks of the tournament as the independent units (see `intervals`). A draw
counts as half a success.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import Field

from kibitz_arena import intervals
from kibitz_arena.game_line import GameLine
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
"""The pattern of each kind of claim."""


@dataclass(frozen=True)
class Claim:
    """A parsed claim."""

    text: str
    kind: Kind
    entrant: str
    opponent: str | None = None
    """The opponent; None for all opponents."""
    threshold: float = 0.0
    """The required share, 0 to 1, or mean score."""

    @property
    def names(self) -> list[str]:
        """The entrants named in the claim."""
        return [self.entrant] if self.opponent is None else [self.entrant, self.opponent]

    @property
    def is_share(self) -> bool:
        """Whether the claim is about a share rather than a mean score."""
        return self.kind != "mean score"


def parse(text: str) -> Claim:
    """Parse a claim; raise `ValueError` with the possible forms if it is invalid."""
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
    """A claim with its result for the games played so far."""

    claim: str
    games: int = Field(description="the number of games that the claim is about")
    wins: int = Field(description="games won against the opponent, or won outright")
    draws: int
    losses: int
    share: bool = Field(description="whether the numbers are shares (0 to 1), not game scores")
    measured: float | None = Field(description="the measured value; None without games")
    low: float | None = Field(description="bounds of the 95% interval")
    high: float | None
    holds: bool | None = Field(description="whether the claim holds; None without games")


def check(claim: Claim, games: Sequence[GameLine]) -> CheckedClaim:
    """Check a claim against a tournament's games so far."""
    about = [game for game in games if set(claim.names) <= set(game.players)]
    outcomes = [_outcome(claim, game) for game in about]
    values = [*_sample(claim, about, outcomes)]
    measured = statistics.fmean(values) if values else None
    low, high = _bounds(claim, about, values)
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
    """Yield the value that the claim averages, for each game."""
    for game, outcome in zip(games, outcomes, strict=True):
        seat = game.players.index(claim.entrant)
        if claim.kind == "mean score":
            yield game.scores[seat]
        elif claim.kind in ("wins", "never loses"):
            yield float(outcome == 1.0) if claim.kind == "wins" else float(outcome > 0.0)
        else:
            yield outcome if claim.opponent is not None else game.share(seat)


def _bounds(
    claim: Claim, games: Sequence[GameLine], values: Sequence[float]
) -> tuple[float | None, float | None]:
    """Return the 95% interval of the mean, or two None if there are too few blocks."""
    blocks = intervals.by_block(
        (game.block, value) for game, value in zip(games, values, strict=True)
    )
    find = intervals.share_bounds if claim.is_share else intervals.mean_bounds
    return find(blocks) or (None, None)


def _holds(claim: Claim, outcomes: Sequence[float], measured: float, low: float | None) -> bool:
    match claim.kind:
        case "better":
            return low is not None and low > 0.5
        case "never loses":
            return 0.0 not in outcomes
        case _:
            return measured >= claim.threshold
