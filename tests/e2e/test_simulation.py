"""Hundreds of worlds in which things go wrong, each replayed by its number, and their judge.

A seed that fails is looked into with ``simulate(seed, GAME, directory)``: it fails again.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks.mnk import GAME
from kibitz_server import clock as ledger
from kibitz_server.database import StoreError
from kibitz_server.gallery import Gallery
from kibitz_server.match import Match, Play
from kibitz_server.peer import Peer
from kibitz_server.table import Table
from kibitz_server.view import Sight
from tests.tools.figures import Tell
from tests.tools.simulation import Climate, Disk, World, simulate, template

ROOT = Path(__file__).parents[2]
FEW, MANY = 120, 5000
BIGGER = Climate(lobbies=5, games=4)
BAD_DISK = Climate(lobbies=3, outages=0.15, commit_fails=0.1, crashes=0.1)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where databases are made; in memory where the system has such a place."""
    made = tmp_path_factory.mktemp("worlds")
    template(made)
    return made


def wrongs(worlds: Iterator[World]) -> dict[int, list[str]]:
    return {world.seed: world.wrongs for world in worlds if world.wrongs}


def test_nothing_is_lost_in_any_world(directory: Path) -> None:
    crashes = moves = losses = trims = 0

    def worlds() -> Iterator[World]:
        nonlocal crashes, moves, losses, trims
        for seed in range(FEW):
            world = simulate(seed, GAME, directory)
            crashes += world.crashes
            moves += len(world.history)
            losses += world.losses
            trims += world.trims
            yield world

    assert wrongs(worlds()) == {}
    assert crashes > FEW
    assert moves > 50 * FEW
    assert losses > FEW / 10
    assert trims > FEW


def test_a_seed_is_a_world(directory: Path) -> None:
    assert len({simulate(seed, GAME, directory).trace for seed in (1, 2, 3, 1, 2, 3)}) == 3


def test_a_seed_is_the_same_world_in_another_process(directory: Path) -> None:
    """However sets and dictionaries are hashed there."""
    program = (
        "import sys; from pathlib import Path; from benchmarks.mnk import GAME;"
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
def test_nothing_is_lost_in_thousands_of_worlds(directory: Path, tell: Tell) -> None:
    """T14 at the level of messages."""
    worlds = (simulate(seed, GAME, directory) for seed in range(FEW, FEW + MANY))
    assert wrongs(worlds) == {}
    bigger = (simulate(seed, GAME, directory, BIGGER) for seed in range(MANY // 10))
    assert wrongs(bigger) == {}
    worse = (simulate(seed, GAME, directory, BAD_DISK) for seed in range(MANY // 10))
    assert wrongs(worse) == {}
    tell(f"T14: {MANY} small and {MANY // 5} bigger worlds, nothing wrong in any")


# --- the judge is judged: each of these servers has to be found out ---------------------------


class Hasty(Disk):
    """A disk that says that everything is there before it is."""

    def _attempt(self, batch: Any) -> None:
        waiters, batch.waiters = batch.waiters, []
        for stream, seq, waiter in waiters:
            if stream is not None:
                stream.durable = seq
            if waiter is not None:
                waiter.durable(seq)
        super()._attempt(batch)


def found(directory: Path, words: str, disk: type[Disk] = Disk, **climate: float) -> bool:
    """Whether some world out of forty is found to be wrong in these words."""
    weather = dataclasses.replace(Climate(), **climate)  # type: ignore[arg-type]
    for seed in range(40):
        world = simulate(seed, GAME, directory, weather, disk)
        if any(words in wrong for wrong in world.wrongs):
            return True
    return False


def test_a_server_that_answers_before_the_commit_is_found_out(directory: Path) -> None:
    assert found(directory, "was acknowledged as", Hasty, crashes=1.0)


def planted(kind: object, name: str, wrong: Callable[..., Any]) -> Any:
    """Put a method in the place of another one, which it gets as its first argument."""
    right = getattr(kind, name)
    return patch.object(kind, name, lambda *given: wrong(right, *given))


def test_a_server_that_forgets_what_it_has_answered_is_found_out(directory: Path) -> None:
    def play(right: Callable[..., Any], match: Match, play: Play, at: int) -> Any:
        match._last[play.seat] = None
        return right(match, play, at)

    with planted(Match, "_play", play):
        assert found(directory, "was refused and is in the log")


def test_a_server_that_plays_a_move_again_is_found_out(directory: Path) -> None:
    def play(right: Callable[..., Any], match: Match, play: Play, at: int) -> Any:
        match._last[play.seat] = None
        return right(match, play._replace(ply=match.ply), at)

    with planted(Match, "_play", play):
        assert found(directory, "is not the move")


def test_a_server_that_forgets_the_requests_of_a_lost_log_is_found_out(directory: Path) -> None:
    def lost(right: Callable[..., None], table: Table, error: StoreError) -> None:
        table._held.clear()
        right(table, error)

    with planted(Table, "lost", lost):
        assert found(directory, "ms left", outages=0.15, crashes=0.0, resets=0.05)


def test_a_server_that_drops_a_spectators_event_is_found_out(directory: Path) -> None:
    def spread(right: Callable[..., None], gallery: Gallery, sight: Sight) -> None:
        if sight.entry.seq % 5:
            right(gallery, sight)

    with planted(Gallery, "_spread", spread):
        assert found(directory, "heard")


def test_a_server_that_lets_anybody_move_is_found_out(directory: Path) -> None:
    def seat_of(right: Callable[..., Any], table: Table, peer: Peer) -> int:
        return table.match.to_act

    def move(right: Callable[..., bool], table: Table, peer: Peer, move: Any) -> bool:
        seat = table.match.to_act
        if seat >= 0:
            table._sockets[seat] = peer
        return right(table, peer, move)

    with planted(Table, "seat_of", seat_of), planted(Table, "move", move):
        assert found(directory, "never sent", wrong=0.5)


def test_a_server_that_charges_wrong_times_is_found_out(directory: Path) -> None:
    def spend(right: Callable[..., Any], control: Any, clock: Any, charged: int) -> Any:
        return right(control, clock, charged // 2)

    with planted(ledger, "spend", spend):
        assert found(directory, "ms left, its moves leave it")
