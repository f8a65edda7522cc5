"""The stores of nodes on a `FakeDatabase`: `interface.Store` and `interface.Nodes` in memory.

They gather batches, retry them and look up what became of a commit as a real store does, and every
answer may be late or lost. `tests/server/fakes.py` has a simpler store, for one runner alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Final, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import (
    NotStored,
    OwnedElsewhere,
    StoreError,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.interface import (
    CLOSE_TIMEOUT_S,
    Expiry,
    HallExchange,
    MatchHead,
    NewEntries,
    PlayerRow,
    TakenLobby,
    TakeOverEntry,
    TokenRow,
)
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.postgres.nodes import EXPIRES_S, HEARTBEAT_S
from kibitz_server.storage.streams import (
    Closed,
    Damaged,
    Kind,
    Stored,
    StoredCheckpoint,
    Stream,
    Transcript,
    Waiter,
)
from kibitz_server.storage.telling import Waiting, tell_durable, tell_lost
from tests.tools.fake_database import (
    Batch,
    FakeDatabase,
    FakeLink,
    LobbiesElsewhere,
    StreamRow,
    TakenOver,
    Write,
)

LOG = logging.getLogger("kibitz.store")
_T = TypeVar("_T")
RETRY_DELAYS_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PROBE_AFTER_S: Final = 1.0
WRITE_TIMEOUT_S: Final = 5.0
QUESTION_TIMEOUT_S: Final = 4.0
POLL_S: Final = 0.5
"""Seconds between two readings of the players that other nodes have written."""
LONG_AGO_S: Final = 60.0
"""Seconds after which an exchange is of everything again."""


class FakeNodeStore:
    """The store of one life of a node (`interface.Store`)."""

    remembers_closed = False

    def __init__(
        self,
        database: FakeDatabase,
        identity: NodeIdentity,
        loop: asyncio.AbstractEventLoop,
        *,
        link: FakeLink | None = None,
        clock: Callable[[], float] | None = None,
        observe: Callable[[int, float], None] | None = None,
        retries: Sequence[float] = RETRY_DELAYS_S,
    ) -> None:
        """Start as a node; `clock` is its monotonic clock. Raises `StoreError`."""
        self.on_failure: Callable[[StoreError], None] | None = None
        self.healthy = True
        self.failure: StoreError | None = None
        self.name = identity.name
        self.database = database
        self.link = link or FakeLink(database.time)
        self.loop = loop
        self._observe = observe
        self._retries = tuple(retries)
        self._gathering = Batch()
        self._writer: asyncio.Task[None] | None = None
        self._attempts = 0
        self._in_doubt = False
        """Whether the answer to the last attempt is missing."""
        self._lobbies: dict[str, str] = {}
        """The lobby of each open stream that the node has, or had, by the stream's key."""
        self.owned: set[str] = set()
        """The open lobbies that the node owns, or believes that it does."""
        self._elsewhere: dict[str, str | None] = {}
        """The owners of lobbies that were this node's."""
        self._keys: set[str] = set()
        """The lobbies that are open, and their matches."""
        self._endings: dict[str, StreamRow] = {}
        """Matches that are over, of lobbies that are not."""
        self.life = self.link.ask_at_once(database, lambda: database.enter(identity))
        self._read_keys()
        self.players = FakePlayers(self)
        self.nodes = FakeNodes(self, identity, clock or loop.time)
        self.tasks: list[asyncio.Task[None]] = [
            loop.create_task(work) for work in (self.players.run(), self.nodes.run())
        ]

    def _read_keys(self) -> None:
        rows = self.database.streams.values()
        open_keys = {row.key for row in rows if (row.kind, row.state) == ("lobby", "open")}
        self._keys = {row.key for row in rows if row.lobby in open_keys}
        self._endings = {row.key: row for row in rows if row.state == "closed"}
        self._aside = {row.key: row.reason for row in rows if row.state == "damaged"}
        for row in self._open_rows():
            self._lobbies[row.key] = row.lobby
            self.owned.add(row.lobby)

    def _open_rows(self) -> list[StreamRow]:
        rows = self.database.streams.values()
        return [
            row
            for row in rows
            if row.state == "open" and self.database.owner_of(row.lobby) == self.name
        ]

    @property
    def expiry(self) -> Expiry:
        raise AssertionError("nothing is old enough to go")

    async def ask(self, question: Callable[[], _T], *, timeout_s: float = WRITE_TIMEOUT_S) -> _T:
        return await self.link.ask(self.loop, self.database, question, timeout_s=timeout_s)

    # --- what the node owns -------------------------------------------------------------------

    def _require_owned(self, lobby: str | None) -> None:
        if lobby is not None and lobby in self._elsewhere:
            raise OwnedElsewhere(lobby, self._elsewhere[lobby])

    def lobby_taken(self, lobby: str, keys: Collection[str]) -> None:
        self._elsewhere.pop(lobby, None)
        self.owned.add(lobby)
        self._keys.update(keys)
        self._lobbies.update(dict.fromkeys(keys, lobby))

    def step_down(self, owners: Mapping[str, str | None], batch: Batch) -> None:
        """Take all that is about some lobbies out of a batch, and out of what gathers."""
        owners = {key: node for key, node in owners.items() if key not in self._elsewhere}
        self._elsewhere.update(owners)
        self.owned.difference_update(owners)
        waiting = self._drop(batch) + self._drop(self._gathering)
        if owners and self.nodes.on_lost is not None:
            self.nodes.stepped_down()
            self.nodes.on_lost(owners)
        lost: dict[str, list[Waiting]] = {}
        for each in waiting:
            if each[0] is not None:
                lost.setdefault(self._lobbies[each[0].key], []).append(each)
        for key, those in lost.items():
            tell_lost(those, OwnedElsewhere(key, self._elsewhere[key]))

    def _drop(self, batch: Batch) -> list[Waiting]:
        """Take what is about lobbies of other nodes out of a batch; return who waits for it."""

        def stays(waiting: Waiting) -> bool:
            stream = waiting[0]
            return stream is None or self._lobbies.get(stream.key) not in self._elsewhere

        dropped = [each for each in batch.waiting if not stays(each)]
        batch.waiting = [each for each in batch.waiting if stays(each)]
        batch.writes = [each for each in batch.writes if each.lobby not in self._elsewhere]
        return dropped

    # --- writing ------------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        lobby = owner or stream.key
        self._require_owned(lobby)
        stream.number = next(self.database.numbers)
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        self._keys.add(stream.key)
        self._lobbies[stream.key] = lobby
        self.owned.add(lobby)
        row = StreamRow(
            stream.number,
            stream.key,
            stream.kind,
            owner,
            head,
            None if owner else self.name,
            self.database.time.now,
        )
        self.write(Write(partial(self.database.write_head, self.name, row), lobby))
        self._wait(stream, 0, waiter)

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        if seq != stream.tail + 1 or stream.failed or stream.closed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        lobby = self._lobbies.get(stream.key)
        self._require_owned(lobby)
        stream.tail = seq
        stream.chain = chain_hash(stream.chain, line)
        entry = partial(self.database.write_entry, self.name, stream.number, seq, line)
        self.write(Write(entry, lobby, (stream.number, seq)))
        self._wait(stream, seq, waiter)

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        lobby = self._lobbies.get(stream.key)
        self._require_owned(lobby)
        stream.closed = True
        end = partial(self.database.write_end, self.name, stream.number, footer, summary)
        self.write(Write(end, lobby, done=lambda _: self._finished(stream)))
        self._wait(stream, stream.tail, waiter)

    def _finished(self, stream: Stream) -> None:
        self._lobbies.pop(stream.key, None)
        self.owned.discard(stream.key)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        kept = StoredCheckpoint(stream.tail, stream.chain, data)

        def put() -> None:
            self.database.streams[stream.number].checkpoint = kept

        self._write_row(put, self._lobbies.get(stream.key))

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self._aside[key] = reason

        def mark() -> None:
            row = self.database.find(key)
            if row is not None:
                row.state, row.reason = "damaged", reason

        self._write_row(mark, self._lobbies.get(key))

    def rate(self, match: str, line: bytes) -> None:
        rate = partial(self.database.rate, self.name, match, line)
        self._write_row(rate, self._lobbies.get(match))

    def write(self, write: Write) -> None:
        self._gathering.writes.append(write)

    def _write_row(self, change: Callable[[], Any], lobby: str | None) -> None:
        self.write(Write(change, lobby))
        self._wait(None, 0, None)

    def write_player(
        self, change: Callable[[], Any], done: Callable[[Any], None], waiter: Waiter | None
    ) -> None:
        self.write(Write(change, done=done))
        self._wait(None, 0, waiter)

    async def flush(self) -> None:
        while self._writer is not None:
            await asyncio.shield(self._writer)

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), patience_s / 2)
        self.failure = self.failure or WriteFailed("the database is closed")
        for task in filter(None, (*self.tasks, self._writer)):
            task.cancel()
        with contextlib.suppress(StoreError):
            let_go = partial(self.database.close, self.name, self.life)
            await self.ask(let_go, timeout_s=patience_s / 2)

    # --- the group commit ---------------------------------------------------------------------

    def _wait(self, stream: Stream | None, seq: int, waiter: Waiter | None) -> None:
        self._gathering.waiting.append((stream, seq, waiter))
        if self._writer is None:
            self._writer = self.loop.create_task(self._write_gathered())

    async def _write_gathered(self) -> None:
        try:
            while self._gathering.waiting:
                batch, self._gathering = self._gathering, Batch()
                await self._write(batch)
        finally:
            self._writer = None

    async def _write(self, batch: Batch) -> None:
        """Write a batch, try again where it fails, and tell everybody what became of it."""
        error: StoreError = WriteFailed("not tried")
        for delay in (0.0, *self._retries):
            if self.failure is not None:
                self._give_up(batch, self.failure)
                return
            if delay:
                await asyncio.sleep(delay)
            try:
                await self._attempt(batch)
            except TakenOver as taken:
                self.fail_for_good(taken, batch)
                return
            except StoreError as failed:
                self.healthy = False
                error = failed
            else:
                self._succeeded(batch)
                return
        self._give_up(batch, WriteFailed(str(error)))
        self.loop.call_later(PROBE_AFTER_S, self._probe)

    async def _attempt(self, batch: Batch) -> None:
        while True:
            self._attempts += 1
            commit = partial(self.database.commit, self.name, self.life, self._attempts, batch)
            fate, self._in_doubt = self.link.breaks(), True
            try:
                await self.link.ask(
                    self.loop, self.database, commit, timeout_s=WRITE_TIMEOUT_S, fate=fate
                )
            except LobbiesElsewhere as elsewhere:
                self.step_down(elsewhere.owners, batch)
            else:
                self._in_doubt = False
                return

    def _succeeded(self, batch: Batch) -> None:
        self.healthy = True
        for write, result in zip(batch.writes, batch.results, strict=True):
            if write.done is not None:
                write.done(result)
        tell_durable(batch.waiting)
        if self._observe is not None:
            self._observe(sum(write.entry is not None for write in batch.writes), 0.0)

    def _give_up(self, batch: Batch, error: StoreError) -> None:
        """Lose a batch, and everything that was given after it."""
        lost, self._gathering = self._gathering, Batch()
        tell_lost([*batch.waiting, *lost.waiting], error)

    def _probe(self) -> None:
        """Write an empty batch where nobody else would find out that the database is back."""
        if not self.healthy and self.failure is None:
            self._wait(None, 0, None)

    def fail_for_good(self, error: TakenOver, batch: Batch | None = None) -> None:
        """Another server has this node's name: never write again."""
        self.healthy = False
        if self.failure is None:
            self.failure = error
            if self.on_failure is not None:
                self.on_failure(error)
        self._give_up(batch or Batch(), error)

    # --- the start ----------------------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        return [row.stored(row.checkpoint) for row in self._open_rows() if row.kind == kind]

    def load_from_head(self, stored: Stored) -> Stored:
        return self.database.streams[stored.stream.number].stored()

    def damaged(self) -> list[Damaged]:
        rows = self.database.streams.values()
        aside = (row for row in rows if row.state == "damaged")
        return [Damaged(row.key, row.kind, row.owner, 0, row.reason) for row in aside]

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        rows = sorted(self.database.streams.values(), key=lambda row: -row.number)
        closed = [row for row in rows if (row.kind, row.state) == (kind, "closed")]
        return [row.summary for row in closed[:count]]

    def lobby_head(self, key: str) -> bytes | None:
        row = self.database.find(key)
        return row.head if row is not None and row.kind == "lobby" else None

    # --- reading ------------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        return key in self._keys

    def summary(self, key: str) -> bytes | None:
        ending = self._endings.get(key)
        return None if ending is None else ending.summary

    def footer(self, key: str) -> bytes | None:
        ending = self._endings.get(key)
        return None if ending is None else ending.footer

    def set_aside_reason(self, key: str) -> str | None:
        return self._aside.get(key)

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        settles, attempt = self._in_doubt, self._attempts + 1
        self._attempts += settles

        def read() -> dict[str, Stored | StoreError]:
            if settles:  # what has not arrived by now never counts
                self.database.settle(self.name, self.life, attempt)
            return {key: self._whole(key) for key in keys}

        found = await self.ask(read)
        rows = self.database.streams.values()
        closed = [row for row in rows if row.owner in found and row.state == "closed"]
        self._endings.update((row.key, row) for row in closed)
        self._keys -= {key for key, each in found.items() if isinstance(each, NotStored)}
        return found

    def _whole(self, key: str) -> Stored | StoreError:
        row = self.database.find(key)
        return NotStored(f"the disk has nothing of {key!r}") if row is None else row.stored()

    async def closed(self, key: str) -> Closed | None:
        def read() -> Closed | None:
            row = self.database.find(key)
            return None if row is None else row.closed()

        return await self.ask(read)

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        def read() -> list[bytes]:
            row = self.database.streams.get(number)
            return [] if row is None else row.lines[first - 1 : last]

        return await self.ask(read)

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        found: list[bytes] = []
        for line in await self.entries(number, first, 2**53):
            if sum(map(len, found)) < size:
                found.append(line)
        return found

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        return await self.entries(stream.number, first, min(last, stream.durable))

    async def transcript(self, key: str, kind: Kind = "match") -> Transcript | None:
        closed = await self.closed(key)
        if closed is None or closed.kind != kind:
            return None
        lines = await self.entries(closed.number, 1, closed.tail)
        return Transcript(closed.head, lines, closed.footer)

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        found = await self.ask(lambda: list(self.database.ledger.values()))
        return list(enumerate(found, 1))[after : after + count]


class FakePlayers:
    """The players as one node knows them (`interface.Players`); accounts there are none."""

    def __init__(self, store: FakeNodeStore) -> None:
        self._store = store
        self._known: dict[str, tuple[PlayerRow, bytes]] = {}
        self._seen = 0
        """How many changes were read."""
        self._take_up(self._changed())

    async def run(self) -> None:
        """Read what other nodes have written, until it is cancelled."""
        while True:
            await asyncio.sleep(POLL_S)
            with contextlib.suppress(UnusableDatabase):
                self._take_up(await self._store.ask(self._changed))

    def _changed(self) -> tuple[int, list[tuple[PlayerRow, bytes]]]:
        players, changes = self._store.database.players, self._store.database.player_changes
        keys = dict.fromkeys(changes[self._seen :])
        return len(changes), [players[key] for key in keys if key in players]

    def _take_up(self, changed: tuple[int, list[tuple[PlayerRow, bytes]]]) -> None:
        self._seen, players = changed
        for row, secret in players:
            self._put(row, secret)

    def _put(self, player: PlayerRow, secret: bytes) -> None:
        former = self.by_skeleton(player.skeleton or "")
        if former is not None:
            del self._known[former.key]
        self._known[player.key] = player, secret

    def by_key(self, key: str) -> PlayerRow | None:
        return self._find(lambda row, secret: row.key == key)

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        return self._find(lambda row, secret: row.skeleton == skeleton)

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        return self._find(lambda row, secret: secret == digest)

    def _find(self, wanted: Callable[[PlayerRow, bytes], bool]) -> PlayerRow | None:
        return next((row for row, secret in self._known.values() if wanted(row, secret)), None)

    def token(self, digest: bytes) -> TokenRow | None:
        return None

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        return set()

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        def done(added: bool) -> None:
            if added:
                self._put(guest, secret)

        add = partial(self._store.database.add_guest, guest, secret)
        self._store.write_player(add, done, waiter)

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        put = partial(self._store.database.put_player, bot, secret)
        self._store.write_player(put, lambda _: self._put(bot, secret), waiter)

    def note_seen(self, key: str, now: int) -> None:
        note = partial(self._store.database.note_seen, key, now)
        self._store.write_player(note, lambda row: self._put(*row) if row else None, None)


class FakeNodes:
    """A node among the others of its database (`interface.Nodes`)."""

    def __init__(
        self, store: FakeNodeStore, identity: NodeIdentity, clock: Callable[[], float]
    ) -> None:
        self.on_lost: Callable[[Mapping[str, str | None]], None] | None = None
        self.on_lines_written: Callable[[], None] | None = None
        self.name = identity.name
        self.url = identity.url
        self._store = store
        self._database = store.database
        self._clock = clock
        self.expires_s = EXPIRES_S
        self._turn = False
        """Whether it was this node's turn at the last heartbeat."""
        self._beat_at = float("-inf")
        """When the last heartbeat that was answered was sent."""
        self._seen: dict[str, int] = {}
        """The last change that was read of each node's lines."""
        self._exchanged_at: float | None = None
        self._asking = asyncio.Lock()
        self._database.listeners[self.name] = self._notify

    @property
    def first(self) -> bool:
        return self._turn and self._clock() < self._beat_at + EXPIRES_S

    async def run(self) -> None:
        """Beat until it is cancelled."""
        while True:
            try:
                await self.beat()
            except TakenOver as error:
                self._store.fail_for_good(error)
                return
            except UnusableDatabase as error:
                LOG.info("no heartbeat of node %s: %s", self.name, error)
            await asyncio.sleep(HEARTBEAT_S)

    async def beat(self) -> None:
        sent = self._clock()
        owned = sorted(self._store.owned)
        beat = partial(self._database.beat, self.name, self._store.life, owned)
        self._turn, owners = await self._ask(beat)
        self._beat_at = sent
        if owners:
            self._store.step_down(owners, Batch())

    def stepped_down(self) -> None:
        self._turn = False

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        owned = set(self._store.owned)
        me = (self.name, self._store.life)
        taken = await self._ask(
            lambda: self._database.take(*me, entry, most, owned, self.expires_s)
        )
        # What this node takes back, and never knew that it had lost, it has as it was before.
        stale = {lobby.key: lobby.former for lobby, _ in taken if lobby.key in self._store.owned}
        if stale:
            self._store.step_down(stale, Batch())
        for lobby, keys in taken:
            self._store.lobby_taken(lobby.key, keys)
        return [lobby for lobby, _ in taken]

    async def has_all(self) -> bool:
        return await self._ask(lambda: self._database.has_all(self.name))

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        return await self._ask(lambda: self._database.owner_of_stream(key))

    def owned(self) -> Collection[str]:
        return self._store.owned

    @property
    def needs_all(self) -> bool:
        at = self._exchanged_at
        return at is None or self._clock() > at + LONG_AGO_S

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        seen = None if self.needs_all else self._seen
        self._exchanged_at = None
        me = (self.name, self._store.life)
        found, self._seen = await self._ask(lambda: self._database.exchange(*me, lines, seen))
        self._exchanged_at = self._clock()
        return found

    def _notify(self) -> None:
        """Carry a notification to this node, where it may be late or get lost."""
        if not self._store.link.breaks():
            self._store.link.carry(lambda: self._store.loop.call_soon(self._lines_written))

    def _lines_written(self) -> None:
        if self.on_lines_written is not None:
            self.on_lines_written()

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        def read() -> dict[str, MatchHead | StoreError]:
            rows = [row for row in map(self._database.find, keys) if row and row.kind == "match"]
            return {row.key: self._head(row) for row in rows}

        return await self._store.ask(read)

    def _head(self, row: StreamRow) -> MatchHead:
        lobby = None if row.owner is None else self._database.find(row.owner)
        chain = chain_hash(EMPTY_CHAIN, row.head)
        stream = Stream(row.number, row.key, "match", durable=0, chain=chain)
        return MatchHead(stream, row.head, None if lobby is None else lobby.head)

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        asked = {stream.key: (stream.number, stream.tail, stream.chain) for stream in streams}

        def read() -> dict[str, NewEntries | StoreError]:
            found = {key: self._new(*known) for key, known in asked.items()}
            return {key: new for key, new in found.items() if new is not None}

        return await self._store.ask(read)

    def _new(self, number: int, tail: int, chain: str) -> NewEntries | None:
        row = self._database.streams[number]
        lines, closed = row.lines[tail:], row.state == "closed"
        chain = reduce(chain_hash, lines, chain)
        return NewEntries(lines, chain, more=False, closed=closed) if lines or closed else None

    async def leave(self) -> None:
        await self._ask(lambda: self._database.leave(self.name, self._store.life))

    async def _ask(self, question: Callable[[], _T]) -> _T:
        """Ask one thing after the other; the answer may get lost."""
        store = self._store
        async with self._asking:
            return await store.link.ask(
                store.loop,
                self._database,
                question,
                timeout_s=QUESTION_TIMEOUT_S,
                fate=store.link.breaks(),
            )
