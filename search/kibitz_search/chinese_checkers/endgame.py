"""The last phase: the race, once opponents' pegs no longer matter.

If all of the player's pegs are in the triangle and no other peg can enter it, moves come from the
race database: each brings the pegs one move closer to the goal. Once the seat `is_separated`, but
its pegs are still outside the triangle, a beam search looks for the shortest race. It widens the
beam until time or nodes run out. If it finds nothing shorter than the rest of the previous turn's
race, that race is continued.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.timer import ThinkingTime, stop_timer
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.race_beam import MAX_WIDTH, RaceBeam, RaceLine
from kibitz_search.chinese_checkers.separation import is_separated, own_pegs, undisturbed

MIN_BEAM = 16
"""The width of the first beam, which is always completed."""


class RaceEndgame:
    """The race oracle for one match."""

    def __init__(self, state: np.record) -> None:
        self._solo = RaceBeam(race_db.for_board(state))
        self._plan: tuple[int, ...] = ()
        self._expected: list[int] = []
        """The holes of the seat's pegs after the first move of the plan, in ascending order."""
        self._solo.warm_up(state, int(op.to_act(state)))

    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why there is no race database for a state, or None if there is one."""
        if (reason := race_db.unsupported(state)) is not None:
            return reason
        try:
            race_db.for_board(state)
        except race_db.UnsupportedBoardError as error:
            return str(error)
        return None

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        """Return the next move of the race, or None while opponents' pegs matter."""
        thinking, seat = ThinkingTime(limits.seconds), int(op.to_act(state))
        race = self._solo.race
        mask = int(race_db.mask_of(race, state, np.int64(seat)))
        if mask >= 0 and undisturbed(state, seat, race.hole[int(state["goal"][seat])].tolist()):
            course: RaceLine | None = self._solo.exact(state, seat, mask)
        elif is_separated(state, seat):
            course = self._best_line(state, seat, thinking, limits)
        else:
            course = None
        return _result(course)

    def _best_line(
        self, state: np.record, seat: int, thinking: ThinkingTime, limits: SearchLimits
    ) -> RaceLine | None:
        """Return the shortest of the races found and the rest of the previous turn's race."""
        solo = self._solo
        solo.ws.stop = solo.ws.most = 0
        best = _shorter(self._rest(state, seat), solo.find(state, seat, MIN_BEAM))
        nodes, width = int(solo.ws.nodes), 4 * MIN_BEAM
        with stop_timer(solo.ws, thinking.deadline, limits.cancelled):
            while width <= MAX_WIDTH and not solo.ws.stop and _below(nodes, limits.nodes):
                solo.ws.most = max(0, limits.nodes - nodes)
                best = _shorter(best, solo.find(state, seat, width))
                nodes += int(solo.ws.nodes)
                width *= 4
        self._keep(state, seat, best)
        return None if best is None else replace(best, nodes=nodes)

    def _keep(self, state: np.record, seat: int, best: RaceLine | None) -> None:
        """Store a race, so that the next turn can continue it."""
        self._plan = best.actions if best is not None else ()
        if self._plan:
            origin, target = divmod(self._plan[0], int(state["holes"]))
            self._expected = sorted({*own_pegs(state, seat)} - {origin} | {target})

    def _rest(self, state: np.record, seat: int) -> RaceLine | None:
        """Return the rest of the previous turn's race, or None if its first move was not played."""
        played = len(self._plan) > 1 and sorted(own_pegs(state, seat)) == self._expected
        return RaceLine(self._plan[1:], 0) if played else None


def _below(nodes: int, most: int) -> bool:
    """Return whether the limit allows more nodes; 0 means no limit."""
    return most == 0 or nodes < most


def _shorter(a: RaceLine | None, b: RaceLine | None) -> RaceLine | None:
    """Return the shorter race, or `a` if both are equal."""
    if a is None or b is None:
        return a or b
    return b if len(b.actions) < len(a.actions) else a


def _result(course: RaceLine | None) -> SearchResult | None:
    if course is None or not course.actions:
        return None
    line, moves = course.actions, len(course.actions)
    return SearchResult(line[0], -float(moves), moves, course.nodes, line, own_moves_only=True)
