"""The interface of storage: what the server needs of a database, whatever the engine.

Two adapters implement it: `sqlite.store.SQLiteStore`, a file that one server owns, and
`postgres.store.PostgresStore`. Only this package contains SQL. One test suite checks that both
keep these promises (`tests/server/storage/conformance`):

* One transaction holds all appends, ends and rows of one turn of the event loop, along with all
  that gathered while the previous transaction was under way (group commit). They become durable in
  the order of the calls.
* Waiters are notified after the commit, in the order of their appends, and only of entries that
  are on the disk. If the answer to a commit is missing, the store looks the commit up first.
* A failed write is retried for a while; then it is lost together with everything that came after
  it. Its streams are `failed`, each waiter gets `lost` once, and `reload` reads what the disk has.
  `healthy` is false during that time.
* If another server takes the database over, the next commit detects it. Then the store has failed
  for good: it sets `failure`, calls `on_failure`, and writes nothing more.
* Methods that are not coroutines never wait for the disk while the server serves. Those "for the
  start" may block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, Self, TypeAlias

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.streams import Closed, Damaged, Kind, Stored, Stream, Transcript, Waiter

PlayerKind: TypeAlias = Literal["bot", "human", "house"]
UNHURRIED_S: Final = 0.25
"""Seconds that an unhurried row waits for a batch that it can go with."""
CLOSE_TIMEOUT_S: Final = 10.0
"""Seconds that a closing store has to write what is left."""


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player's row in the database."""

    key: str
    name: str
    kind: str
    account: bool
    """Whether the player has an account, for good, known by a token."""
    skeleton: str | None
    """The text shared by all names that look like this one; unique."""
    created: int
    """When the row was made or, for a guest, last used, in seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token's row in the database; times are seconds of the epoch."""

    digest: bytes
    player: str
    expires: int | None
    revoked: int | None


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token in the operator's list."""

    id: int
    player: PlayerRow
    created: int
    expires: int | None
    revoked: int | None


@dataclass(frozen=True, slots=True)
class OldStream:
    """A closed stream that may be old enough to delete."""

    number: int
    key: str
    opened: int
    last_line: bytes | None
    """Its last entry, which has the time a match ended; None for a lobby."""


Remains: TypeAlias = tuple[int, int | None]
"""Remains of a deleted stream: its number, and the first entry of a portion, or None for the
stream's own row."""


class Players(Protocol):
    """Players and tokens, for lookups and writes by a running server."""

    def by_key(self, key: str) -> PlayerRow | None: ...

    def by_skeleton(self, skeleton: str) -> PlayerRow | None: ...

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        """Return the player whose resume secret has this digest."""

    def token(self, digest: bytes) -> TokenRow | None: ...

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        """Return the digests, among these, of tokens that were revoked or have expired.

        The cost depends on the number of digests, not on the number of tokens ever issued.
        """

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a guest, unhurried, and take its name from the guest who had it.

        Both happen in one transaction. Nothing is written if an account has the name by now.
        """

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a house bot, or the new secret of a known one."""

    def note_seen(self, key: str, now: int) -> None:
        """Write when a guest was last here."""


class Expiry(Protocol):
    """The queries and deletions of retention, a portion at a time."""

    async def remains(self, count: int) -> list[Remains]:
        """Return some of the remains of deleted streams: entries first, rows of streams last."""

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None: ...

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        """Return closed streams by number; lobbies only after all their matches are deleted."""

    async def pinned(self) -> set[int]:
        """Return the numbers of streams that cannot be deleted yet."""

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        """Hide some closed streams from all lookups."""

    async def nth_newest_guest(self, most: int) -> int | None:
        """Return when the newest guest beyond the `most` newest was here; None if there is none."""

    async def idle_guests(self, before: int, count: int) -> list[str]:
        """Return guests last seen before that time, those away longest first."""

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        """Delete guests, except those who have reconnected meanwhile."""


@dataclass(frozen=True, slots=True)
class TakenLobby:
    """A lobby that this node has durably taken; its keys are ready for `Store.reload`."""

    key: str
    former: str | None
    """The node that had it; None if a server without a name had it."""
    matches: tuple[str, ...]
    """Its open matches."""
    open: bool
    """False if the lobby is closed or set aside and only some of its matches go on."""


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node in the operator's list."""

    name: str
    url: str
    state: Literal["serving", "standby", "leaving", "dead"]
    beat_s: float
    """Seconds since its last heartbeat, by the clock of the database."""
    lobbies: int
    """The open lobbies that it owns ..."""
    matches: int
    """... and their open matches."""


@dataclass(frozen=True, slots=True)
class OtherNode:
    """Another node, as the database has it."""

    name: str
    url: str
    alive: bool
    """Whether its heart beats, and it is not leaving."""
    life: str
    """An identifier that distinguishes this start of the node from its other starts."""


@dataclass(frozen=True, slots=True)
class HallExchange:
    """The news of other nodes that one exchange reads."""

    nodes: tuple[OtherNode, ...]
    lines: tuple[tuple[str, str, bytes | None], ...]
    """Key, node and line written since the last exchange; the line is None if it was deleted."""
    whole: bool
    """Whether `lines` is the complete list, so that lines not in it no longer exist."""
    settled: bool
    """Whether each open lobby is this node's or has a line of a living node."""
    missing: frozenset[str]
    """This node's lobbies for which it has no line."""
    life: str
    """An identifier that distinguishes this start of the node from its other starts."""
    ticket_key: bytes
    """The secret that all nodes share."""
    now_ms: int
    """The time by the database's clock, in milliseconds of the epoch."""


@dataclass(frozen=True, slots=True)
class MatchHead:
    """The head of a match's log that another node writes, without any entries."""

    stream: Stream
    """The reading end: `tail` and `chain` mark how far it was read."""
    head: bytes
    lobby_head: bytes | None
    """The head of the match's lobby; None if it has none."""


@dataclass(frozen=True, slots=True)
class NewEntries:
    """The entries of a stream that follow the last one read."""

    lines: list[bytes]
    chain: str
    """The chain of hashes at the last of the entries."""
    more: bool
    """Whether there may be more to read already."""
    closed: bool
    """Whether the stream is closed and these are its last entries."""


class TakeOverEntry(Protocol):
    """A maker of the entry that records that a node has taken a lobby."""

    def __call__(self, seq: int, former: str | None) -> bytes: ...


class Nodes(Protocol):
    """The operations of a node, which owns some of the lobbies of a shared database.

    Its heartbeat runs by itself from the start.
    """

    on_lost: Callable[[Mapping[str, str | None]], None] | None
    """Called with the lobbies that this node has lost, and their owners.

    The node no longer writes to them. Afterwards the waiters for their entries are notified
    (`lost(OwnedElsewhere)`).
    """
    on_lines_written: Callable[[], None] | None
    """Called when another node announces that it has written lines; announcements may be lost."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str:
        """The URL at which clients reach this node."""

    @property
    def first(self) -> bool:
        """Whether it is this node's turn to serve, as of its last heartbeat.

        Of the nodes with the same URL, the one that has been alive for longest serves. If another
        of them has lobbies, it lets go of them. False after this node's heartbeat has expired.
        """

    async def beat(self) -> None:
        """Write a heartbeat before it is due, and check whose turn it is. Raises `StoreError`."""

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        """Take up to `most` lobbies that no living node owns; several nodes may try at once.

        The lobbies of a node with another URL are left to the living nodes with that URL. Raises
        `StoreError` if the database does not answer.
        """

    async def has_all(self) -> bool:
        """Return whether every open lobby belongs to this node or a living node with another URL.

        A lobby that a node with this URL still holds or writes cannot be taken yet. Raises
        `StoreError`.
        """

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        """Return the lobby of an open stream and the name of its node, or None for no node.

        Returns None if there is no such stream. Raises `StoreError`.
        """

    def owned(self) -> Collection[str]:
        """Return the keys of the open lobbies that this node owns."""

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        """Write lines about this node's lobbies, by their keys, and read the news of the others.

        A line of None deletes it. After a failed exchange or a long pause, `lines` must be complete
        (see `needs_all`). Without lines it only reads. Raises `StoreError`.
        """

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        """Return the heads of matches' logs, open or closed, by key; missing ones are left out.

        Raises `StoreError` if the database does not answer.
        """

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        """Return by key the new entries of streams since they were read up to their `tail`.

        Streams without new entries are left out. An error means that the log cannot be read on.
        The streams share a limit on how much is read at a time (see `NewEntries.more`). Raises
        `StoreError` if the database does not answer.
        """

    @property
    def needs_all(self) -> bool:
        """Whether the next exchange must be complete, like the first: write all and read all."""

    async def leave(self) -> None:
        """Let the other nodes take this one's lobbies at once, after its last write.

        Raises `StoreError` if the database does not answer; then they take the lobbies later.
        """


class Store(Protocol):
    """The database of one server. After use `close()` must be awaited."""

    on_failure: Callable[[StoreError], None] | None
    """Called once, before any waiter is notified, when the store has failed for good."""

    @property
    def healthy(self) -> bool:
        """False while a batch is being retried; new matches should wait."""

    @property
    def failure(self) -> StoreError | None:
        """The reason why the store no longer writes; None while it does."""

    @property
    def nodes(self) -> Nodes | None:
        """The operations of a node; None for a server that has the database for itself."""

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
        """Begin a stream that was made by `Stream(0, key, kind)`, and give it its number.

        `owner` is the lobby of a match. The waiter gets `durable(0)` when the head is on the disk.
        """

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        """Add entry `seq`, which must be the next one; the waiter is notified when it is durable.

        Raises `WriteFailed` if it is not the next one, or the stream has failed or is closed.
        """

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        """Close a stream: the next start does not restore it, and it can be downloaded."""

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        """Write a checkpoint of a stream's present state, replacing the previous one."""

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        """Mark a stream as damaged."""

    def rate(self, match: str, line: bytes) -> None:
        """Write a line of the ledger, unless this match has one."""

    async def flush(self) -> None:
        """Wait until everything appended so far is on the disk or was given up."""

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is left and release the database; later appends are lost."""

    # --- the start: these block -------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        """Return the open streams of a kind, oldest first, for the start.

        Damaged ones are left out; from now on `damaged()` returns them.
        """

    def load_from_head(self, stored: Stored) -> Stored:
        """Return all of a stream that was loaded from a checkpoint, for the start."""

    def damaged(self) -> list[Damaged]:
        """Return the streams that are not as they were written, oldest first, for the start."""

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        """Return the summaries given to `finish` for the newest closed streams, for the start."""

    def lobby_head(self, key: str) -> bytes | None:
        """Return the head of a lobby, which may be closed, for the start."""

    # --- reading ----------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        """Return whether there is a lobby of this name, or such a match of an open lobby.

        Closed lobbies are found only if `remembers_closed`.
        """

    def summary(self, key: str) -> bytes | None:
        """Return the summary of a closed match of an open lobby; None if the match is open."""

    def footer(self, key: str) -> bytes | None:
        """Return the last line of a closed match of an open lobby, or None if there is none."""

    def set_aside_reason(self, key: str) -> str | None:
        """Return why a stream was set aside or accepted as lost; None if it was not."""

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        """Return by key the streams whose appends were lost, as the disk has them, or their errors.

        `NotStored` means that the disk has nothing of a stream. Raises `StoreError` if the disk
        cannot be read.
        """

    async def closed(self, key: str) -> Closed | None:
        """Return a closed stream without its entries, or None.

        Raises `StoreError` if its head is not as it was written.
        """

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        """Return the entries `first` to `last`, as far as there are any, of a closed stream.

        Raises `StoreError` if they are not as they were written.
        """

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        """Return entries of a closed stream from `first` on, about `size` bytes of them.

        Raises `StoreError` if they are not as they were written.
        """

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        """Return the durable entries `first` to `last` of a stream."""

    async def transcript(self, key: str, kind: Kind = "match") -> Transcript | None:
        """Return a closed stream of that kind as it was written, or None."""

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        """Return the next lines of the ledger after a place, with their places."""


class Registration(Protocol):
    """Players and tokens within one transaction of the operator."""

    def by_skeleton(self, skeleton: str) -> PlayerRow | None: ...

    def clear_skeleton(self, key: str) -> None:
        """Take a guest's name away."""

    def add_account(self, account: PlayerRow) -> None: ...

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        """Write a token and return its number."""


class TokenRegister(Protocol):
    """Accounts and tokens, for the operator's changes beside a running server. It blocks."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None: ...

    def transaction(self, change: Callable[[Registration], int]) -> int:
        """Make a change in one transaction, and return its result."""

    def tokens(self) -> list[TokenEntry]:
        """Return all tokens, oldest first."""

    def revoke(self, id: int, now: int) -> bool:
        """Revoke a token; return whether there was one to revoke."""
