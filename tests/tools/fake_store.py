"""A node's store on a `FakeDatabase`: an in-memory `interface.Store`.

Like a real store, it collects batches, retries them, and looks up the outcome of commits in doubt.
`tests/server/fakes.py` has a simpler store for tests of runners.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import (
    NotStored,
    OwnedElsewhere,
    StoreError,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.group_commit import Waiting, tell_durable, tell_lost
from kibitz_server.storage.interface import CLOSE_TIMEOUT_S, Expiry, PlayerRow, TokenRow
from kibitz_server.storage.location import NodeIdentity
from kibitz_server.storage.streams import Closed, Damaged, Kind, Stored, Stream, Waiter
from tests.tools.fake_database import (
    Batch,
    FakeLink,
    LobbiesElsewhere,
    StreamRow,
    TakenOver,
    Write,
)
from tests.tools.fake_nodes import FakeNodes

_T = TypeVar("_T")
RETRY_DELAYS_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PROBE_AFTER_S: Final = 1.0
"""The delay between giving up a batch and probing the database with an empty one, in seconds."""
TIMEOUT_S: Final = 5.0
POLL_S: Final = 0.5
"""The interval of reading players written by other nodes, in seconds."""


class FakeNodeStore:
    """The store of one life of a node (`interface.Store`)."""

    remembers_closed = False

    def __init__(
        self,
        link: FakeLink,
        identity: NodeIdentity,
        loop: asyncio.AbstractEventLoop,
        *,
        clock: Callable[[], float] | None = None,
        observe: Callable[[int, float], None] | None = None,
        retries: Sequence[float] = RETRY_DELAYS_S,
    ) -> None:
        """Start the store of a node; `clock` is its monotonic clock. Raises `StoreError`."""
        self.on_failure: Callable[[StoreError], None] | None = None
        self.healthy = True
        self.failure: StoreError | None = None
        self.link = link
        self._database = link.database
        self._loop = loop
        self._observe = observe
        self._retries = tuple(retries)
        self._gathering = Batch()
        self._writer: asyncio.Task[None] | None = None
        self._elsewhere: dict[str, str | None] = {}
        """The new owners of lobbies that this node has lost."""
        self._name = identity.name
        self._life = link.ask_at_once(lambda: self._database.enter(identity))
        rows = self._database.streams.values()
        lobbies = {row.key for row in rows if (row.kind, row.state) == ("lobby", "open")}
        self._keys = {row.key for row in rows if row.lobby in lobbies}
        """The open lobbies and their matches."""
        self._endings = {row.key: row for row in rows if row.state == "closed"}
        """Finished matches of open lobbies."""
        self._aside = {row.key: row.reason for row in rows if row.state == "damaged"}
        self._lobbies = {row.key: row.lobby for row in self._open_rows()}
        """The lobbies of the node's current and former open streams, by the stream's key."""
        self.owned = set(self._lobbies.values())
        self.players = FakePlayers(self)
        self.nodes = FakeNodes(self, link, identity, self._life, clock or loop.time)
        self.tasks = [loop.create_task(self.players.run()), loop.create_task(self.nodes.run())]

    def _open_rows(self) -> list[StreamRow]:
        """Return the open streams of this node, oldest first."""
        owner_of = self._database.owner_of
        rows = sorted(self._database.streams.values(), key=lambda row: row.number)
        return [row for row in rows if row.state == "open" and owner_of(row.lobby) == self._name]

    @property
    def expiry(self) -> Expiry:
        raise AssertionError("nothing is old enough to be deleted")

    async def ask(self, question: Callable[[], _T]) -> _T:
        return await self.link.ask(question, TIMEOUT_S)

    # --- ownership (fake_nodes.OwningStore) -----------------------------------------------------

    def _owned_lobby(self, key: str) -> str | None:
        """Return the lobby of a stream; raise `OwnedElsewhere` if another node owns it."""
        lobby = self._lobbies.get(key)
        if lobby in self._elsewhere:
            raise OwnedElsewhere(lobby, self._elsewhere[lobby])
        return lobby

    def lobby_taken(self, lobby: str, keys: Collection[str]) -> None:
        self._elsewhere.pop(lobby, None)
        self.owned.add(lobby)
        self._keys.update(keys)
        self._lobbies.update(dict.fromkeys(keys, lobby))

    def lobbies_lost(self, owners: Mapping[str, str | None]) -> None:
        self._step_down(owners, Batch())

    def _step_down(self, owners: Mapping[str, str | None], batch: Batch) -> None:
        """Remove the writes about some lobbies from a batch and from the collected writes."""
        owners = {key: node for key, node in owners.items() if key not in self._elsewhere}
        self._elsewhere.update(owners)
        self.owned.difference_update(owners)
        waiting = self._drop(batch) + self._drop(self._gathering)
        if owners:
            self.nodes.lost(owners)
        lost: dict[str, list[Waiting]] = {}
        for each in waiting:
            if each[0] is not None:
                lost.setdefault(self._lobbies[each[0].key], []).append(each)
        for key, those in lost.items():
            tell_lost(those, OwnedElsewhere(key, self._elsewhere[key]))

    def _drop(self, batch: Batch) -> list[Waiting]:
        """Drop writes about other nodes' lobbies from a batch; return their waiters."""

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
        lobby = self._lobbies[stream.key] = owner or stream.key
        self._owned_lobby(stream.key)
        self._keys.add(stream.key)
        self.owned.add(lobby)
        stream.number = next(self._database.numbers)
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        node, made = None if owner else self._name, self._database.now()
        row = StreamRow(stream.number, stream.key, stream.kind, lobby, head, node, made)
        change = partial(self._database.write_head, self._name, row)
        self.write(change, lobby, waiting=(stream, 0, waiter))

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        if seq != stream.tail + 1 or stream.failed or stream.closed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        lobby, number = self._owned_lobby(stream.key), stream.number
        stream.tail = seq
        stream.chain = chain_hash(stream.chain, line)
        change = partial(self._database.write_entry, self._name, number, seq, line)
        self.write(change, lobby, waiting=(stream, seq, waiter), entry=(number, seq))

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        lobby = self._owned_lobby(stream.key)
        stream.closed = True

        def done() -> None:
            self._lobbies.pop(stream.key, None)
            self.owned.discard(stream.key)

        change = partial(self._database.write_end, self._name, stream.number, footer, summary)
        self.write(change, lobby, waiting=(stream, stream.tail, waiter), done=done)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        """Write no checkpoint; without one, a start reads the whole stream."""

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self._aside[key] = reason

        def change() -> None:
            row = self._database.find(key)
            if row is not None:
                row.state, row.reason = "damaged", reason

        self.write(change, self._lobbies.get(key))

    def rate(self, match: str, line: bytes) -> None:
        change = partial(self._database.write_rating, self._name, match, line)
        self.write(change, self._lobbies.get(match))

    def write(
        self,
        change: Callable[[], object],
        lobby: str | None = None,
        *,
        waiting: Waiting = (None, 0, None),
        entry: tuple[int, int] | None = None,
        done: Callable[[], object] | None = None,
    ) -> None:
        """Add a change to the next batch, which all changes of this loop iteration share."""
        self._gathering.writes.append(Write(change, lobby, entry, done))
        self._gathering.waiting.append(waiting)
        if self._writer is None:
            self._writer = self._loop.create_task(self._write_gathered())

    async def flush(self) -> None:
        while self._writer is not None:
            await asyncio.shield(self._writer)

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), patience_s)
        self.failure = self.failure or WriteFailed("the database is closed")
        for task in filter(None, (*self.tasks, self._writer)):
            task.cancel()

    # --- the group commit ---------------------------------------------------------------------

    async def _write_gathered(self) -> None:
        try:
            while self._gathering.waiting:
                batch, self._gathering = self._gathering, Batch()
                await self._write(batch)
        finally:
            self._writer = None

    async def _write(self, batch: Batch) -> None:
        """Write a batch, retry failures, and report the result to all waiters."""
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
                self.fail_for_good(taken)
                self._give_up(batch, taken)
                return
            except StoreError as failed:
                self.healthy = False
                error = failed
            else:
                self._succeeded(batch)
                return
        self._give_up(batch, WriteFailed(str(error)))
        self._loop.call_later(PROBE_AFTER_S, self._probe)

    async def _attempt(self, batch: Batch) -> None:
        while True:
            commit = partial(self._database.commit, self._name, self._life, batch)
            try:
                await self.link.ask(commit, TIMEOUT_S, self.link.breaks())
            except LobbiesElsewhere as elsewhere:
                self._step_down(elsewhere.owners, batch)
            else:
                return

    def _succeeded(self, batch: Batch) -> None:
        self.healthy = True
        for write in batch.writes:
            if write.done is not None:
                write.done()
        tell_durable(batch.waiting)
        if self._observe is not None:
            self._observe(sum(write.entry is not None for write in batch.writes), 0.0)

    def _give_up(self, batch: Batch, error: StoreError) -> None:
        """Give up a batch and all later writes."""
        lost, self._gathering = self._gathering, Batch()
        tell_lost([*batch.waiting, *lost.waiting], error)

    def _probe(self) -> None:
        """Write an empty batch if no other write would detect the database's recovery."""
        if not self.healthy and self.failure is None:
            self.write(lambda: None)

    def fail_for_good(self, error: TakenOver) -> None:
        """Stop writing for good because another server uses this node's name."""
        self.healthy = False
        if self.failure is None:
            self.failure = error
            if self.on_failure is not None:
                self.on_failure(error)

    # --- startup ------------------------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        return [row.stored() for row in self._open_rows() if row.kind == kind]

    def load_from_head(self, stored: Stored) -> Stored:
        return stored

    def damaged(self) -> list[Damaged]:
        rows = (row for row in self._database.streams.values() if row.state == "damaged")
        return [Damaged(row.key, row.kind, 0, row.reason) for row in rows]

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        rows = sorted(self._database.streams.values(), key=lambda row: -row.number)
        closed = [row for row in rows if (row.kind, row.state) == (kind, "closed")]
        return [row.summary for row in closed[:count]]

    def lobby_head(self, key: str) -> bytes | None:
        row = self._database.find(key)
        return row.head if row is not None and row.kind == "lobby" else None

    # --- reading ------------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        return key in self._keys

    def ending(self, key: str) -> tuple[bytes | None, bytes | None]:
        row = self._endings.get(key)
        return (None, None) if row is None else (row.summary, row.footer)

    def set_aside_reason(self, key: str) -> str | None:
        return self._aside.get(key)

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        def read() -> dict[str, Stored | StoreError]:
            rows = self._database.streams.values()
            ended = [row for row in rows if row.lobby in keys and row.state == "closed"]
            self._endings.update((row.key, row) for row in ended)
            found = {row.key: row.stored() for row in rows if row.key in keys}
            return {key: found.get(key) or NotStored(f"nothing of {key!r}") for key in keys}

        found = await self.ask(read)
        self._keys -= {key for key, each in found.items() if isinstance(each, NotStored)}
        return found

    async def closed(self, key: str) -> Closed | None:
        def read() -> Closed | None:
            row = self._database.find(key)
            return None if row is None else row.closed()

        return await self.ask(read)

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        def read() -> list[bytes]:
            row = self._database.streams.get(number)
            return [] if row is None else row.lines[first - 1 : last]

        return await self.ask(read)

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        found: list[bytes] = []
        for line in await self.entries(number, first, 2**53):
            if sum(map(len, found)) < size:
                found.append(line)
        return found

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        return await self.entries(stream.number, first, min(last, max(stream.durable, 0)))

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        found = await self.ask(lambda: list(self._database.ledger.values()))
        return list(enumerate(found, 1))[after : after + count]


class FakePlayers:
    """The players known to one node (`interface.Players`); all are guests."""

    def __init__(self, store: FakeNodeStore) -> None:
        self._store = store
        self._stored = store.link.database.players
        self._known = dict(self._stored)

    async def run(self) -> None:
        """Read players written by other nodes until canceled."""
        while True:
            await asyncio.sleep(POLL_S)
            with contextlib.suppress(UnusableDatabase):
                for row, secret in (await self._store.ask(lambda: dict(self._stored))).values():
                    self._put(row, secret)

    def _put(self, player: PlayerRow, secret: bytes) -> None:
        """Store a player, whose name may equal that of a known one."""
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
        def change() -> None:
            rows = [row for row, _ in self._stored.values() if row.skeleton == guest.skeleton]
            for row in rows:
                del self._stored[row.key]
            self._stored[guest.key] = guest, secret

        self._write(change, guest.key, waiter)

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        self._write(lambda: self._stored.update({bot.key: (bot, secret)}), bot.key, waiter)

    def note_seen(self, key: str, now: int) -> None:
        def change() -> None:
            if key in self._stored:
                row, secret = self._stored[key]
                self._stored[key] = dataclasses.replace(row, created=now), secret

        self._write(change, key, None)

    def _write(self, change: Callable[[], object], key: str, waiter: Waiter | None) -> None:
        def done() -> None:
            if key in self._stored:
                self._put(*self._stored[key])

        self._store.write(change, waiting=(None, 0, waiter), done=done)
