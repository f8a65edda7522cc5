"""Capture of a bot's output for the record: batched, bounded, and within the rate limit.

`LogBuffer` collects the lines of one match and returns them in batches; it reads no clock. While a
`Tee` replaces ``sys.stderr``, lines written in the course of a match go to the terminal and to the
notes of that match, which a context variable identifies.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import sys
import threading
from collections import deque
from collections.abc import Iterator
from typing import TextIO

MAX_BATCH = 2000
"""Most characters of one note, as the protocol has it."""
INTERVAL_MS = 1000
"""A match may send one note in this time, in the long run ..."""
BURST = 8
"""... and so many at once after a while of silence."""
MAX_PENDING = 16_000
"""The limit on waiting characters; older ones are left out, and the note says how many."""
MAX_TOTAL = 256_000
"""The limit on characters of notes in one match; a last note says that there were more."""
TRUNCATED = "(the rest of this bot's output is not recorded)"


class LogBuffer:
    """The lines of one match that are not yet in its record; any thread may write."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lines: deque[str] = deque()
        # Characters in `_lines`, and lines that had to make room for newer ones.
        self._waiting = 0
        self._left_out = 0
        # The line that has no end yet.
        self._partial = ""
        # Characters returned so far.
        self._given = 0
        # The time, by the caller's clock, when the allowance would be full again.
        self._full_ms = 0.0

    def write(self, text: str) -> None:
        """Add output; a line counts once it is ended or longer than a note."""
        with self._guard:
            *lines, self._partial = (self._partial + text).split("\n")
            for line in lines:
                self._keep(line)
            while len(self._partial) > MAX_BATCH:
                self._keep(self._partial[:MAX_BATCH])
                self._partial = self._partial[MAX_BATCH:]

    def next_batch(self, now_ms: float) -> str | None:
        """Return the next batch, None when nothing waits or the allowance is used up."""
        with self._guard:
            full = max(self._full_ms, now_ms)
            if not self._open or full + INTERVAL_MS > now_ms + BURST * INTERVAL_MS:
                return None
            self._full_ms = full + INTERVAL_MS
            return self._batch()

    def flush(self) -> list[str]:
        """Return all that waits, the unended line too, without regard to the allowance."""
        with self._guard:
            self._keep(self._partial)
            self._partial = ""
            batches = []
            while self._open:
                batches.append(self._batch())
            return batches

    @property
    def _open(self) -> bool:
        return bool(self._lines) and self._given <= MAX_TOTAL

    def _keep(self, line: str) -> None:
        """Keep a line that is not blank, cut into pieces that fit a note."""
        if not line.strip():
            return
        for start in range(0, len(line), MAX_BATCH):
            piece = line[start : start + MAX_BATCH]
            self._lines.append(piece)
            self._waiting += len(piece) + 1
        while self._waiting > MAX_PENDING:
            self._waiting -= len(self._lines.popleft()) + 1
            self._left_out += 1

    def _batch(self) -> str:
        taken, size = [], 0
        if self._left_out:
            taken = [f"({self._left_out} lines left out)"]
            size, self._left_out = len(taken[0]) + 1, 0
        while self._lines and (not taken or size + len(self._lines[0]) <= MAX_BATCH):
            line = self._lines.popleft()
            self._waiting -= len(line) + 1
            size += len(line) + 1
            taken.append(line)
        self._given += size
        return "\n".join(taken) if self._given <= MAX_TOTAL else TRUNCATED


_current_buffer: contextvars.ContextVar[LogBuffer | None] = contextvars.ContextVar(
    "_playing", default=None
)


@contextlib.contextmanager
def captured_by(notes: LogBuffer) -> Iterator[None]:
    """Capture output to stderr in this context in the notes of a match."""
    token = _current_buffer.set(notes)
    try:
        yield
    finally:
        _current_buffer.reset(token)


class Tee(io.TextIOBase):
    """Stands in for stderr: everything goes to the terminal, and a match's lines to its notes."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal

    def write(self, text: str) -> int:
        """Write to the terminal and to the notes of the match in this context."""
        self.terminal.write(text)
        notes = _current_buffer.get()
        if notes is not None:
            notes.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the terminal."""
        self.terminal.flush()

    def writable(self) -> bool:
        """Return true: this is for writing."""
        return True

    def isatty(self) -> bool:
        """Return whether the terminal is one."""
        return self.terminal.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self.terminal.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the terminal."""
        return self.terminal.encoding


@contextlib.contextmanager
def captured_stderr() -> Iterator[TextIO]:
    """Put a `Tee` in place of ``sys.stderr``; give the terminal behind it."""
    terminal = sys.stderr
    sys.stderr = Tee(terminal)
    try:
        yield terminal
    finally:
        sys.stderr = terminal
