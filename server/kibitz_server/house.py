"""House bots: processes that the server starts, listens to, ends and always reaps.

The server knows no bot. Whoever composes it hands over a `House`, which says which bots there
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
from typing import Protocol

from kibitz_protocol import printable
from kibitz_server import ending

LOG = logging.getLogger("kibitz.house")
LAST_LINES = 20
LINE_BYTES = 200
TERM_PATIENCE_S = 3.0
"""How long a process may take to end by itself before it is killed."""

ALLOWED = frozenset(
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
ALLOWED_PREFIXES = ("LC_", "NUMBA_")
"""How the names of further ones begin: the locale, and how its code is compiled."""


class House(Protocol):
    """Which house bots there are, and how their processes are started."""

    def personalities(self) -> Sequence[str]: ...

    def flaw(self, personality: str) -> str | None:
        """Return why no bot can be made of a known name with these parameters; None if one can."""

    def seats(self, personality: str) -> Sequence[int]:
        """Return with how many seats a known bot plays; empty for as many as its game has."""

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        """Return the command line of a process that plays `personality` in a lobby.

        KIBITZ_RESUME_FD in its environment is the number of the descriptor from which the process
        reads its resume secret, once and to the end.
        """


class Employee:
    """One process of a house bot, from its start until it was reaped."""

    __slots__ = ("_dismissed", "_lines", "_process", "status")

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._dismissed = asyncio.Event()
        self.status: int | None = None
        """Exit status once the process has ended; negative for a signal."""

    @property
    def dismissed(self) -> bool:
        """Whether the server itself ended the process."""
        return self._dismissed.is_set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def last_words(self) -> str:
        """What to say of the end: the exit status, and the last lines that it wrote."""
        ended = f"the bot's process ended with status {self.status}"
        return "\n".join([*self._lines, ended])

    def dismiss(self) -> None:
        """Ask the process to end. `work` sees to it that it does."""
        self._dismissed.set()

    def fail(self, reason: str) -> None:
        """The process could not be started."""
        self._keep(reason.encode())
        self.status = 127

    async def work(
        self, command: Sequence[str], environment: dict[str, str], secret: str = ""
    ) -> None:
        """Run the process until it ends. When cancelled, the process is ended first.

        Never raises for what the process does; a command that cannot be started counts as a
        process that ended with status 127.
        """
        if self.dismissed:
            return
        try:
            with _handed(secret) as descriptor:
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
            self.fail(f"cannot start {command[0]!r}: {error.strerror}")
            return
        try:
            await self._listen(self._process)
        finally:
            await self._reap(self._process)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last lines until the process has ended, or is to end."""
        output = process.stdout
        if output is None:
            raise AssertionError("the process was started with a pipe")
        ended = asyncio.ensure_future(ending.ended(process))
        reading = asyncio.ensure_future(self._read(output))
        leaving = asyncio.ensure_future(self._dismissed.wait())
        try:
            await asyncio.wait((ended, leaving), return_when=asyncio.FIRST_COMPLETED)
            if self.dismissed:
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
                self._keep(text)
            tail = tail[-LINE_BYTES:]
        self._keep(tail)

    def _keep(self, text: bytes) -> None:
        decoded = text[:LINE_BYTES].decode(errors="replace").strip()
        if decoded:
            self._lines.append(printable.line(decoded)[:LINE_BYTES])

    async def _reap(self, process: asyncio.subprocess.Process) -> None:
        """End the whole group, politely first, and collect the exit status."""
        self._signal(signal.SIGTERM)
        try:
            self.status = await asyncio.wait_for(ending.ended(process), TERM_PATIENCE_S)
        except TimeoutError:
            pass
        finally:
            self._signal(signal.SIGKILL)
            self.status = await ending.ended(process)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a house bot gets of the server's environment."""
    return {
        name: value
        for name, value in environment.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }


def _handed(secret: str) -> socket.socket:
    """Return a descriptor from which a secret can be read, once and to the end.

    It is a socket: one of another process cannot be opened in ``/proc``, as a pipe can.
    """
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(secret.encode())
    return theirs


class Staff:
    """All house bots of a server."""

    def __init__(
        self, house: House | None, spawn: Callable[[Awaitable[None]], None], url: Callable[[], str]
    ) -> None:
        self._house = house
        self._spawn = spawn
        self._url = url
        self._working: set[Employee] = set()
        self._closed = False

    def personalities(self) -> list[str]:
        return [] if self._house is None else list(self._house.personalities())

    def knows(self, personality: str) -> bool:
        """Whether there is such a bot, whatever parameters follow its name."""
        return personality.partition(":")[0] in self.personalities()

    def flaw(self, personality: str) -> str | None:
        """Return why no bot can be made of a known name with these parameters; None if one can."""
        return None if self._house is None else self._house.flaw(personality)

    def seats(self, personality: str) -> Sequence[int]:
        """Return with how many seats a known bot plays; empty for as many as its game has."""
        return () if self._house is None else self._house.seats(personality)

    @property
    def count(self) -> int:
        return len(self._working)

    def hire(
        self,
        employee: Employee,
        personality: str,
        lobby: str,
        resume: str,
        ended: Callable[[Employee], None],
    ) -> None:
        """Start a process; `ended` is called once, when it has ended and was not dismissed."""
        if self._house is None or self._closed or employee.dismissed:
            return
        try:
            command = list(self._house.command(personality, self._url(), lobby))
        except Exception:
            LOG.exception("house bot %s cannot be started", personality)
            employee.fail("it cannot be started")
            ended(employee)
            return
        environment = inherited(os.environ)
        self._working.add(employee)
        self._spawn(self._employ(employee, command, environment, resume, ended))

    def close(self) -> None:
        """Dismiss everybody and hire nobody any more."""
        self._closed = True
        for employee in self._working:
            employee.dismiss()

    async def _employ(
        self,
        employee: Employee,
        command: Sequence[str],
        environment: dict[str, str],
        secret: str,
        ended: Callable[[Employee], None],
    ) -> None:
        try:
            await employee.work(command, environment, secret)
        finally:
            self._working.discard(employee)
        if not employee.dismissed:
            ended(employee)
