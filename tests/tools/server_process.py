"""A server process for tests: the shipped server plus the m,n,k game.

``python -m tests.tools.server_process CONFIG`` runs a server until SIGTERM; CONFIG is a JSON object
of `Config`. `ServerProcess` starts it, measures its resources, and stops it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kibitz_protocol.wire.lobbies import ProgrammeItem

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 20.0
POOL_THREADS = 8
"""Allowance for threads that read from disk or fold a past match, and for their descriptors."""
ROOT = Path(__file__).parents[2]


def error_lines(log: str) -> list[str]:
    """Return the lines of a log that report internal errors."""
    words = ("Traceback", "ERROR", "Error", "exception", "never retrieved")
    return [line for line in log.splitlines() if any(word in line for word in words)]


def drawn_matches(size: int, games: int = 1) -> ProgrammeItem:
    """Return matches that random players finish: draws after `size` squared plies."""
    options: dict[str, bool | int | str | list[int]] = {"columns": size, "rows": size}
    return ProgrammeItem(game="mnk", options={**options, "row": size + 1}, games=games)


def free_port() -> int:
    """Return a free port, for a server that reuses it after restarts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class ServerResources:
    """The resources of a server, which must be equal before and after a load."""

    connections: int
    players: int
    spectators: int
    descriptors: int
    threads: int

    def within(self, before: ServerResources) -> bool:
        """Return whether all resources have been released, except pools that grow with use."""
        people = (self.connections, self.players, self.spectators)
        return (
            people == (before.connections, before.players, before.spectators)
            and self.descriptors <= before.descriptors + POOL_THREADS
            and self.threads <= before.threads + POOL_THREADS
        )


class ServerPages:
    """The HTTP pages of a local server."""

    port: int

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"ws://127.0.0.1:{self.port}"

    def page(self, path: str) -> bytes:
        """Fetch a page over HTTP."""
        no_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with contextlib.closing(
            no_proxy.open(f"http://127.0.0.1:{self.port}{path}", timeout=START_TIMEOUT_S)
        ) as answer:
            body: bytes = answer.read()
            return body

    def status(self, path: str) -> int:
        try:
            self.page(path)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        return 200

    def metrics(self) -> dict[str, float]:
        """Return the metrics: name with labels, and value."""
        lines = self.page("/metrics").decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}


@dataclass
class ServerProcess(ServerPages):
    """A server in a separate process, on a port that it reuses after restarts."""

    directory: Path
    options: dict[str, Any] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    """A prefix of the command line, such as a tracer."""
    port: int = field(default_factory=free_port)
    starts: list[float] = field(default_factory=list)
    """The time from each start until the server listened, in seconds."""

    @property
    def log(self) -> Path:
        """The path of the server's stderr, shared by all starts."""
        return self.directory / "hosted.err"

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it listens."""
        began = time.monotonic()
        self.launch()
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise EOFError(self.log.read_text())
        self.starts.append(time.monotonic() - began)

    def launch(self) -> None:
        """Start the server without waiting."""
        config = {"db": str(self.directory / "hosted.db"), "port": self.port, **self.options}
        with self.log.open("ab") as errors:
            self._process = subprocess.Popen(
                [
                    *self.prefix,
                    sys.executable,
                    "-m",
                    "tests.tools.server_process",
                    json.dumps(config),
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self._process.kill()
        self._reap()

    def terminate(self, seconds: float = STOP_TIMEOUT_S) -> tuple[int, float]:
        """Send SIGTERM; return the exit status and the seconds it took."""
        began = time.monotonic()
        self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()
        return self._process.returncode, time.monotonic() - began

    def _reap(self) -> None:
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    # --- faults -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        """Stop the server's files from growing, as on a full disk, during the block."""
        hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (4096, hard))
        try:
            yield
        finally:
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (hard, hard))

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend all of the server's processes during the block."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    # --- measurements -------------------------------------------------------------------------

    def resources(self) -> ServerResources:
        """Return the current resources, including those of the measuring connection."""
        figures = self.metrics()
        proc = Path(f"/proc/{self.pid}")
        return ServerResources(
            connections=int(figures["kibitz_connections"]),
            players=int(figures["kibitz_players"]),
            spectators=int(figures["kibitz_spectators"]),
            descriptors=len(list((proc / "fd").iterdir())),
            threads=len(list((proc / "task").iterdir())),
        )

    def memory(self) -> int:
        """Return the resident memory in bytes."""
        resident = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(resident) * os.sysconf("SC_PAGE_SIZE")

    def error_lines(self) -> list[str]:
        """Return the lines of the log that report internal errors."""
        return error_lines(self.log.read_text())


@contextlib.contextmanager
def server_process(
    directory: Path, prefix: Sequence[str] = (), **options: Any
) -> Iterator[ServerProcess]:
    """Run a server during the block; always stop it at the end."""
    process = ServerProcess(directory, options, prefix)
    process.start()
    try:
        yield process
    finally:
        if process.running:
            process.terminate()


async def resources_released(
    process: ServerProcess, before: ServerResources, seconds: float = 30.0
) -> bool:
    """Wait until the server uses no more resources than before; return whether it does."""
    deadline = time.monotonic() + seconds
    while not (await asyncio.to_thread(process.resources)).within(before):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)
    return True


def main(config: str) -> None:
    from kibitz.commands.serve import make_config
    from kibitz_server.app import run
    from tests.tools.mnk import GAME

    # The only difference from the shipped server is the game, which needs no compiler.
    values: dict[str, Any] = {"unlimited": False, **json.loads(config)}
    games = {GAME.info.name: GAME}
    run(make_config(values, None), games, started=lambda _: print("listening", flush=True))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
