"""Tools for tests of the command: run processes, read their output, and check for leftovers.

All processes started here, and their descendants, inherit a marker in the environment, by which
`marked` finds them. This needs psutil, which only developers install.
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
"""A server drains for ten seconds, and its child processes need a moment more."""


@dataclass(frozen=True)
class Kibitz:
    """The command, run in its own directory."""

    directory: Path
    mark: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables of its processes."""

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
        """Start the command; end it at the end of the block if it is still running."""
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
        """Return the processes' environment, without the developer's identity and sessions."""
        said = {f"KIBITZ_{word}" for word in ("TOKEN", "RESUME", "SERVER", "LOBBY", "NAME")}
        kept = {name: value for name, value in os.environ.items() if name not in said}
        own = {MARK: self.mark, "KIBITZ_STATE": str(self.directory / "state")}
        return kept | own | dict(self.variables)


@dataclass(frozen=True)
class Running:
    """A running command."""

    process: subprocess.Popen[str]
    log: Path
    """The file with the command's stderr."""

    def line(self) -> str:
        """Return the next line of output; raise `EOFError` with the log at the end."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(self.log.read_text())
        return line.rstrip("\n")

    def json(self) -> dict[str, Any]:
        """Return the next line parsed as JSON."""
        answer: dict[str, Any] = json.loads(self.line())
        return answer

    def until(self, words: str) -> str:
        """Return the next line that contains these words."""
        while words not in (line := self.line()):
            pass
        return line

    def rest(self, seconds: float = PATIENCE_SECONDS) -> str:
        """Wait for the command to end and return its remaining output."""
        return self.process.communicate(timeout=seconds)[0]

    def send(self, number: signal.Signals) -> None:
        """Send a signal to this process only."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Terminate the command, kill it after a timeout, and return its status."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        return self.process.returncode


@contextlib.contextmanager
def plain_kibitz(directory: Path, **variables: str) -> Iterator[Kibitz]:
    """Yield the command with uncompiled rules; fail if any process is left over."""
    command = Kibitz(directory, uuid.uuid4().hex, {"KIBITZ_PLAIN": "1", **variables})
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


def marked(mark: str) -> dict[int, str]:
    """Return the ids and command lines of the processes with this marker."""
    found: dict[int, str] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found[process.pid] = " ".join(process.cmdline())
    return found


def ended(processes: Sequence[int], seconds: float) -> list[int]:
    """Wait for processes to end; kill and return those that have not."""
    there: list[psutil.Process] = []
    for pid in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            there.append(psutil.Process(pid))
    _, alive = psutil.wait_procs(there, timeout=seconds)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return [process.pid for process in alive]
