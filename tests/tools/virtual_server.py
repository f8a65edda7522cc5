"""A complete server without a network, on virtual time, with byte-exact scripted clients.

As in `simulation`, everything above the sockets is the real code, but there are no faults and no
randomness. Keys, seeds and secrets come from a source that is reset for each server. Commits take a
millisecond, and each request is answered before the next one is sent. Two servers with the same
input send the same bytes to all clients.
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

from kibitz_games.core.game import Game
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.accounts import identity
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.app.backend import Backend
from kibitz_server.directory import match_setup
from kibitz_server.handlers import hosting
from kibitz_server.handlers.pages import RecordPages
from kibitz_server.metrics import Metrics
from kibitz_server.net.connection import Connection
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.http import PageSource
from kibitz_server.net.peer import PeerContext
from kibitz_server.net.rate_limit import Rate, RateLimits
from kibitz_server.net.send_queue import SendLimits, WriteBatcher
from kibitz_server.net.timeouts import TimeoutConfig, Timeouts
from kibitz_server.net.turn_budget import TurnBudget
from tests.server.fakes import HANDSHAKE, FakeTransport, client_frame, split_frames
from tests.tools.simulation import FIXED_UTC, SeededSecrets, SimulatedStore
from tests.tools.virtual_time import Scheduler, VirtualLoop

UNLIMITED = Rate(1e9, 1e9)
ANSWER_SECONDS = 0.02
"""The time for a request to be answered and its effects to be announced, in seconds."""


class ReliableStore(SimulatedStore):
    """A disk whose commits take a millisecond and never fail; they can be held back."""

    holding = False
    held = False
    """Whether commits wait for `release`."""

    def put(self, begun: bool) -> None:
        if self.holding:
            self.held = True
        else:
            self._virtual_loop.call_later(0.001, self._commit_now)

    def hold(self) -> None:
        """Hold back all commits from now on."""
        self.holding = True

    def release(self, *, hold_next: bool = False) -> None:
        """Commit held transactions and later ones, or hold the later ones again."""
        held, self.held, self.holding = self.held, False, hold_next
        if held:
            self._virtual_loop.call_later(0.001, self._commit_now)

    def _commit_now(self) -> None:
        self._writer._commit()
        self._writer._succeeded()


class ScriptedClient:
    """A client with its own connection; `heard` contains all messages it received."""

    def __init__(
        self, server: VirtualServer, name: str, token: str = "", instance: str | None = None
    ) -> None:
        self._server = server
        self._instance = instance
        self.name = name
        self._token = token
        self.received: list[bytes] = []
        self._parsed: list[dict[str, Any]] = []
        """The first of the received messages as objects, extended by `messages`."""
        self.resume = ""
        self.wanted: list[WantedViews] = []
        """The views that each of its connections requested in hello."""
        self._id = 0
        self._connect()

    def _connect(self) -> None:
        self._transport = FakeTransport()
        self._connection = Connection(self._server.port)
        self._connection.connection_made(self._transport)
        self._peer = self._connection.peer
        bearer = f"Authorization: Bearer {self._token}\r\n" if self._token else ""
        self._connection.data_received(HANDSHAKE.format(path="/", more=bearer).encode())
        self._server.advance(ANSWER_SECONDS)
        _, _, self._transport.written = self._transport.written.partition(b"\r\n\r\n")

    def say_hello(self, views: WantedViews = "turn") -> ScriptedClient:
        """Send the first hello."""
        self.resume = self._hello({"name": self.name}, views)["resume"]
        return self

    def reconnect(self, views: WantedViews = "turn") -> dict[str, Any]:
        """Continue on a new connection while the old one exists; return the answer to hello."""
        self.receive()
        self._connect()
        return self._hello({"resume": self.resume}, views)

    def _hello(self, guest: dict[str, str], views: WantedViews) -> dict[str, Any]:
        self.wanted.append(views)
        more = {} if self._token else guest
        if self._instance is not None:
            more = {**more, "instance": self._instance}
        return self.ask("hello", versions=[1], views=views, **more)

    def beside(self) -> ScriptedClient:
        """Return a client of the same player with its own connection, like a second browser tab."""
        other = ScriptedClient(self._server, self.name, self._token)
        other.resume = self.resume
        other._hello({"resume": self.resume}, "turn")
        return other

    def disconnect(self) -> None:
        """Drop the connection."""
        self._connection.connection_lost(None)

    def stop_reading(self) -> None:
        """Stop reading with a full send queue, so that the next frame exceeds the limit."""
        self._connection.pause_writing()
        self._peer.send_queue.send(bytes(SendLimits().frames_bytes))

    @property
    def is_closed(self) -> bool:
        """Whether the server has closed the connection."""
        return self._peer.leaving

    def post(self, type: str, **fields: object) -> int:
        """Send a request and return its number without waiting."""
        request = self.new_id()
        self._write(request, type, fields)
        return request

    def new_id(self) -> int:
        """Return an id that no request has had."""
        self._id += 1
        return self._id

    def _write(self, request: int, type: str, fields: Mapping[str, object]) -> None:
        text = json.dumps({"type": type, "id": request, **fields}).encode()
        self._connection.data_received(client_frame(text))

    def answer_to(self, request: int) -> dict[str, Any] | None:
        """Return the answer to a request, None if there is none yet."""
        found = [each for each in self.messages() if each.get("re") == request]
        assert len(found) <= 1, found
        return found[0] if found else None

    def ask(self, type: str, **fields: object) -> dict[str, Any]:
        """Send a request and return its answer."""
        return self.resend(self.new_id(), type, **fields)

    def resend(self, request: int, type: str, **fields: object) -> dict[str, Any]:
        """Send a request under its old id and return its answer."""
        start = len(self.received)
        self._write(request, type, fields)
        self._server.advance(ANSWER_SECONDS)
        answers = self.messages(start)
        found = [answer for answer in answers if answer.get("re") == request]
        assert len(found) == 1, f"{self.name} asked {type} and got {answers}"
        return found[0]

    def receive(self) -> list[bytes]:
        """Process the data received since the last call."""
        frames, self._transport.written = split_frames(self._transport.written)
        new = [data for opcode, data in frames if opcode == Opcode.TEXT]
        self.received += new
        return new

    def messages(self, start: int = 0) -> list[dict[str, Any]]:
        """Return the messages received so far from number `start`, parsed once."""
        self.receive()
        self._parsed += map(json.loads, self.received[len(self._parsed) :])
        return self._parsed[start:]


class VirtualServer:
    """A server that runs in a `with` block; created only by `opened`."""

    def __init__(self, games: Mapping[str, Game], path: Path) -> None:
        self._scheduler = Scheduler()
        self.games = games
        self.path = path
        self._start()

    def _start(self) -> None:
        loop = self._loop = VirtualLoop(self._scheduler)
        limits = RateLimits(
            socket=UNLIMITED,
            account=UNLIMITED,
            address=UNLIMITED,
            comments=UNLIMITED,
            openings=UNLIMITED,
            lobby_changes=UNLIMITED,
            lobby_changes_a_player=UNLIMITED,
        )
        quotas = Quotas(matches_a_lobby=1000, matches_a_player=1000)
        connections = Connections(loop.loop, limits, quotas)
        figures = Metrics()
        self.store = ReliableStore(self.path, loop, cast(Any, None))
        self._running = True
        self.backend = Backend(
            loop=loop.loop,
            clock=self._milliseconds,
            store=self.store,
            games=self.games,
            launcher=None,
            url="ws://nowhere",
            metrics=figures,
            name="virtual",
            guests="anyone",
            connections=connections,
            spawn=self._spawn,
        )
        figures.gauges = self.backend.gauges
        turns = TurnBudget(loop.loop)
        sweep = Timeouts(loop.loop, TimeoutConfig(pong_s=1e9, sweep_s=0.1), turns)
        records = RecordPages(self.store, self.backend.directory.quarantine, notes=False)
        self.port = PeerContext(
            loop=loop.loop,
            clock=self._milliseconds,
            handler=self.backend.handlers,
            registry=connections,
            pages=PageSource(
                self.backend.ready, figures.page, records.record, records.analysis, records.hint
            ),
            metrics=figures,
            batcher=WriteBatcher(loop.loop),
            timeouts=sweep,
            turns=turns,
            rate_limits=connections.rate_limits,
            send_limits=SendLimits(),
            spawn=self._spawn,
        )
        try:
            self.backend.restore()
        except BaseException:
            self.close()
            raise
        sweep.start()

    def _milliseconds(self) -> int:
        return round(self._scheduler.now * 1000)

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self._loop.spawn(work, 0.001)

    def advance(self, seconds: float) -> None:
        """Advance virtual time by `seconds`."""
        over: list[bool] = []
        self._scheduler.call_after(seconds, lambda: over.append(True))
        while not over:
            self._scheduler.run_next()

    def restart(self, between: Callable[[Path], object] = lambda path: None) -> None:
        """Kill the server and restart it from disk; all connections are lost.

        `between` is called with the database's path while no server is running.
        """
        self.close()
        between(self.path)
        self._start()

    def guest_client(
        self, name: str, views: WantedViews = "turn", instance: str | None = None
    ) -> ScriptedClient:
        return ScriptedClient(self, name, instance=instance).say_hello(views)

    def account_client(
        self, name: str, views: WantedViews = "turn", instance: str | None = None
    ) -> ScriptedClient:
        """Sign in with a token, which every handshake sends in a header."""
        with TokenAdmin(self.path) as register:
            token = register.issue(name, "human").token
        return ScriptedClient(self, name, token, instance).say_hello(views)

    def page(self, path: str) -> bytes:
        """Fetch a page over HTTP; return head and body."""
        transport = FakeTransport()
        connection = Connection(self.port)
        connection.connection_made(transport)
        connection.data_received(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.advance(ANSWER_SECONDS)
        connection.connection_lost(None)
        head, _, body = transport.written.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Date:")]
        return b"\r\n".join([*lines, b"", body])

    def close(self) -> None:
        if self._running:
            self._running = False
            self._loop.stop()
            self.store.crash()


@contextmanager
def virtual_server(games: Mapping[str, Game], directory: Path) -> Iterator[VirtualServer]:
    """Run a server in `directory`, which has a `simulation.template`, during the block."""
    path = directory / "virtual.db"
    shutil.copy(directory / "template.db", path)
    with ExitStack() as stack:
        chances = SeededSecrets("parlour")
        for module in (hosting, identity):
            stack.enter_context(patch.object(module, "secrets", chances))
        for module in (hosting, match_setup):
            stack.enter_context(patch.object(module, "utc_now", lambda: FIXED_UTC))
        server = VirtualServer(games, path)
        try:
            yield server
        finally:
            server.close()
            for left in directory.glob("virtual.db*"):
                left.unlink()
