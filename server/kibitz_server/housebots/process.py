"""House bots: processes that the server starts, listens to, ends and always reaps.

The server knows no bot. Whoever composes it hands over a `BotLauncher`, which says which bots there
are and how a process of one is started. The process connects like any other client; the
secret that it comes with is read from a descriptor that it inherits. Neither a command line nor an
environment has it: processes of the same user can read those of each other.

Of the server's own environment it gets what a list allows and nothing else: tokens, passwords
and what configures the server are not a bot's to know.

Each process leads a process group of its own, so that whatever it started ends with it. Its
last lines are kept: they go into the match's record when it crashes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from kibitz_protocol import printable
from kibitz_server.housebots import wait_exit
from kibitz_server.housebots.catalog import BotCatalog, BotLauncher

LOG = logging.getLogger("kibitz.process.house_bots")
LOG_LINES = 20
LINE_BYTES = 200
LIMIT_PREFIX = "ended: "
"""How the line begins with which a process says that it ends because of one of its limits."""
TERM_TIMEOUT_S = 3.0
"""How long a process may take to end by itself before it is killed."""

ENVIRONMENT_ALLOWED = frozenset(
    {
        # Where programs, libraries, temporary files and the caches of machine code are.
        *("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "VIRTUAL_ENV"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT"),
        *("LOCALAPPDATA", "USERPROFILE", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"),
        # How it speaks and how many threads it starts.
        *("LANG", "LANGUAGE", "TZ", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONWARNINGS"),
        *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
        # What its own code reads; the last is how tests find processes that were left behind.
        *("KIBITZ_CACHE", "KIBITZ_PLAIN", "KIBITZ_CGROUP", "KIBITZ_TEST_RUN"),
    }
)
"""Variables of the server's environment that a house bot gets too."""
ENVIRONMENT_PREFIXES = ("LC_", "NUMBA_")
"""How the names of further ones begin: the locale, and how its code is compiled."""


class HouseBotProcess:
    """One process of a house bot, from its start until it was reaped."""

    __slots__ = ("_lines", "_process", "_stop_requested", "status")

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._stop_requested = asyncio.Event()
        self.status: int | None = None
        """Exit status once the process has ended; negative for a signal."""

    @property
    def stopping(self) -> bool:
        """Whether the server itself ended the process."""
        return self._stop_requested.is_set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def log_tail(self) -> str:
        """What to say of the end: the exit status, and the last lines that it wrote."""
        ended = f"the bot's process ended with status {self.status}"
        return "\n".join([*self._lines, ended])

    @property
    def end_reason(self) -> str:
        """Why the process has ended: its status, and what it said of a limit that it was over."""
        ended = f"the process ended with status {self.status}"
        last = self._lines[-1] if self._lines else ""
        if last.startswith(LIMIT_PREFIX):
            return f"{ended}: {last.removeprefix(LIMIT_PREFIX)}"[:LINE_BYTES]
        if self.status == -signal.SIGKILL:
            return f"{ended}: it was killed, which the system does when memory runs out"
        return ended

    def stop(self) -> None:
        """Ask the process to end. `work` sees to it that it does."""
        self._stop_requested.set()

    def mark_failed(self, reason: str) -> None:
        """The process could not be started."""
        self._keep_line(reason.encode())
        self.status = 127

    async def run(
        self, command: Sequence[str], environment: dict[str, str], secret: str = ""
    ) -> None:
        """Run the process until it ends. When cancelled, the process is ended first.

        Never raises for what the process does; a command that cannot be started counts as a
        process that ended with status 127.
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
                    # What a Python program still buffers when it dies would say nothing.
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
        """Keep the last lines until the process has ended, or is to end."""
        output = process.stdout
        if output is None:
            raise AssertionError("the process was started with a pipe")
        ended = asyncio.ensure_future(wait_exit.wait_exit(process))
        reading = asyncio.ensure_future(self._read(output))
        leaving = asyncio.ensure_future(self._stop_requested.wait())
        try:
            await asyncio.wait((ended, leaving), return_when=asyncio.FIRST_COMPLETED)
            if self.stopping:
                return
            # What the process left running may hold the pipe open for ever.
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
            self._lines.append(printable.line(decoded)[:LINE_BYTES])

    async def _reap(self, process: asyncio.subprocess.Process) -> None:
        """End the whole group, politely first, and collect the exit status."""
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
    """Return what a house bot gets of the server's environment."""
    return {
        name: value
        for name, value in environment.items()
        if name in ENVIRONMENT_ALLOWED or name.startswith(ENVIRONMENT_PREFIXES)
    }


def secret_descriptor(secret: str) -> socket.socket:
    """Return a descriptor from which a secret can be read, once and to the end.

    It is a socket: one of another process cannot be opened in ``/proc``, as a pipe can.
    """
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(secret.encode())
    return theirs


class HouseBots:
    """All house bots of a server."""

    def __init__(
        self,
        launcher: BotLauncher | None,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        url: Callable[[], str],
    ) -> None:
        self.catalog = BotCatalog(launcher)
        self._launcher = launcher
        self._spawn = spawn
        self._url = url
        self._running: set[HouseBotProcess] = set()
        self._closed = False

    @property
    def count(self) -> int:
        return len(self._running)

    def start(
        self,
        process: HouseBotProcess,
        personality: str,
        lobby: str,
        resume: str,
        ended: Callable[[HouseBotProcess], None],
    ) -> None:
        """Start a process; `ended` is called once, when it has ended and was not stopped."""
        if self._launcher is None or self._closed or process.stopping:
            return
        try:
            command = list(self._launcher.command(personality, self._url(), lobby))
        except Exception:
            LOG.exception("house bot %s cannot be started", personality)
            process.mark_failed("it cannot be started")
            ended(process)
            return
        environment = inherited_environment(os.environ)
        self._running.add(process)
        self._spawn(partial(self._run, process, personality, command, environment, resume, ended))

    def close(self) -> None:
        """Stop all processes and start none any more."""
        self._closed = True
        for process in self._running:
            process.stop()

    async def _run(
        self,
        process: HouseBotProcess,
        personality: str,
        command: Sequence[str],
        environment: dict[str, str],
        secret: str,
        ended: Callable[[HouseBotProcess], None],
    ) -> None:
        try:
            await process.run(command, environment, secret)
        finally:
            self._running.discard(process)
        if not process.stopping:
            LOG.warning("house bot %s: %s", printable.line(personality), process.end_reason)
            ended(process)
