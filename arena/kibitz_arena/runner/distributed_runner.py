"""Run a tournament on workers: blocks of games are tasks, and this process writes the journal.

Games are journaled as requested before their task is sent, and as ended when their block returns.
If a worker is lost, its games remain outstanding in the journal. They are sent again with the same
tags, as after an interruption. Results are accepted only for outstanding games, so a game that is
reported twice counts once.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kibitz_arena.entries import GameEnded, GamesRequested, IsolationTool, RunStarted, StopReason
from kibitz_arena.runner.block_task import (
    BLOCKS,
    BlockOutcome,
    BlockTask,
    PlayedGame,
    TaskFailedError,
    TaskFile,
    WorkerLostError,
    WorkerPool,
    task_tournament,
)
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.journal_file import TournamentJournal, now_ms
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.records import has_fault
from kibitz_arena.runner.services import Services
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import DueGame, TournamentState, original_tag
from kibitz_protocol.atomic_write import write_atomically
from kibitz_protocol.wire.recordfile import read_record

MOST_BLOCKS: Final = 10
"""The maximum number of blocks per task. A task starts a new server and new bots, which takes
seconds, so single-block tasks would be slow."""
TASK_SECONDS: Final = 30.0
"""The target duration of a task, in seconds. A lost worker costs up to this much work, and stopping
with Ctrl-C takes up to this long."""
TASKS_PER_WORKER: Final = 4
"""The number of tasks to split a worker's share of the remaining blocks into, so that workers do
not wait long for the last task."""
SHOW_SECONDS: Final = 0.25


@dataclass(frozen=True)
class TaskTerms:
    """The settings shared by all tasks of a tournament."""

    isolation: IsolationTool | None
    """The tool that isolates untrusted entrants; None if there are none."""
    files: tuple[TaskFile, ...] = ()
    concurrency: int = 1
    """The number of concurrent games per worker."""
    wait: float = 600.0
    """The timeout for entrants to become ready, in seconds."""


@dataclass
class TaskSize:
    """The number of blocks per task: one at first, then about `TASK_SECONDS` worth of blocks."""

    blocks: int = 1

    def learn(self, blocks: int, seconds: float) -> None:
        """Adapt to the measured duration of a task of `blocks` blocks."""
        due = int(blocks * TASK_SECONDS / max(seconds, 0.001))
        self.blocks = max(1, min(MOST_BLOCKS, due))


@dataclass
class DistributedRunner:
    """Runs a tournament on workers. `stop` may be called at any time."""

    tournament: Tournament
    directory: TournamentDirectory
    workers: WorkerPool
    services: Services
    """The services that create reports from records; they start no processes here."""
    terms: TaskTerms
    display: ProgressDisplay
    stop_requested: bool = False
    """Whether a stop was requested."""
    failure: str | None = None
    """Why the run failed, if it did."""
    lost: int = 0
    """The number of tasks lost with their workers."""
    _assigned: set[str] = field(default_factory=set)
    """The tags of games that are assigned to a worker."""
    _losses: Counter[str] = field(default_factory=Counter)
    """How often a worker was lost while it had a game, by tag."""
    _size: TaskSize = field(default_factory=TaskSize)
    _past_deadline: bool = False

    async def stop(self) -> None:
        """Send no more tasks, and end once the running tasks have ended."""
        self.stop_requested = True

    async def run(self) -> TournamentState:
        """Play the remaining games and return the state of the tournament.

        Raises `JournalError` if the journal belongs to another tournament or is open elsewhere.
        """
        with TournamentJournal(self.directory.journal, self.tournament) as journal:
            journal.tell_torn(self.display.say)
            if not journal.state.finished:
                journal.append(RunStarted(at_ms=now_ms(), isolation=self.terms.isolation))
                await self._play(journal)
                self._write_end(journal)
            return journal.state

    async def _play(self, journal: TournamentJournal) -> None:
        running: set[asyncio.Task[None]] = set()
        try:
            while True:
                while len(running) < self.workers.size and (games := self._next_games(journal)):
                    self._assigned.update(due.tag for due in games)
                    running.add(asyncio.create_task(self._run_task(journal, games)))
                if not running:
                    return
                ended, running = await asyncio.wait(
                    running, timeout=SHOW_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for task in ended:
                    task.result()
                self.display.show(journal.state, self._width())
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _width(self) -> ConcurrencyLimit:
        return ConcurrencyLimit(self.workers.size * self.terms.concurrency)

    # Sending tasks

    def _next_games(self, journal: TournamentJournal) -> list[DueGame]:
        """Journal the games of the next task as requested and return them; empty to send none.

        Games left outstanding by an interruption or a lost worker come first.
        """
        if self.stop_requested or self.failure is not None:
            return []
        state = journal.state
        left = [due for due in state.outstanding if due.tag not in self._assigned]
        if left:
            return self._first_blocks(state, left)
        self._past_deadline |= self.tournament.is_past_deadline(now_ms())
        if self._past_deadline:
            return []
        room = len(state.outstanding) + self._size.blocks * self.tournament.seats
        games = self._first_blocks(state, state.due(room))
        if games:
            journal.append(GamesRequested(at_ms=now_ms(), tags=[due.tag for due in games]))
        return games

    def _first_blocks(self, state: TournamentState, games: Sequence[DueGame]) -> list[DueGame]:
        """Return the games of the first blocks, limited by the task size and a worker's share."""
        left = -(-(state.planned - state.played) // self.tournament.seats)
        share = -(-left // (TASKS_PER_WORKER * self.workers.size))
        blocks = itertools.groupby(games, key=lambda due: due.game.block)
        chosen = itertools.islice(blocks, max(1, min(self._size.blocks, share)))
        return [due for _, inside in chosen for due in inside]

    def _task(self, games: Sequence[DueGame]) -> BlockTask:
        scheduled = [due.game for due in games]
        return BlockTask(
            tournament=task_tournament(self.tournament, scheduled, self.terms.concurrency),
            games=scheduled,
            files=[*self.terms.files],
            isolation=self.terms.isolation or "none",
            wait=self.terms.wait,
        )

    # Receiving results

    async def _run_task(self, journal: TournamentJournal, games: Sequence[DueGame]) -> None:
        """Have a worker play a task, and record the outcome."""
        began = time.monotonic()
        try:
            task = self._task(games).model_dump(mode="json")
            outcome = BlockOutcome.model_validate(await self.workers.run(BLOCKS, task))
            blocks = len({due.game.block for due in games})
            self._size.learn(blocks, time.monotonic() - began)
            self._write_games(journal, outcome.games)
            self._require_all(journal, games, outcome)
        except WorkerLostError as error:
            self._note_loss(games, error)
        except (TaskFailedError, OSError, ValueError) as error:
            self.failure = self.failure or str(error)
        finally:
            self._assigned.difference_update(due.tag for due in games)

    def _write_games(self, journal: TournamentJournal, games: Sequence[PlayedGame]) -> None:
        """Write records and reports, then the journal, for games that are still outstanding."""
        tags = {original_tag(due.tag): due.tag for due in journal.state.outstanding}
        for game in games:
            tag = tags.pop(original_tag(game.ended.tag), None)
            if tag is not None:
                journal.append(self._entry(tag, game))

    def _entry(self, tag: str, game: PlayedGame) -> GameEnded:
        """Write a game's record and report; return its journal entry."""
        paths: dict[str, str | None] = {"record": None, "report": None}
        if game.record is not None:
            # Different workers' servers may use the same match key, so the file name includes the
            # tag.
            stem = f"{game.ended.match}-{original_tag(game.ended.tag)}"
            path = write_atomically(self.directory.records / f"{stem}.jsonl", game.record)
            record = read_record(path)
            paths["record"] = self._relative(path)
            if has_fault(record):
                report = self.services.report(record)
                written = self.services.write_report(report, path, self.directory.reports)
                paths["report"] = None if written is None else self._relative(written)
        return game.ended.model_copy(update={"tag": tag, "at_ms": now_ms(), **paths})

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.directory.path).as_posix()

    def _require_all(
        self, journal: TournamentJournal, games: Sequence[DueGame], outcome: BlockOutcome
    ) -> None:
        """Raise `TaskFailedError` if a worker did not play all games of its task."""
        left = {due.tag for due in journal.state.outstanding}
        missing = [due.tag for due in games if due.tag in left]
        if missing:
            raise TaskFailedError(
                outcome.failure or f"a worker returned without the games {', '.join(missing)}"
            )

    def _note_loss(self, games: Sequence[DueGame], error: WorkerLostError) -> None:
        self.lost += 1
        self._losses.update(due.tag for due in games)
        first, worst = games[0].tag, max(self._losses[due.tag] for due in games)
        if worst > self.tournament.retries:
            self.failure = f"{worst} workers were lost while playing the block of {first}: {error}"
            return
        self.display.say(f"a worker was lost with {len(games)} games starting at {first}: {error}")

    def _write_end(self, journal: TournamentJournal) -> None:
        """Journal why the tournament ends, unless all games were played."""
        stop: tuple[StopReason, str] = "deadline" if self._past_deadline else "asked", ""
        if self.failure is not None:
            stop = "failed", (self.failure.splitlines() or [""])[0][:200]
        entry = journal.state.stop_entry(now_ms(), stop)
        if entry is not None:
            journal.append(entry)
