"""Hundreds of simulations of nodes, their database and their clients, and tests of the checker.

To debug a failing seed, run ``simulate_nodes(seed, GAME)``, which reproduces the failure.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kibitz_server.directory.directory import Directory
from kibitz_server.directory.failover import Failover
from kibitz_server.net.loop_clock import ServerClock
from kibitz_server.storage.group_commit import tell_durable
from kibitz_server.storage.postgres.nodes import EXPIRES_S
from tests.tools.fake_database import Batch, FakeDatabase
from tests.tools.fake_nodes import FakeNodes
from tests.tools.fake_store import FakeNodeStore
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.simulated_nodes import NodeFaults, NodesSimulation, simulate_nodes

ROOT = Path(__file__).parents[2]
FEW_RUNS, MANY_RUNS = 6, 1000
MOVING_CLIENTS = NodeFaults(resets=0.05, second_sockets=0.02, outages=0.06, lobbies=3)
SIDE_BY_SIDE = NodeFaults(side_by_side=True, resets=0.02, lobbies=3)
SLOW_DATABASE = NodeFaults(slow=0.1)


def rates_of(seed: int) -> NodeFaults:
    return (MOVING_CLIENTS, SIDE_BY_SIDE, SLOW_DATABASE)[seed % 3]


def violations_of(worlds: Iterable[NodesSimulation], faults: Counter[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for world in worlds:
        faults.update(world.faults, taken=world.taken, moves=len(world.history))
        if world.violations:
            found[world.seed] = world.violations
    return found


def test_one_history_whatever_happens_to_the_nodes() -> None:
    faults: Counter[str] = Counter()
    worlds = (simulate_nodes(seed, GAME, rates_of(seed)) for seed in range(FEW_RUNS))
    assert violations_of(worlds, faults) == {}
    for fault in ("kills", "freezes", "cuts", "leaves", "outages", "slow", "doubts", "taken"):
        assert faults[fault], fault
    assert faults["looks at tails"] >= 100, "spectators watch at other nodes than those that play"


@pytest.mark.slow
def test_a_seed_is_a_world_whatever_the_clocks_of_the_nodes_say() -> None:
    """They affect neither the content nor the time of any message."""
    right = NodeFaults(wrong_clocks=False)
    worlds = (simulate_nodes(seed, GAME) for seed in range(2 * FEW_RUNS))
    taken = list(islice((world for world in worlds if world.taken), 2))
    assert len(taken) == 2
    for wrong in taken:
        assert {node.wrong_s for node in wrong.nodes} != {0}
        assert wrong.trace == simulate_nodes(wrong.seed, GAME, right).trace
    assert len({simulate_nodes(seed, GAME).trace for seed in (1, 2, 1, 2)}) == 2


@pytest.mark.e2e
def test_a_seed_is_the_same_world_in_another_process() -> None:
    program = (
        "from tests.tools.mnk import GAME; from tests.tools.simulated_nodes import simulate_nodes;"
        "print([simulate_nodes(seed, GAME).trace for seed in (8, 14)])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(hashing)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for hashing in (1, 2)
    }
    assert told == {f"{[simulate_nodes(seed, GAME).trace for seed in (8, 14)]}\n"}


@pytest.mark.slow
def test_one_history_in_a_thousand_worlds(report: ReportFigure) -> None:
    faulthandler.cancel_dump_traceback_later()  # this takes longer than the test timeout
    faults: Counter[str] = Counter()
    seeds = range(FEW_RUNS, FEW_RUNS + MANY_RUNS)
    worlds = (simulate_nodes(seed, GAME, rates_of(seed)) for seed in seeds)
    assert violations_of(worlds, faults) == {}
    report(f"{MANY_RUNS} schedules of three nodes, nothing wrong in any: {dict(faults)}")


# --- tests of the checker: it must detect each of these faulty servers ------------------------


def is_detected(
    words: str, *planted: AbstractContextManager[Any], begin: int = 0, **changed: float
) -> bool:
    """Return whether a violation with these words is found in one of 60 simulations.

    `begin` is the first simulation to run, in which the violation was seen before.
    """
    rates = dataclasses.replace(NodeFaults(), **changed)  # type: ignore[arg-type]
    with ExitStack() as stack:
        for each in planted:
            stack.enter_context(each)
        for seed in (*range(begin, 60), *range(begin)):
            if any(words in wrong for wrong in simulate_nodes(seed, GAME, rates).violations):
                return True
    return False


def replaced(kind: object, name: str, wrong: object) -> AbstractContextManager[Any]:
    return patch.object(kind, name, wrong)


# Faults below the storage interface: `tests/server/storage/conformance` would find them in a real
# engine, and the simulations find them in the fake one.


def without_fence() -> AbstractContextManager[Any]:
    """A batch that does not check the owners of its lobbies."""
    return replaced(FakeDatabase, "fences", False)


@pytest.mark.slow
def test_a_log_that_takes_an_entry_twice_is_found_out() -> None:
    """This is the second line of defense, so the fence must be disabled too."""
    no_key = replaced(FakeDatabase, "unique_entries", False)
    few: Any = {"nodes": 2, "lobbies": 2, "kills": 0.0, "freezes": 0.3}
    assert is_detected("was written a second time", no_key, without_fence(), begin=2, **few)


@pytest.mark.slow
def test_a_node_that_writes_what_was_taken_from_it_is_found_out() -> None:
    assert is_detected("which is node", without_fence(), begin=2, freezes=0.15)


@pytest.mark.slow
def test_a_node_that_answers_before_the_commit_is_found_out() -> None:
    right = FakeNodeStore._write

    async def write(store: FakeNodeStore, batch: Batch) -> None:
        waiting, batch.waiting = batch.waiting, []
        tell_durable(waiting)
        await right(store, batch)

    early = replaced(FakeNodeStore, "_write", write)
    assert is_detected("was acknowledged as", early)


def test_a_take_over_without_expiry_is_found_out() -> None:
    right = FakeNodes.take

    async def take(nodes: FakeNodes, *given: Any) -> Any:
        nodes.expires_s = 0.0
        return await right(nodes, *given)

    planted = replaced(FakeNodes, "take", take)
    few: Any = {"nodes": 2, "fault_seconds": 1.0, "lobbies": 1, "games": 1}
    assert is_detected("from live node", planted, side_by_side=True, **few)


@pytest.mark.slow
def test_a_lease_by_the_nodes_own_clock_is_found_out() -> None:
    """It compares its own clock with the heartbeat's time, which is the database's."""

    def first(nodes: FakeNodes) -> bool:
        beat = nodes._database.nodes[nodes.name].beat
        return nodes._turn and nodes._clock() < beat + EXPIRES_S

    lease = patch.object(FakeNodes, "first", property(first))
    calm: Any = {"kills": 0.0, "freezes": 0.0, "lobbies": 1, "fault_seconds": 50.0}
    assert is_detected("serve", lease, begin=6, cuts=0.2, **calm)


# Faults of the server above it.


@pytest.mark.slow
def test_nodes_that_take_nothing_are_found_out() -> None:
    async def take(failover: Failover) -> bool:
        return False

    assert is_detected("is not taken", replaced(Failover, "_take", take))


@pytest.mark.slow
def test_a_node_that_does_not_step_down_is_found_out() -> None:
    deaf = replaced(Failover, "step_down", lambda *given: None)
    assert is_detected("goes on with", deaf, nodes=2, games=3, freezes=0.3)


def test_a_node_that_does_not_look_up_what_others_have_is_found_out() -> None:
    """A player connects with a ticket to a node that lost its lobbies while suspended."""

    async def find_elsewhere(directory: Directory, key: str) -> None:
        return None

    planted = replaced(Directory, "find_elsewhere", find_elsewhere)
    few: Any = {"nodes": 2, "games": 3, "kills": 0.0, "freezes": 0.3}
    assert is_detected("was told that the open", planted, side_by_side=True, **few)


def test_a_clock_that_runs_while_its_server_stands_still_is_found_out() -> None:
    clock = replaced(ServerClock, "_leave_out", lambda *given: None)
    alone: Any = {"nodes": 1, "lobbies": 2, "kills": 0.0, "cuts": 0.0}  # no other node takes over
    assert is_detected("was charged", clock, freezes=0.2, **alone)
