"""An external program that exchanges lines over standard input and output.

Each line of its standard error is copied to this process's standard error, and thereby to the notes
of the match that started or adopted the program. After `MAX_NOTED` characters, the rest is read and
discarded. Any thread may call the methods, but only one at a time.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import IO

from kibitz_bots.adapters.launcher import ProcessLimits, launch_command
from kibitz_bots.running.threads import TurnCancelled
from kibitz_protocol import printable
from kibitz_search.cancellation import CancelToken

MAX_LINE = 1 << 16
"""The maximum length of a line in bytes; longer lines are split."""
MAX_WAITING_LINES = 1000
"""The maximum number of unread lines; while it is reached, reading pauses."""
MAX_NOTED = 1 << 18
"""The maximum number of characters of standard error forwarded per program, equal to the limit of a
match's notes."""
TRUNCATED = "(further output of this program is not kept)"
GRACE_S = 1.0
"""How long a program may take to exit after its input is closed, in seconds."""
POLL_S = 0.05
"""How often a wait for a line checks for cancellation, in seconds."""


class ProgramError(RuntimeError):
    """The program exited or closed its output; the message says how and quotes its last output."""


def program_name(command: Sequence[str]) -> str:
    """Return a name for a command: ``bot`` for ``node bots/bot.js``, ``engine`` for ``./engine``.

    The name is taken from the first argument that looks like a script, else from the program,
    reduced to the characters allowed in names.
    """
    scripts = [word for word in command[1:] if not word.startswith("-") and Path(word).suffix]
    stem = Path(scripts[0] if scripts else command[0]).stem
    return re.sub(r"[^A-Za-z0-9._-]", "-", stem)[:24].strip("-._") or "program"


def starters() -> Executor:
    """Return the executor that starts programs; keep it while they run.

    On Linux, the kernel kills a launched program as soon as the *thread* that started it exits.
    This thread must therefore live as long as the program.
    """
    return ThreadPoolExecutor(1, "starter")


class LineSplitter:
    """Splits a byte stream into UTF-8 lines that end in LF, CR LF or a lone CR.

    A line is complete at its CR without waiting for an LF, because a program that ends its lines in
    CR may be waiting for an answer. Invalid UTF-8 is replaced, and lines over `MAX_LINE` bytes are
    split.
    """

    def __init__(self) -> None:
        self._rest = b""
        # Whether the last line ended in CR, so that a following LF belongs to it.
        self._after_cr = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without line endings."""
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        lines = re.split(rb"\r\n|\r|\n", self._rest + data)
        self._rest = lines.pop()
        while len(self._rest) >= MAX_LINE:
            lines.append(self._rest[:MAX_LINE])
            self._rest = self._rest[MAX_LINE:]
        return [
            line[start : start + MAX_LINE].decode(errors="replace")
            for line in lines
            for start in range(0, max(1, len(line)), MAX_LINE)
        ]

    def end(self) -> list[str]:
        """Return the unterminated last line, if any."""
        rest, self._rest = self._rest, b""
        return [rest.decode(errors="replace")] if rest else []


def read_lines(stream: IO[bytes]) -> Iterator[str]:
    """Yield each line of a stream as soon as it is complete."""
    splitter = LineSplitter()
    descriptor = stream.fileno()
    while data := os.read(descriptor, MAX_LINE):
        yield from splitter.feed(data)
    yield from splitter.end()


class LineProcess:
    """A running program. Raises `ProgramError` if it has exited or cannot be started."""

    def __init__(
        self,
        command: Sequence[str],
        starter: Executor,
        *,
        limits: ProcessLimits | None = None,
        newline: str = "\n",
    ) -> None:
        self.command = list(command)
        self._newline = newline
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING_LINES)
        self._last_lines: list[str] = []
        # How many characters may still be noted, and a lock, because two threads write notes.
        self._room = MAX_NOTED
        self._noting = threading.Lock()
        starting = starter.submit(_start, launch_command(command, limits or ProcessLimits()))
        self._process = starting.result()
        self._closed = False
        # The context of the bot's match; the program's standard error is sent there.
        self._context = contextvars.copy_context()
        self._answers = self._listen(self._process.stdout, self._on_line)
        self._errors = self._listen(self._process.stderr, self._on_error_line)

    def adopt(self) -> None:
        """Take over a program started elsewhere: its standard error goes to the caller's match."""
        self._context = contextvars.copy_context()

    def send(self, line: str) -> None:
        """Write a line; block while the pipe is full."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((line + self._newline).encode())
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise ProgramError(self.ending()) from None

    def receive(self, seconds: float | None = None, called_off: CancelToken | None = None) -> str:
        """Return the next line, without its end.

        Raises `TimeoutError` after `seconds`, and `TurnCancelled` once `called_off` is set.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = POLL_S if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                line = self._lines.get(timeout=min(POLL_S, left))
            except queue.Empty:
                if called_off is not None and called_off.is_set():
                    raise TurnCancelled from None
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError(f"no line within {seconds:g} s") from None
                continue
            if line is None:
                self._lines.put(None)
                raise ProgramError(self.ending())
            return line

    def pending(self) -> list[str]:
        """Return the unread lines without blocking."""
        lines = []
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                lines.append(line)
            self._lines.put(None)
        return lines

    def note(self, line: str) -> None:
        """Write a line to our standard error, up to the limit."""
        with self._noting:
            if self._room <= 0:
                return
            self._room -= len(line) + 1
            more = "\n" if self._room > 0 else f"\n{TRUNCATED}\n"
        sys.stderr.write(printable.line(line[:MAX_LINE]) + more)

    def ending(self) -> str:
        """Return how the program ended, with its last lines of standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self._errors.join(GRACE_S)
        status = self._process.poll()
        how = "closed its output" if status is None else _ended(status)
        output = "\n".join(self._last_lines)
        return f"{shlex.join(self.command)} {how}" + (
            f"; its last output:\n{output}" if output else ""
        )

    def close(self) -> int:
        """End the program and its child processes; return its exit status."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        # Its process group may outlive it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._closed = True
        for stream, reader in (
            (self._process.stdout, self._answers),
            (self._process.stderr, self._errors),
        ):
            reader.join()
            if stream is not None:
                stream.close()
        return self._process.wait()

    def _listen(
        self, stream: IO[bytes] | None, heard: Callable[[str | None], None]
    ) -> threading.Thread:
        assert stream is not None

        def listen() -> None:
            with contextlib.suppress(ValueError, OSError):  # closed in the meantime
                for line in read_lines(stream):
                    self._context.copy().run(heard, line)
            heard(None)

        thread = threading.Thread(target=listen, name="program", daemon=True)
        thread.start()
        return thread

    def _on_line(self, line: str | None) -> None:
        while not self._closed:
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=POLL_S)
                return

    def _on_error_line(self, line: str | None) -> None:
        if line is not None:
            self._last_lines = [*self._last_lines[-11:], line[:500]]
            self.note(line)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def _ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-status).name}"
    return f"was killed by signal {-status}"
