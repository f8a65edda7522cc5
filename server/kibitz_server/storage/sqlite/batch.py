"""A batch: what was appended in one moment, written as one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import Value
from kibitz_server.storage.sqlite.journal import Segment
from kibitz_server.storage.streams import Stream
from kibitz_server.storage.telling import Waiting


@dataclass(slots=True)
class Batch:
    """Entries appended together: a row of the journal and the transaction around it."""

    lines: list[bytes] = field(default_factory=list)
    """The entries as they stand in its row ..."""
    ends: dict[int, int] = field(default_factory=dict)
    """... and the last one of each stream."""
    waiters: list[Waiting] = field(default_factory=list)
    statements: list[tuple[str, Sequence[Value]]] = field(default_factory=list)
    closing: list[Stream] = field(default_factory=list)
    row: journal.Row | None = None
    weight: int = 0
    """Of its row."""
    segments: list[Segment] = field(default_factory=list)
    """The part of the compaction that it writes."""
    trim_to: int | None = None
    """The row up to which it deletes the journal."""
    trim_bytes: int = 0
    """The weight of what it deletes."""
    attempts: int = 0
    started: float = 0.0
