"""The coordinator of workers: lost, late or duplicate results lead to one consistent journal."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kibitz_arena import entries
from kibitz_arena.entries import GameEnded
from kibitz_arena.runner.block_task import (
    BLOCKS,
    BlockOutcome,
    BlockTask,
    PlayedGame,
    TaskFailedError,
    TaskFile,
    WorkerLostError,
)
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.distributed_runner import (
    MOST_BLOCKS,
    DistributedRunner,
    TaskSize,
    TaskTerms,
)
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.services import Services
from kibitz_arena.schedule import Schedule, ScheduledGame
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.records import Result, SeatResult
from tests.arena.reporter import FakeReporter


def event(**fields: Any) -> Tournament:
    entrants = [{"name": name, "bot": "line-nim/random"} for name in ("Ada", "Bob", "Cyd")]
    values = {
        "name": "cup",
        "game": {"name": "line-nim"},
        "blocks": 10,
        "entrants": entrants,
        "seed": 0,
    }
    return Tournament.model_validate(values | {"seed": 0} | fields)


def played(game: ScheduledGame) -> PlayedGame:
    """Return the game's result, which depends only on its seed."""
    first = 1 + int(game.seed, 16) % 2
    seats = [SeatResult(rank=first, score=2 - first), SeatResult(rank=3 - first, score=first - 1)]
    ended = GameEnded(
        at_ms=1,
        tag=game.tag,
        match="abcdef",
        players=game.players,
        result=Result.model_validate(
            {"seats": [each.model_dump() for each in seats], "cause": "rules", "plies": 9}
        ),
    )
    return PlayedGame(ended=ended)


class FakeWorkers:
    """Workers in this process; `before` runs first and may raise an exception."""

    def __init__(self, size: int = 3, seed: int = 0) -> None:
        self.size = size
        self.shared_machine = True
        self.random = random.Random(seed)
        self.tasks: list[BlockTask] = []
        self.begun = 0
        """Tasks that reached `before`, in their own order."""
        self.before: Callable[[BlockTask], BlockOutcome | None] = lambda task: None

    async def run(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        assert name == BLOCKS
        return (await self._play(BlockTask.model_validate(given))).model_dump(mode="json")

    async def _play(self, task: BlockTask) -> BlockOutcome:
        self.tasks.append(task)
        for _ in range(self.random.randrange(5)):  # tasks end in another order
            await asyncio.sleep(0)
        self.begun += 1
        outcome = self.before(task)
        if outcome is not None:
            return outcome
        games = [played(game) for game in task.games]
        self.random.shuffle(games)
        return BlockOutcome(games=games)


@pytest.fixture
def folder(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    return made


def runner(
    folder: TournamentDirectory,
    workers: FakeWorkers,
    terms: TaskTerms | None = None,
    **fields: Any,
) -> DistributedRunner:
    display = ProgressDisplay(FakeReporter())
    services = cast(Services, None)  # games without records have no reports
    return DistributedRunner(
        event(**fields), folder, workers, services, terms or TaskTerms(None), display
    )


def results(folder: TournamentDirectory) -> list[str]:
    found = entries.FORMAT.parse(folder.journal.read_bytes()).entries
    return sorted(
        each.model_dump_json(exclude={"at_ms"}) for each in found if isinstance(each, GameEnded)
    )


def expected() -> list[str]:

    games = [game for block in Schedule(event()).blocks for game in block.games]
    return sorted(played(each).ended.model_dump_json(exclude={"at_ms"}) for each in games)


@pytest.mark.parametrize("seed", range(5))
async def test_lost_reordered_and_doubled_answers_leave_the_results_of_one_machine(
    folder: TournamentDirectory, seed: int
) -> None:
    workers, chance = FakeWorkers(seed=seed), random.Random(seed)
    earlier: list[PlayedGame] = []

    def before(task: BlockTask) -> BlockOutcome | None:
        if chance.random() < 0.4:
            raise WorkerLostError("killed")
        games = [played(game) for game in task.games]
        doubled = BlockOutcome(games=[*games, *earlier, *games])
        earlier.extend(games)
        return doubled if chance.random() < 0.3 else None

    workers.before = before
    ran = runner(folder, workers, retries=50)
    state = await ran.run()
    assert state.finished
    assert ran.lost > 0
    assert results(folder) == expected()


async def test_a_lost_worker_costs_its_own_blocks_only(folder: TournamentDirectory) -> None:
    workers, lost = FakeWorkers(), list[BlockTask]()

    def before(task: BlockTask) -> None:
        if workers.begun == 3:
            lost.append(task)
            raise WorkerLostError("killed")

    workers.before = before
    assert (await runner(folder, workers).run()).finished
    sent = Counter(game.tag for task in workers.tasks for game in task.games)
    assert {tag for tag, count in sent.items() if count > 1} == {g.tag for g in lost[0].games}
    assert max(sent.values()) == 2


async def test_an_interrupted_event_goes_on_with_nothing_lost_and_nothing_doubled(
    folder: TournamentDirectory,
) -> None:
    workers = FakeWorkers()

    def before(task: BlockTask) -> None:
        if workers.begun == 5:
            raise asyncio.CancelledError

    workers.before = before
    with pytest.raises(asyncio.CancelledError):
        await runner(folder, workers).run()
    there = results(folder)
    assert 0 < len(there) < 60
    again = FakeWorkers()
    assert (await runner(folder, again).run()).finished
    assert results(folder) == expected()
    sent = [game.tag for task in again.tasks for game in task.games]
    assert len(sent) == len({*sent}) == 60 - len(there)


async def test_games_of_half_a_block_are_sent_without_those_that_ended(
    folder: TournamentDirectory,
) -> None:
    workers = FakeWorkers()

    def before(task: BlockTask) -> BlockOutcome | None:
        half = BlockOutcome(games=[played(task.games[0])], failure="Ada cannot start")
        return half if workers.begun == 1 else None

    workers.before = before
    ran = runner(folder, workers)
    state = await ran.run()
    assert (ran.failure, state.finished) == ("Ada cannot start", False)
    assert state.stopped is not None
    assert state.stopped.reason == "failed"
    assert (await runner(folder, FakeWorkers()).run()).finished
    assert results(folder) == expected()


async def test_a_block_that_ends_every_worker_is_given_up(folder: TournamentDirectory) -> None:
    workers = FakeWorkers(size=1)

    def before(task: BlockTask) -> None:
        raise WorkerLostError("killed")

    workers.before = before
    ran = runner(folder, workers, retries=2)
    assert not (await ran.run()).finished
    assert len(workers.tasks) == 3
    assert ran.failure is not None
    assert ran.failure.startswith("3 workers were lost while playing the block of b1.1")


async def test_a_task_that_fails_stops_the_event_with_its_sentence(
    folder: TournamentDirectory,
) -> None:
    workers = FakeWorkers(size=1)

    def before(task: BlockTask) -> None:
        raise TaskFailedError("blocks: bwrap does not work here")

    workers.before = before
    ran = runner(folder, workers)
    state = await ran.run()
    assert ran.failure == "blocks: bwrap does not work here"
    assert state.stopped is not None
    assert state.stopped.detail == ran.failure


async def test_files_are_sent_with_every_task(folder: TournamentDirectory) -> None:
    workers, file = FakeWorkers(size=1), TaskFile(path="ada.py", content="aGk=")
    assert (await runner(folder, workers, TaskTerms(None, (file,))).run()).finished
    assert all(task.files == [file] for task in workers.tasks)


async def test_stop_lets_running_tasks_end_and_sends_no_more(folder: TournamentDirectory) -> None:
    workers = FakeWorkers(size=1)
    ran = runner(folder, workers)

    def before(task: BlockTask) -> None:
        ran.stop_requested = True

    workers.before = before
    state = await ran.run()
    assert len(workers.tasks) == 1
    assert state.played == len(workers.tasks[0].games)
    assert state.stopped is not None
    assert state.stopped.reason == "asked"


def test_a_task_has_as_many_blocks_as_should_take_half_a_minute() -> None:
    size = TaskSize()
    assert size.blocks == 1
    size.learn(1, 7.0)
    assert size.blocks == 4
    size.learn(4, 10.0)  # most of the first task's time was its server's startup
    assert size.blocks == MOST_BLOCKS
    size.learn(10, 1000.0)
    assert size.blocks == 1
    size.learn(1, 0.0)
    assert size.blocks == MOST_BLOCKS


async def test_the_first_tasks_are_of_one_block(folder: TournamentDirectory) -> None:
    workers = FakeWorkers(size=2)
    assert (await runner(folder, workers).run()).finished
    blocks = [len({game.block for game in task.games}) for task in workers.tasks]
    assert blocks[:2] == [1, 1]
    assert 1 < max(blocks) <= MOST_BLOCKS


async def test_a_swiss_event_waits_for_its_rounds(folder: TournamentDirectory) -> None:
    entrants = [{"name": name, "bot": "line-nim/random"} for name in ("Ada", "Bob", "Cyd", "Dan")]
    fields: dict[str, Any] = {"format": "swiss", "rounds": 3, "blocks": 2, "entrants": entrants}
    state = await runner(folder, FakeWorkers(), **fields).run()
    assert state.finished
    assert state.played == 3 * 2 * 4
