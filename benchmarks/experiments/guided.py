"""Matches between Monte Carlo search with learned priors and older searches, with equal time."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from kibitz.local.engine_pairs import EngineLimit
from kibitz_bots import load
from kibitz_bots.catalog.chinese_checkers import EVALUATIONS
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_games.core import registry
from kibitz_protocol.wire.shares import share_interval

Sides: TypeAlias = Sequence[Sequence[int]]
"""The seats of one side in successive games, repeated cyclically."""
GAME = "chinese-checkers"
SUBJECT = "mcts-guided"
CLOSE = ("mcts-stragglers", "mcts-learned")
"""The opponents with the most games: the same search without learned priors."""
OTHERS = tuple(f"alphabeta-{evaluation}" for evaluation in EVALUATIONS)
SECONDS = 0.005
"""CPU seconds per move for both sides."""
OPENING = 2
"""Random moves per player before a game; every opening is played twice, with swapped seats."""
SEARCHES = ("paranoid", "maxn", "brs", "mpmix", "maxprob", "mcts")
"""Searches that support more than two seats."""
SIX: Sides = ((0, 2, 4),)
"""The seats of one side in games with six seats; the other side has the seats in between."""
AT_SIX = ("hand", "stragglers", "mobility")
"""The evaluations of the opponents in games with six seats."""
SHORT = ("mcts-stragglers", "mpmix-mobility")
"""The opponents in short runs with six seats."""


@dataclass
class Opponent:
    """A player for matches without a server that counts its iterations or positions.

    Its name is that of a house bot, or ``search-evaluation``.
    """

    name: str
    moves: int = 0
    nodes: int = 0

    def chooser(self, start: np.record) -> matches.Chooser:
        """Return a function that plays one match from `start`."""
        game, (search, _, evaluation) = registry.get(GAME), self.name.partition("-")
        spec = f"{search}:evaluation={evaluation}" if evaluation in EVALUATIONS else self.name
        bot = load(f"{GAME}/{spec}")()
        assert isinstance(bot, EngineBot)
        searcher = bot.searcher(start, game.info)

        def choose(state: np.record, seed: str) -> int:
            with EngineLimit(seconds=SECONDS).limits(seed) as limits:
                result = searcher.search(state, limits)
            self.moves, self.nodes = self.moves + 1, self.nodes + result.nodes
            return int(result.action)

        return choose

    @property
    def effort(self) -> str:
        """Return the mean number of iterations or positions per move, as text."""
        return f"{self.nodes / max(1, self.moves):.0f}"


def guided(scale: Scale) -> Measured:
    """Play the search with learned priors against each opponent."""
    rows, ahead = [], 0
    for name in (*CLOSE, *OTHERS):
        games = scale.choose(20, 200) if name in CLOSE else scale.choose(4, 40)
        row = _against(name, games, 2, ((0,),))
        rows.append((name, *row.texts))
        ahead += row.ahead
    return Measured(
        found=f"At {1000 * SECONDS:.0f} ms of CPU time per move, `{SUBJECT}` scores "
        f"{rows[0][3]} ({rows[0][4]}) against `{CLOSE[0]}` and {rows[1][3]} ({rows[1][4]}) "
        f"against `{CLOSE[1]}`. It is significantly ahead of {ahead} of {len(rows)} "
        "opponents.",
        heads=("against", *HEADS),
        rows=tuple(rows),
    )


def guided_six(scale: Scale) -> Measured:
    """Play the same search in games with six seats: three seats against three of each opponent."""
    every = [f"{search}-{evaluation}" for search in SEARCHES for evaluation in AT_SIX]
    rows, ahead = [], 0
    for name in (CLOSE[0], *sorted({*every} - {CLOSE[0]})) if scale.full else SHORT:
        games = scale.choose(10, 200 if name == CLOSE[0] else 30)
        row = _against(name, games, 6, SIX)
        rows.append((name, *row.texts))
        ahead += row.ahead
    return Measured(
        found=f"At {1000 * SECONDS:.0f} ms of CPU time per move, three seats of `{SUBJECT}` score "
        f"{rows[0][3]} ({rows[0][4]}) against three of `{rows[0][0]}`. They are significantly "
        f"ahead of {ahead} of {len(rows)} opponents.",
        heads=("against", *HEADS),
        rows=tuple(rows),
    )


HEADS = (
    *("games", "won-drawn-lost", "score", "95% interval"),
    *("iterations per move", "opponent's"),
)


@dataclass(frozen=True)
class Row:
    """The results against one opponent."""

    texts: tuple[str, ...]
    ahead: bool
    """Whether the lower bound of the interval is above 50%."""


def _against(name: str, games: int, seats: int, sides: Sides) -> Row:
    """Play `games` games against an opponent."""
    subject, other = Opponent(SUBJECT), Opponent(name)
    won, drawn = _meet(subject, other, games, seats, sides)
    score = won + drawn / 2
    record = f"{won}-{drawn}-{games - won - drawn}"
    shares = matches.share(score, games)
    return Row(
        (str(games), record, *shares, subject.effort, other.effort),
        share_interval(score / games, games)[0] > 0.5,
    )


def _meet(
    subject: Opponent, other: Opponent, games: int, seats: int = 2, sides: Sides = ((0,),)
) -> tuple[int, int]:
    """Play `games` games with alternating sides; return the wins of `subject` and the draws.

    The side with the higher mean score wins.
    """
    won = drawn = 0
    for number in range(games):
        game, state = matches.start(GAME, seats, 0)
        opening = number // 2
        matches.scatter(game, state, OPENING * seats, opening)
        side = sides[opening % len(sides)]
        own = [(seat in side) == (number % 2 == 0) for seat in range(seats)]
        players = [subject if is_own else other for is_own in own]
        outcome = matches.play(game, state, [player.chooser(state) for player in players], opening)
        ours, theirs = (
            statistics.mean(
                score for score, mine in zip(outcome.scores, own, strict=True) if mine == which
            )
            for which in (True, False)
        )
        won, drawn = won + (ours > theirs), drawn + (ours == theirs)
    return won, drawn
