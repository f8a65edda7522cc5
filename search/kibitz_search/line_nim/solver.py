"""The solver, which uses the strongest method that time allows.

1. If a table from an earlier turn contains the position, look it up.
2. If the free cells fit into a table that can be built in time, build it.
3. Otherwise, run a proof search over sums of components. If it fails and the position is only one
   to three cells too large, build a table without the cells of one line, which decides all moves
   that take these cells. Repeat this for other lines until a winning move is found.
4. If nothing is proven, aim to be the first player with a table, because nearly all positions with
   many cells are won for a perfect player to move. The move leaves one cell more than fits into a
   table, plus a multiple of 4, because the player can always complete the opponent's move to 4
   cells. With more than 64 free cells, only this step applies.

In a lost position, the solver chooses the move with the smallest fraction of winning replies. Among
equals, it leaves as many cells as possible, so that the opponent needs many correct moves.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.core.game import GameInfo
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import rules
from kibitz_search.algorithms import hugepages
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.support import one_game_only
from kibitz_search.algorithms.timer import stop_timer
from kibitz_search.cancellation import CancelToken
from kibitz_search.line_nim import components, proof_search
from kibitz_search.line_nim import retrograde as line_nim_retrograde
from kibitz_search.line_nim.bitboard import MAX_CELLS, CellBitboard, free_cells, lines

SAMPLE = tuple(12 * y + x for y in range(3, 7) for x in range(3, 7))
"""A set of 16 cells whose table is built to measure the speed of the machine."""
TIMES = 3
"""The number of measurements; the fastest counts, since the first may compile or allocate
memory."""
QUICK = 12
"""Tables of up to this number of cells are built regardless of time, so that there is a result."""
SHARE = 0.4
"""The fraction of time for the proof search if step 3 may have to build tables afterwards."""
SHOWN = 6
"""The maximum length of the reported line."""
PERIOD = 1 + geo.LONGEST
"""A player can always take so many cells that both players together take this number."""


@dataclass(frozen=True)
class _Verdict:
    """The verdict on a move."""

    action: int
    wins: bool
    traps: float = 0.0
    """The fraction of replies that win for the opponent; 0 without a table."""


class LineNimSolver:
    """Plays perfectly once all subsets of the free cells fit into `table` MiB, with one bit each.

    32 MiB are enough for 28 cells; each doubling adds one cell.
    """

    def __init__(self, state: np.record, *, table: int = 32) -> None:
        self._most = (table << 20).bit_length() + 2
        self._memory = hugepages.zeros(1 << max(0, self._most - 6), np.uint64)
        self._named = False  # whether the memory is a table of names
        self._island: CellBitboard | None = None  # the cells if the memory is a table of subsets
        self._nodes = 0
        self._chart: Any = kernels.new(components.CHART)
        self._ws: Any = kernels.new(proof_search.WORKSPACE)
        self._pace = 0.0  # CPU seconds per word of a table
        self._doomed: set[int] = set()  # losing moves in an undecided position
        self._warm_up()

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the solver does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: SearchLimits) -> SearchResult:
        """Return a proven win, or the move with the fewest winning replies, or a guess.

        `state` must not be terminal and is not modified. Depth limits are not supported. With a
        node limit, the solver only builds a table of at most that many positions, because an
        unfinished proof search has no result.
        """
        limits.refuse(self, "depth")
        deadline = time.monotonic() + limits.seconds
        cells = free_cells(state)
        self._ws.nodes = self._nodes = 0
        self._doomed = set()
        if self._island is not None and self._island.covers(cells):
            verdicts: list[_Verdict] | None = self._looked_up(cells)
        elif limits.nodes:
            verdicts = self._tabulated(cells, limits.nodes, deadline, limits.cancelled)
        else:
            verdicts = self._judged(cells, deadline, limits.cancelled)
        return self._answer(cells, verdicts, random.Random(limits.seed))

    def _judged(
        self, cells: Sequence[int], deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Return the verdicts on all moves or on all winning moves; None if nothing is proven."""
        island = CellBitboard(cells)
        if island.size > MAX_CELLS:
            return None
        left = deadline - time.monotonic()
        if self._fits(island.size, left) and self._tabulate(island, deadline, flag):
            return self._looked_up(cells)
        beyond, until = island.size - self._most, time.monotonic() + SHARE * left
        if not 0 < beyond <= geo.LONGEST or not self._fits(self._most, (1 - SHARE) * left):
            return self._proven(cells, island, deadline, flag)
        return (
            self._proven(cells, island, until, flag)
            or self._tried(cells, beyond, deadline, flag)
            or self._proven(cells, island, deadline, flag)
        )

    def _tabulated(
        self, cells: Sequence[int], nodes: int, deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Return the verdicts from a table of at most `nodes` positions, or None."""
        island = CellBitboard(cells)
        if island.size > min(self._most, nodes.bit_length() - 1):
            return None
        return self._looked_up(cells) if self._tabulate(island, deadline, flag) else None

    # ------------------------------------------------------------------------------ with a table

    def _fits(self, size: int, seconds: float) -> bool:
        """Return whether a table of `size` cells is possible and likely to be finished in time."""
        if size > self._most:
            return False
        return size <= QUICK or self._pace * 2.0 ** (size - line_nim_retrograde.WORD) < seconds

    def _tabulate(self, island: CellBitboard, deadline: float, flag: CancelToken) -> bool:
        """Build the table for a set of cells; return whether it was finished in time."""
        if island.size <= QUICK:
            self._ws.stop = 0  # still set after a timeout
            return self._fill(island)
        with stop_timer(self._ws, deadline, flag):
            return self._fill(island)

    def _fill(self, island: CellBitboard) -> bool:
        plan, began = line_nim_retrograde.LineMasks(island.lines, island.size), time.thread_time()
        self._island, self._named = None, False
        lost, middle = self._memory[: plan.words], np.int64(plan.middle)
        done = int(
            line_nim_retrograde.fill(
                lost, plan.far, plan.start, plan.near, plan.push, middle, self._ws
            )
        )
        self._nodes += done << line_nim_retrograde.WORD
        if done >= 1 << 10:
            self._pace = (time.thread_time() - began) / done
        if done == plan.words:
            self._island = island
        return done == plan.words

    def _looked_up(self, cells: Sequence[int]) -> list[_Verdict]:
        """Return the verdicts on all moves from the table."""
        island = self._island
        assert island is not None
        actions = lines(cells)
        masks = np.array([island.bits(geo.LINES[action]) for action in actions], np.int64)
        good = np.zeros((len(actions), 2), np.int64)
        line_nim_retrograde.answers(self._memory, masks, np.int64(island.bits(cells)), good)
        return [
            _Verdict(action, wins=won == 0, traps=won / max(1, among))
            for action, (won, among) in zip(actions, good.tolist(), strict=True)
        ]

    def _tried(
        self, cells: Sequence[int], beyond: int, deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Build tables without the cells of one line at a time until a winning move is found."""
        judged: dict[int, _Verdict] = {}
        for taken in _covers(cells, beyond):
            actions = [action for action in lines(cells) if taken <= set(geo.LINES[action])]
            if judged.keys() >= set(actions):
                continue
            island = CellBitboard(set(cells) - taken)
            left = deadline - time.monotonic()
            if not self._fits(island.size, left) or not self._tabulate(island, deadline, flag):
                return None
            for action in actions:
                after = set(cells) - set(geo.LINES[action])
                lost = bool(line_nim_retrograde.is_lost(self._memory, np.int64(island.bits(after))))
                judged[action] = _Verdict(action, wins=lost)
                if lost:
                    return [judged[action]]
        return list(judged.values()) if len(judged) == len(lines(cells)) else None

    # --------------------------------------------------------------------------- with a search

    def _proven(
        self, cells: Sequence[int], island: CellBitboard, deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Run the proof search; return the winning moves, or all moves if all lose."""
        self._recall()
        self._ws.nodes = 0
        components.write_chart(self._chart, island)
        full, actions = island.bits(cells), lines(cells)
        afters = {action: full ^ island.bits(geo.LINES[action]) for action in actions}
        with stop_timer(self._ws, deadline, flag):
            verdict = self._prove(full)
            self._nodes += int(self._ws.nodes)
            known = {action: self._judge(after) for action, after in afters.items()}
            if (
                verdict == components.WON and components.LOST not in known.values()
            ):  # the winning move's entry was overwritten
                known = {action: self._prove(after) for action, after in afters.items()}
        self._doomed |= {action for action in actions if known[action] == components.WON}
        if verdict == components.LOST:
            return [_Verdict(action, wins=False) for action in actions]
        won = [action for action in actions if known[action] == components.LOST]
        return [_Verdict(action, wins=True) for action in won] or None

    def _judge(self, mask: int) -> int:
        """Return the verdict on a position from theory or the table of names."""
        proof_search.judge(self._chart, self._memory, np.uint64(mask))
        return int(self._chart.verdict)

    def _prove(self, mask: int) -> int:
        chart, known, bits = self._chart, self._memory, np.uint64(mask)
        name = np.uint64(proof_search.judge(chart, known, bits))
        verdict = int(chart.verdict)
        if verdict == components.UNKNOWN:
            verdict = int(proof_search.prove(chart, self._ws, known, bits, name, np.int64(0)))
        return verdict

    def _recall(self) -> None:
        """Make the memory a table of names; clear it if it was a table of subsets."""
        self._island = None
        if not self._named:
            self._memory = hugepages.zeros(len(self._memory), np.uint64)
        self._named = True

    # ----------------------------------------------------------------------------- the result

    def _answer(
        self, cells: Sequence[int], verdicts: list[_Verdict] | None, source: random.Random
    ) -> SearchResult:
        if verdicts is None:
            action, value, depth = self._guess(cells, source), 0.0, 0
        else:
            best = min(verdicts, key=lambda action: (*_rank(action), source.random()))
            action, value, depth = best.action, WIN_SCORE if best.wins else -WIN_SCORE, len(cells)
        line = (action, *self._onward(set(cells) - set(geo.LINES[action])))
        return SearchResult(action, value, depth, self._nodes, line)

    def _onward(self, cells: Iterable[int]) -> Iterator[int]:
        """Yield the moves of the best continuation until a position is not in the table."""
        left = set(cells)
        for _ in range(SHOWN - 1):
            if not left or self._island is None or not self._island.covers(left):
                return
            best = min(self._looked_up(sorted(left)), key=_rank)
            yield best.action
            left -= set(geo.LINES[best.action])

    def _guess(self, cells: Sequence[int], source: random.Random) -> int:
        """Return a move after which the number of cells is as step 4 demands, or any move."""
        actions = [action for action in lines(cells) if action not in self._doomed] or lines(cells)
        wanted = [
            action
            for action in actions
            if (len(cells) - len(geo.LINES[action]) - self._most - 1) % PERIOD == 0
        ]
        return source.choice(wanted or actions)

    def _warm_up(self) -> None:
        """Call all kernels once to compile them, then measure the time for a table."""
        self._fill(CellBitboard(SAMPLE[:7]))
        self._looked_up(SAMPLE[:7])
        line_nim_retrograde.is_lost(self._memory, np.int64(1))
        components.write_chart(self._chart, CellBitboard(SAMPLE[:10]))
        self._prove((1 << 10) - 1)
        self._pace = min(self._timed(CellBitboard(SAMPLE)) for _ in range(TIMES))
        self._island = None

    def _timed(self, island: CellBitboard) -> float:
        """Build a table; return the CPU seconds per word."""
        self._fill(island)
        return self._pace


def _rank(verdict: _Verdict) -> tuple[bool, float, int]:
    """Return a sort key, best first: wins, then few winning replies, then few cells taken."""
    return not verdict.wins, verdict.traps, len(geo.LINES[verdict.action])


def _covers(cells: Sequence[int], number: int) -> list[set[int]]:
    """Return the lines of `number` cells, most common in legal moves first."""
    moves = [set(geo.LINES[action]) for action in lines(cells)]
    own = [move for move in moves if len(move) == number]
    return sorted(own, key=lambda line: -sum(line <= move for move in moves))
