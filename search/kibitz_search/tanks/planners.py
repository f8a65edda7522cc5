"""The planners of Tanks: an explorer that only walks, and a hunter that looks, aims and hides.

Inputs
------
Actions depend only on the player's own view: its local board, its place, hull and trail, the shots
that all have heard, the wrecks, and the starting places of the tanks. So any state that is
consistent with the view leads to the same action. Places that were never seen count as free until
the tank gets stuck there. A move that leaves it in place has shown an obstacle, and the *mind*,
which the player keeps from turn to turn, closes the place for a while.

The explorer
------------
It follows A* (`algorithms.pathfinding`) to the nearest place where it has not been. Of new places
equally near it prefers the one with the fewest new neighbors, as in Warnsdorff's rule (1823) for
the knight's tour, which leaves fewer single places behind. It never fires and never turns.

The hunter
----------
For each other tank it keeps the probability of every place, like the filter of a hidden Markov
model. Between two own turns a tank goes in each direction with probability ``ev.drift``, or stays
if the way is closed. A tank that has fired is where it fired, and a visible tank is where it is
seen; no other tank is in sight. A tank shoots along its hull, whose direction is hidden. So the
*hazard* of a place is the expected number of tanks with a clear line to it, times ``ev.shot``. In
steps, it costs what the new places that the tank may still hope for are worth.

1. If a tank is in the own line of fire, it fires: a target ahead cannot move before the shot.
2. Otherwise it rates every other action by the way by A* to the next new place, including the
   hazards of all places on it, and by the chance that a tank will be in the line of fire after it.
   Standing in a shooter's line or entering a row where one is likely is expensive, so it waits,
   goes round, or turns to face the danger, whichever is cheapest.

The weights are data in the evaluation record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.pathfinding import astar, bfs_distances, first_step
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.support import one_game_only

i64 = kernels.int64_cast()

CELLS, SEATS = rules.CELLS, rules.SEATS
STEP = 64
"""The cost of a step, in units that leave room for preferences between steps."""
ACTIONS = kernels.kernel_array(np.array([rules.UP, rules.RIGHT, rules.DOWN, rules.LEFT], np.int64))
"""The move that goes where each hull faces."""


def _inside() -> np.ndarray:
    inside = np.zeros(CELLS, np.uint8)
    inside[list(geo.NUMBERS)] = 1
    return inside


def _starts() -> np.ndarray:
    return np.array([[geo.number(place) for place in places] for places in geo.STARTS.values()])


INSIDE, STARTS = kernels.kernel_array(_inside()), kernels.kernel_array(_starts())

WEIGHTS = kernels.record_type(
    "tank_plan",
    [
        ("hunts", np.int64),  # whether it looks, aims and hides at all
        ("patience", np.int64),  # slots for which a place stays closed where it got stuck
        ("neighbour", np.int64),  # cost of a new neighbor of a new place, in 64ths of a step
        ("drift", np.float64),  # how likely a tank goes in one direction between two turns
        ("shot", np.float64),  # how likely a tank with a clear line hits in one round
        ("kill", np.float64),  # worth of a destroyed tank in points, its danger not counted
        ("relief", np.float64),  # share of the stake that its danger was
        ("haste", np.float64),  # points that a step is worth
    ],
    source=__file__,
)

BELIEF = kernels.record_type(
    "tank_mind",
    [
        ("slot", np.int64),  # of the last turn, -1 before the first
        ("place", np.int64),  # where the tank was then
        ("tried", np.int64),  # the place that it wanted to enter then, 0 for none
        ("until", np.int64, (CELLS,)),  # the slot until which a place is closed
        ("belief", np.float64, (SEATS, CELLS)),  # where each tank may be
    ],
    source=__file__,
)


# ----------------------------------------------------------------------------- what is in the way


@kernel
def _solid(st: Record, seat: Int, cell: Int) -> bool:
    """Return whether `seat` knows that no shell and no tank ever passes a place."""
    code = i64(st.memory[seat, cell])
    return bool(INSIDE[cell] == 0 or code == rules.ROCK or code == rules.WRECK)


@kernel
def _recall(mind: Record, ev: Record, st: Record, seat: Int) -> None:
    """Close the place that the tank has failed to enter."""
    if mind.slot >= 0 and mind.tried != 0 and mind.place == st.place[seat]:
        mind.until[mind.tried] = st.slot + ev.patience
    mind.tried = 0
    mind.place = st.place[seat]


@kernel
def _entry_costs(mind: Record, ev: Record, st: Record, seat: Int, cost: Any, goal: Any) -> Int:
    """Write what it costs to enter each place and which ones are new; return how many are."""
    new = i64(0)
    for cell in range(CELLS):
        goal[cell] = 0
        cost[cell] = 0
        stranger = st.memory[seat, cell] > 0 and cell != st.place[seat]
        if _solid(st, seat, i64(cell)) or stranger or mind.until[cell] > st.slot:
            continue
        cost[cell] = STEP
        if (i64(st.visited[cell]) >> seat) & 1 == 0:
            goal[cell] = 1
            new += 1
    for cell in range(CELLS):
        if goal[cell] != 0:
            for hull in range(4):
                cost[cell] += ev.neighbour * i64(goal[cell + rules.AHEAD[hull]])
    return new


@kernel
def _lower_bounds(goal: Any, bound: Any) -> None:
    """Write the steps from each place to the nearest new one if nothing were in the way."""
    bfs_distances(INSIDE, goal, rules.AHEAD, bound)
    for cell in range(CELLS):
        bound[cell] *= STEP


@kernel
def _toward(here: Int, there: Int) -> Int:
    """Return the hull that faces a neighboring place."""
    for hull in range(4):
        if here + i64(rules.AHEAD[hull]) == there:
            return i64(hull)
    return i64(-1)


# ---------------------------------------------------------------------------------- the explorer


@kernel
def _explore(mind: Record, ev: Record, st: Record, seat: Int) -> Int:
    """Return the move toward the nearest new place; a turn of the hull where there is none."""
    cost = np.zeros(CELLS, np.int64)
    goal = np.zeros(CELLS, np.uint8)
    bound = np.empty(CELLS, np.int64)
    far = np.empty(CELLS, np.int64)
    came = np.zeros(CELLS, np.int32)
    _entry_costs(mind, ev, st, seat, cost, goal)
    _lower_bounds(goal, bound)
    here = i64(st.place[seat])
    steps = astar(cost, bound, goal, rules.AHEAD, here, far, came)
    if steps < 0:
        return i64(rules.TURN_RIGHT)
    there = first_step(came, here, steps)
    mind.tried = there
    return i64(ACTIONS[_toward(here, there)])


# ------------------------------------------------------------------------- where the others may be


@kernel
def _alive(st: Record, seat: Int) -> bool:
    return bool(st.fell[seat] == 0)


@kernel
def _place_at(mind: Record, other: Int, cell: Int) -> None:
    """Know for sure where a tank is."""
    for each in range(CELLS):
        mind.belief[other, each] = 0.0
    mind.belief[other, cell] = 1.0


@kernel
def _spread(st: Record, seat: Int, drift: float, before: Any, after: Any) -> None:
    """Propagate the occupancy distribution `before` by one round."""
    for cell in range(CELLS):
        after[cell] = 0.0
    for cell in range(CELLS):
        share = before[cell]
        if share <= 0.0:
            continue
        stays = share
        for hull in range(4):
            there = cell + i64(rules.AHEAD[hull])
            if not _solid(st, seat, there):
                after[there] += share * drift
                stays -= share * drift
        after[cell] += stays


@kernel
def _mark_visible(st: Record, seat: Int, seen: Any) -> None:
    """Mark what the tank sees: its local board is fresh there."""
    board = np.empty(CELLS, np.int8)
    for cell in range(CELLS):
        code = i64(st.memory[seat, cell])
        board[cell] = rules.EDGE if INSIDE[cell] == 0 else max(code, 0) if code == -1 else code
    rules.mark_visible(board, i64(st.place[seat]), i64(st.hull[seat]), seen)


@kernel
def _condition_on_sight(mind: Record, st: Record, seat: Int, other: Int, seen: Any) -> None:
    """Take the places in sight that are empty out of what a tank's place may be."""
    total = 0.0
    for cell in range(CELLS):
        code = i64(st.memory[seat, cell])
        if seen[cell] != 0 and code == rules.TANK * (other + 1):
            _place_at(mind, other, i64(cell))
            return
        if seen[cell] != 0 or _solid(st, seat, i64(cell)) or cell == st.place[seat]:
            mind.belief[other, cell] = 0.0
        total += mind.belief[other, cell]
    if total < 1e-9:  # it did what it was not thought to do: it may be anywhere out of sight
        total = 0.0
        for cell in range(CELLS):
            if seen[cell] == 0 and not _solid(st, seat, i64(cell)):
                mind.belief[other, cell] = 1.0
                total += 1.0
    for cell in range(CELLS):
        mind.belief[other, cell] /= total


@kernel
def _propagate(mind: Record, ev: Record, st: Record, seat: Int, other: Int) -> None:
    """Let a tank move since the last own turn, or since its last shot."""
    after = np.empty(CELLS, np.float64)
    rounds = (i64(st.slot) - i64(mind.slot) + SEATS - 1) // SEATS
    if mind.slot < 0:
        _place_at(mind, other, i64(STARTS[st.start, other]))
        rounds = (i64(st.slot) - other + SEATS - 1) // SEATS
    fired = i64(st.fired[other])
    since = (i64(st.slot) - fired) // SEATS
    if fired > 0 and since < rounds:
        _place_at(mind, other, i64(st.shots[fired - 1]))
        rounds = since
    for _ in range(rounds):
        _spread(st, seat, ev.drift, mind.belief[other], after)
        for cell in range(CELLS):
            mind.belief[other, cell] = after[cell]


@kernel
def update_belief(mind: Record, ev: Record, st: Record, seat: Int) -> None:
    """Bring what the mind thinks of the other tanks up to the present turn of `seat`."""
    seen = np.zeros(CELLS, np.uint8)
    _mark_visible(st, seat, seen)
    for other in range(SEATS):
        if other == seat or not _alive(st, i64(other)):
            for cell in range(CELLS):
                mind.belief[other, cell] = 0.0
            continue
        _propagate(mind, ev, st, seat, i64(other))
        _condition_on_sight(mind, st, seat, i64(other), seen)


# ------------------------------------------------------------------------------------- the hunter


@kernel
def _ahead(st: Record, seat: Int, cell: Int, hull: Int, where: Any) -> float:
    """Return the sum of `where` over the places in a line from `cell` that nothing hides."""
    total = 0.0
    here = i64(cell) + i64(rules.AHEAD[hull])
    while not _solid(st, seat, here):
        total += where[here]
        here += i64(rules.AHEAD[hull])
    return total


@kernel
def _target(st: Record, seat: Int) -> bool:
    """Return whether a living tank is first in the line of fire."""
    ahead = i64(rules.AHEAD[st.hull[seat]])
    here = i64(st.place[seat]) + ahead
    while INSIDE[here] != 0 and st.memory[seat, here] == rules.FREE:
        here += ahead
    return bool(INSIDE[here] != 0 and st.memory[seat, here] > 0)


@kernel
def _expected_tanks(mind: Record, st: Record, now: Any) -> None:
    """Write the expected number of tanks that are about to act on every place."""
    for cell in range(CELLS):
        now[cell] = 0.0
        for other in range(SEATS):
            if _alive(st, i64(other)) and st.left[other] == 0:
                now[cell] += mind.belief[other, cell]


@kernel
def _points_at_stake(st: Record, seat: Int, new: Int) -> float:
    """Return the points that the tank may hope for if it lives."""
    turns = (i64(st.turns) - i64(st.slot)) // SEATS
    return float(rules.NEW_CELL * min(new, turns))


@kernel
def _add_danger(
    ev: Record, st: Record, seat: Int, now: Any, stake: float, cost: Any, hazard: Any
) -> None:
    """Add to the cost of each place what the tanks with a clear line to it may take."""
    for cell in range(CELLS):
        hazard[cell] = 0
        if INSIDE[cell] == 0 or _solid(st, seat, i64(cell)):
            continue
        lines = 0.0
        for hull in range(4):
            lines += _ahead(st, seat, i64(cell), i64(hull), now)
        hazard[cell] = i64(STEP * lines * ev.shot * stake / ev.haste)
        if cost[cell] > 0:
            cost[cell] += hazard[cell]


@kernel
def _hunt(mind: Record, ev: Record, st: Record, seat: Int) -> Int:
    """Return the action of a hunter."""
    update_belief(mind, ev, st, seat)
    if _target(st, seat):
        return i64(rules.FIRE)
    cost = np.zeros(CELLS, np.int64)
    hazard = np.zeros(CELLS, np.int64)
    goal = np.zeros(CELLS, np.uint8)
    bound = np.empty(CELLS, np.int64)
    far = np.empty(CELLS, np.int64)
    came = np.zeros(CELLS, np.int32)
    now = np.empty(CELLS, np.float64)
    then = np.empty(CELLS, np.float64)
    stake = _points_at_stake(st, seat, _entry_costs(mind, ev, st, seat, cost, goal))
    _expected_tanks(mind, st, now)
    _add_danger(ev, st, seat, now, stake, cost, hazard)
    _spread(st, seat, ev.drift, now, then)
    _lower_bounds(goal, bound)
    here = i64(st.place[seat])
    prize = STEP * (ev.kill + ev.relief * stake) / ev.haste
    best = -1e18
    chosen = i64(rules.TURN_RIGHT)
    for action in range(rules.UP, rules.FIRE):
        there: Int = here
        hull: Int = i64(st.hull[seat])
        if action <= rules.LEFT:
            there = here + i64(rules.AHEAD[rules.DIRECTION[action]])
            if cost[there] == 0:
                continue
            paid = float(cost[there])
        else:
            hull = (hull + (1 if action == rules.TURN_RIGHT else 3)) & 3
            paid = float(STEP + hazard[here])
        if goal[there] == 0 or there == here:
            steps = astar(cost, bound, goal, rules.AHEAD, there, far, came)
            if steps >= 0:
                paid += far[steps]
        value = prize * _ahead(st, seat, there, hull, then) - paid
        if value > best:
            best = value
            chosen = i64(action)
    if chosen <= rules.LEFT:
        mind.tried = here + i64(rules.AHEAD[rules.DIRECTION[chosen]])
    return chosen


# ------------------------------------------------------------------------------------ the planner


@kernel
def decide(mind: Record, ev: Record, st: Record) -> Int:
    """Return the action of the seat to act; `mind` is its own and learns from the turn."""
    seat = i64(st.side)
    _recall(mind, ev, st, seat)
    action = _hunt(mind, ev, st, seat) if ev.hunts != 0 else _explore(mind, ev, st, seat)
    mind.slot = st.slot
    return action


def new_belief() -> Any:
    """Return the mind of a player before its first turn."""
    mind: Any = kernels.new(BELIEF)
    mind.slot = -1
    return mind


class Planner:
    """A player that follows a plan; it keeps a mind from turn to turn of one match."""

    def __init__(self, state: np.record) -> None:
        self._mind = new_belief()

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the planner cannot play a game, or None if it can."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the action of the plan; `state` is any that agrees with the seat's view.

        It takes a fraction of a millisecond, so none of the limits matters. A turn that is asked
        twice, or a match that goes on with a new planner, only costs what the mind had learnt.
        """
        if int(state["slot"]) <= int(self._mind.slot):
            self._mind = new_belief()
        action = int(decide(self._mind, ev, state))
        return SearchResult(action, 0.0, 1, 1, (action,))


def _weights(**values: float) -> np.record:
    ev: Any = kernels.new(WEIGHTS)
    for name, value in values.items():
        ev[name] = value
    record: np.record = ev
    return record


def explorer(state: np.record) -> np.record:
    """Return the weights of a player who only walks."""
    return _weights(hunts=0, patience=12, neighbour=1)


def hunter(state: np.record) -> np.record:
    """Return the weights of a player who also looks, aims and hides.

    The chances are those of tanks that take any of seven actions: one in six moves if they have
    not fired, a shot in seven turns, in one of four directions.
    """
    return _weights(
        hunts=1,
        patience=40,
        neighbour=4,
        drift=1 / 6,
        shot=1 / 28,
        kill=50,
        relief=0.04,
        haste=8,
    )
