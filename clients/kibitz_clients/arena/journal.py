"""Journals: what happened in an event, as JSON Lines that survive everything.

The first line is the event itself; each line after it is one entry. A line is written before
what it tells takes effect: games are `arranged` before they are asked for, and `ended` lines are
on the disk before anybody counts them. So whatever is cut off at any byte can go on:

- what `ended` is never played again;
- what was `arranged` and has not ended is *outstanding*: asked for again by the same tag, which
  a server that knows the tag answers with what became of it;
- everything else is still to come, in the order of the schedule.

Only the last line can be torn, because lines are appended one after the other; whoever opens the
journal cuts it off. A game that failed for a reason of the infrastructure is `requeued`: it
goes on as ``b17.2~1`` and its failed attempt is never counted.

`Progress` is the fold over the lines, live as well as after a restart.

    JournalError
     +-- OtherEvent    the journal is another event's; says what differs
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, BinaryIO, Final, Literal, Self, TypeAlias

from filelock import FileLock, Timeout
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from kibitz_clients.arena import sequential
from kibitz_clients.arena.event import FREE, Event
from kibitz_clients.arena.schedule import Block, Game, Schedule
from kibitz_protocol.records import Cause, Result
from kibitz_protocol.values import Key, Line, Millis, Strict

SCHEMA: Literal["kibitz-event/1"] = "kibitz-event/1"
_ABSENT: Final = object()


class JournalError(ValueError):
    """A journal that cannot be read or gone on with; `str()` is fit for a person."""


class OtherEvent(JournalError):
    """The journal belongs to another event; `differences` are its paths."""

    def __init__(self, differences: Sequence[str]) -> None:
        text = "; ".join(differences)
        super().__init__(f"expected the event that the journal was begun with: {text}")
        self.differences = tuple(differences)


class Header(Strict):
    """The first line: the event, as `Event.dump` gives it, and its hash."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-event/1"] = Field(SCHEMA, alias="schema")
    event: dict[str, Any]
    hash: str


class EntryBase(Strict):
    """`at_ms` is the time of day, in milliseconds since 1970, as its writer read it."""

    at_ms: Millis


Isolation: TypeAlias = Literal["bwrap", "setpriv", "none"]


class Began(EntryBase):
    """Somebody began to run the event, or to go on with it."""

    kind: Literal["began"] = "began"
    isolation: Isolation | None = None
    """What kept entrants of foreign code apart; None where there were none, or nobody said."""


class Arranged(EntryBase):
    """These games are about to be asked for."""

    kind: Literal["arranged"] = "arranged"
    tags: list[str] = Field(min_length=1)


class Ended(EntryBase):
    """A game ended, and counts. `players` are entrants by seat, as in `result`."""

    kind: Literal["ended"] = "ended"
    tag: str
    match: Key
    players: list[str]
    result: Result
    used_ms: list[Millis] | None = None
    record: str | None = Field(None, description="path, from the event's directory")
    report: str | None = Field(
        None, description="path of the forensic report, where a seat was at fault"
    )


class Requeued(EntryBase):
    """A game failed for a reason of the infrastructure; it is played again under a new tag."""

    kind: Literal["requeued"] = "requeued"
    tag: str
    match: Key | None = None
    detail: Line = ""


class Stopped(EntryBase):
    """The event stops. After ``decided`` it never goes on; else it does when it is begun again."""

    kind: Literal["stopped"] = "stopped"
    reason: Literal["decided", "deadline", "asked", "failed"]
    detail: Line = ""


Entry: TypeAlias = Began | Arranged | Ended | Requeued | Stopped
ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass(frozen=True)
class Reading:
    """What a journal's bytes say."""

    header: Header | None
    """None where not even the first line is whole: nothing has begun."""
    entries: tuple[Entry, ...]
    length: int
    """How many bytes are whole lines; what is after them is `torn`."""
    torn: bytes


def header(event: Event) -> Header:
    """Return the first line of an event's journal."""
    return Header(event=event.dump(), hash=event.hash)


def line(entry: Header | Entry) -> bytes:
    """Return the line of an entry, its end included."""
    return entry.model_dump_json(exclude_none=True).encode() + b"\n"


def read(data: bytes) -> Reading:
    """Read a journal. What follows the last end of a line is torn; a bad whole line is an error."""
    length = data.rfind(b"\n") + 1
    lines = data[:length].splitlines()
    try:
        first = Header.model_validate_json(lines[0]) if lines else None
    except ValidationError as error:
        raise JournalError(f"line 1: expected the header of a journal: {_first(error)}") from None
    entries = tuple(_entry(number, text) for number, text in enumerate(lines[1:], 2))
    return Reading(first, entries, length, data[length:])


def _entry(number: int, text: bytes) -> Entry:
    try:
        return ENTRY.validate_json(text)
    except ValidationError as error:
        raise JournalError(f"line {number}: expected an entry: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    return ": ".join(part for part in (".".join(map(str, detail["loc"])), detail["msg"]) if part)


def require_same(header: Header, event: Event) -> None:
    """Raise `OtherEvent` unless the journal's event has the same games as `event`."""
    if header.hash == event.hash:
        return
    differences = [*_differences("", header.event, event.dump())]
    raise OtherEvent(differences or [f"the hash is {event.hash} and was {header.hash}"])


def _differences(path: str, then: Any, now: Any) -> Iterator[str]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now} - (set() if path else FREE)):
            inside = f"{path}.{key}" if path else key
            yield from _differences(inside, then.get(key, _ABSENT), now.get(key, _ABSENT))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _differences(f"{path}.{index}", old, new)
    elif then != now:
        yield f"{path} is {_shown(now)} and was {_shown(then)}"


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "not given"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"


def attempt(tag: str, number: int) -> str:
    """Return the tag of an attempt: the game's own for the first, number 0."""
    return f"{tag}~{number}" if number else tag


def original(tag: str) -> str:
    """Return the tag in the schedule of any attempt's tag."""
    return tag.partition("~")[0]


@dataclass(frozen=True, slots=True)
class Due:
    """A game to be asked for, under the tag of its present attempt."""

    tag: str
    game: Game


class Progress:
    """How far an event is: the fold over its entries.

    Every entry goes through `apply`, whether it has just been written or was read. `due` says
    what to ask for next; what it answers has to be written as `Arranged` and applied before it
    is asked for.
    """

    def __init__(self, event: Event) -> None:
        self.event = event
        self.schedule = Schedule(event)
        self._planned = self.schedule.total
        self.ended: dict[str, Ended] = {}
        """What counts, by the game's own tag, in the order in which it ended."""
        self.points: dict[str, float] = dict.fromkeys(event.names, 0.0)
        """What the entrants won in games, byes left out."""
        self.requeued = 0
        self.sessions = 0
        """How often somebody began to run the event."""
        self.isolation: list[Isolation] = []
        """What kept entrants of foreign code apart, one after the other if it was not the same."""
        self.stopped: Stopped | None = None
        """Why the event stopped; None while it runs."""
        self.running_ms = 0
        self._last_ms: int | None = None
        self._blocks: dict[str, Block] = {}
        self._games: dict[str, Game] = {}
        self._waiting: deque[str] = deque()
        """Games that were never arranged, by their own tags."""
        self._again: deque[str] = deque()
        """Games that failed and have not been arranged again."""
        self._outstanding: dict[str, str] = {}
        """The game's own tag, by the tag it was arranged under."""
        self._attempts: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        """How many games each block lacks."""
        self._test = sequential.Test(event.stop) if event.stop else None
        self._learn()

    @classmethod
    def fold(cls, event: Event, entries: Iterable[Entry]) -> Self:
        """Return the progress that `entries` make; raises `JournalError` where they cannot be."""
        progress = cls(event)
        for number, entry in enumerate(entries, 2):
            try:
                progress.apply(entry)
            except JournalError as error:
                raise JournalError(f"line {number}: {error}") from None
        return progress

    # What there is to do

    def due(self, at_most: int) -> list[Due]:
        """Return the next games to ask for, so that at most `at_most` are outstanding.

        Games that failed come first. There are none once the event has stopped or is decided.
        """
        room = at_most - len(self._outstanding)
        if room <= 0 or self.over:
            return []
        again = [tag for tag in self._again if not self._exhausted(tag)]
        tags = itertools.islice(itertools.chain(again, self._waiting), room)
        return [Due(attempt(tag, self._attempts[tag]), self._games[tag]) for tag in tags]

    @property
    def outstanding(self) -> list[Due]:
        """What was arranged and has not ended, in the order in which it was arranged."""
        return [Due(tag, self._games[own]) for tag, own in self._outstanding.items()]

    @property
    def stuck(self) -> list[str]:
        """Games that failed more often than the event allows: the event cannot finish."""
        return [tag for tag in self._again if self._exhausted(tag)]

    @property
    def planned(self) -> int:
        """How many games the whole event has."""
        return self._planned

    @property
    def played(self) -> int:
        """How many games count."""
        return len(self.ended)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to play: all games have ended, or the test is decided."""
        if self._outstanding:
            return False
        return self.decided or (self.schedule.complete and self.played == self.planned)

    @property
    def over(self) -> bool:
        """Whether no further game is to be asked for."""
        return self.stopped is not None or self.decided

    @property
    def decided(self) -> bool:
        """Whether the sequential test has ended, or had when the event stopped for it."""
        by_entry = self.stopped is not None and self.stopped.reason == "decided"
        return by_entry or (self._test is not None and self._test.verdict.decided)

    @property
    def verdict(self) -> sequential.Verdict | None:
        """Where the sequential test stands, if the event has one."""
        return self._test.verdict if self._test else None

    def game(self, tag: str) -> Game:
        """Return the game of any attempt's tag; raises `JournalError` for an unknown one."""
        try:
            return self._games[original(tag)]
        except KeyError:
            raise JournalError(f"unknown game {tag!r}") from None

    def conclude(
        self,
        at_ms: int,
        tag: str,
        match: str,
        result: Result,
        *,
        used_ms: Sequence[int] | None = None,
        record: str | None = None,
        report: str | None = None,
    ) -> Ended | Requeued:
        """Return the entry for a match that is over: what failed is requeued, all else counts."""
        if result.cause is Cause.INFRASTRUCTURE:
            return Requeued(at_ms=at_ms, tag=tag, match=match, detail=result.reason)
        return Ended(
            at_ms=at_ms,
            tag=tag,
            match=match,
            players=[*self.game(tag).players],
            result=result,
            used_ms=None if used_ms is None else [*used_ms],
            record=record,
            report=report,
        )

    # What happened

    def apply(self, entry: Entry) -> None:
        """Fold one entry in; raises `JournalError`, and changes nothing, where it cannot be."""
        match entry:
            case Began():
                self._begin(entry)
            case Arranged():
                self._arrange(entry)
            case Ended():
                self._end(entry)
            case Requeued():
                self._requeue(entry)
            case Stopped():
                self.stopped = entry
        self._run(entry)

    def _run(self, entry: Entry) -> None:
        """Count the time since the last entry; a break ends with `Began`."""
        if self._last_ms is not None and not isinstance(entry, Began):
            self.running_ms += max(0, entry.at_ms - self._last_ms)
        self._last_ms = entry.at_ms

    def _begin(self, entry: Began) -> None:
        self.sessions += 1
        if entry.isolation is not None and entry.isolation not in self.isolation:
            self.isolation.append(entry.isolation)
        if self.stopped is not None and self.stopped.reason != "decided":
            self.stopped = None

    def _arrange(self, entry: Arranged) -> None:
        owns = [self._arrangeable(tag) for tag in entry.tags]
        if len(set(owns)) < len(owns):
            raise JournalError(f"expected different games, got {entry.tags}")
        for tag, own in zip(entry.tags, owns, strict=True):
            queue = self._again if own in self._again else self._waiting
            queue.remove(own)
            self._outstanding[tag] = own

    def _arrangeable(self, tag: str) -> str:
        own = self.game(tag).tag
        expected = attempt(own, self._attempts[own])
        if tag != expected or own in self.ended or tag in self._outstanding:
            raise JournalError(f"the game {tag!r} is not waiting")
        return own

    def _end(self, entry: Ended) -> None:
        own = self._took_place(entry.tag)
        game = self._games[own]
        if tuple(entry.players) != game.players or len(entry.result.seats) != len(game.players):
            raise JournalError(f"expected the players {list(game.players)}, got {entry.players}")
        if entry.result.cause is Cause.INFRASTRUCTURE:
            raise JournalError(f"the game {entry.tag!r} failed, which never counts")
        del self._outstanding[entry.tag]
        self.ended[own] = entry
        for name, won in zip(game.players, shares(entry.result), strict=True):
            self.points[name] += won
        self._left[game.block] -= 1
        if not self._left[game.block]:
            self._complete(game.block)

    def _requeue(self, entry: Requeued) -> None:
        own = self._took_place(entry.tag)
        del self._outstanding[entry.tag]
        self._attempts[own] += 1
        self._again.append(own)
        self.requeued += 1

    def _took_place(self, tag: str) -> str:
        own = self.game(tag).tag
        if tag not in self._outstanding:
            raise JournalError(f"the game {tag!r} is not outstanding")
        return own

    def _complete(self, block: str) -> None:
        """All games of a block have ended: tell the test, and draw the next Swiss round."""
        if self._test is not None:
            places = [*self._places(block, self._test.stop.better)]
            if places:
                self._test.add(sequential.block_score(places))
        if self.played == len(self._games) and not self.schedule.complete:
            self.schedule.add_round(self.points)
            self._learn()

    def _places(self, block: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the ranks of two entrants in the games of a block that both play in."""
        a, b = names
        for game in self._blocks[block].games:
            entry = self.ended[game.tag]
            if a in entry.players and b in entry.players:
                seats = entry.result.seats
                yield seats[entry.players.index(a)].rank, seats[entry.players.index(b)].rank

    def _learn(self) -> None:
        """Take in the blocks that the schedule has and this has not."""
        for block in self.schedule.blocks[len(self._blocks) :]:
            self._blocks[block.tag] = block
            self._left[block.tag] = len(block.games)
            for game in block.games:
                self._games[game.tag] = game
                self._waiting.append(game.tag)

    def _exhausted(self, tag: str) -> bool:
        return self._attempts[tag] > self.event.retries


def shares(result: Result) -> list[float]:
    """Return what each seat won: the share of the others that it has beaten, ties half."""
    ranks = [seat.rank for seat in result.seats]
    if len(ranks) == 1:
        return [1.0]
    beaten = [sum((rank < each) + 0.5 * (rank == each) for each in ranks) - 0.5 for rank in ranks]
    return [each / (len(ranks) - 1) for each in beaten]


class Journal:
    """A journal's file and the progress that it tells, for one writer at a time.

    Every `append` is on the disk when it returns. Use it as a context manager, or `close` it.
    """

    def __init__(self, path: Path, event: Event) -> None:
        """Open or begin the journal at `path`; its folder must be there.

        Raises `JournalError` where another process has it open, or where it is no journal, and
        `OtherEvent` where its event is not this one.
        """
        self.path = path
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{path} is open already: another arena runs this event") from None
        try:
            self._file, reading = _opened(path, event)
        except BaseException:
            self._lock.release()
            raise
        self.torn = reading.torn
        """The half line that was cut off, empty where the end was whole."""
        self.progress = Progress(event)
        try:
            self.progress = Progress.fold(event, reading.entries)
        except BaseException:
            self.close()
            raise

    def append(self, *entries: Entry) -> None:
        """Fold entries in, write them down, and wait for the disk.

        Raises `JournalError` at an entry that cannot be: it is not written, nor what is after
        it. After an `OSError` close the journal and open it again: the disk knows what counts.
        """
        lines: list[bytes] = []
        try:
            for entry in entries:
                self.progress.apply(entry)
                lines.append(line(entry))
        finally:
            _write(self._file, b"".join(lines))

    def close(self) -> None:
        """Let others have the journal."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _opened(path: Path, event: Event) -> tuple[BinaryIO, Reading]:
    """Return the file, open at its end, and what its whole lines say."""
    file = path.open("a+b", buffering=0)
    try:
        file.seek(0)
        reading = read(file.read())
        if reading.header is not None:
            require_same(reading.header, event)
        if reading.torn:
            file.truncate(reading.length)
        if reading.header is None:
            _write(file, line(header(event)))
            _sync_folder(path.parent)
    except BaseException:
        file.close()
        raise
    return file, reading


def _write(file: BinaryIO, data: bytes) -> None:
    """Append `data` whole and wait for the disk."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Wait until the disk knows the file's name, where folders can be opened at all."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
