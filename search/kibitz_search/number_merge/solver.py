"""The solver: it builds a table if time and memory suffice, otherwise it searches ahead.

With a table, it chooses by outcome, then by points. Among equal moves in a won position, it chooses
the one with the smallest fraction of optimal replies; otherwise it maximizes the probability of an
opponent's error (see `swindle`). A table covers all later positions, so later turns only look them
up.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.core.game import GameInfo
from kibitz_games.number_merge import rules
from kibitz_search.algorithms import hugepages
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.support import one_game_only
from kibitz_search.algorithms.timer import stop_timer
from kibitz_search.cancellation import CancelToken
from kibitz_search.number_merge import retrograde as number_merge_retrograde
from kibitz_search.number_merge import swindle
from kibitz_search.number_merge.boundaries import BoundarySet, actions, set_bits
from kibitz_search.number_merge.evaluation import forecast

PROBE = 12
"""The number of boundaries of the small table for measuring the speed of the machine."""
SLACK = 1.1
"""The safety factor on the expected time of a table."""
COSTLIER = 5.0
"""A swindle probability takes at most this many times as long to compute as a value."""
GLANCE = 0.15
"""The fraction of time for the alpha-beta search, as a fallback if the table is not finished."""


class NumberMergeSolver:
    """Plays perfectly once all sets of boundaries fit into `table` MiB, with one byte each.

    The alpha-beta search for longer rows needs another sixteenth of that memory.
    """

    def __init__(self, state: np.record, *, table: int = 32) -> None:
        self._most = (table << 20).bit_length() - 1
        self._ws: Any = kernels.new(number_merge_retrograde.WORKSPACE)
        self._ahead = AlphaBeta(state, table=max(1, table // 16), reductions=False)
        self._row = BoundarySet(state)
        self._worths = np.zeros(0, np.int8)
        self._swindles = np.zeros(0, np.float32)
        self._pace = self._probe(state)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the solver does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: SearchLimits) -> SearchResult:
        """Return the proven best move or, in a long row, the best move found in time.

        `state` must not be terminal and is not modified. With a depth or node limit, the solver
        uses the alpha-beta search without a table.
        """
        deadline = time.monotonic() + limits.seconds
        self._ws.nodes = self._ws.stop = 0
        if limits.depth or limits.nodes:
            return self._look_ahead(state, limits)
        mask, source = self._row.mask(state), random.Random(limits.seed)
        if mask is None or not self._worths.size:
            self._start_row(BoundarySet(state))
            mask = (1 << self._row.boundaries) - 1
            if (found := self._prepare(state, deadline, limits)) is not None:
                return found
        lead = _lead(state)
        if lead + int(self._worths[mask]) <= 0 and not self._swindles.size:
            mask = self._prepare_swindles(state, mask, deadline, limits.cancelled)
        return self._exact_result(state, mask, source)

    def _prepare_swindles(
        self, state: np.record, mask: int, deadline: float, flag: CancelToken
    ) -> int:
        """Compute the swindle probabilities if time allows; return the mask of boundaries."""
        number = mask.bit_count()
        left = (deadline - time.monotonic()) / COSTLIER
        if not 0 < number <= swindle.MAX_BOUNDARIES or self._pace * (1 << number) > left:
            return mask
        self._start_row(BoundarySet(state))
        self._ws.stop = 0  # still set after a timeout
        self._fill()
        hopes = hugepages.zeros(1 << number, np.float32)
        with stop_timer(self._ws, deadline, flag):
            done = swindle.fill(
                hopes, self._worths, self._row.gains, np.int64(number & 1), self._ws
            )
        self._ws.stop = 0
        if done == hopes.size:
            self._swindles = hopes
        return (1 << number) - 1

    def _start_row(self, row: BoundarySet) -> None:
        """Switch to another row."""
        self._row, self._worths = row, np.zeros(0, np.int8)
        self._swindles = np.zeros(0, np.float32)

    def _prepare(
        self, state: np.record, deadline: float, limits: SearchLimits
    ) -> SearchResult | None:
        """Build the table and return None, or return the result of the alpha-beta search."""
        left = deadline - time.monotonic()
        fits = self._row.boundaries <= self._most
        expected = self._pace * (1 << self._row.boundaries)
        hopeful = fits and expected * SLACK < left * (1 - GLANCE)
        if self._row.boundaries <= PROBE // 2 and fits:
            self._fill()
            return None
        glance = min(left * GLANCE, 2 * expected) if hopeful else left
        found = self._look_ahead(state, replace(limits, seconds=glance))
        if hopeful and not limits.cancelled.is_set():
            with stop_timer(self._ws, deadline, limits.cancelled):
                self._fill()
        return None if self._worths.size else found

    def _fill(self) -> None:
        """Compute the table of the row unless the search is stopped."""
        began, count = time.thread_time(), 1 << self._row.boundaries
        worths = hugepages.zeros(count, np.int8)
        done = int(number_merge_retrograde.fill(worths, self._row.gains, self._ws))
        self._ws.nodes += done
        if done == count:
            self._worths = worths
        if done >= 1 << PROBE:
            self._pace = (time.thread_time() - began) / done

    def _probe(self, state: np.record) -> float:
        """Compile all kernels; return the CPU time per table entry."""
        ws, gains = self._ws, np.ones((PROBE + 2, PROBE + 2), np.int8)
        for _ in range(2):  # the first call may compile
            began = time.thread_time()
            number_merge_retrograde.fill(np.zeros(1 << PROBE, np.int8), gains, ws)
            taken = time.thread_time() - began
        worths, one = np.zeros(2, np.int8), np.ones((3, 3), np.int8)
        swindle.fill(np.zeros(2, np.float32), worths, one, np.int64(0), ws)
        self._look_ahead(state, SearchLimits(depth=1))
        return taken / (1 << PROBE)

    # --------------------------------------------------------------------------- with a table

    def _exact_result(self, state: np.record, mask: int, source: random.Random) -> SearchResult:
        lead = _lead(state)
        place = min(self._ranked(mask, lead), key=lambda rank: (*rank[:-1], source.random()))[-1]
        line = self._line(mask, place)
        total = lead + self._after(mask, place)
        return SearchResult(
            action=set_bits(mask).index(place),
            value=WIN_SCORE * ((total > 0) - (total < 0)),
            depth=len(line),
            nodes=int(self._ws.nodes),
            line=actions(mask, line),
        )

    def _after(self, mask: int, place: int) -> int:
        """Return the value of a move for the mover."""
        return self._row.gain(mask, place) - int(self._worths[mask ^ (1 << place)])

    def _ranked(self, mask: int, lead: int) -> list[tuple[int, int, float, int]]:
        """Return a sort key for each move, best first: outcome, points, and safe replies."""
        ranks = []
        for place in set_bits(mask):
            worth, after = self._after(mask, place), mask ^ (1 << place)
            outcome = (lead + worth > 0) - (lead + worth < 0)
            safe = 1.0 - float(self._swindles[after]) if self._swindles.size else self._safe(after)
            ranks.append((-outcome, -worth, safe, place))
        return ranks

    def _safe(self, mask: int) -> float:
        """Return the fraction of optimal moves in a position."""
        worth, places = int(self._worths[mask]), set_bits(mask)
        kept = sum(self._after(mask, place) == worth for place in places)
        return kept / len(places) if places else 0.0

    def _line(self, mask: int, place: int) -> list[int]:
        """Return a line of optimal moves that starts with `place`, as boundaries."""
        line = [place]
        mask ^= 1 << place
        while mask:
            line.append(max(set_bits(mask), key=lambda bit: self._after(mask, bit)))
            mask ^= 1 << line[-1]
        return line

    # ------------------------------------------------------------------------ without a table

    def _look_ahead(self, state: np.record, limits: SearchLimits) -> SearchResult:
        """Return the result of the alpha-beta search, proven if it reached the end of the game."""
        found = self._ahead.search(state, forecast(state), limits)
        self._ws.nodes += found.nodes
        value = found.value
        if found.depth == int(state["count"]) - 1:
            value = WIN_SCORE * float(np.sign(value))
        return replace(found, value=value, nodes=int(self._ws.nodes))


def _lead(state: Any) -> int:
    """Return the lead of the seat to act."""
    return int(state.score[state.side]) - int(state.score[1 - state.side])
