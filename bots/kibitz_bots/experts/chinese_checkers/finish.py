"""The last stage: the race, once no foreign peg matters any more.

With all own pegs in the triangle and no foreign one to come there, the race database is played:
every move leads to a position that is one move nearer. From further away, once the seat is
`apart`, the shortest race that the beam search finds is played, in beams that get wider as long
as the time lasts; the rest of the last turn's race is kept and played on if nothing better turns
up, so a race never gets longer from turn to turn.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kibitz_bots.experts.chinese_checkers import table
from kibitz_bots.experts.chinese_checkers.contact import apart, undisturbed
from kibitz_bots.experts.chinese_checkers.solo import WIDEST, Course, Solo
from kibitz_bots.search.alarm import alarm
from kibitz_bots.search.found import Found
from kibitz_bots.search.limits import Limits
from kibitz_bots.threads import Flag
from kibitz_games import operations as op

NARROWEST = 16
"""The first beam, which runs to its end however little time there is."""
FURTHEST = 15
"""No database knows a larger distance."""


class Finish:
    """The race of one match."""

    def __init__(self, state: np.record) -> None:
        self._solo = Solo(table.for_board(state))
        self._plan: tuple[int, ...] = ()
        self._solo.rehearse(state, int(op.to_act(state)))

    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why there is no race database for a state, or None if there is one."""
        if (reason := table.unsupported(state)) is not None:
            return reason
        try:
            table.for_board(state)
        except table.Unsupported as error:
            return str(error)
        return None

    def answer(self, state: np.record, limits: Limits) -> Found | None:
        """Return the next move of the race, None while foreign pegs matter."""
        deadline, seat = time.monotonic() + limits.seconds, int(op.to_act(state))
        race = self._solo.race
        mask = int(table.mask_of(race, state, np.int64(seat)))
        if mask >= 0 and undisturbed(state, seat, race.hole[int(state["goal"][seat])].tolist()):
            course: Course | None = self._solo.exact(state, seat, mask)
        elif apart(state, seat):
            course = self._course(state, seat, deadline, limits.called_off)
        else:
            course = None
        return _found(course)

    def _course(
        self, state: np.record, seat: int, deadline: float, called_off: Flag
    ) -> Course | None:
        """Return the best race that can be found in time, or the rest of the last turn's."""
        solo = self._solo
        solo.ws.stop = 0
        best = _shorter(self._rest(state), solo.find(state, seat, NARROWEST))
        width = 4 * NARROWEST
        with alarm(solo.ws, deadline, called_off):
            while width <= WIDEST and not solo.ws.stop:
                best = _shorter(best, solo.find(state, seat, width))
                width *= 4
        self._plan = best.actions if best is not None else ()
        return best

    def _rest(self, state: Any) -> Course | None:
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
        return Course(self._plan[1:], 0) if owner == int(op.to_act(state)) + 1 else None


def _shorter(a: Course | None, b: Course | None) -> Course | None:
    """Return the shorter race, the first of equals."""
    if a is None or b is None:
        return a or b
    return b if len(b.actions) < len(a.actions) else a


def _found(course: Course | None) -> Found | None:
    if course is None or not course.actions:
        return None
    line, moves = course.actions, len(course.actions)
    return Found(line[0], -float(moves), moves, course.nodes, line, alone=True)
