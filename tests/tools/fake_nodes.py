"""The part of a node that single servers do not need: `interface.Nodes` on a `FakeDatabase`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Final, Protocol, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import (
    HallExchange,
    MatchHead,
    NewEntries,
    OtherNode,
    TakenLobby,
    TakeOverEntry,
)
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.postgres.nodes import EXPIRES_S, HEARTBEAT_S
from kibitz_server.storage.streams import Stream
from tests.tools.fake_database import FakeLink, HallRow, NodeRow, StreamRow, TakenOver

_T = TypeVar("_T")
QUESTION_TIMEOUT_S: Final = 4.0
LONG_AGO_S: Final = 60.0
"""The interval of full exchanges, in seconds."""


class OwningStore(Protocol):
    """The part of the store that `FakeNodes` requires."""

    owned: set[str]
    """The open lobbies that the node owns or believes that it owns."""

    def lobby_taken(self, lobby: str, keys: Collection[str]) -> None: ...

    def lobbies_lost(self, owners: Mapping[str, str | None]) -> None: ...

    def fail_for_good(self, error: TakenOver) -> None: ...


class FakeNodes:
    """A node that shares its database with others (`interface.Nodes`)."""

    def __init__(
        self,
        store: OwningStore,
        link: FakeLink,
        identity: NodeIdentity,
        life: int,
        clock: Callable[[], float],
    ) -> None:
        """Create the node; `clock` is its own clock."""
        self.on_lost: Callable[[Mapping[str, str | None]], None] | None = None
        self.name = identity.name
        self.url = identity.url
        self.expires_s = EXPIRES_S
        self._store = store
        self._link = link
        self._database = link.database
        self._life = life
        self._clock = clock
        self._turn = False
        """Whether it was this node's turn at the last heartbeat."""
        self._beat_at = float("-inf")
        """When the node sent the last heartbeat that was answered."""
        self._seen: dict[str, int] = {}
        """The last change read from each node's lines."""
        self._exchanged_at: float | None = None
        self._asking = asyncio.Lock()

    async def _ask(self, question: Callable[[], _T]) -> _T:
        """Send requests one at a time."""
        async with self._asking:
            return await self._link.ask(question, QUESTION_TIMEOUT_S, self._link.breaks())

    def _me(self) -> NodeRow:
        return self._database.row(self.name, self._life)

    # --- heartbeats ---------------------------------------------------------------------------

    @property
    def first(self) -> bool:
        return self._turn and self._clock() < self._beat_at + EXPIRES_S

    async def run(self) -> None:
        """Send heartbeats until canceled."""
        while True:
            try:
                await self.beat()
            except TakenOver as error:
                self._store.fail_for_good(error)
                return
            except UnusableDatabase:
                pass  # the next one may succeed
            await asyncio.sleep(HEARTBEAT_S)

    async def beat(self) -> None:
        sent, owned = self._clock(), set(self._store.owned)
        self._turn, lost = await self._ask(lambda: self._beat(owned))
        self._beat_at = sent
        if lost:
            self._store.lobbies_lost(lost)

    def _beat(self, owned: Collection[str]) -> tuple[bool, dict[str, str | None]]:
        """Return whether it is this node's turn, and the owners of lobbies that it has lost."""
        me, now = self._me(), self._database.now()
        if not me.leaving:
            me.since = me.since if self._database.alive(me) else now
            me.beat = now
        mates = self._database.mates(me)
        before = [(each.since, each.name) < (me.since, me.name) for each in mates]
        turn = not me.leaving and not any(before)
        for lobby in [] if turn else self._database.open_lobbies():
            if lobby.node == self.name:
                self._database.write_owner(self.name, lobby, None)
        return turn, self._database.owned_elsewhere(self.name, owned)

    def lost(self, owners: Mapping[str, str | None]) -> None:
        """Record the loss of lobbies; it is not this node's turn until the next heartbeat."""
        if self.on_lost is not None:
            self._turn = False
            self.on_lost(owners)

    async def leave(self) -> None:
        def write() -> None:
            self._me().leaving = True

        await self._ask(write)

    # --- take-overs ---------------------------------------------------------------------------

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        owned = set(self._store.owned)
        taken = await self._ask(lambda: self._take(entry, most, owned))
        # Lobbies that it takes back before noticing their loss are unchanged.
        lobbies = [lobby for lobby, _ in taken]
        stale = {each.key: each.former for each in lobbies if each.key in self._store.owned}
        if stale:
            self._store.lobbies_lost(stale)
        for lobby, keys in taken:
            self._store.lobby_taken(lobby.key, keys)
        return lobbies

    def _take(
        self, entry: TakeOverEntry, most: int, owned: Collection[str]
    ) -> list[tuple[TakenLobby, list[str]]]:
        """Take lobbies over; return them with the keys of their streams."""
        me = self._database.nodes[self.name]
        if me.life != self._life or me.leaving:
            return []
        lobbies = self._database.open_lobbies()
        free = [row for row in lobbies if self._is_free(row, me)][:most]
        # The answer to an earlier request may have been lost.
        unheard = [
            row
            for row in lobbies
            if row.node == self.name and row.state == "open" and row.key not in owned
        ]
        return [self._take_one(row, entry) for row in free] + [self._taken(row) for row in unheard]

    def _is_free(self, lobby: StreamRow, me: NodeRow) -> bool:
        database, owner = self._database, self._database.nodes.get(lobby.node or "")
        if owner is None:
            return True
        if owner is me or database.alive(owner, self.expires_s):
            return False
        return owner.url == me.url or not database.mates(owner, self.expires_s)

    def _take_one(self, lobby: StreamRow, entry: TakeOverEntry) -> tuple[TakenLobby, list[str]]:
        former, seq = lobby.node, len(lobby.lines) + 1
        self._database.write_owner(self.name, lobby, self.name)
        if lobby.state == "open":
            self._database.write_entry(self.name, lobby.number, seq, entry(seq, former))
        return self._taken(lobby, former)

    def _taken(self, lobby: StreamRow, former: str | None = None) -> tuple[TakenLobby, list[str]]:
        rows = [row for row in self._database.streams.values() if row.lobby == lobby.key]
        matches = tuple(row.key for row in rows if row.kind == "match" and row.state == "open")
        taken = TakenLobby(lobby.key, former, matches, lobby.state == "open")
        return taken, [row.key for row in rows]

    async def has_all(self) -> bool:
        def read() -> bool:
            lobbies = [row for row in self._database.open_lobbies() if row.node != self.name]
            owners = self._database.owner_rows(lobbies)
            return all(row and self._database.alive(row) and row.url != self.url for row in owners)

        return await self._ask(read)

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        def read() -> tuple[str, str | None] | None:
            row = self._database.find(key)
            if row is None or row.state != "open":
                return None
            return row.lobby, self._database.owner_of(row.lobby)

        return await self._ask(read)

    def owned(self) -> Collection[str]:
        return self._store.owned

    # --- lines of the hall --------------------------------------------------------------------

    @property
    def needs_all(self) -> bool:
        at = self._exchanged_at
        return at is None or self._clock() > at + LONG_AGO_S

    def expire_lines(self) -> None:
        self._exchanged_at = None

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        whole, self._exchanged_at = self.needs_all, None
        found, self._seen = await self._ask(lambda: self._exchange(lines, whole=whole))
        self._exchanged_at = self._clock()
        return found

    def _exchange(
        self, lines: Mapping[str, bytes | None], *, whole: bool
    ) -> tuple[HallExchange, dict[str, int]]:
        """Return the lines read, and the last change read of each node."""
        database = self._database
        if lines or whole:
            self._write_lines(lines, whole=whole)
        seen = {} if whole else self._seen
        news = [
            (key, row)
            for key, row in database.hall.items()
            if row.node != self.name and row.change > seen.get(row.node, 0)
        ]
        news.sort(key=lambda each: each[1].change)
        others = [row for name, row in sorted(database.nodes.items()) if name != self.name]
        lobbies = database.open_lobbies()
        mine = {row.key for row in lobbies if (row.node, row.state) == (self.name, "open")}
        told = {row.key for row in lobbies if self._has_line(row)}
        settled = all(
            row.node == self.name or (row.key in told and database.alive(owner))
            for row, owner in zip(lobbies, database.owner_rows(lobbies), strict=True)
        )
        found = HallExchange(
            tuple(
                OtherNode(row.name, row.url, database.alive(row), str(row.life)) for row in others
            ),
            tuple((key, row.node, row.line) for key, row in news if row.line or not whole),
            whole,
            settled,
            frozenset(mine - told),
            str(self._life),
            b"the ticket key".ljust(32),
            int(database.now() * 1000),
        )
        return found, seen | {row.node: row.change for _, row in news}

    def _write_lines(self, lines: Mapping[str, bytes | None], *, whole: bool) -> None:
        hall, change = self._database.hall, next(self._database.numbers)
        before = [key for key, row in hall.items() if row.node == self.name and row.line]
        gone = dict.fromkeys(key for key in before if key not in lines) if whole else {}
        for key, line in {**gone, **lines}.items():
            if line is None:
                allowed = key not in hall or hall[key].node == self.name
            else:
                allowed = key.startswith("node ") or self._database.owner_of(key) == self.name
            if allowed:
                hall[key] = HallRow(self.name, change, line)

    def _has_line(self, lobby: StreamRow) -> bool:
        row = self._database.hall.get(lobby.key)
        return row is not None and row.node == lobby.node and row.line is not None

    # --- logs that other nodes write ----------------------------------------------------------

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        def read() -> dict[str, MatchHead | StoreError]:
            rows = (row for row in map(self._database.find, keys) if row and row.kind == "match")
            return {row.key: self._head(row) for row in rows}

        return await self._ask_reader(read)

    def _head(self, row: StreamRow) -> MatchHead:
        lobby = self._database.find(row.lobby)
        chain = chain_hash(EMPTY_CHAIN, row.head)
        stream = Stream(row.number, row.key, "match", durable=0, chain=chain)
        return MatchHead(stream, row.head, None if lobby is None else lobby.head)

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        asked = [(each.number, each.tail, each.chain) for each in streams]

        def read() -> dict[str, NewEntries | StoreError]:
            found: dict[str, NewEntries | StoreError] = {}
            for number, tail, chain in asked:
                row = self._database.streams[number]
                lines, closed = row.lines[tail:], row.state == "closed"
                if lines or closed:
                    end = reduce(chain_hash, lines, chain)
                    found[row.key] = NewEntries(lines, end, more=False, closed=closed)
            return found

        return await self._ask_reader(read)

    async def _ask_reader(self, question: Callable[[], _T]) -> _T:
        """Send a request in parallel to the heartbeats."""
        return await self._link.ask(question, QUESTION_TIMEOUT_S)
