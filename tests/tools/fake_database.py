"""A database that nodes share, in memory and on virtual time, and the network between them.

It keeps what `kibitz_server.storage.interface` promises, without SQL: `fake_store` has the stores
of its nodes. Each question is one transaction, carried out in one moment. The questions of
different nodes therefore have an order, which is all that the locks of a real database provide.

    FakeNodeStore --ask--> FakeLink --late, cut, in doubt--> FakeDatabase    killed, slow

A question takes time on its way, at the database, and back. `FakeLink` can be cut, and can lose a
question or only its answer. `fences` and `unique_entries` switch off what must never be off, so
that a test can see it found out. The conformance suite (`tests/server/storage/conformance`) runs
on this database and on a real PostgreSQL, so that the two agree.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import (
    DatabaseInUse,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.interface import (
    HallExchange,
    OtherNode,
    PlayerRow,
    TakenLobby,
    TakeOverEntry,
)
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.postgres.nodes import EXPIRES_S
from kibitz_server.storage.streams import Closed, Kind, Stored, StoredCheckpoint, Stream
from kibitz_server.storage.telling import Waiting

_T = TypeVar("_T")
GIVEN_UP_S = 5.0
"""Seconds after which TCP gives up what is not acknowledged."""
DEAD_S = 11.0
"""Seconds after which keepalives find out at the database's end that nobody is there."""
Fate: TypeAlias = Literal["", "before", "after"]
"""Whether a question is lost before it reaches the database, or its answer after it did."""
Taken: TypeAlias = tuple[TakenLobby, dict[str, int]]
"""A lobby that was taken, and the numbers of its stream and its matches' by their keys."""


class Time(Protocol):
    """What is needed of a scheduler (`virtual_time.Scheduler`)."""

    @property
    def now(self) -> float: ...

    def call_after(self, seconds: float, call: Callable[[], object]) -> object: ...


class TakenOver(WriteFailed):
    """Another server has a node's name."""

    def __init__(self) -> None:
        super().__init__("another server has taken this database over")


class LobbiesElsewhere(Exception):
    """A batch was refused, for it is about lobbies of other nodes."""

    def __init__(self, owners: Mapping[str, str | None]) -> None:
        super().__init__(f"owned elsewhere: {', '.join(owners)}")
        self.owners = owners


# --- what is stored -------------------------------------------------------------------------------


@dataclass(slots=True)
class NodeRow:
    """A node; `life` tells its starts apart."""

    name: str
    url: str
    life: int
    beat: float
    since: float
    leaving: bool = False
    attempt: int = 0
    """The newest attempt at a batch that arrived: no older one counts any more."""
    last: Batch | None = None
    """The batch that was committed last."""


@dataclass(slots=True)
class StreamRow:
    """A stream."""

    number: int
    key: str
    kind: Kind
    owner: str | None
    head: bytes
    node: str | None
    made: float
    state: Literal["open", "closed", "damaged"] = "open"
    lines: list[bytes] = field(default_factory=list)
    footer: bytes | None = None
    summary: bytes = b""
    checkpoint: StoredCheckpoint | None = None
    reason: str = ""

    @property
    def lobby(self) -> str:
        return self.owner or self.key

    def stored(self, after: StoredCheckpoint | None = None) -> Stored:
        """Return the stream as it is found, from a checkpoint on."""
        tail = len(self.lines)
        chain = reduce(chain_hash, self.lines, chain_hash(EMPTY_CHAIN, self.head))
        stream = Stream(self.number, self.key, self.kind, tail, tail, chain)
        stream.closed = self.state != "open"
        return Stored(stream, self.head, self.lines[after.seq if after else 0 :], after)

    def closed(self) -> Closed | None:
        tail = len(self.lines)
        known = Closed(self.number, self.kind, self.head, self.footer, self.summary, tail)
        return known if self.state == "closed" else None


@dataclass(slots=True)
class HallRow:
    """A line that a node has written."""

    node: str
    change: int
    line: bytes | None


@dataclass(frozen=True, slots=True)
class Write:
    """A part of a batch, and who is told after the commit what it returned."""

    change: Callable[[], Any]
    lobby: str | None = None
    """The lobby that it is about, None where it is about none."""
    entry: tuple[int, int] | None = None
    """Number of the stream, and of the entry that it writes."""
    done: Callable[[Any], None] | None = None


@dataclass(slots=True, eq=False)
class Batch:
    """What is written together."""

    writes: list[Write] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    """What each write returned."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a node has just changed in a stream."""

    node: str
    stream: StreamRow
    what: Literal["head", "entry", "end", "rating", "owner"]
    seq: int = 0
    again: bool = False
    """Whether there was an entry of this number already."""
    former: str | None = None
    """The owner before."""


# --- the network ----------------------------------------------------------------------------------


class FakeLink:
    """The network between a node and the database."""

    def __init__(
        self,
        time: Time,
        delay: Callable[[float], float] = lambda most: 0.0,
        breaks: Callable[[], Fate] = lambda: "",
    ) -> None:
        """`delay` draws a time up to the one given, `breaks` the fate of a question."""
        self.time = time
        self.delay = delay
        self.breaks = breaks
        self.is_cut = False
        self._held: list[tuple[float, Callable[[], object]]] = []

    def cut(self) -> None:
        self.is_cut = True

    def mend(self) -> None:
        """Carry on; what TCP has given up meanwhile never arrives."""
        self.is_cut = False
        held, self._held = self._held, []
        for since, deliver in held:
            if self.time.now - since < GIVEN_UP_S:
                self.time.call_after(0.0, deliver)

    def carry(self, deliver: Callable[[], object]) -> None:
        """Deliver something at the other end, or hold it while the link is cut."""

        def arrive() -> None:
            if self.is_cut:
                self._held.append((self.time.now, deliver))
            else:
                deliver()

        self.time.call_after(self.delay(0.004), arrive)

    async def ask(
        self,
        loop: asyncio.AbstractEventLoop,
        database: FakeDatabase,
        question: Callable[[], _T],
        *,
        timeout_s: float,
        fate: Fate = "",
    ) -> _T:
        """Return what the database answers; raises `UnusableDatabase` where nothing comes back."""
        answer: asyncio.Future[_T] = loop.create_future()

        def settle(found: Any, error: Exception | None) -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(found)
            else:
                answer.set_exception(error)

        def reply(found: Any, error: Exception | None) -> None:
            if fate == "after":
                found, error = None, UnusableDatabase("the connection broke")
            self.carry(lambda: loop.call_soon(settle, found, error))

        if fate == "before":
            self.time.call_after(
                self.delay(0.5), lambda: reply(None, UnusableDatabase("the connection broke"))
            )
        else:
            self.carry(lambda: database.serve(question, reply))
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise UnusableDatabase("the database does not answer in time") from None

    def ask_at_once(self, database: FakeDatabase, question: Callable[[], _T]) -> _T:
        """Ask as a start does, for which no time passes."""
        if self.is_cut or not database.running:
            raise UnusableDatabase("the database cannot be reached")
        return question()


# --- the database ---------------------------------------------------------------------------------


class FakeDatabase:
    """What all nodes have written, and the answers to their questions."""

    fences = True
    """Whether a batch about another node's lobby is refused, as it must be."""
    unique_entries = True
    """Whether a second entry of one number is refused, as it must be."""

    def __init__(self, time: Time, delay: Callable[[float], float] = lambda most: 0.0) -> None:
        self.time = time
        self.delay = delay
        self.nodes: dict[str, NodeRow] = {}
        self.streams: dict[int, StreamRow] = {}
        self.ledger: dict[str, bytes] = {}
        self.players: dict[str, tuple[PlayerRow, bytes]] = {}
        self.player_changes: list[str] = []
        """The keys of players in the order in which they were written."""
        self.hall: dict[str, HallRow] = {}
        self.in_use: dict[str, int] = {}
        """The lives of the nodes that have the database open."""
        self.listeners: dict[str, Callable[[], object]] = {}
        """What tells each node that another one has written lines."""
        self.on_written: Callable[[Written], None] = lambda written: None
        self.running = True
        self.slow = 0.0
        """Seconds that an answer may take more, at most."""
        self.numbers = itertools.count(1)
        self._lives = itertools.count(1)
        self._hall_changes = itertools.count(1)
        self._starts = 0

    # --- trouble ------------------------------------------------------------------------------

    def kill(self) -> None:
        """End at once: what is under way does not happen, and is not answered for."""
        self.running = False
        self._starts += 1
        self.in_use.clear()

    def start(self) -> None:
        self.running = True

    def serve(
        self, question: Callable[[], Any], reply: Callable[[Any, Exception | None], None]
    ) -> None:
        """Carry out a question after a while, unless the database ends before."""
        starts = self._starts

        def answer() -> None:
            found: Any = None
            error: Exception | None = None
            if not self.running or starts != self._starts:
                error = UnusableDatabase("the database has ended")
            else:
                try:
                    found = question()
                except Exception as raised:  # noqa: BLE001  it is raised where it was asked
                    error = raised
            reply(found, error)

        self.time.call_after(self.delay(0.01 + self.slow) if self.running else 0.0, answer)

    # --- nodes --------------------------------------------------------------------------------

    def enter(self, identity: NodeIdentity) -> int:
        """Write the row of a node that starts, and return its life."""
        name, now = identity.name, self.time.now
        if name in self.in_use:
            raise DatabaseInUse(f"another node is called {name!r}")
        life = self.in_use[name] = next(self._lives)
        self.nodes[name] = NodeRow(name, identity.url, life, beat=now, since=now)
        return life

    def leave(self, name: str, life: int) -> None:
        self.row(name, life).leaving = True

    def close(self, name: str, life: int) -> None:
        """Let the name go."""
        if self.in_use.get(name) == life:
            del self.in_use[name]

    def row(self, name: str, life: int) -> NodeRow:
        """Return a node's row; raises `TakenOver` where another server has its name."""
        row = self.nodes.get(name)
        if row is None or row.life != life:
            raise TakenOver
        return row

    def alive(self, row: NodeRow | None, expires_s: float = EXPIRES_S) -> bool:
        return row is not None and not row.leaving and row.beat >= self.time.now - expires_s

    def beat(
        self, name: str, life: int, owned: Collection[str]
    ) -> tuple[bool, dict[str, str | None]]:
        """Return whether it is the node's turn, and those of `owned` that are not its own."""
        me = self.row(name, life)
        if not me.leaving:
            if not self.alive(me):
                me.since = self.time.now
            me.beat = self.time.now
        before = (
            each.since < me.since or (each.since == me.since and each.name < name)
            for each in self._mates(me.url, name)
        )
        turn = not me.leaving and not any(before)
        if not turn:
            for lobby in self._open_lobbies():
                if lobby.node == name:
                    self._set_owner(name, lobby, None)
        return turn, self.owned_elsewhere(name, owned)

    def _mates(self, url: str, *names: str, expires_s: float = EXPIRES_S) -> list[NodeRow]:
        """Return the living nodes of a URL, but for some."""
        rows = self.nodes.values()
        others = (row for row in rows if row.url == url and row.name not in names)
        return [row for row in others if self.alive(row, expires_s)]

    def take(
        self,
        name: str,
        life: int,
        entry: TakeOverEntry,
        most: int,
        owned: Collection[str],
        expires_s: float,
    ) -> list[Taken]:
        """Take lobbies that nobody alive owns, and those that this node does not know it has."""
        me = self.nodes.get(name)
        if me is None or me.life != life or me.leaving:
            return []
        free = [row for row in self._open_lobbies() if self._is_free(row, me, expires_s)]
        taken = [self._take(row, name, entry) for row in free[:most]]
        known = {*owned, *(lobby.key for lobby, _ in taken)}
        unheard = [
            row
            for row in self._open_lobbies()
            if row.node == name and row.state == "open" and row.key not in known
        ]
        return taken + [self._taken(row, None) for row in unheard]

    def _is_free(self, lobby: StreamRow, me: NodeRow, expires_s: float) -> bool:
        owner = self.nodes.get(lobby.node or "")
        if owner is None:
            return True
        if owner is me or self.alive(owner, expires_s):
            return False
        return owner.url == me.url or not self._mates(owner.url, owner.name, expires_s=expires_s)

    def _take(self, row: StreamRow, name: str, entry: TakeOverEntry) -> Taken:
        former = row.node
        self._set_owner(name, row, name)
        if row.state == "open":
            seq = len(row.lines) + 1
            self.write_entry(name, row.number, seq, entry(seq, former))
        return self._taken(row, former)

    def _taken(self, lobby: StreamRow, former: str | None) -> Taken:
        matches = [row for row in self.streams.values() if row.owner == lobby.key]
        still_open = tuple(row.key for row in matches if row.state == "open")
        numbers = {row.key: row.number for row in (lobby, *matches)}
        return TakenLobby(lobby.key, former, still_open, lobby.state == "open"), numbers

    def _set_owner(self, name: str, lobby: StreamRow, owner: str | None) -> None:
        former, lobby.node = lobby.node, owner
        self.on_written(Written(name, lobby, "owner", former=former))

    def has_all(self, name: str) -> bool:
        url = self.nodes[name].url
        owners = (self.nodes.get(row.node or "") for row in self._open_lobbies())
        return all(
            row is not None and (row.name == name or (self.alive(row) and row.url != url))
            for row in owners
        )

    def owner_of(self, lobby: str) -> str | None:
        row = self.find(lobby)
        return None if row is None else row.node

    def owned_elsewhere(self, name: str, lobbies: Collection[str]) -> dict[str, str | None]:
        """Return the owners of those lobbies that are there and not this node's."""
        rows = (self.find(key) for key in sorted(lobbies))
        return {row.key: row.node for row in rows if row is not None and row.node != name}

    def owner_of_stream(self, key: str) -> tuple[str, str | None] | None:
        row = self.find(key)
        if row is None or row.state != "open":
            return None
        return row.lobby, self.owner_of(row.lobby)

    # --- streams ------------------------------------------------------------------------------

    def find(self, key: str) -> StreamRow | None:
        return next((row for row in self.streams.values() if row.key == key), None)

    def _open_lobbies(self) -> Iterator[StreamRow]:
        """Yield the lobbies that are open, or of which a match is."""
        keys = {row.lobby for row in self.streams.values() if row.state == "open"}
        lobbies = (row for row in self.streams.values() if row.kind == "lobby")
        yield from sorted((row for row in lobbies if row.key in keys), key=lambda row: row.number)

    def commit(self, name: str, life: int, attempt: int, batch: Batch) -> None:
        """Write a batch, unless it is written; raises `WriteFailed`, `LobbiesElsewhere`."""
        me = self.settle(name, life, attempt)
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
        batch.results = [write.change() for write in batch.writes]
        me.last = batch

    def settle(self, name: str, life: int, attempt: int) -> NodeRow:
        """Let no attempt count that was made before this one and has not arrived."""
        me = self.row(name, life)
        if attempt <= me.attempt:
            raise WriteFailed("a later attempt has arrived")
        me.attempt = attempt
        return me

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
        row.state, row.footer, row.summary, row.checkpoint = "closed", footer, summary, None
        self.on_written(Written(name, row, "end"))

    def rate(self, name: str, match: str, line: bytes) -> None:
        row = self.find(match)
        if match not in self.ledger:
            self.ledger[match] = line
            if row is not None:
                self.on_written(Written(name, row, "rating"))

    # --- players ------------------------------------------------------------------------------

    def add_guest(self, guest: PlayerRow, secret: bytes) -> bool:
        """Write a guest, in place of one of that name; return False where an account has it."""
        named = [
            row
            for row, _ in self.players.values()
            if row.skeleton is not None and row.skeleton == guest.skeleton
        ]
        if any(row.account for row in named) or guest.key in self.players:
            return False
        for row in named:
            del self.players[row.key]
        self.put_player(guest, secret)
        return True

    def put_player(self, player: PlayerRow, secret: bytes) -> None:
        self.players[player.key] = player, secret
        self.player_changes.append(player.key)

    def note_seen(self, key: str, now: int) -> tuple[PlayerRow, bytes] | None:
        """Write when a guest was here last; return what is known of it now."""
        known = self.players.get(key)
        if known is None or known[0].account:
            return None
        self.players[key] = replace(known[0], created=now), known[1]
        return self.players[key]

    # --- lines of the hall --------------------------------------------------------------------

    def exchange(
        self,
        name: str,
        life: int,
        lines: Mapping[str, bytes | None],
        seen: Mapping[str, int] | None,
    ) -> tuple[HallExchange, dict[str, int]]:
        """Write lines, and return those of the others that are newer than `seen`; None for all."""
        if lines or seen is None:
            self._write_lines(name, lines, whole=seen is None)
            for each, tell in self.listeners.items():
                if each != name:
                    self.time.call_after(self.delay(0.01), tell)
        news = [
            (row.change, key, row)
            for key, row in self.hall.items()
            if row.node != name and row.change > (seen or {}).get(row.node, 0)
        ]
        news.sort(key=lambda each: each[:2])
        others = sorted((row for row in self.nodes.values() if row.name != name), key=_name)
        exchange = HallExchange(
            tuple(OtherNode(row.name, row.url, self.alive(row), _life(row.life)) for row in others),
            tuple(
                (key, row.node, row.line) for _, key, row in news if seen is not None or row.line
            ),
            seen is None,
            self._settled(name),
            frozenset(
                row.key
                for row in self._open_lobbies()
                if row.node == name and row.state == "open" and not self._has_line(row)
            ),
            _life(life),
            b"the key of all these nodes".ljust(32),
            int(self.time.now * 1000),
        )
        return exchange, {**(seen or {}), **{row.node: change for change, _, row in news}}

    def _write_lines(self, name: str, lines: Mapping[str, bytes | None], *, whole: bool) -> None:
        change = next(self._hall_changes)
        for key, row in self.hall.items() if whole else ():
            if row.node == name and row.line is not None and key not in lines:
                self.hall[key] = HallRow(name, change, None)
        for key, line in lines.items():
            former = self.hall.get(key)
            if line is None:
                allowed = former is None or former.node == name
            else:
                allowed = key.startswith("node ") or self.owner_of(key) == name
            if allowed:
                self.hall[key] = HallRow(name, change, line)

    def _has_line(self, lobby: StreamRow) -> bool:
        row = self.hall.get(lobby.key)
        return row is not None and row.node == lobby.node and row.line is not None

    def _settled(self, name: str) -> bool:
        """Whether every open lobby is this node's, or a living node has a line about it."""
        return all(
            row.node == name or (self.alive(self.nodes.get(row.node or "")) and self._has_line(row))
            for row in self._open_lobbies()
        )


def _name(row: NodeRow) -> str:
    return row.name


def _life(life: int) -> str:
    return f"life {life}"
