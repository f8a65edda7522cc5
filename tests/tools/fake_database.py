"""An in-memory database shared by nodes, and the network between it and a node.

It implements the guarantees of `kibitz_server.storage.interface` without SQL; nodes use it through
`fake_store` and `fake_nodes`. Each request is one atomic transaction, so the requests of different
nodes are ordered, as locks would order them in a real database.

    FakeNodeStore, FakeNodes --ask--> FakeLink --late, cut, in doubt--> FakeDatabase    away, slow

A request takes time in transit, at the database, and on the way back. If the sending node is
suspended, the request arrives when the node wakes up. If the node gives up waiting or is killed,
the request never arrives. Tests can set `fences` and `unique_entries` to False to disable essential
checks, and verify that the resulting errors are detected. The conformance suite
(`tests/server/storage/conformance`) runs on this database and on a real PostgreSQL.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal, TypeAlias, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import UnusableDatabase, WriteFailed
from kibitz_server.storage.group_commit import Waiting
from kibitz_server.storage.interface import PlayerRow
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.postgres.nodes import EXPIRES_S
from kibitz_server.storage.streams import Closed, Kind, Stored, Stream

_T = TypeVar("_T")
Fate: TypeAlias = Literal["", "before", "after"]
"""Whether a request is lost before it reaches the database, or its answer afterwards."""


class TakenOver(WriteFailed):
    """Another server uses the node's name."""

    def __init__(self) -> None:
        super().__init__("another server has taken over this database")


class LobbiesElsewhere(Exception):
    """A batch was refused because it concerns lobbies of other nodes."""

    def __init__(self, owners: Mapping[str, str | None]) -> None:
        super().__init__(f"owned elsewhere: {', '.join(owners)}")
        self.owners = owners


# --- stored data ----------------------------------------------------------------------------------


@dataclass(slots=True)
class NodeRow:
    """A node."""

    name: str
    url: str
    life: int
    """The number that distinguishes the node's starts."""
    beat: float
    since: float
    leaving: bool = False
    last: Batch | None = None
    """The last committed batch."""


@dataclass(slots=True)
class StreamRow:
    """A stream."""

    number: int
    key: str
    kind: Kind
    lobby: str
    """The stream's own key, or for a match the key of its lobby."""
    head: bytes
    node: str | None
    made: float
    state: Literal["open", "closed", "damaged"] = "open"
    lines: list[bytes] = field(default_factory=list)
    footer: bytes | None = None
    summary: bytes = b""
    reason: str = ""

    def stored(self) -> Stored:
        tail = len(self.lines)
        chain = reduce(chain_hash, self.lines, chain_hash(EMPTY_CHAIN, self.head))
        stream = Stream(self.number, self.key, self.kind, tail, tail, chain)
        stream.closed = self.state != "open"
        return Stored(stream, self.head, list(self.lines))

    def closed(self) -> Closed | None:
        tail = len(self.lines)
        known = Closed(self.number, self.kind, self.head, self.footer, self.summary, tail)
        return known if self.state == "closed" else None


@dataclass(frozen=True, slots=True)
class HallRow:
    """A line of the hall, written by a node."""

    node: str
    change: int
    line: bytes | None


@dataclass(frozen=True, slots=True)
class Write:
    """A single write of a batch."""

    change: Callable[[], object]
    lobby: str | None
    """The lobby that the write concerns, if any."""
    entry: tuple[int, int] | None
    """The numbers of the stream and of the entry to write."""
    done: Callable[[], object] | None
    """Called when the node learns that the write is committed."""


@dataclass(slots=True, eq=False)
class Batch:
    """The writes of one commit."""

    writes: list[Write] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """A change that a node has just made to a stream."""

    node: str
    stream: StreamRow
    what: Literal["head", "entry", "end", "rating", "owner"]
    seq: int = 0
    again: bool = False
    """Whether an entry with this number already existed."""
    former: str | None = None
    """The previous owner."""


class FakeDatabase:
    """An in-memory database shared by all nodes."""

    fences = True
    """Whether batches about other nodes' lobbies are refused, as by a real database."""
    unique_entries = True
    """Whether duplicate entry numbers are refused, as by a real database."""

    def __init__(
        self, now: Callable[[], float], delay: Callable[[float], float] = lambda most: 0.0
    ) -> None:
        """Create the database; `now` is its clock, and `delay` draws a duration up to a limit."""
        self.now = now
        self.delay = delay
        self.nodes: dict[str, NodeRow] = {}
        self.streams: dict[int, StreamRow] = {}
        self.ledger: dict[str, bytes] = {}
        self.players: dict[str, tuple[PlayerRow, bytes]] = {}
        self.hall: dict[str, HallRow] = {}
        self.on_written: Callable[[Written], None] = lambda written: None
        self.running = True
        self.slow = 0.0
        """The maximum additional delay of an answer, in seconds."""
        self.numbers = itertools.count(1)
        """Counters for streams, node lives, and changes of the hall's lines."""

    # --- nodes --------------------------------------------------------------------------------

    def enter(self, identity: NodeIdentity) -> int:
        """Write the row of a starting node and return its life."""
        now, life = self.now(), next(self.numbers)
        self.nodes[identity.name] = NodeRow(identity.name, identity.url, life, now, now)
        return life

    def row(self, name: str, life: int) -> NodeRow:
        """Return a node's row; raise `TakenOver` if another server uses its name."""
        row = self.nodes.get(name)
        if row is None or row.life != life:
            raise TakenOver
        return row

    def alive(self, row: NodeRow | None, expires_s: float = EXPIRES_S) -> bool:
        return row is not None and not row.leaving and row.beat >= self.now() - expires_s

    def mates(self, of: NodeRow, expires_s: float = EXPIRES_S) -> list[NodeRow]:
        """Return the other live nodes with the same URL."""
        others = (row for row in self.nodes.values() if row.name != of.name and row.url == of.url)
        return [row for row in others if self.alive(row, expires_s)]

    # --- streams ------------------------------------------------------------------------------

    def find(self, key: str) -> StreamRow | None:
        return next((row for row in self.streams.values() if row.key == key), None)

    def owner_of(self, lobby: str) -> str | None:
        row = self.find(lobby)
        return None if row is None else row.node

    def owned_elsewhere(self, name: str, lobbies: Collection[str]) -> dict[str, str | None]:
        """Return the owners of existing lobbies that this node does not own."""
        rows = (self.find(key) for key in sorted(lobbies))
        return {row.key: row.node for row in rows if row is not None and row.node != name}

    def open_lobbies(self) -> list[StreamRow]:
        """Return the lobbies that are open or have an open match, oldest first."""
        keys = {row.lobby for row in self.streams.values() if row.state == "open"}
        found = (row for row in self.streams.values() if row.kind == "lobby" and row.key in keys)
        return sorted(found, key=lambda row: row.number)

    def owner_rows(self, lobbies: Collection[StreamRow]) -> list[NodeRow | None]:
        return [self.nodes.get(row.node or "") for row in lobbies]

    # --- writing ------------------------------------------------------------------------------

    def commit(self, name: str, life: int, batch: Batch) -> None:
        """Write a batch unless it is already written; raises `WriteFailed`, `LobbiesElsewhere`."""
        me = self.row(name, life)
        if me.last is batch:
            return
        lobbies = {write.lobby for write in batch.writes if write.lobby is not None}
        elsewhere = self.owned_elsewhere(name, lobbies)
        if elsewhere and self.fences:
            raise LobbiesElsewhere(elsewhere)
        for number, seq in (write.entry for write in batch.writes if write.entry is not None):
            row = self.streams.get(number)
            if row is not None and seq <= len(row.lines) and self.unique_entries:
                raise WriteFailed(f"there is an entry {seq} of {row.key}")
        for write in batch.writes:
            write.change()
        me.last = batch

    def write_head(self, name: str, row: StreamRow) -> None:
        self.streams[row.number] = row
        self.on_written(Written(name, row, "head"))

    def write_entry(self, name: str, number: int, seq: int, line: bytes) -> None:
        row = self.streams[number]
        again = seq <= len(row.lines)
        row.lines[seq - 1 : seq] = [line]
        self.on_written(Written(name, row, "entry", seq, again))

    def write_end(self, name: str, number: int, footer: bytes | None, summary: bytes) -> None:
        row = self.streams[number]
        row.state, row.footer, row.summary = "closed", footer, summary
        self.on_written(Written(name, row, "end"))

    def write_rating(self, name: str, match: str, line: bytes) -> None:
        if match not in self.ledger:
            self.ledger[match] = line
            row = self.find(match)
            if row is not None:
                self.on_written(Written(name, row, "rating"))

    def write_owner(self, name: str, lobby: StreamRow, owner: str | None) -> None:
        former, lobby.node = lobby.node, owner
        self.on_written(Written(name, lobby, "owner", former=former))


class FakeLink:
    """The network between a node and the database."""

    def __init__(self, database: FakeDatabase, breaks: Callable[[], Fate] = lambda: "") -> None:
        """Create a link; `breaks` draws the fate of a request that changes something."""
        self.database = database
        self.breaks = breaks
        self.is_cut = False

    async def ask(self, question: Callable[[], _T], timeout_s: float, fate: Fate = "") -> _T:
        """Return the database's answer; raise `UnusableDatabase` if there is none."""
        database = self.database
        try:
            async with asyncio.timeout(timeout_s):
                await self._travel()
                await asyncio.sleep(database.delay(0.01 + database.slow))
                if fate == "before":
                    raise UnusableDatabase("the connection broke")
                found = self.ask_at_once(question)
                if fate == "after":
                    raise UnusableDatabase("the connection broke")
                await self._travel()
                return found
        except TimeoutError:
            raise UnusableDatabase("the database timed out") from None

    def ask_at_once(self, question: Callable[[], _T]) -> _T:
        """Send a request as at startup, without any delay."""
        if self.is_cut or not self.database.running:
            raise UnusableDatabase("the database cannot be reached")
        return question()

    async def _travel(self) -> None:
        await asyncio.sleep(self.database.delay(0.004))
        while self.is_cut:  # noqa: ASYNC110  TCP sends again, too
            await asyncio.sleep(0.2)
