"""Planners for Tanks: an explorer that only moves, and a hunter that tracks, aims and hides.

Inputs
------
Actions depend only on the player's own view: its local board, its place, hull and trail, public
shots, the wrecks, and the starting places of the tanks. All states that are consistent with the
view therefore lead to the same action. Cells that were never seen count as free until the tank gets
stuck. A move that does not change the tank's place reveals an obstacle, and the *mind*, which the
player keeps between turns, blocks that cell for a while.

The explorer
------------
The explorer uses A* (`algorithms.pathfinding`) to move to the nearest cell that it has not visited.
Among equally close new cells, it prefers those with the fewest new neighbors, as in Warnsdorff's
rule (1823) for the knight's tour, which leaves fewer isolated cells behind. It never fires, and
turns only if no new cell is reachable.

The hunter
----------
The hunter tracks a probability distribution over cells for each other tank, like the filter of a
hidden Markov model. Between two turns of the hunter, a tank moves in each direction with
probability ``ev.drift``, or stays if the cell is blocked. A shot reveals the shooter's cell, and
visible tanks are where they are seen; no other tank is on a visible cell. A tank shoots along its
hull, whose direction is hidden. The *hazard* of a cell is the expected loss from staying there, in
steps. It is the product of the expected number of tanks with a clear line to the cell,
``ev.shot``, and the value of the new cells that the tank may still visit.

1. If a tank is in its line of fire, it fires: the target cannot move before the shot.
2. Otherwise, it rates each action by the cost of the A* path to the next new cell, including the
   hazards on the path, and by the probability that a tank will then be in its line of fire. Staying
   in a shooter's line or entering a row with a likely shooter is expensive, so the hunter waits,
   takes a detour, or turns to face the danger, whichever is cheapest.

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
"""The cost of a step, in units small enough to express preferences between equal paths."""
ACTIONS = kernels.kernel_array(np.array([rules.UP, rules.RIGHT, rules.DOWN, rules.LEFT], np.int64))
"""The move in the direction of each hull."""


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
        ("hunts", np.int64),  # 1 for the hunter, 0 for the explorer
        ("patience", np.int64),  # slots for which a cell remains blocked after getting stuck
        ("neighbour", np.int64),  # cost of a new neighbor of a new place, in 64ths of a step
        ("drift", np.float64),  # probability of a move in each direction between two turns
        ("shot", np.float64),  # probability per round that a tank with a clear line hits
        ("kill", np.float64),  # value of a kill in points, without the removed danger
        ("relief", np.float64),  # value of the removed danger, as a fraction of the points at stake
        ("haste", np.float64),  # value of a step in points
    ],
    source=__file__,
)

BELIEF = kernels.record_type(
    "tank_mind",
    [
        ("slot", np.int64),  # slot of the last turn, -1 before the first
        ("place", np.int64),  # cell of the tank at that time
        ("tried", np.int64),  # the cell that it tried to enter, or 0
        ("until", np.int64, (CELLS,)),  # the slot until which a cell counts as blocked
        ("belief", np.float64, (SEATS, CELLS)),  # probability of each tank on each cell
    ],
    source=__file__,
)


# -------------------------------------------------------------------------------------- obstacles


@kernel
def _solid(st: Record, seat: Int, cell: Int) -> bool:
    """Return whether `seat` knows a cell to be permanently impassable for tanks and shells."""
    code = i64(st.memory[seat, cell])
    return bool(INSIDE[cell] == 0 or code == rules.ROCK or code == rules.WRECK)


@kernel
def _recall(mind: Record, ev: Record, st: Record, seat: Int) -> None:
    """Block the cell that the tank failed to enter."""
    if mind.slot >= 0 and mind.tried != 0 and mind.place == st.place[seat]:
        mind.until[mind.tried] = st.slot + ev.patience
    mind.tried = 0
    mind.place = st.place[seat]


@kernel
def _entry_costs(mind: Record, ev: Record, st: Record, seat: Int, cost: Any, goal: Any) -> Int:
    """Write the cost of entering each cell, and mark new cells; return the number of new cells."""
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
    """Write the cost from each cell to the nearest new one on an empty board."""
    bfs_distances(INSIDE, goal, rules.AHEAD, bound)
    for cell in range(CELLS):
        bound[cell] *= STEP


@kernel
def _toward(here: Int, there: Int) -> Int:
    """Return the hull that faces a neighboring cell."""
    for hull in range(4):
        if here + i64(rules.AHEAD[hull]) == there:
            return i64(hull)
    return i64(-1)


# ---------------------------------------------------------------------------------- the explorer


@kernel
def _explore(mind: Record, ev: Record, st: Record, seat: Int) -> Int:
    """Return the move toward the nearest new cell, or a turn of the hull if there is none."""
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


# --------------------------------------------------------------------------- tracking other tanks


@kernel
def _alive(st: Record, seat: Int) -> bool:
    return bool(st.fell[seat] == 0)


@kernel
def _place_at(mind: Record, other: Int, cell: Int) -> None:
    """Set the belief for a tank to a single cell."""
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
    """Mark the cells that the tank sees. The local board is up to date there."""
    board = np.empty(CELLS, np.int8)
    for cell in range(CELLS):
        code = i64(st.memory[seat, cell])
        board[cell] = rules.EDGE if INSIDE[cell] == 0 else max(code, 0) if code == -1 else code
    rules.mark_visible(board, i64(st.place[seat]), i64(st.hull[seat]), seen)


@kernel
def _condition_on_sight(mind: Record, st: Record, seat: Int, other: Int, seen: Any) -> None:
    """Condition the belief for a tank on the visible cells."""
    total = 0.0
    for cell in range(CELLS):
        code = i64(st.memory[seat, cell])
        if seen[cell] != 0 and code == rules.TANK * (other + 1):
            _place_at(mind, other, i64(cell))
            return
        if seen[cell] != 0 or _solid(st, seat, i64(cell)) or cell == st.place[seat]:
            mind.belief[other, cell] = 0.0
        total += mind.belief[other, cell]
    if total < 1e-9:  # contradicts the model: the tank may be on any cell out of sight
        total = 0.0
        for cell in range(CELLS):
            if seen[cell] == 0 and not _solid(st, seat, i64(cell)):
                mind.belief[other, cell] = 1.0
                total += 1.0
    for cell in range(CELLS):
        mind.belief[other, cell] /= total


@kernel
def _propagate(mind: Record, ev: Record, st: Record, seat: Int, other: Int) -> None:
    """Propagate the belief for a tank from the player's last turn or from its last shot."""
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
    """Update the beliefs for all other tanks to the current turn of `seat`."""
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
    """Return the sum of `where` over the cells in a line from `cell` to the first solid one."""
    total = 0.0
    here = i64(cell) + i64(rules.AHEAD[hull])
    while not _solid(st, seat, here):
        total += where[here]
        here += i64(rules.AHEAD[hull])
    return total


@kernel
def _target(st: Record, seat: Int) -> bool:
    """Return whether the first object in the line of fire is a living tank."""
    ahead = i64(rules.AHEAD[st.hull[seat]])
    here = i64(st.place[seat]) + ahead
    while INSIDE[here] != 0 and st.memory[seat, here] == rules.FREE:
        here += ahead
    return bool(INSIDE[here] != 0 and st.memory[seat, here] > 0)


@kernel
def _expected_tanks(mind: Record, st: Record, now: Any) -> None:
    """Write the expected number of active tanks on each cell."""
    for cell in range(CELLS):
        now[cell] = 0.0
        for other in range(SEATS):
            if _alive(st, i64(other)) and st.left[other] == 0:
                now[cell] += mind.belief[other, cell]


@kernel
def _points_at_stake(st: Record, seat: Int, new: Int) -> float:
    """Return the points that the tank can still score with new cells."""
    turns = (i64(st.turns) - i64(st.slot)) // SEATS
    return float(rules.NEW_CELL * min(new, turns))


@kernel
def _add_danger(
    ev: Record, st: Record, seat: Int, now: Any, stake: float, cost: Any, hazard: Any
) -> None:
    """Write the hazard of each cell, and add it to the cost."""
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
    """Return the hunter's action."""
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
    """Return the action for the seat to act, and update its `mind`."""
    seat = i64(st.side)
    _recall(mind, ev, st, seat)
    action = _hunt(mind, ev, st, seat) if ev.hunts != 0 else _explore(mind, ev, st, seat)
    mind.slot = st.slot
    return action


def new_belief() -> Any:
    """Return the mind of a player before the first turn."""
    mind: Any = kernels.new(BELIEF)
    mind.slot = -1
    return mind


class Planner:
    """A player that uses one of the planners; keeps its mind between turns of a match."""

    def __init__(self, state: np.record) -> None:
        self._mind = new_belief()

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the planner does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the planned action; `state` may be any state consistent with the seat's view.

        This takes a fraction of a millisecond, so all limits are ignored. If a turn is repeated, or
        a match continues with a new planner, only the information in the mind is lost.
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
    """Return the weights of the explorer."""
    return _weights(hunts=0, patience=12, neighbour=1)


def hunter(state: np.record) -> np.record:
    """Return the weights of the hunter.

    The probabilities assume tanks that choose uniformly among seven actions: 1/6 for each direction
    if they did not fire, and 1/28 for a shot in a given direction.
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
