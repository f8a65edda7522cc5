"""The solver: uses the strongest method that the time allows.

1. If a table of an earlier turn has this position, look it up.
2. If the free cells fit into a table, and its time into the turn's, build it.
3. Otherwise search for a proof among sums of parts. If that fails and only one to three cells are
   too many, build a table without the cells of one line, which decides all moves that take these
   cells. Repeat this line by line until a winning move is found.
4. If nothing is proven, aim to be the first with a table, because nearly every position with many
   cells is won for a perfect player to move. The move leaves one cell more than fit into a table,
   plus a multiple of 4: the next own move can complete whatever the other takes to 4 cells. On
   boards of more than 64 cells only this step applies.

In a lost position it leaves the position with the smallest share of winning answers, and among
equals one with many cells, so that the other side needs many correct moves.
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
"""An island of 16 cells whose table tells how fast this machine is."""
TIMES = 3
"""It is made so many times, and the best one counts: the first may compile, or find no memory."""
QUICK = 12
"""A table of so many cells is made whatever the time, so that there is an answer."""
SHARE = 0.4
"""The share of the time that a search for a proof gets where tables may still tell something."""
SHOWN = 6
"""The greatest length of a line shown."""
PERIOD = 1 + geo.LONGEST
"""The number of cells to which a player can always complete the other's move."""


@dataclass(frozen=True)
class _Verdict:
    """The verdict on a move: whether it wins, and if not, how good it still is."""

    action: int
    wins: bool
    traps: float = 0.0
    """The share of answers that win for the other; without a table 0."""


class LineNimSolver:
    """Plays perfectly as soon as all subsets of the free cells fit into `table` MiB, a bit each.

    32 MiB hold 28 cells; every doubling is one cell more.
    """

    def __init__(self, state: np.record, *, table: int = 32) -> None:
        self._most = (table << 20).bit_length() + 2
        self._memory = hugepages.zeros(1 << max(0, self._most - 6), np.uint64)
        self._named = False  # whether the memory holds names of positions
        self._island: CellBitboard | None = None  # what the memory is a table of
        self._nodes = 0
        self._chart: Any = kernels.new(components.CHART)
        self._ws: Any = kernels.new(proof_search.WORKSPACE)
        self._pace = 0.0  # seconds of processor time for a word of a table
        self._doomed: set[int] = set()  # moves that lose, of a position that is not decided
        self._warm_up()

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the solver cannot play a game, or None if it can."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: SearchLimits) -> SearchResult:
        """Return a move that is proven to win, the hardest one where all lose, or the best guess.

        `state` must not be over and is unchanged. The depth cannot be limited. With a limit of
        nodes only a table is made, and none of more positions: a proof has no answer before it is
        complete.
        """
        limits.refuse(self, "depth")
        deadline = time.monotonic() + limits.seconds
        cells = free_cells(state)
        self._ws.nodes = self._nodes = 0
        self._doomed = set()
        if limits.nodes:
            verdicts = self._tabulated(cells, limits.nodes, deadline, limits.cancelled)
        else:
            verdicts = self._judged(cells, deadline, limits.cancelled)
        return self._answer(cells, verdicts, random.Random(limits.seed))

    def _judged(
        self, cells: Sequence[int], deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Return what is proven of every move, or of one that wins; None if nothing is."""
        if self._island is not None and self._island.covers(cells):
            return self._looked_up(cells)
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
        """Return what a table of at most `nodes` positions says; None where it would be larger."""
        if self._island is not None and self._island.covers(cells):
            return self._looked_up(cells)
        island = CellBitboard(cells)
        if island.size > min(self._most, nodes.bit_length() - 1):
            return None
        return self._looked_up(cells) if self._tabulate(island, deadline, flag) else None

    # ------------------------------------------------------------------------------ by a table

    def _fits(self, size: int, seconds: float) -> bool:
        """Return whether a table of so many cells is possible, and likely done in the time."""
        if size > self._most:
            return False
        return size <= QUICK or self._pace * 2.0 ** (size - line_nim_retrograde.WORD) < seconds

    def _tabulate(self, island: CellBitboard, deadline: float, flag: CancelToken) -> bool:
        """Make the table of an island; return whether it was done in time."""
        if island.size <= QUICK:
            self._ws.stop = 0  # an alarm leaves it set
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
        """Return what the table says of every move."""
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
        """Make tables without the cells of one line after another, until a winning move shows."""
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

    # ----------------------------------------------------------------------------- by a search

    def _proven(
        self, cells: Sequence[int], island: CellBitboard, deadline: float, flag: CancelToken
    ) -> list[_Verdict] | None:
        """Search for a proof; return a move that wins, or all of them if all lose."""
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
            ):  # it was overwritten
                known = {action: self._prove(after) for action, after in afters.items()}
        self._doomed |= {action for action in actions if known[action] == components.WON}
        if verdict == components.LOST:
            return [_Verdict(action, wins=False) for action in actions]
        won = [action for action in actions if known[action] == components.LOST]
        return [_Verdict(action, wins=True) for action in won] or None

    def _judge(self, mask: int) -> int:
        """Return what theory or the memory say of a position."""
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
        """Make the memory a table of names, if it is none yet."""
        self._island = None
        if not self._named:
            self._memory = hugepages.zeros(len(self._memory), np.uint64)
        self._named = True

    # ----------------------------------------------------------------------------- the answer

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
        """Yield how the play goes on, where the table knows."""
        left = set(cells)
        for _ in range(SHOWN - 1):
            if not left or self._island is None or not self._island.covers(left):
                return
            best = min(self._looked_up(sorted(left)), key=_rank)
            yield best.action
            left -= set(geo.LINES[best.action])

    def _guess(self, cells: Sequence[int], source: random.Random) -> int:
        """Return a move that leaves the right number of cells beyond a table's, or any."""
        actions = [action for action in lines(cells) if action not in self._doomed] or lines(cells)
        wanted = [
            action
            for action in actions
            if (len(cells) - len(geo.LINES[action]) - self._most - 1) % PERIOD == 0
        ]
        return source.choice(wanted or actions)

    def _warm_up(self) -> None:
        """Use everything once, so that it is compiled, and then take the time of a table."""
        self._fill(CellBitboard(SAMPLE[:7]))
        self._looked_up(SAMPLE[:7])
        line_nim_retrograde.is_lost(self._memory, np.int64(1))
        components.write_chart(self._chart, CellBitboard(SAMPLE[:10]))
        self._prove((1 << 10) - 1)
        self._pace = min(self._timed(CellBitboard(SAMPLE)) for _ in range(TIMES))
        self._island = None

    def _timed(self, island: CellBitboard) -> float:
        """Make a table; return the seconds of processor time for a word of it."""
        self._fill(island)
        return self._pace


def _rank(verdict: _Verdict) -> tuple[bool, float, int]:
    """Return what orders moves, the best one first: wins, then traps, then few cells taken."""
    return not verdict.wins, verdict.traps, len(geo.LINES[verdict.action])


def _covers(cells: Sequence[int], number: int) -> list[set[int]]:
    """Return the lines of so many cells, those first that are in the most moves."""
    moves = [set(geo.LINES[action]) for action in lines(cells)]
    own = [move for move in moves if len(move) == number]
    return sorted(own, key=lambda line: -sum(line <= move for move in moves))
