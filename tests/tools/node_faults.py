"""Faults of nodes, their links and their database, one after another, drawn from a seed.

A fault strikes, lasts, and is mended; what the nodes make of it may still be under way when the
next one strikes.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from tests.tools.node_group import Node, NodeGroup

FaultKind: TypeAlias = Literal["kill", "freeze", "terminate", "cut", "hang", "database"]
KINDS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)
LONGEST_S: Final = {
    "kill": 4.0,
    "freeze": 20.0,
    "terminate": 4.0,
    "cut": 15.0,
    "hang": 15.0,
    "database": 10.0,
}
"""Seconds that a fault of each kind lasts at most: about half of them outlast an expiry."""
SHORTEST_S: Final = 1.0
BUSIEST: Final = 0.7
"""Share of the faults that hit the node with most lobbies; the others hit any."""
MOST_PAUSE_S: Final = 6.0


@dataclass(frozen=True)
class Fault:
    """A fault, its duration, and the quiet time after it."""

    kind: FaultKind
    lasts_s: float
    pause_s: float
    target: float
    """From 0 to 1: below `BUSIEST` the busiest node, above it any of them."""


def drawn_faults(seed: int, count: int) -> list[Fault]:
    """Return faults of all kinds, as evenly as it goes, in a random order."""
    chance = random.Random(f"faults {seed}")
    kinds = [KINDS[number % len(KINDS)] for number in range(count)]
    chance.shuffle(kinds)
    return [
        Fault(
            kind,
            chance.uniform(SHORTEST_S, LONGEST_S[kind]),
            chance.uniform(0, MOST_PAUSE_S),
            chance.random(),
        )
        for kind in kinds
    ]


async def inject(
    group: NodeGroup, faults: Sequence[Fault], note: Callable[[str], None] = print
) -> Counter[str]:
    """Let faults happen; return how many of each kind did, and were long enough to expire."""
    done: Counter[str] = Counter()
    for number, fault in enumerate(faults, 1):
        node = await _target(group, fault)
        note(f"fault {number}: {fault.kind} of {node.name} for {fault.lasts_s:.1f} s")
        await _strike(group, node, fault)
        done[fault.kind] += 1
        await asyncio.sleep(fault.pause_s)
    return done


async def _target(group: NodeGroup, fault: Fault) -> Node:
    if fault.target < BUSIEST:
        return await group.busiest()
    share = (fault.target - BUSIEST) / (1 - BUSIEST)
    return group.nodes[int(share * len(group.nodes))]


async def _strike(group: NodeGroup, node: Node, fault: Fault) -> None:
    strikes: dict[FaultKind, Callable[[], Awaitable[None]]] = {
        "kill": lambda: _kill(node, fault.lasts_s),
        "freeze": lambda: _freeze(node, fault.lasts_s),
        "terminate": lambda: _terminate(node, fault.lasts_s),
        "cut": lambda: _break_link(node, node.link.cut, fault.lasts_s),
        "hang": lambda: _break_link(node, node.link.hang, fault.lasts_s),
        "database": lambda: _kill_database(group, fault.lasts_s),
    }
    await strikes[fault.kind]()


async def _kill(node: Node, seconds: float) -> None:
    await asyncio.to_thread(node.process.kill)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(node.process.start)


async def _freeze(node: Node, seconds: float) -> None:
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        os.kill(node.process.pid, signal.SIGCONT)


async def _terminate(node: Node, seconds: float) -> None:
    status, took_s = await asyncio.to_thread(node.process.terminate)
    assert status == 0, f"node {node.name} ended with {status} after {took_s:.1f} s"
    await asyncio.sleep(seconds)
    await asyncio.to_thread(node.process.start)


async def _break_link(node: Node, broken: Callable[[], None], seconds: float) -> None:
    broken()
    try:
        await asyncio.sleep(seconds)
    finally:
        node.link.mend()


async def _kill_database(group: NodeGroup, seconds: float) -> None:
    await asyncio.to_thread(group.cluster.kill)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(group.cluster.start)
