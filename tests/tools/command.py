"""Tools for tests of the command: processes that are run, listened to, and counted afterwards.

Everything that is started here inherits a mark in its environment, and so does whatever it
starts itself; `marked` finds them all. It needs psutil, which only developers install.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

MARK = "KIBITZ_TEST_RUN"
PATIENCE_SECONDS = 60.0
END_SECONDS = 15.0
"""A server drains for ten seconds, and what it started needs a moment more."""


@dataclass(frozen=True)
class Kibitz:
    """The command, run in a directory of its own."""

    directory: Path
    mark: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of its processes."""

    def run(
        self, *words: str, seconds: float = PATIENCE_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "kibitz", *words],
            cwd=self.directory,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    @contextlib.contextmanager
    def start(self, *words: str) -> Iterator[Running]:
        """Start the command; at the end of the block it is ended, if it has not ended by then."""
        log = self.directory / f"{words[0]}.err"
        with log.open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "kibitz", *words],
                cwd=self.directory,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        running = Running(process, log)
        try:
            yield running
        finally:
            running.end()

    def environment(self) -> dict[str, str]:
        """Return what its processes get: of the person here neither identity nor sessions."""
        said = {f"KIBITZ_{word}" for word in ("TOKEN", "RESUME", "SERVER", "LOBBY", "NAME")}
        kept = {name: value for name, value in os.environ.items() if name not in said}
        own = {MARK: self.mark, "KIBITZ_STATE": str(self.directory / "state")}
        return kept | own | dict(self.variables)


@dataclass(frozen=True)
class Running:
    """A command that runs until it is ended."""

    process: subprocess.Popen[str]
    log: Path
    """The file with its stderr."""

    def line(self) -> str:
        """Return the next line that it prints; raise `EOFError` with its log when it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(self.log.read_text())
        return line.rstrip("\n")

    def json(self) -> dict[str, Any]:
        """Return the next line as the object that it is."""
        answer: dict[str, Any] = json.loads(self.line())
        return answer

    def until(self, words: str) -> str:
        """Return the next line that has these words in it."""
        while words not in (line := self.line()):
            pass
        return line

    def rest(self, seconds: float = PATIENCE_SECONDS) -> str:
        """Wait for its end and return all that it printed since."""
        return self.process.communicate(timeout=seconds)[0]

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, and only it."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Ask it to end, insist after a while, and return its status."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        return self.process.returncode


@contextlib.contextmanager
def plain_kibitz(directory: Path, **variables: str) -> Iterator[Kibitz]:
    """Yield the command with rules that run uncompiled; nothing that it starts may be left."""
    command = Kibitz(directory, uuid.uuid4().hex, {"KIBITZ_PLAIN": "1", **variables})
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


def marked(mark: str) -> dict[int, str]:
    """Return the processes with this mark: their ids and command lines."""
    found: dict[int, str] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found[process.pid] = " ".join(process.cmdline())
    return found


def ended(processes: Sequence[int], seconds: float) -> list[int]:
    """Wait for processes to end; return those that have not, which are killed."""
    there: list[psutil.Process] = []
    for pid in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            there.append(psutil.Process(pid))
    _, alive = psutil.wait_procs(there, timeout=seconds)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return [process.pid for process in alive]
