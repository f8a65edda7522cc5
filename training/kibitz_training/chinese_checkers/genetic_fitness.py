"""The fitness in "Fun With Chinese Checkers": arrays of distances, scored by greedy games.

An individual has a number for each hole of the star, called a *distance*; smaller is better. Its
fitness is the mean over its games against the judge: ``500 - p`` for a win after `p` plies of all
players, and the negated remaining distance for a loss. It plays two games, or five if the first two
sum to at least `PROMISING`.

The report leaves some points open, which this module decides as follows:

- ``p`` counts the plies of all players. The report's 72.6 plies for two players and 106.6 for three
  are then 36.3 and 35.5 moves of the winner, which are plausibly similar.
- The judge's array measures a loser's remaining distance (with `own_distance`, the loser's own
  array). The report's "the same evaluation function that drives the bot" could mean either. If
  individuals are measured by their own arrays, they evolve smaller numbers instead of getting
  closer to a win, and reach positive fitness without any wins. In the report, positive fitness
  means wins.
- If players take turns, the individual begins every second game with two players, and every third
  with three; `begins` changes that. The report's own figures suggest that the individual always
  begins. A win then takes an odd number of plies with two players, and 1 modulo 3 with three. Five
  wins therefore add up to an odd number with two players, and to 2 modulo 3 with three. The
  report's sums agree: 5 x 72.6 = 363 and 5 x 83.4 = 417 are odd, and 5 x 106.6 = 533 is 2 modulo 3.
  If players took turns, the last sum would be 0 modulo 3.
- Ties between moves are broken at random; otherwise all five games would be the same.
- A game in which nobody finishes is restarted, at most `restarts` times. After that it counts as a
  loss with the distance of the initial position, or of the final position if `stuck` says so.
  Otherwise an individual could leave one peg at home, so that the judge cannot win, and advance its
  other pegs without pressure. A population of such individuals would always look close to a win,
  but never win.
- Start and goal holes begin with the numbers of the hand-tuned judge (see `evaluation.hand`). The
  report shows them only in a figure; the numbers here follow its description. They are moved
  `apart` so that all random numbers lie between them. Every move out of a start hole, and every
  move into a goal hole, then improves the sum. With the judge's original numbers, some random
  numbers are lower than those of the goal, and pegs stop in front of it forever: no individual had
  won by generation 3,000 with 20 individuals, or by generation 250 with 100. The report's first win
  is in generation 51. With numbers moved apart, the first win is in generation 348 with 20
  individuals, and in generation 21 with 100.
- The population size matters most, then the range of the initial numbers. With a few hundred
  individuals and numbers up to 100, the array wins nearly all games after some hundred generations.
  A small population soon becomes uniform; then only mutations change it, and few of them help. Once
  most individuals win their five games, luck decides which are selected, so later generations win
  faster but not more often. There is no point in continuing a run after its population has become
  uniform.
- The size of the judge's "great penalty" does not matter: with any value from 4 to 50, it plays the
  same games.
- With three players, both opponents are the judge, and the first to finish wins.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL, Array
from kibitz_training.chinese_checkers.hole_games import LOST_BY, PLIES, RESTARTS, WON, HoleGames
from kibitz_training.evolution import Judgement
from kibitz_training.genetic import Settings, Template

WORTH = 500.0
PROMISING = 300.0
FEW, MANY = 2, 5
JUDGES = ("hand", "euclid", "stragglers", "mobility")
"""The evaluations against which the best array is tested."""


def template(settings: Settings, *, apart: bool = True) -> Template:
    """Return the template of individuals.

    Start and goal holes have the hand-tuned judge's numbers; with `apart`, they are moved so that
    all random numbers lie between them.
    """
    shape = geo.geometry("star", geo.COMMON["star"])
    pegs = geo.usual_pegs("star", geo.COMMON["star"])
    goal, home = list(shape.home(GOAL, pegs)), list(shape.home(0, pegs))
    start, by_hand = np.full(shape.holes, np.nan), distances("hand")
    start[goal + home] = by_hand[goal + home]
    if apart:
        start[goal] += settings.lowest - 1 - by_hand[goal].max()
        start[home] += settings.highest + 1 - by_hand[home].min()
    free = np.zeros(shape.holes, np.bool_)
    free[goal] = True
    return Template(start, free)


def judge(games: HoleGames, seed: int, population: Array, generation: int) -> Judgement:
    """Return the fitness of each individual; it depends only on the arguments."""
    seeds = _seeds(seed, generation, len(population))
    two = games.play(population, seeds[:, 0].tolist(), 0, FEW)
    promising = np.flatnonzero(scores(two).sum(axis=1) >= PROMISING)
    played = np.full(len(population), float(FEW))
    totals = _totals(two)
    if len(promising):
        more = games.play(population[promising], seeds[promising, 1].tolist(), FEW, MANY - FEW)
        totals[:, promising] += _totals(more)
        played[promising] = MANY
    score, wins, restarts = totals
    counts = {"wins": wins, "games": played, "restarts": restarts}
    return Judgement(score / played, {name: int(count.sum()) for name, count in counts.items()})


def scores(came: Array) -> Array:
    """Return the report's score for each result of `hole_games`."""
    points: Array = np.where(came[..., WON] > 0, WORTH - came[..., PLIES], -came[..., LOST_BY])
    return points


def _totals(came: Array) -> Array:
    parts = (scores(came), came[..., WON], came[..., RESTARTS])
    return np.stack([part.sum(axis=1) for part in parts])


def _seeds(
    seed: int, generation: int, count: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    source = np.random.default_rng([seed, generation, 2])
    return source.integers(0, 2**63, size=(count, 2))
