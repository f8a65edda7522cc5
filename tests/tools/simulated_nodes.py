"""Nodes, their database and their clients in one thread on virtual time, reproducible by a seed.

As in `simulation`, everything above the sockets and the storage is the real code, on each node:
`Backend` with `Failover`, the runners, `Connection`, and the server's clock. Below it are the
nodes' stores (`fake_store`), the in-memory database that they share, and unreliable links to it
(`fake_database`):

    Session --frames--> proxy --> Peer -- Backend -- FakeNodeStore --cut, in doubt--> FakeDatabase
                                  `--- killed, frozen, taken down: of each node ---'   killed, slow

Each node's clock is wrong by a different number of minutes. `violations` lists the errors, each
detected at a commit or a periodic check:

* a duplicate entry number (single history);
* a write about a lobby by a node that does not own it (fences);
* the findings of the auditor in `simulation`: acknowledged moves that are lost or duplicated,
  clocks that do not add up;
* a lobby that is taken from a node with heartbeats, or served by two nodes at once;
* a lobby of a dead node that is not taken over although another node is alive;
* an awake node that continues to serve a lobby after losing it;
* a turn that was charged while its server was suspended;
* a player who is told that an open lobby or match does not exist.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast
from unittest.mock import patch

from kibitz_games.core.game import Game
from kibitz_protocol.wire.messages import Refused
from kibitz_protocol.wire.records import Moved, Result
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts import identity, tickets
from kibitz_server.app.backend import Backend
from kibitz_server.directory import match_setup
from kibitz_server.handlers import hosting
from kibitz_server.match.record import read_entry
from kibitz_server.match.state import BrokenLog
from kibitz_server.net.connection import Connection
from kibitz_server.net.loop_clock import ServerClock
from kibitz_server.net.peer import PeerContext
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.postgres.nodes import EXPIRES_S
from tests.tools.fake_database import FakeDatabase, FakeLink, Fate, StreamRow, Written
from tests.tools.fake_store import FakeNodeStore
from tests.tools.simulated_clients import (
    LobbySetup,
    SimulatedClient,
    SimulatedHallSpectator,
    SimulatedSpectator,
)
from tests.tools.simulation import (
    FIXED_UTC,
    FaultRates,
    SeededSecrets,
    SimulatedConnection,
    Simulation,
    build_server,
)
from tests.tools.virtual_time import VirtualTaskLoop

LOOK_S = 0.25
"""The interval of checks by the proxy and the judge, in seconds."""
PEACE_S = 3.0
"""The time for all clients to connect, in seconds: a dying server may lose a client that has just
connected."""
SETTLED_S = 5.0
"""The time without faults after which a node must know the state of its lobbies, in seconds."""
TAKEN_S = 7.0
"""The time within which a lobby without a live owner must be taken over, in seconds."""
CHARGED_MS = 3_000
"""An upper limit on a player's thinking time plus the time that its messages are in transit."""
_MISSING = re.compile(rb"no (?:running )?(?:match|lobby) '([^']+)'")
EPOCH_S = 1_900_000_000


@dataclass(frozen=True, kw_only=True)
class NodeFaults(FaultRates):
    """The rates of faults of the nodes, their links and their database, per second."""

    resets: float = 0.0
    second_sockets: float = 0.0
    spectator_pauses: float = 0.0
    games: int = 9
    nodes: int = 3
    fault_seconds: float = 33.0
    kills: float = 0.03
    freezes: float = 0.05
    cuts: float = 0.05
    leaves: float = 0.02
    outages: float = 0.02
    """The rate of database crashes."""
    slow: float = 0.02
    doubts: float = 0.04
    """The share of commits and requests that are lost or whose answers are lost."""
    wrong_clocks: bool = True
    side_by_side: bool = False
    """Whether each node serves clients under its own URL, and each client knows one of these URLs.
    Otherwise the nodes share a URL, and a proxy finds the serving node."""


class Process:
    """One life of a node."""

    def __init__(self, node: Node) -> None:
        simulation = node.simulation
        self.node = node
        self.loop = VirtualTaskLoop(simulation.scheduler)
        self.serves_since: float | None = None
        self.sockets: list[NodeConnection] = []
        self.store: FakeNodeStore
        self.backend: Backend
        self.port: PeerContext

    def start(self) -> None:
        """Open the database and restore this node's lobbies. Raises `StoreError`."""
        node, loop = self.node, self.loop
        identity = NodeIdentity(node.name, node.url)
        self.store = FakeNodeStore(node.link, identity, loop.loop, clock=node.monotonic)
        self.store.on_failure = self._failed
        clock = ServerClock(loop.loop, node.monotonic_ns)
        self.backend, self.port = build_server(
            loop, node.simulation.game, self.store, clock.milliseconds, self.spawn, lag=clock.lag_ms
        )
        self.backend.restore()
        clock.start()
        self.port.timeouts.start()
        assert self.backend.failover is not None
        self.spawn(self.backend.failover.run)

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self.loop.create_task(cast(Any, work()))

    def _failed(self, error: StoreError) -> None:
        """Shut down; the supervisor restarts the node."""
        self.backend.stop()
        self.node.simulation.scheduler.call_after(0.1, lambda: self.node.ended(self))

    @property
    def open(self) -> bool:
        """Whether the node accepts clients."""
        return self.loop.enter(lambda: self.backend.open)

    @property
    def ready(self) -> bool:
        return self.loop.enter(lambda: self.backend.ready())

    async def drain(self) -> None:
        """Shut down as after SIGTERM."""
        self.backend.stop()
        with_deadline = asyncio.wait_for(self.store.flush(), 3.0)
        try:
            await with_deadline
            await self.store.nodes.leave()
        except (TimeoutError, StoreError):
            pass  # other nodes take its lobbies over later
        self.backend.send_farewell()
        await self.store.close(3.0)
        self.node.simulation.scheduler.call_after(0.0, lambda: self.node.ended(self))

    def end(self) -> None:
        """Kill the process: its memory is lost, its sockets are reset."""
        self.loop.stop()
        simulation = self.node.simulation
        for socket in self.sockets:
            socket.server_gone = True
            simulation.scheduler.call_after(
                simulation.delay(0.3), partial(socket.end_client, None, "reset")
            )


class Node:
    """A machine with one node, which is restarted whenever it ends."""

    def __init__(self, simulation: NodesSimulation, name: str, wrong_s: int) -> None:
        self.simulation = simulation
        self.name = name
        self.wrong_s = wrong_s
        """How far its clocks are ahead of the database's, in seconds."""
        own = name if simulation.rates.side_by_side else "games"
        self.url = f"ws://{own}.example.org"
        self.link = FakeLink(simulation.database, simulation.breaks)
        self.process: Process | None = None
        self.sound_since = 0.0
        """When the last fault of the node, its link or the database ended."""

    def monotonic_ns(self) -> int:
        return int(self.simulation.scheduler.now * 1e9) + self.wrong_s * 1_000_000_000

    def monotonic(self) -> float:
        return self.monotonic_ns() / 1e9

    @property
    def awake(self) -> bool:
        return self.process is not None and not self.process.loop.frozen

    @property
    def sound_s(self) -> float:
        """How long the node has been awake and connected, 0.0 if it is not now."""
        if not self.awake or self.link.is_cut or not self.simulation.database.running:
            return 0.0
        return self.simulation.scheduler.now - self.sound_since

    def disturb(self) -> None:
        self.sound_since = self.simulation.scheduler.now

    def start(self) -> None:
        if self.process is not None:
            return
        self.disturb()
        process = Process(self)
        try:
            self.simulation.processes[process.loop] = process
            process.loop.enter(process.start)
        except StoreError:
            process.end()
            self.simulation.scheduler.call_after(1.0, self.start)
        else:
            self.process = process

    def ended(self, process: Process) -> None:
        if self.process is not process:
            return
        self.process = None
        process.end()
        simulation = self.simulation
        simulation.scheduler.call_after(0.1 + simulation.delay(12.0), self.start)

    # --- faults ---

    def kill(self) -> None:
        if self.process is not None:
            self.simulation.count("kills")
            self.ended(self.process)

    def leave(self) -> None:
        if self.process is not None and self.awake:
            self.simulation.count("leaves")
            self.process.spawn(self.process.drain)

    def freeze(self) -> None:
        process = self.process
        if process is None or process.loop.frozen:
            return
        self.simulation.count("freezes")
        process.loop.freeze()

        def thaw() -> None:
            self.disturb()
            process.loop.thaw()

        self.simulation.scheduler.call_after(self.simulation.fault_length(), thaw)

    def cut(self) -> None:
        if self.link.is_cut:
            return
        self.simulation.count("cuts")
        self.link.is_cut = True

        def mend() -> None:
            self.disturb()
            self.link.is_cut = False

        self.simulation.scheduler.call_after(self.simulation.fault_length(), mend)


class NodeConnection(SimulatedConnection):
    """A client's connection to a process, which reads only while it runs."""

    def _deliver(self, way: Literal["up", "down"], deliver: Callable[[], object]) -> None:
        if way == "up":
            inside = deliver

            def deliver() -> object:
                return self._virtual_loop.call_soon(inside)

        super()._deliver(way, deliver)


class _NodeTime:
    """A replacement for the module `time` for the running process."""

    def __init__(self, simulation: NodesSimulation) -> None:
        self._simulation = simulation

    def time(self) -> float:
        return EPOCH_S + self._node().monotonic()

    def _node(self) -> Node:
        loop = cast(VirtualTaskLoop, asyncio._get_running_loop())
        return self._simulation.processes[loop].node


class _Errors(logging.Handler):
    """Records the exceptions that each process has caught and logged."""

    def __init__(self, simulation: NodesSimulation) -> None:
        super().__init__(logging.WARNING)
        self._simulation = simulation

    def emit(self, record: logging.LogRecord) -> None:
        loop = cast(VirtualTaskLoop, asyncio._get_running_loop())
        process = self._simulation.processes.get(loop)
        if process is not None and record.exc_info:
            self._simulation.wrong(f"node {process.node.name} raised {record.exc_info[1]!r}")


@dataclass(eq=False)
class NodesSimulation(Simulation):
    """One run, determined by its seed."""

    rates: NodeFaults = field(default_factory=NodeFaults)
    time_limit_s: float = 250.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.faults: dict[str, int] = {}
        """The number of faults of each kind."""
        self.closed_matches = 0
        self.taken = 0
        """The number of lobbies taken over."""
        self.processes: dict[VirtualTaskLoop, Process] = {}
        self.database = FakeDatabase(lambda: self.scheduler.now, self.delay)
        self.database.on_written = self._judge_written
        wrong = random.Random(f"clocks {self.seed}")
        self.nodes = [
            Node(self, name, wrong.randrange(-90, 90) if self.rates.wrong_clocks else 0)
            for name in "abcdefgh"[: self.rates.nodes]
        ]
        self._serving: Node | None = None
        """The node to which the proxy sends new connections."""
        self._ownerless: dict[str, float] = {}
        """The time since which lobbies could have been taken over."""

    # --- common methods ---

    @property
    def faults_active(self) -> bool:
        since = self.scheduler.now - 1000.0
        return not self._over and PEACE_S <= since < self.rates.fault_seconds

    @property
    def ended_count(self) -> int:
        return self.closed_matches

    def was_told(self, match: str, result: Result | None) -> bool:
        """Return whether clients received the result, or True if none was connected at the end."""
        return result is not None and (match not in self.ended or super().was_told(match, result))

    def declines(self, refused: Refused, actor: SimulatedClient) -> bool:
        """Return whether a refusal means that a move is not in the log; `unavailable` does not."""
        return refused.code is not Code.UNAVAILABLE and super().declines(refused, actor)

    def trace_message(self, actor: SimulatedClient, way: str, data: bytes) -> None:
        super().trace_message(actor, way, data)
        missing = _MISSING.search(data)
        if missing is not None:
            self._judge_missing(actor, missing[1].decode())

    def backends(self) -> Iterable[Backend]:
        return [node.process.backend for node in self.nodes if node.process is not None]

    def _judge_missing(self, actor: SimulatedClient, key: str) -> None:
        row = self.database.find(key)
        if row is not None and row.state == "open":
            self.wrong(f"{actor.name} was told that the open {key} does not exist")

    def count(self, fault: str) -> None:
        self.faults[fault] = self.faults.get(fault, 0) + 1

    def wrong(self, what: str) -> None:
        if what not in self.violations:
            self.violations.append(what)

    def fault_length(self) -> float:
        """Return the length of a fault: usually shorter than a lease, sometimes longer."""
        return self.random.choice((0.5, 3.0, 7.0, 12.0, 20.0)) * (0.5 + self.random.random() / 2)

    def breaks(self) -> Fate:
        chance = self.random.random() / (self.rates.doubts or 1e-9)
        if not self.faults_active or chance > 1:
            return ""
        self.count("doubts")
        return "after" if chance < 0.5 else "before"

    # --- faults ---

    def _any_node(self, fault: Callable[[Node], None]) -> None:
        fault(self.random.choice(self.nodes))

    def _kill_database(self) -> None:
        if not self.database.running:
            return
        self.count("outages")
        self.database.running = False

        def start() -> None:
            for node in self.nodes:
                node.disturb()
            self.database.running = True

        self.scheduler.call_after(self.fault_length() / 2, start)

    def _slow_database(self) -> None:
        self.count("slow")
        self.database.slow = 2.0 * self.random.random()

        def end() -> None:
            self.database.slow = 0.0
            for node in self.nodes:
                node.disturb()

        self.scheduler.call_after(self.fault_length(), end)

    # --- the proxy ---

    def connect(self, actor: SimulatedClient) -> SimulatedConnection | None:
        node = self._node_for(actor) if self.rates.side_by_side else self._serving
        process = None if node is None else node.process
        if process is None:
            return None
        socket = NodeConnection(self, process.loop, actor)
        socket.connection = Connection(process.port)
        process.sockets.append(socket)
        process.loop.call_soon(socket.connection.connection_made, socket)
        if self.faults_active:
            self._inject_once(self.rates.resets, socket.reset)
        return socket

    def _node_for(self, actor: SimulatedClient) -> Node:
        """Return the node that a client knows or was redirected to."""
        home = self.nodes[actor.number % len(self.nodes)]
        urls = {node.url: node for node in self.nodes}
        return urls[actor.session.addresses.present or home.url]

    def _look(self) -> None:
        """Check the nodes' readiness as a proxy does, and judge their state."""
        self._serving = next(
            (each for each in self.nodes if each.process and each.awake and each.process.ready),
            None,
        )
        self._judge_nodes()
        self.scheduler.call_after(LOOK_S, self._look)

    # --- the run ---

    def run(self) -> NodesSimulation:
        with self._patched():
            for node in self.nodes:
                self.scheduler.call_after(self.delay(0.5), node.start)
            self._look()
            watchers = [SimulatedSpectator(self, f"w{n}") for n in range(self.rates.lobbies)]
            for n, watcher in enumerate(watchers):
                LobbySetup(self, n, watcher)
            if self.rates.side_by_side:
                for node in self.nodes:
                    SimulatedHallSpectator(self, f"hall of {node.name}")
            faults = {
                Node.kill: self.rates.kills,
                Node.freeze: self.rates.freezes,
                Node.cut: self.rates.cuts,
                Node.leave: self.rates.leaves,
            }
            self.scheduler.run_until(1000.0 + PEACE_S)
            for fault, rate in faults.items():
                self._inject_repeatedly(rate * len(self.nodes), partial(self._any_node, fault))
            self._inject_repeatedly(self.rates.outages, self._kill_database)
            self._inject_repeatedly(self.rates.slow, self._slow_database)
            self._backend = cast(Backend, self)  # there is always a node that may start
            self._run_matches()
            self.scheduler.run_until(
                max(self.scheduler.now, 1000.0 + self.rates.fault_seconds) + 28
            )
            self._check()
            for node in self.nodes:
                if node.process is not None:
                    node.process.loop.stop()
        return self

    @contextmanager
    def _patched(self) -> Iterator[None]:
        """Replace time, secrets and the database with virtual ones."""
        chances, clock = SeededSecrets(f"secrets {self.seed}"), _NodeTime(self)
        errors = _Errors(self)
        with ExitStack() as stack:
            for module in (hosting, identity, tickets):
                stack.enter_context(patch.object(module, "secrets", chances))
            stack.enter_context(patch.object(identity, "time", clock))
            for module in (hosting, match_setup):
                stack.enter_context(patch.object(module, "utc_now", lambda: FIXED_UTC))
            for name in ("kibitz.store", "kibitz.directory", "kibitz.tails"):
                logger = logging.getLogger(name)
                logger.addHandler(errors)
                stack.callback(logger.removeHandler, errors)
                stack.enter_context(patch.object(logger, "propagate", False))
            yield

    # --- the judge of writes ---

    def _judge_written(self, written: Written) -> None:
        if written.what == "owner":
            self._judge_take_over(written)
            return
        stream, what = written.stream, written.what
        self.closed_matches += (stream.kind, what) == ("match", "end")
        if written.again:
            self.wrong(f"entry {written.seq} was written a second time, by node {written.node}")
        owner = self.database.owner_of(stream.lobby)
        if owner != written.node:
            self.wrong(
                f"node {written.node} wrote the {what} of {stream.key}, which is node {owner}'s"
            )

    def _judge_take_over(self, written: Written) -> None:
        if written.stream.node is None:
            return
        self.taken += 1
        now, former = self.scheduler.now, self.database.nodes.get(written.former or "")
        if former is not None and not former.leaving:
            woken = now - former.since < SETTLED_S  # its heartbeats have resumed since the check
            if now - former.beat <= EXPIRES_S and not woken:
                self.wrong(f"lobby {written.stream.key} was taken from live node {former.name}")

    # --- the judge of nodes ---

    def _judge_nodes(self) -> None:
        streams = {row.key: row for row in self.database.streams.values()}
        served: dict[str, str] = {}
        for node in self.nodes:
            process = node.process
            if process is None or not node.awake:
                continue
            tails = process.backend.directory.tails
            if tails is not None and tails.spectators:
                self.count("looks at tails")
            if process.loop.exceptions:
                self.wrong(f"node {node.name}: {process.loop.exceptions[0]}")
            if not process.open:
                process.serves_since = None
            else:
                process.serves_since = process.serves_since or self.scheduler.now
                self._judge_serving(node.name, process.serves_since, streams)
            for key in process.backend.registry.lobbies:
                if process.open and served.setdefault(key, node.name) != node.name:
                    self.wrong(f"lobby {key} is served by {served[key]} and by {node.name}")
                owner = streams[key].node if key in streams else node.name
                if owner != node.name and node.sound_s > SETTLED_S:
                    self.wrong(f"node {node.name} goes on with lobby {key}, which is {owner}'s")
        for key, row in streams.items():
            if row.kind == "lobby" and row.state == "open":
                self._judge_ownerless(key, row.node)

    def _judge_serving(self, name: str, since: float, streams: dict[str, StreamRow]) -> None:
        """Require that a serving node has all lobbies: its hello lists all lobbies of a player.

        Lobbies are exempt if a node created them later, before it knew that another node had taken
        over.
        """
        if self.rates.side_by_side:
            return  # other nodes have lobbies too
        for key, row in streams.items():
            known = row.made < since and (row.kind, row.state) == ("lobby", "open")
            if known and row.node != name:
                self.wrong(f"node {name} serves without lobby {key}, which is {row.node}'s")

    def _judge_ownerless(self, key: str, owner: str | None) -> None:
        now = self.scheduler.now
        alive = {name for name, row in self.database.nodes.items() if self.database.alive(row)}
        sound = {node.name for node in self.nodes if node.sound_s > SETTLED_S}
        if owner in alive or not alive or not alive <= sound or self.database.slow:
            self._ownerless.pop(key, None)
        elif now - self._ownerless.setdefault(key, now) > TAKEN_S:
            self.wrong(
                f"lobby {key} of node {owner}, which is dead, is not taken by {sorted(sound)}"
            )

    # --- the judge of matches ---

    def _stored_lines(self, match: str) -> list[bytes]:
        row = self.database.find(match)
        assert row is not None
        if row.footer is None:
            self.wrong(f"match {match} is not closed in the database")
        return [row.head, *row.lines]

    def _check_match(self, match: str, lines: list[bytes]) -> Iterator[str]:
        try:
            yield from super()._check_match(match, lines)
        except BrokenLog as error:
            yield f"its log is broken: {error}"
            return
        for entry in map(read_entry, lines[1:]):
            if self.rates.resets or not isinstance(entry, Moved):
                continue  # players are charged for failures of their own network
            if entry.elapsed_ms > CHARGED_MS:
                yield f"entry {entry.seq} was charged {entry.elapsed_ms} ms"


def simulate_nodes(seed: int, game: Game, rates: NodeFaults | None = None) -> NodesSimulation:
    """Run one simulation."""
    return NodesSimulation(seed, game, Path(), rates or NodeFaults()).run()
