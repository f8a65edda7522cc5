"""Capture a bot's output for the record: batched, bounded and rate limited.

`LogBuffer` collects the lines of one match and returns them in batches; its caller supplies the
time. While a `Tee` replaces ``sys.stderr``, lines written during a match go to the terminal and to
the notes of that match, which a context variable identifies.
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
"""The maximum length of a note in the protocol."""
INTERVAL_MS = 1000
"""The sustained rate of notes: one per match in this many milliseconds."""
BURST = 8
"""The number of notes a match may send at once after a pause."""
MAX_PENDING = 16_000
"""The maximum number of waiting characters; older lines are dropped, and a note counts them."""
MAX_TOTAL = 256_000
"""The maximum number of characters of notes per match; a final note says that more were dropped."""
TRUNCATED = "(further output of this bot is not recorded)"


class LogBuffer:
    """The output lines of one match that are not yet recorded; any thread may write."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lines: deque[str] = deque()
        # Characters in `_lines`, and the number of lines dropped for newer ones.
        self._waiting = 0
        self._left_out = 0
        # The unterminated last line.
        self._partial = ""
        # Characters returned so far.
        self._given = 0
        # When the full burst will be available again, by the caller's clock.
        self._full_ms = 0.0

    def write(self, text: str) -> None:
        """Add output; a line is queued once it is complete or longer than a note."""
        with self._guard:
            *lines, self._partial = (self._partial + text).split("\n")
            for line in lines:
                self._keep(line)
            while len(self._partial) > MAX_BATCH:
                self._keep(self._partial[:MAX_BATCH])
                self._partial = self._partial[MAX_BATCH:]

    def next_batch(self, now_ms: float) -> str | None:
        """Return the next batch, None if nothing is waiting or the allowance is used up."""
        with self._guard:
            full = max(self._full_ms, now_ms)
            if not self._open or full + INTERVAL_MS > now_ms + BURST * INTERVAL_MS:
                return None
            self._full_ms = full + INTERVAL_MS
            return self._batch()

    def flush(self) -> list[str]:
        """Return all waiting output, even an unterminated line, regardless of the allowance."""
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
        """Queue a line unless it is blank, split into pieces that fit a note."""
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
            taken = [f"({self._left_out} lines dropped)"]
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
    """Send stderr output of this context to a match's notes."""
    token = _current_buffer.set(notes)
    try:
        yield
    finally:
        _current_buffer.reset(token)


class Tee(io.TextIOBase):
    """A replacement for stderr that writes to the terminal and to the current match's notes."""

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
        """Return true."""
        return True

    def isatty(self) -> bool:
        """Return whether the underlying stream is a terminal."""
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
    """Replace ``sys.stderr`` with a `Tee`; yield the original stream."""
    terminal = sys.stderr
    sys.stderr = Tee(terminal)
    try:
        yield terminal
    finally:
        sys.stderr = terminal
