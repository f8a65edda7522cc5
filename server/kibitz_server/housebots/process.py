"""House bot processes, which the server starts, reads, stops and always reaps.

The server contains no bots. The program that constructs it passes a `BotLauncher`, which lists the
bots and returns the command for a process. The process connects like any other client. It reads its
secret from an inherited descriptor, because processes of the same user can read each other's
command lines and environments. It inherits only the environment variables listed below, so that
bots cannot see tokens, passwords and the server's configuration. Each process leads its own process
group, so that the server can end all programs it started. The server keeps its last lines of
output, to record them in the match after a crash.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from kibitz_protocol import printable
from kibitz_server.housebots import wait_exit

LOG_LINES = 20
LINE_BYTES = 200
LIMIT_PREFIX = "ended: "
"""The prefix of the line in which a process reports that it exceeded a limit."""
TERM_TIMEOUT_S = 3.0
"""Seconds that a process has to end after SIGTERM before it is killed."""

ENVIRONMENT_ALLOWED = frozenset(
    {
        # The paths of programs, libraries, temporary files and machine code caches.
        *("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "VIRTUAL_ENV"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT"),
        *("LOCALAPPDATA", "USERPROFILE", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"),
        # The language and the number of threads.
        *("LANG", "LANGUAGE", "TZ", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONWARNINGS"),
        *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
        # For kibitz's own code; tests use the last one to find leftover processes.
        *("KIBITZ_CACHE", "KIBITZ_PLAIN", "KIBITZ_CGROUP", "KIBITZ_TEST_RUN"),
    }
)
"""Environment variables that a house bot inherits from the server."""
ENVIRONMENT_PREFIXES = ("LC_", "NUMBA_")
"""Prefixes of further inherited variables, for the locale and for compilation."""


class HouseBotProcess:
    """A process of a house bot, a compiler or an analysis, from its start until it is reaped."""

    __slots__ = ("_lines", "_name", "_on_line", "_process", "_stop_requested", "status")

    def __init__(
        self, on_line: Callable[[str], object] | None = None, *, name: str = "the bot's process"
    ) -> None:
        """`on_line` is called with each line of output; `name` is for messages."""
        self._on_line = on_line
        self._name = name
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._stop_requested = asyncio.Event()
        self.status: int | None = None
        """The exit status once the process has ended; negative for a signal."""

    @property
    def stopping(self) -> bool:
        """Whether the server itself stopped the process."""
        return self._stop_requested.is_set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def log_tail(self) -> str:
        """The exit status, and the last lines of output."""
        ended = f"{self._name} ended with status {self.status}"
        return "\n".join([*self._lines, ended])

    @property
    def end_reason(self) -> str:
        """The exit status, and the limit that the process reported exceeding, if any."""
        ended = f"the process ended with status {self.status}"
        last = self._lines[-1] if self._lines else ""
        if last.startswith(LIMIT_PREFIX):
            return f"{ended}: {last.removeprefix(LIMIT_PREFIX)}"[:LINE_BYTES]
        if self.status == -signal.SIGKILL:
            return f"{ended}: it was killed, probably because memory ran out"
        return ended

    def stop(self) -> None:
        """Ask the process to end; `run` kills it if it does not."""
        self._stop_requested.set()

    def mark_failed(self, reason: str) -> None:
        """Record that the process could not be started."""
        self._keep_line(reason.encode())
        self.status = 127

    async def run(
        self, command: Sequence[str], environment: dict[str, str], secret: str = ""
    ) -> None:
        """Run the process until it ends. If canceled, end the process first.

        Errors of the process never raise. If the command cannot be started, the exit status is 127.
        """
        if self.stopping:
            return
        try:
            with secret_descriptor(secret) as descriptor:
                number = descriptor.fileno()
                self._process = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    # Without this, a crashing Python program would lose its buffered output.
                    env={**environment, "PYTHONUNBUFFERED": "1", "KIBITZ_RESUME_FD": str(number)},
                    start_new_session=True,
                    pass_fds=(number,),
                )
        except OSError as error:
            self.mark_failed(f"cannot start {command[0]!r}: {error.strerror}")
            return
        try:
            await self._collect_output(self._process)
        finally:
            await self._reap(self._process)

    async def _collect_output(self, process: asyncio.subprocess.Process) -> None:
        """Collect the last lines of output, until the process has ended or is being stopped."""
        output = process.stdout
        if output is None:
            raise AssertionError("the process must have been started with a pipe")
        ended = asyncio.ensure_future(wait_exit.wait_exit(process))
        reading = asyncio.ensure_future(self._read(output))
        leaving = asyncio.ensure_future(self._stop_requested.wait())
        try:
            await asyncio.wait((ended, leaving), return_when=asyncio.FIRST_COMPLETED)
            if self.stopping:
                return
            # A program that the process left running may keep the pipe open forever.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reading, 1.0)
        finally:
            for future in (ended, reading, leaving):
                future.cancel()
            await asyncio.gather(ended, reading, leaving, return_exceptions=True)

    async def _read(self, output: asyncio.StreamReader) -> None:
        tail = b""
        while chunk := await output.read(4096):
            *lines, tail = (tail + chunk).split(b"\n")
            for text in lines:
                self._keep_line(text)
            tail = tail[-LINE_BYTES:]
        self._keep_line(tail)

    def _keep_line(self, text: bytes) -> None:
        decoded = text[:LINE_BYTES].decode(errors="replace").strip()
        if decoded:
            line = printable.line(decoded)[:LINE_BYTES]
            self._lines.append(line)
            if self._on_line is not None:
                self._on_line(line)

    async def _reap(self, process: asyncio.subprocess.Process) -> None:
        """Terminate the whole process group, then kill it if needed; return the exit status."""
        self._signal(signal.SIGTERM)
        try:
            self.status = await asyncio.wait_for(wait_exit.wait_exit(process), TERM_TIMEOUT_S)
        except TimeoutError:
            pass
        finally:
            self._signal(signal.SIGKILL)
            self.status = await wait_exit.wait_exit(process)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def inherited_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the server's environment that house bots inherit."""
    return {
        name: value
        for name, value in environment.items()
        if name in ENVIRONMENT_ALLOWED or name.startswith(ENVIRONMENT_PREFIXES)
    }


def secret_descriptor(secret: str) -> socket.socket:
    """Return a descriptor from which a secret can be read, once and to the end.

    It is a socket because other processes of the user could open a pipe through ``/proc``.
    """
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(secret.encode())
    return theirs
