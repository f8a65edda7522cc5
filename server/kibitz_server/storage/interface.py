"""The storage interface that a database engine implements for the server.

Two adapters implement it: `sqlite.store.SQLiteStore`, a file that one server owns, and
`postgres.store.PostgresStore`. Only this package contains SQL. One test suite
(`tests/server/storage/conformance`) checks that both keep these promises:

* One transaction contains all appends, closes and rows from one event loop iteration, along with
  everything gathered during the previous transaction (group commit). They become durable in the
  order of the calls.
* Waiters are notified after the commit, in the order of their appends, and only about entries on
  disk. If a commit's outcome is unknown, the store looks it up first.
* The store retries a failed write for a while, then drops it together with everything submitted
  after it. Its streams become `failed`, each waiter gets one call of `lost`, and `reload` reads
  them from disk. `healthy` is false during that time.
* If another server takes over the database, the next commit detects it. The store then fails for
  good: it sets `failure`, calls `on_failure`, and writes nothing more.
* Methods that are not coroutines never wait for the disk while the server is running. Only methods
  documented as "for startup" may block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.streams import Closed, Damaged, Kind, Stored, Stream, Waiter

PlayerKind: TypeAlias = Literal["bot", "human", "house"]
UNHURRIED_S: Final = 0.25
"""Seconds that an unhurried row waits for another batch before it is written in its own."""
CLOSE_TIMEOUT_S: Final = 10.0
"""Seconds that a store waits for its pending writes when it is closed."""


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player's row in the database."""

    key: str
    name: str
    kind: str
    account: bool
    """Whether the player has a permanent account, which is authenticated by a token."""
    skeleton: str | None
    """The normal form that this name shares with all look-alike names; unique."""
    created: int
    """When the row was created or, for a guest, last used, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token's row in the database; times are in seconds since the epoch."""

    digest: bytes
    player: str
    expires: int | None
    revoked: int | None


@dataclass(frozen=True, slots=True)
class OldStream:
    """A closed stream that may be old enough to delete."""

    number: int
    key: str
    opened: int
    last_line: bytes | None
    """Its last entry, which contains a match's end time; None for a lobby."""


Remains: TypeAlias = tuple[int, int | None]
"""A part of a deleted stream that is still on disk: the stream's number, and the first of a group
of entries, or None for the stream's own row."""


class Players(Protocol):
    """The players and tokens that a running server looks up and writes."""

    def by_key(self, key: str) -> PlayerRow | None: ...

    def by_skeleton(self, skeleton: str) -> PlayerRow | None: ...

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        """Return the player whose resume secret has this digest."""

    def token(self, digest: bytes) -> TokenRow | None: ...

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        """Return the digests of tokens that were revoked or have expired.

        The cost depends on the number of given digests, not on the number of tokens ever issued.
        """

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a guest with the next batch, and delete the guest who had the name before.

        Both happen in one transaction. Writes nothing if an account has the name by then.
        """

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a house bot, or the new secret of an existing one."""

    def note_seen(self, key: str, now: int) -> None:
        """Record that a guest was seen just now."""


class Expiry(Protocol):
    """The queries and deletions for retention; each call is limited in size."""

    async def remains(self, count: int) -> list[Remains]:
        """Return parts of deleted streams to remove next: entries before the streams' own rows."""

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None: ...

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        """Return closed streams with numbers above `after`, in order.

        Lobbies appear only after all their matches are deleted.
        """

    async def pinned(self) -> set[int]:
        """Return the numbers of closed streams that still have entries in the journal."""

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        """Mark closed streams as deleted, which hides them from all lookups."""

    async def nth_newest_guest(self, most: int) -> int | None:
        """Return when guest number `most` was last seen, from 0 for the latest; None if too few."""

    async def idle_guests(self, before: int, count: int) -> list[str]:
        """Return guests last seen before that time, longest absent first."""

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        """Delete guests, except those who have reconnected meanwhile."""


@dataclass(frozen=True, slots=True)
class TakenLobby:
    """A lobby that this node has taken over and committed; `Store.reload` can load its streams."""

    key: str
    former: str | None
    """The previous owner's name; None for a server without a name."""
    matches: tuple[str, ...]
    """Its open matches."""
    open: bool
    """False if the lobby itself is closed or set aside, while some of its matches continue."""


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node, as listed for the operator."""

    name: str
    url: str
    state: Literal["serving", "standby", "leaving", "dead"]
    beat_s: float
    """Seconds since its last heartbeat, by the database's clock."""
    lobbies: int
    """The number of open lobbies that it owns."""
    matches: int
    """The number of open matches in its lobbies."""


@dataclass(frozen=True, slots=True)
class OtherNode:
    """Another node, as recorded in the database."""

    name: str
    url: str
    alive: bool
    """Whether its heartbeat is current and it is not leaving."""
    life: str
    """Identifies the node's current run: it changes when the node restarts."""


@dataclass(frozen=True, slots=True)
class HallExchange:
    """Changes by other nodes, read in one exchange."""

    nodes: tuple[OtherNode, ...]
    lines: tuple[tuple[str, str, bytes | None], ...]
    """Key, node and text of each line changed since the last exchange; None for a deleted line."""
    whole: bool
    """Whether `lines` has all lines. Then lines that are not in it no longer exist."""
    settled: bool
    """Whether each open lobby belongs to this node or has a line from a living node."""
    missing: frozenset[str]
    """This node's lobbies that have no line yet."""
    life: str
    """Identifies this node's current run: it changes when the node restarts."""
    ticket_key: bytes
    """The secret shared by all nodes."""
    now_ms: int
    """The database's time, in milliseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class MatchHead:
    """The head of a match's log that another node writes, without any entries."""

    stream: Stream
    """A read-only stream; its `tail` and `chain` are the reading position."""
    head: bytes
    lobby_head: bytes | None
    """The head of the match's lobby; None for a match without a lobby."""


@dataclass(frozen=True, slots=True)
class NewEntries:
    """The entries of a stream after the last one read."""

    lines: list[bytes]
    chain: str
    """The hash chain at the last of these entries."""
    more: bool
    """Whether more entries may already be available."""
    closed: bool
    """Whether the stream is closed and ends with these entries."""


class TakeOverEntry(Protocol):
    """Makes the entry that records a node's take-over of a lobby."""

    def __call__(self, seq: int, former: str | None) -> bytes: ...


class Nodes(Protocol):
    """The operations of a node, which owns some of the lobbies in a shared database.

    It sends heartbeats automatically from startup.
    """

    on_lost: Callable[[Mapping[str, str | None]], None] | None
    """Called with the lobbies that this node has lost, and their new owners.

    The node no longer writes to them. Afterwards the waiters for their entries get
    `lost(OwnedElsewhere)`.
    """

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str:
        """The URL at which clients reach this node."""

    @property
    def first(self) -> bool:
        """Whether it is this node's turn to serve, as of its last heartbeat.

        Among nodes with the same URL, the one that has been alive longest serves; the others
        release any lobbies they own. False once this node's heartbeat has expired.
        """

    async def beat(self) -> None:
        """Write a heartbeat now, and update `first`. Raises `StoreError`."""

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        """Take over up to `most` lobbies that no living node owns; several nodes may try at once.

        If a dead node had another URL and there are living nodes with that URL, they take its
        lobbies. Raises `StoreError` if the database does not answer.
        """

    async def has_all(self) -> bool:
        """Return whether every open lobby belongs to this node or a living node with another URL.

        While another node with this URL still owns or writes to a lobby, this node cannot take it
        over. Raises `StoreError`.
        """

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        """Return the lobby of an open stream, and the name of the node that owns it (None if none).

        Returns None if there is no such stream. Raises `StoreError`.
        """

    def owned(self) -> Collection[str]:
        """Return the keys of the open lobbies that this node owns."""

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        """Write lines about this node's lobbies, by key, and read the other nodes' changes.

        A value of None deletes the line. After a failed exchange or a long pause, `lines` must be
        complete (see `needs_all`). Raises `StoreError`.
        """

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        """Return the heads of matches' logs, open or closed, by key; unknown keys are omitted.

        Raises `StoreError` if the database does not answer.
        """

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        """Return the entries of each stream after its `tail`, by key.

        Streams without new entries are omitted. An error instead of entries means that the rest of
        that log cannot be read. One call reads a limited amount from all streams together (see
        `NewEntries.more`). Raises `StoreError` if the database does not answer.
        """

    @property
    def needs_all(self) -> bool:
        """Whether the next exchange must write and read all lines, like the first."""

    def expire_lines(self) -> None:
        """Let the next exchange write and read all lines, like the first."""

    async def leave(self) -> None:
        """Let the other nodes take over this node's lobbies at once, after its last write.

        Raises `StoreError` if the database does not answer. The other nodes then wait until this
        node's heartbeat has expired.
        """


class Store(Protocol):
    """The database of one server. Await `close()` when done."""

    on_failure: Callable[[StoreError], None] | None
    """Called once when the store fails for good, before any waiter is notified."""

    @property
    def healthy(self) -> bool:
        """False while the store retries a batch; new matches should wait."""

    @property
    def failure(self) -> StoreError | None:
        """The reason why the store no longer writes; None if it works."""

    @property
    def nodes(self) -> Nodes | None:
        """The operations of a node; None for a server with a database of its own."""

    @property
    def remembers_closed(self) -> bool:
        """Whether `exists` finds closed lobbies."""

    @property
    def players(self) -> Players: ...

    @property
    def expiry(self) -> Expiry: ...

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        """Start a stream made by `Stream(0, key, kind)`, and assign its number.

        `owner` is the lobby of a match. The waiter gets `durable(0)` when the head is on disk.
        """

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        """Append entry `seq`, and notify the waiter when it is durable.

        Raises `WriteFailed` if `seq` is not the next number, or if the stream has failed or is
        closed.
        """

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        """Close a stream: it can be downloaded, and the next start does not restore it."""

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        """Write a checkpoint of a stream's current state, replacing the previous one."""

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        """Mark a stream as damaged."""

    def rate(self, match: str, line: bytes) -> None:
        """Write a match's line to the rating ledger, unless it already has one."""

    async def flush(self) -> None:
        """Wait until everything appended so far is on disk or abandoned."""

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Finish pending writes and release the database; later appends are lost."""

    # --- startup: these methods block -----------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        """Return the open streams of a kind, oldest first, for startup.

        Damaged ones are omitted; `damaged()` returns them from then on.
        """

    def load_from_head(self, stored: Stored) -> Stored:
        """Return all entries of a stream that was loaded from a checkpoint, for startup."""

    def damaged(self) -> list[Damaged]:
        """Return the damaged streams, oldest first, for startup."""

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        """Return the summaries that `finish` stored for the newest closed streams, for startup."""

    def lobby_head(self, key: str) -> bytes | None:
        """Return the head of a lobby, open or closed, for startup."""

    # --- reading ----------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        """Return whether the key names a lobby or a match of an open lobby.

        Finds closed lobbies only if `remembers_closed`.
        """

    def ending(self, key: str) -> tuple[bytes | None, bytes | None]:
        """Return the summary and the footer of a closed match of an open lobby.

        Both are None for any other match.
        """

    def set_aside_reason(self, key: str) -> str | None:
        """Return why a stream was set aside or accepted as lost; None if it was neither."""

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        """Reread from disk the streams that lost appends; return them, or their errors, by key.

        `NotStored` means that a stream is not on disk. Raises `StoreError` if the disk cannot be
        read.
        """

    async def closed(self, key: str) -> Closed | None:
        """Return a closed stream without its entries, or None.

        Raises `StoreError` if its head is corrupt.
        """

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        """Return the existing entries from `first` to `last` of a closed stream.

        Raises `StoreError` if they are corrupt.
        """

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        """Return about `size` bytes of a closed stream's entries, starting with `first`.

        Raises `StoreError` if they are corrupt.
        """

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        """Return the durable entries `first` to `last` of a stream."""

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        """Return the rating ledger's lines after row number `after`, with their row numbers."""
