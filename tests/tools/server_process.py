"""A server process for tests: the server as shipped, which hosts the m,n,k game as well.

``python -m tests.tools.server_process CONFIG`` runs one until SIGTERM; CONFIG is a JSON object of
`Config`. `ServerProcess` starts it, asks the system and the server itself what it uses, and ends
it.
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
"""Threads that read from the disk or fold a past match, and descriptors of their connections."""
ROOT = Path(__file__).parents[2]


def error_lines(log: str) -> list[str]:
    """Return the lines of a log that say that something failed inside the server."""
    words = ("Traceback", "ERROR", "Error", "exception", "never retrieved")
    return [line for line in log.splitlines() if any(word in line for word in words)]


def drawn_matches(size: int, games: int = 1) -> ProgrammeItem:
    """Return matches that random players end: `size` squared plies, and neither can win."""
    options: dict[str, bool | int | str | list[int]] = {"columns": size, "rows": size}
    return ProgrammeItem(game="mnk", options={**options, "row": size + 1}, games=games)


def free_port() -> int:
    """Return a port that is free now, for a server that is to reuse it after a restart."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class ServerResources:
    """The resources of a server, which must be the same before and after a crowd."""

    connections: int
    players: int
    spectators: int
    descriptors: int
    threads: int

    def within(self, before: ServerResources) -> bool:
        """Whether nothing is left of what came since, but for pools that are filled by use."""
        people = (self.connections, self.players, self.spectators)
        return (
            people == (before.connections, before.players, before.spectators)
            and self.descriptors <= before.descriptors + POOL_THREADS
            and self.threads <= before.threads + POOL_THREADS
        )


class ServerPages:
    """The plain pages of a server on this machine."""

    port: int

    @property
    def url(self) -> str:
        """Return the URL for clients."""
        return f"ws://127.0.0.1:{self.port}"

    def page(self, path: str) -> bytes:
        """Return a plain page of it."""
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
        """Return its metrics: name with labels, and value."""
        lines = self.page("/metrics").decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}


@dataclass
class ServerProcess(ServerPages):
    """A server in a process of its own, on a port that it reuses after restarts."""

    directory: Path
    options: dict[str, Any] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    """The beginning of the command line, such as a tracer."""
    port: int = field(default_factory=free_port)
    starts: list[float] = field(default_factory=list)
    """Seconds that each start took until the server listened."""

    @property
    def log(self) -> Path:
        """Return the path of its stderr, over all its starts."""
        return self.directory / "hosted.err"

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it listens."""
        began = time.monotonic()
        self.launch()
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise EOFError(self.log.read_text())
        self.starts.append(time.monotonic() - began)

    def launch(self) -> None:
        """Start it, and do not wait for anything."""
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
        """End it with no chance to do anything about it."""
        self._process.kill()
        self._reap()

    def terminate(self, seconds: float = STOP_TIMEOUT_S) -> tuple[int, float]:
        """Ask it to go down; return its status and how many seconds that took."""
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

    # --- what is done to it -------------------------------------------------------------------

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        """Let no file of it grow any more, as on a full disk, until the block is left."""
        hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (4096, hard))
        try:
            yield
        finally:
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (hard, hard))

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all of it until the block is left."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    # --- what it says and holds ---------------------------------------------------------------

    def resources(self) -> ServerResources:
        """Return what it holds now; the connection that asks is counted."""
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
        """Return its resident memory in bytes."""
        resident = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(resident) * os.sysconf("SC_PAGE_SIZE")

    def error_lines(self) -> list[str]:
        """Return the lines of its log that say that something failed inside."""
        return error_lines(self.log.read_text())


@contextlib.contextmanager
def server_process(
    directory: Path, prefix: Sequence[str] = (), **options: Any
) -> Iterator[ServerProcess]:
    """Run a server; at the end of the block it is ended, whatever has happened."""
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
    """Wait until it holds on to no more than before; return whether it came to that."""
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

    # The game is the only thing that is not as shipped: no compiler has to be loaded for it.
    values: dict[str, Any] = {"unlimited": False, **json.loads(config)}
    games = {GAME.info.name: GAME}
    run(make_config(values, None), games, started=lambda _: print("listening", flush=True))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
