"""The last stage: the race, once no foreign peg matters any more.

With all own pegs in the triangle and no foreign one to come there, the race database is played:
every move leads to a position that is one move nearer. From further away, once the seat
`is_separated`, the shortest race that the beam search finds is played, in beams that get wider as
long as the time lasts; the rest of the last turn's race is kept and played on if nothing better
turns up, so a race never gets longer from turn to turn.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.timer import stop_timer
from kibitz_search.cancellation import CancelToken
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.race_beam import MAX_WIDTH, RaceBeam, RaceLine
from kibitz_search.chinese_checkers.separation import is_separated, undisturbed

MIN_BEAM = 16
"""The first beam, which runs to its end however little time there is."""


class RaceEndgame:
    """The race of one match."""

    def __init__(self, state: np.record) -> None:
        self._solo = RaceBeam(race_db.for_board(state))
        self._plan: tuple[int, ...] = ()
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
        """Return the next move of the race, None while foreign pegs matter."""
        deadline, seat = time.monotonic() + limits.seconds, int(op.to_act(state))
        race = self._solo.race
        mask = int(race_db.mask_of(race, state, np.int64(seat)))
        if mask >= 0 and undisturbed(state, seat, race.hole[int(state["goal"][seat])].tolist()):
            course: RaceLine | None = self._solo.exact(state, seat, mask)
        elif is_separated(state, seat):
            course = self._best_line(state, seat, deadline, limits.cancelled)
        else:
            course = None
        return _result(course)

    def _best_line(
        self, state: np.record, seat: int, deadline: float, cancelled: CancelToken
    ) -> RaceLine | None:
        """Return the best race that can be found in time, or the rest of the last turn's."""
        solo = self._solo
        solo.ws.stop = 0
        best = _shorter(self._rest(state), solo.find(state, seat, MIN_BEAM))
        width = 4 * MIN_BEAM
        with stop_timer(solo.ws, deadline, cancelled):
            while width <= MAX_WIDTH and not solo.ws.stop:
                best = _shorter(best, solo.find(state, seat, width))
                width *= 4
        self._plan = best.actions if best is not None else ()
        return best

    def _rest(self, state: Any) -> RaceLine | None:
        """Return the race of the last turn without the move that was played, if it still fits."""
        holes, seats = int(state["holes"]), int(state["seats"])
        played = self._plan[:1]
        mine = [
            int(action) for action in state["history"][max(0, int(state["ply"]) - seats) :][:seats]
        ]
        if not played or played[0] not in mine or len(self._plan) < 2:
            return None
        origin = self._plan[1] // holes
        owner = (int(state["board"][origin]) + 15) >> 4
        return RaceLine(self._plan[1:], 0) if owner == int(op.to_act(state)) + 1 else None


def _shorter(a: RaceLine | None, b: RaceLine | None) -> RaceLine | None:
    """Return the shorter race, the first of equals."""
    if a is None or b is None:
        return a or b
    return b if len(b.actions) < len(a.actions) else a


def _result(course: RaceLine | None) -> SearchResult | None:
    if course is None or not course.actions:
        return None
    line, moves = course.actions, len(course.actions)
    return SearchResult(line[0], -float(moves), moves, course.nodes, line, own_moves_only=True)
