"""Streams: a store writes and reads these logs, with a head line and entries numbered from 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from kibitz_server.storage.errors import StoreError

Kind: TypeAlias = Literal["match", "lobby"]


class Waiter(Protocol):
    """Receives the results of appends."""

    def durable(self, seq: int) -> None:
        """Called when entry `seq`, and all entries before it, are on disk."""

    def lost(self, error: StoreError) -> None:
        """Called once per stream when appended entries are permanently lost."""


@dataclass(frozen=True, slots=True)
class CallWaiter:
    """A waiter for one append, which calls a function with whether the append is on disk."""

    call: Callable[[bool], object]

    def durable(self, seq: int) -> None:
        self.call(True)

    def lost(self, error: StoreError) -> None:
        self.call(False)


@dataclass(slots=True)
class Stream:
    """A stream that the server writes; pass a new `Stream(0, key, kind)` to `Store.create`."""

    number: int
    key: str
    kind: Kind
    tail: int = 0
    """Number of the last appended entry."""
    durable: int = -1
    """Number of the last entry on disk; 0 for the head, -1 before the head is on disk."""
    chain: str = ""
    """Hash over the head and all entries up to `tail`."""
    recent: list[bytes] = field(default_factory=list)
    """The latest entries, including all that are not in a segment yet."""
    closed: bool = False
    """Whether the stream accepts no more entries."""
    failed: bool = False
    """Whether an append was lost. Then `tail` is permanently ahead of the disk."""

    @property
    def first_recent(self) -> int:
        return self.tail - len(self.recent) + 1

    def drop_recent(self, last: int) -> None:
        """Drop the entries up to `last`, which are in segments."""
        del self.recent[: max(0, last - self.first_recent + 1)]


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint of a stream, made after entry `seq`, where the chain's link is `link`."""

    seq: int
    link: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """A stream as read from disk."""

    stream: Stream
    head: bytes
    lines: list[bytes]
    """All its entries, or only those after `checkpoint`, if it has one."""
    checkpoint: StoredCheckpoint | None = None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A stream that is corrupt after its first `sound` entries."""

    key: str
    kind: Kind
    sound: int
    reason: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The data of a closed stream without its entries; a lobby has no footer."""

    number: int
    kind: Kind
    head: bytes
    footer: bytes | None
    summary: bytes
    tail: int
    """Number of its last entry."""
