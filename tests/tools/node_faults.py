"""A random sequence of faults of nodes, their links and their database, drawn from a seed.

A fault begins, lasts for a while, and is repaired; the nodes may still be recovering from it when
the next one begins.
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
"""The maximum duration of each kind of fault, in seconds; about half of the faults exceed the
lease."""
SHORTEST_S: Final = 1.0
BUSIEST: Final = 0.7
"""The share of faults that affect the node with the most lobbies; the others affect any node."""
MOST_PAUSE_S: Final = 6.0


@dataclass(frozen=True)
class Fault:
    """A fault, its duration, and the pause after it."""

    kind: FaultKind
    lasts_s: float
    pause_s: float
    target: float
    """The node, from 0 to 1: the busiest node below `BUSIEST`, otherwise any node."""


def drawn_faults(seed: int, count: int) -> list[Fault]:
    """Return a balanced number of faults of all kinds in random order."""
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
    """Inject the faults one after another; return how many of each kind were injected."""
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
