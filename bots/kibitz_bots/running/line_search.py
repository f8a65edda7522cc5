"""Analyze a position with the search of a bot: the best moves, their values and their lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kibitz_bots.kinds.engine_bot import EngineBot, line_notation
from kibitz_bots.loading import load
from kibitz_games.core.position import Position
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.limits import SearchLimits, UnsupportedLimit
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.score import plies_to_end
from kibitz_search.algorithms.timer import ThinkingTime


@dataclass(frozen=True)
class Line:
    """A move and the play that the search expects after it."""

    number: int
    """1 for the best move, 2 for the best of the others, and so on."""
    moves: tuple[str, ...]
    """The moves in the game's notation."""
    result: SearchResult
    """The actions, the depth, the number of positions, and the value for the seat to act."""

    @property
    def end_in(self) -> int | None:
        """The number of plies to a proven win or loss, or None if the position is undecided."""
        return plies_to_end(self.result.value)


def analyze(
    position: Position,
    by: str | EngineBot | None = None,
    *,
    seconds: float = math.inf,
    depth: int = 0,
    nodes: int = 0,
    lines: int = 1,
    seed: int = 0,
    on_line: Callable[[Line], object] | None = None,
) -> list[Line]:
    """Return the best `lines` moves of an unfinished position, each with its line and value.

    `by` is a house bot such as ``"five-in-a-row/threat:table=64"``, or an `EngineBot` with a search
    and an evaluation of your own. The default is the game's ``alphabeta`` with two seats, otherwise
    its ``mcts``. `seconds` and `nodes` limit the whole analysis, `depth` each line; pass at least
    one of them unless the search can finish. Every line after the first is a search without the
    moves before it, and keeps the search's table. `on_line` is called with each improvement while
    the search runs; it must return quickly. The position is unchanged.

    Raises `SpecError` for an unknown bot, `ValueError` for a bot without a search or one that does
    not support the game, and `UnsupportedLimit` if the search finds only one line. ::

        for line in kibitz.analyze(position, seconds=2, lines=3):
            print(line.result.value, *line.moves)
    """
    game, state, seat = position.game, position.state, position.to_act
    if by is None:
        by = f"{game.info.name}/{'alphabeta' if position.seats == 2 else 'mcts'}"
    bot = load(by)() if isinstance(by, str) else by
    if not isinstance(bot, EngineBot):
        raise ValueError(f"expected a bot with a search, not {by}")
    searcher = bot.searcher(state, game.info)
    if lines > 1 and not isinstance(searcher.search_by, IterativeDeepening):
        kind = type(searcher.search_by).__name__
        raise UnsupportedLimit(f"{kind} finds only one line; name another bot or pass lines=1")
    view = position.view(seat)
    sample = (lambda number: game.sample(view, number)) if game.info.hidden else None
    thinking, found = ThinkingTime(seconds), list[Line]()

    def line(result: SearchResult) -> Line:
        return Line(len(found) + 1, tuple(line_notation(game, state, result)), result)

    for left in range(min(lines, len(position.legal)), 0, -1):
        limits = SearchLimits(
            thinking.left / left,
            depth,
            seed,
            sample=sample,
            nodes=-(-nodes // lines),
            excluded=frozenset(each.result.action for each in found),
            on_improvement=None if on_line is None else lambda result: on_line(line(result)),
        )
        found.append(line(searcher.search(state, limits)))
    return found
