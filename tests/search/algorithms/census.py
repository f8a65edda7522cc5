"""The counts and results of the multiplayer searches in small positions, from one process.

Run as a program: compiled, plain, cold and warm processes must print the same output.
"""

from __future__ import annotations

import sys
from typing import Any

from kibitz_games.core import registry
from kibitz_search.algorithms import mcts, multiplayer
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.algorithms.mpmix import MpMix
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.chinese_checkers.evaluation import hand

RECURSIVE: tuple[Any, ...] = (multiplayer.explore, mcts.iterate)


def tell(*what: Any) -> None:
    sys.stdout.write(f"{what}\n")


def main() -> None:
    game = registry.get("chinese-checkers")
    for seats in (2, 3):
        state = game.start(game.Options.model_validate({"size": 2}), seats, {})
        ev = hand(state)
        for kind in (Maxn, Paranoid, Brs, MpMix, MaxProb):
            found = kind(state).search(state, ev, SearchLimits(depth=2))
            tell(kind.__name__, seats, found.nodes, found.line, round(found.value, 9))
        tried = Mcts(state, iterations=20).search(state, ev, SearchLimits())
        tell("Mcts", seats, tried.nodes, tried.line, round(tried.value, 9))


def unresolved() -> list[str]:
    """Return the kernels whose new machine code calls itself by an unresolved name."""
    code = {kernel.__module__: kernel.inspect_llvm() for kernel in RECURSIVE}
    return [name for name, texts in code.items() if ".numba.unresolved" in "".join(texts.values())]


if __name__ == "__main__":
    main()
    if "cold" in sys.argv:
        tell(unresolved())
