"""A whole server without a network: on virtual time, with clients that are scripted to the byte.

As in `simulation` everything above the sockets is the real thing, but nothing goes wrong and
nothing is left to chance: keys, seeds and secrets come from a source that starts anew with each
parlour, commits take a millisecond, every request is answered before the next one is made. Two
parlours in which the same is said are equal in every byte that anybody hears.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from websockets.frames import Opcode

from kibitz_games.api import Game
from kibitz_server import accounts, hall
from kibitz_server.accounts import Register
from kibitz_server.app import Pages
from kibitz_server.counter import Counter
from kibitz_server.credits import Rate, Tariff
from kibitz_server.door import Door, Quotas
from kibitz_server.hall import Hall
from kibitz_server.house import Staff
from kibitz_server.metrics import Figures
from kibitz_server.outbox import Allowance, Cork
from kibitz_server.peer import Peer, Port
from kibitz_server.store import Store
from kibitz_server.sweep import Patience, Sweep
from tests.server.wires import HANDSHAKE, FakeTransport, masked, unframed
from tests.tools.agenda import Agenda, Loop
from tests.tools.simulation import PLAYED, Chances, Disk

UNLIMITED = Rate(1e9, 1e9)
A_MOMENT = 0.02
"""Seconds in which a request is answered and what it causes is told."""


class Calm(Disk):
    """A disk whose commits take a millisecond and never fail."""

    def put(self, batch: Any) -> None:
        self._life.call_later(0.001, self._write_now, batch)

    def _insert(self, batch: Any) -> None:
        Store._insert(self, batch)

    def _write_now(self, batch: Any) -> None:
        self._commit(batch)
        self._settled(None)


class Guest:
    """A client on a connection of its own; `heard` is every message that it was sent."""

    def __init__(self, parlour: Parlour, name: str, token: str = "") -> None:
        self._parlour = parlour
        self.name = name
        self._token = token
        self.heard: list[bytes] = []
        self.resume = ""
        self._id = 0
        self._connect()

    def _connect(self) -> None:
        self._transport = FakeTransport()
        self._peer = Peer(self._parlour.port)
        self._peer.connection_made(self._transport)
        bearer = f"Authorization: Bearer {self._token}\r\n" if self._token else ""
        self._peer.data_received(HANDSHAKE.format(path="/", more=bearer).encode())
        self._parlour.wait(A_MOMENT)
        _, _, self._transport.written = self._transport.written.partition(b"\r\n\r\n")

    def enter(self) -> Guest:
        """Say hello for the first time."""
        named = {} if self._token else {"name": self.name}
        self.resume = self.ask("hello", versions=[1], **named)["resume"]
        return self

    def come_again(self) -> None:
        """Go on on a new connection, beside the old one."""
        self.listen()
        self._connect()
        came = {} if self._token else {"resume": self.resume}
        self.ask("hello", versions=[1], **came)

    def ask(self, type: str, **fields: object) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._id += 1
        request = json.dumps({"type": type, "id": self._id, **fields}).encode()
        self._peer.data_received(masked(request))
        self._parlour.wait(A_MOMENT)
        answers = [json.loads(text) for text in self.listen()]
        found = [answer for answer in answers if answer.get("re") == self._id]
        assert len(found) == 1, f"{self.name} asked {type} and got {answers}"
        return cast("dict[str, Any]", found[0])

    def listen(self) -> list[bytes]:
        """Take what came since the last time."""
        frames, self._transport.written = unframed(self._transport.written)
        new = [data for opcode, data in frames if opcode == Opcode.TEXT]
        self.heard += new
        return new

    def messages(self, start: int = 0) -> list[dict[str, Any]]:
        self.listen()
        return [json.loads(text) for text in self.heard[start:]]


class Parlour:
    """A server that lives in `with`; made by `opened` only."""

    def __init__(self, games: Mapping[str, Game], path: Path) -> None:
        self._agenda = Agenda()
        self.games = games
        self.path = path
        self._start()

    def _start(self) -> None:
        loop = self._loop = Loop(self._agenda)
        door = Door(
            loop.loop, Tariff(socket=UNLIMITED, account=UNLIMITED, address=UNLIMITED), Quotas()
        )
        figures = Figures()
        self.store = Calm(self.path, loop, cast(Any, None))
        self._running = True
        self.hall = Hall(
            loop=loop.loop,
            clock=self._milliseconds,
            store=self.store,
            games=self.games,
            staff=Staff(None, self._spawn, lambda: "ws://nowhere"),
            figures=figures,
            name="parlour",
            guests="anyone",
            door=door,
            spawn=self._spawn,
        )
        figures.gauges = self.hall.gauges
        sweep = Sweep(loop.loop, Patience(pong_s=1e9))
        self.port = Port(
            loop=loop.loop,
            clock=self._milliseconds,
            desk=Counter(self.hall, door),
            site=Pages(self.hall, figures, self.store, notes=False),
            figures=figures,
            cork=Cork(loop.loop),
            sweep=sweep,
            tariff=door.tariff,
            allowance=Allowance(),
            spawn=self._spawn,
        )
        try:
            self.hall.restore()
        except BaseException:
            self.close()
            raise
        sweep.start()

    def _milliseconds(self) -> int:
        return round(self._agenda.now * 1000)

    def _spawn(self, work: Awaitable[None]) -> None:
        self._loop.spawn(work, 0.001)

    def wait(self, seconds: float) -> None:
        """Let everything happen that is due within `seconds`."""
        over: list[bool] = []
        self._agenda.after(seconds, lambda: over.append(True))
        while not over:
            self._agenda.step()

    def restart(self, between: Callable[[Path], object] = lambda path: None) -> None:
        """Kill the server and start it again with what is on the disk; all connections are lost.

        `between` is called with the database's path while no server runs.
        """
        self.close()
        between(self.path)
        self._start()

    def guest(self, name: str) -> Guest:
        return Guest(self, name).enter()

    def account(self, name: str) -> Guest:
        """Let somebody in with a token, which every handshake carries in a header."""
        with Register(self.path) as register:
            token = register.issue(name, "human").token
        return Guest(self, name, token).enter()

    def page(self, path: str) -> bytes:
        """Get a page over HTTP, head and body."""
        transport = FakeTransport()
        peer = Peer(self.port)
        peer.connection_made(transport)
        peer.data_received(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.wait(A_MOMENT)
        peer.connection_lost(None)
        head, _, body = transport.written.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Date:")]
        return b"\r\n".join([*lines, b"", body])

    def close(self) -> None:
        if self._running:
            self._running = False
            self._loop.die()
            self.store.crash()


@contextmanager
def opened(games: Mapping[str, Game], directory: Path) -> Iterator[Parlour]:
    """Run a server in `directory`, which has a `simulation.template`, until the block ends."""
    path = directory / "parlour.db"
    shutil.copy(directory / "template.db", path)
    with ExitStack() as stack:
        chances = Chances("parlour")
        for module in (hall, accounts):
            stack.enter_context(patch.object(module, "secrets", chances))
        stack.enter_context(patch.object(hall, "_utc", lambda: PLAYED))
        parlour = Parlour(games, path)
        try:
            yield parlour
        finally:
            parlour.close()
            for left in directory.glob("parlour.db*"):
                left.unlink()
