"""Hundreds of simulations with faults, each reproducible by its seed, and tests of the checker.

To debug a failing seed, run ``simulate(seed, GAME, directory)``, which reproduces the failure.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
from websockets.frames import Frame, Opcode

from kibitz_protocol.wire.frames import TEXT
from kibitz_protocol.wire.messages import Move
from kibitz_server.match import state as match_state
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.state import MatchState
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.group_commit import Batch
from tests.server.fakes import split_frames
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.simulated_clients import SimulatedSpectator
from tests.tools.simulation import (
    FaultRates,
    SimulatedConnection,
    SimulatedStore,
    Simulation,
    make_template,
    simulate,
)

ROOT = Path(__file__).parents[2]
FEW_RUNS, MANY_RUNS = 16, 5000
MORE_MATCHES = FaultRates(lobbies=5, games=4)
FAILING_DISK = FaultRates(lobbies=3, outages=0.15, commit_failures=0.1, crashes=0.1)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for databases, in memory if the system supports it."""
    made = tmp_path_factory.mktemp("worlds")
    make_template(made)
    return made


def violations_of(worlds: Iterator[Simulation]) -> dict[int, list[str]]:
    return {world.seed: world.violations for world in worlds if world.violations}


def test_nothing_is_lost_in_any_world(directory: Path) -> None:
    crashes = moves = losses = trims = 0

    def worlds() -> Iterator[Simulation]:
        nonlocal crashes, moves, losses, trims
        rates = [None] * FEW_RUNS + [FAILING_DISK] * (FEW_RUNS // 4)
        for seed, chosen in enumerate(rates):
            world = simulate(seed, GAME, directory, chosen)
            crashes += world.crashes
            moves += len(world.history)
            losses += world.losses
            trims += world.trims
            yield world

    assert violations_of(worlds()) == {}
    assert crashes > FEW_RUNS
    assert moves > 50 * FEW_RUNS
    assert losses > FEW_RUNS / 20
    assert trims > FEW_RUNS


def test_a_seed_is_a_world(directory: Path) -> None:
    assert len({simulate(seed, GAME, directory).trace for seed in (1, 2, 1, 2)}) == 2


@pytest.mark.e2e
def test_a_seed_is_the_same_world_in_another_process(directory: Path) -> None:
    """Regardless of hash randomization."""
    program = (
        "import sys; from pathlib import Path; from tests.tools.mnk import GAME;"
        "from tests.tools.simulation import simulate;"
        "print([simulate(seed, GAME, Path(sys.argv[1])).trace for seed in range(10, 15)])"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", program, str(directory)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(hashing)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for hashing in (1, 2)
    ]
    assert told[0] == told[1]
    assert told[0] == f"{[simulate(seed, GAME, directory).trace for seed in range(10, 15)]}\n"


@pytest.mark.slow
def test_nothing_is_lost_in_thousands_of_worlds(directory: Path, report: ReportFigure) -> None:
    """T14 at the level of messages."""
    faulthandler.cancel_dump_traceback_later()  # a slow machine takes longer than the test timeout
    worlds = (simulate(seed, GAME, directory) for seed in range(FEW_RUNS, FEW_RUNS + MANY_RUNS))
    assert violations_of(worlds) == {}
    bigger = (simulate(seed, GAME, directory, MORE_MATCHES) for seed in range(MANY_RUNS // 10))
    assert violations_of(bigger) == {}
    worse = (simulate(seed, GAME, directory, FAILING_DISK) for seed in range(MANY_RUNS // 10))
    assert violations_of(worse) == {}
    report(f"T14: {MANY_RUNS} small and {MANY_RUNS // 5} bigger worlds, nothing wrong in any")


# --- tests of the checker: it must detect each of these faulty servers ------------------------


class EarlyAcknowledgingStore(SimulatedStore):
    """A disk that acknowledges writes too early."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._attempt = self.commits._attempt
        cast(Any, self.commits)._attempt = self.attempt_told

    def attempt_told(self, batch: Batch) -> None:
        waiters, batch.waiting = batch.waiting, []
        for stream, seq, waiter in waiters:
            if stream is not None:
                stream.durable = seq
            if waiter is not None:
                waiter.durable(seq)
        self._attempt(batch)


def is_detected(
    directory: Path,
    words: str,
    disk: type[SimulatedStore] = SimulatedStore,
    *,
    begin: int = 0,
    **changed: float,
) -> bool:
    """Return whether a violation with these words is found in one of 120 simulations.

    `begin` is the first simulation to run, in which the violation was seen before.
    """
    rates = dataclasses.replace(FaultRates(), **changed)  # type: ignore[arg-type]
    for seed in (*range(begin, 120), *range(begin)):
        world = simulate(seed, GAME, directory, rates, disk)
        if any(words in wrong for wrong in world.violations):
            return True
    return False


def test_a_server_that_answers_before_the_commit_is_found_out(directory: Path) -> None:
    disk = EarlyAcknowledgingStore
    assert is_detected(directory, "was acknowledged as", disk, crashes=2.0)


def patched_method(kind: object, name: str, wrong: Callable[..., Any]) -> Any:
    """Replace a method; the replacement receives the original as its first argument."""
    right = getattr(kind, name)
    return patch.object(kind, name, lambda *given: wrong(right, *given))


def forget_answers(state: MatchState) -> None:
    """Forget which moves were answered."""
    state.answered.clear()


@pytest.mark.slow
def test_a_server_that_forgets_what_it_has_answered_is_found_out(directory: Path) -> None:
    def move(right: Callable[..., bool], table: MatchRunner, peer: Peer, move: Move) -> bool:
        forget_answers(table.engine.state)
        return right(table, peer, move)

    with patched_method(MatchRunner, "move", move):
        assert is_detected(directory, "was refused but is in the log")


def test_a_server_that_plays_a_move_again_is_found_out(directory: Path) -> None:
    def move(right: Callable[..., bool], table: MatchRunner, peer: Peer, move: Move) -> bool:
        state = table.engine.state
        forget_answers(state)
        return right(table, peer, move.model_copy(update={"ply": state.ply}))

    with patched_method(MatchRunner, "move", move):
        assert is_detected(directory, "is not the move", begin=53, duplicate_moves=0.6)


def test_a_server_that_forgets_the_requests_of_a_lost_log_is_found_out(directory: Path) -> None:
    def lost(right: Callable[..., None], table: MatchRunner, error: StoreError) -> None:
        table.pending._waiting.clear()
        right(table, error)

    with patched_method(MatchRunner, "lost", lost):
        assert is_detected(directory, "ms left", outages=0.15, crashes=0.0, resets=0.05)


def test_a_server_that_drops_a_spectators_event_is_found_out(directory: Path) -> None:
    def write(right: Callable[..., None], link: SimulatedConnection, data: bytes) -> None:
        if isinstance(link._client, SimulatedSpectator) and data[0] == TEXT:
            data = without_some_events(data)
        right(link, data)

    with patched_method(SimulatedConnection, "write", write):
        assert is_detected(directory, "received")


def without_some_events(data: bytes) -> bytes:
    """Return a server's data without every fifth event."""
    frames, _ = split_frames(data)
    return b"".join(
        Frame(Opcode(opcode), text).serialize(mask=False)
        for opcode, text in frames
        if not text.startswith(b'{"type":"event"') or json.loads(text)["entry"]["seq"] % 5
    )


def test_a_server_that_lets_anybody_move_is_found_out(directory: Path) -> None:
    def move(right: Callable[..., bool], table: MatchRunner, peer: Peer, move: Any) -> bool:
        seat = table.engine.state.to_act
        if seat >= 0:
            table.seats.peers[seat] = peer
        return right(table, peer, move)

    with patched_method(MatchRunner, "move", move):
        assert is_detected(directory, "never sent", invalid_requests=0.5)


def test_a_server_that_charges_wrong_times_is_found_out(directory: Path) -> None:
    def spend(right: Callable[..., Any], control: Any, clock: Any, charged: int) -> Any:
        return right(control, clock, charged // 2)

    with patched_method(match_state, "spend", spend):
        assert is_detected(directory, "ms left, its moves leave it")
