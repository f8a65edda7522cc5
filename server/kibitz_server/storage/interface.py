"""The interface of storage: what the server needs of a database, whatever engine keeps it.

Two adapters implement it: `sqlite.store.SQLiteStore`, a file that one server owns, and
`postgres.store.PostgresStore`. Outside this package nothing knows SQL. One suite of tests holds
both to what is promised here (`tests/server/storage/conformance`):

* What is appended, finished or written in one turn of the event loop is one transaction with all
  that gathered while the transaction before was under way (group commit). The order in which it
  was given is the order in which it becomes durable.
* A waiter is told after the commit, in the order of its appends, and never of anything that is
  not on the disk. A commit whose answer is missing is looked up before anybody is told.
* What cannot be written is tried again for a while; then it is lost together with all that was
  given after it. Its streams are `failed`, each waiter hears `lost` once, and `reload` reads what
  the disk has. While that goes on `healthy` is false.
* Another server that takes the database over is noticed by the next commit. Then the store has
  failed for good: `failure` is set, `on_failure` called, and nothing is written any more.
* Methods that are no coroutines never wait for the disk while the server serves. Those that say
  "for the start" may block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, Self, TypeAlias

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.streams import Closed, Damaged, Kind, Stored, Stream, Transcript, Waiter

PlayerKind: TypeAlias = Literal["bot", "human", "house"]
UNHURRIED_S: Final = 0.25
"""How long a row that is in no hurry waits for a batch that it can go with."""
CLOSE_TIMEOUT_S: Final = 10.0
"""Seconds that a disk has to take what is left when a store is closed."""


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player as the database has it."""

    key: str
    name: str
    kind: str
    account: bool
    """Whether a token names the player for good."""
    skeleton: str | None
    """The text that all names which look like this one have in common; unique."""
    created: int
    """When it was made, or a guest was here last, in seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as the database has it; times are seconds of the epoch."""

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
    """A closed stream that may be old enough to go."""

    number: int
    key: str
    opened: int
    last_line: bytes | None
    """Its last entry, from which a match tells when it ended; None for a lobby."""


Remains: TypeAlias = tuple[int, int | None]
"""Something left of a deleted stream: its number, and where a portion of its entries begins, or
None for the stream's own row."""


class Players(Protocol):
    """Players and tokens, as a running server looks them up and writes them."""

    def by_key(self, key: str) -> PlayerRow | None: ...

    def by_skeleton(self, skeleton: str) -> PlayerRow | None: ...

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        """Return whose resume secret has this digest."""

    def token(self, digest: bytes) -> TokenRow | None: ...

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        """Return which of these digests are of tokens that were revoked or have expired.

        What it costs depends on how many are asked for, not on how many tokens there ever were.
        """

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a guest in no hurry, and take its name from a guest who had it.

        Both are in one transaction. Where an account has the name by now nothing is written.
        """

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        """Write a house bot, or the new secret of one that is known."""

    def note_seen(self, key: str, now: int) -> None:
        """Write that a guest is here."""


class Expiry(Protocol):
    """What retention finds and deletes, a portion at a time."""

    async def remains(self, count: int) -> list[Remains]:
        """Return some of what is left of deleted streams: entries first, rows of streams last."""

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None: ...

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        """Return closed streams by number, of lobbies only those whose matches are all gone."""

    async def pinned(self) -> set[int]:
        """Return the numbers of streams that cannot be deleted yet."""

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        """Let nobody find some closed streams any more."""

    async def nth_newest_guest(self, most: int) -> int | None:
        """Return when the newest guest was here beyond the `most` newest; None for fewer."""

    async def idle_guests(self, before: int, count: int) -> list[str]:
        """Return guests who were not here since, those away longest first."""

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        """Delete guests, but for those who have come back meanwhile."""


@dataclass(frozen=True, slots=True)
class TakenLobby:
    """A lobby that this node has taken, durably: its keys are ready for `Store.reload`."""

    key: str
    former: str | None
    """The node that had it; None where it was a server's without a name."""
    matches: tuple[str, ...]
    """Its matches that are open."""
    open: bool
    """False for a lobby that is closed or set aside, and of which only matches go on."""


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
    """What tells it from a node of that name that was started earlier or later."""


@dataclass(frozen=True, slots=True)
class HallExchange:
    """What a node reads about the others."""

    nodes: tuple[OtherNode, ...]
    lines: tuple[tuple[str, str, bytes | None], ...]
    """Key, node and line, None for one that is gone: what was written since the last exchange."""
    whole: bool
    """Whether `lines` are all that there are, and what is not among them is gone."""
    settled: bool
    """Whether each open lobby is this node's, or a living node has a line about it."""
    missing: frozenset[str]
    """This node's lobbies about which there is no line of it."""
    life: str
    """What tells this start of the node from others."""
    ticket_key: bytes
    """The secret that all nodes have in common."""
    now_ms: int
    """The time in milliseconds of the epoch, by the clock of the database."""


@dataclass(frozen=True, slots=True)
class MatchHead:
    """How the log of a match begins, which another node writes; none of its entries is read."""

    stream: Stream
    """The reading end: `tail` and `chain` say how far it was read."""
    head: bytes
    lobby_head: bytes | None
    """The head of the match's lobby, None where it has none."""


@dataclass(frozen=True, slots=True)
class NewEntries:
    """What follows the entry up to which a stream was read."""

    lines: list[bytes]
    chain: str
    """The chain of hashes at the last of them."""
    more: bool
    """Whether more may be there already."""
    closed: bool
    """Whether the stream is closed, and these are the last entries."""


class TakeOverEntry(Protocol):
    """Makes the entry of a lobby's stream that says that a node has taken it."""

    def __call__(self, seq: int, former: str | None) -> bytes: ...


class Nodes(Protocol):
    """What a node does besides a single server: it owns some of the lobbies of a database.

    Its heartbeat runs by itself from the start on.
    """

    on_lost: Callable[[Mapping[str, str | None]], None] | None
    """Called with lobbies that are not this node's any more, and their owners.

    Nothing is written there from then on. Who waits for entries of them is told afterwards
    (`lost(OwnedElsewhere)`).
    """
    on_lines_written: Callable[[], None] | None
    """Called when another node says that it has written lines. That may be lost on the way."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str:
        """Where clients reach this node."""

    @property
    def first(self) -> bool:
        """Whether it is this node's turn to serve, as of its last heartbeat.

        It is that of the node that has been alive for longest of those with this one's URL. Another
        of them that has lobbies lets go of them. It is nobody's for this node once its heartbeat
        has expired.
        """

    async def beat(self) -> None:
        """Write a heartbeat before it is due, and look whose turn it is. Raises `StoreError`."""

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        """Take up to `most` lobbies that no living node owns; several nodes may try at once.

        Those of a node with another URL are left to the living ones with that URL. Raises
        `StoreError` where the database cannot be asked.
        """

    async def has_all(self) -> bool:
        """Return whether every open lobby is this node's, or a living node's with another URL.

        One that a node with this URL has not let go of yet, or is writing, is not there to be
        taken. Raises `StoreError`.
        """

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        """Return the lobby of an open stream and the name of the node that has it, if any has.

        None where there is no such stream. Raises `StoreError`.
        """

    def owned(self) -> Collection[str]:
        """Return the keys of the open lobbies that this node owns."""

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        """Write lines about what this node has, by their keys, and read what others wrote since.

        None stands for a line that is gone. Where the last exchange failed, or was long ago,
        `lines` has to be all that there are: `needs_all`. Without lines it only reads. Raises
        `StoreError`.
        """

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        """Return how the logs of matches begin, open or closed ones; what is missing is not there.

        Raises `StoreError` where the database cannot be asked.
        """

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        """Return by key what is new in streams since they were read up to their `tail`.

        Streams in which nothing is new are left out. An error says that the log cannot be read on.
        What is read at a time is limited, and shared by the streams: `NewEntries.more`. Raises
        `StoreError` where the database cannot be asked.
        """

    @property
    def needs_all(self) -> bool:
        """Whether the next exchange is like the first one: all is written, and all is read."""

    async def leave(self) -> None:
        """Let the other nodes take this one's lobbies at once, for all it had to write is written.

        Raises `StoreError` where the database cannot be told; they take them later then.
        """


class Store(Protocol):
    """The database of one server. After use `close()` must be awaited."""

    on_failure: Callable[[StoreError], None] | None
    """Called once, before anybody is told, when nothing can be written any more."""

    @property
    def healthy(self) -> bool:
        """False while a batch is being tried again; new matches should wait."""

    @property
    def failure(self) -> StoreError | None:
        """Why nothing is written any more."""

    @property
    def nodes(self) -> Nodes | None:
        """What a node does besides; None for a server that has the database for itself."""

    @property
    def remembers_closed(self) -> bool:
        """Whether `exists` knows of lobbies that are closed."""

    @property
    def players(self) -> Players: ...

    @property
    def expiry(self) -> Expiry: ...

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        """Begin a stream that was made by `Stream(0, key, kind)`, and give it its number.

        `owner` is the lobby of a match. The waiter's `durable(0)` says that its head is on the
        disk.
        """

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        """Add entry `seq`, which must be the next one; the waiter is told when it is durable.

        Raises `WriteFailed` where it is not the next one, or the stream has failed or is closed.
        """

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        """Close a stream: it is not restored at the next start, and can be downloaded."""

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        """Write a checkpoint of a stream as it is now, in place of the one before."""

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        """Write that a stream is damaged."""

    def rate(self, match: str, line: bytes) -> None:
        """Write a line of the ledger, unless there is one of this match."""

    async def flush(self) -> None:
        """Wait until everything appended so far is on the disk or was given up."""

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is left and let the database go; what is appended from now on is lost."""

    # --- the start: these block -------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        """Return the open streams of a kind, oldest first, for the start.

        Those that are damaged are not among them, but in `damaged()` from now on.
        """

    def load_from_head(self, stored: Stored) -> Stored:
        """Return all of a stream that was loaded from a checkpoint on, for the start."""

    def damaged(self) -> list[Damaged]:
        """Return the streams that are not as they were written, oldest first, for the start."""

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        """Return what `finish` was given for the newest closed streams, for the start."""

    def lobby_head(self, key: str) -> bytes | None:
        """Return the head of a lobby, which may be closed, for the start."""

    # --- reading ----------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        """Whether there is a lobby of this name, or such a match of an open lobby.

        Of lobbies that are closed it is known where `remembers_closed`.
        """

    def summary(self, key: str) -> bytes | None:
        """Return what `finish` was given for a match of an open lobby, None where it is open."""

    def footer(self, key: str) -> bytes | None:
        """Return the last line of a closed match of an open lobby, None where there is none."""

    def set_aside_reason(self, key: str) -> str | None:
        """Return why a stream was set aside, or accepted as lost; None where it was not."""

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        """Return streams whose appends were lost as the disk has them: by key, or what is wrong.

        `NotStored` stands for one of which the disk has nothing. Raises `StoreError` where the
        disk cannot be read.
        """

    async def closed(self, key: str) -> Closed | None:
        """Return what is known of a closed stream without reading its entries, or None.

        Raises `StoreError` where its head is not as it was written.
        """

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        """Return the entries `first` to `last`, as far as there are any, of a closed stream.

        Raises `StoreError` where they are not as they were written.
        """

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        """Return entries of a closed stream from `first` on, about `size` bytes of them.

        Raises `StoreError` where they are not as they were written.
        """

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        """Return the durable entries `first` to `last` of a stream."""

    async def transcript(self, key: str, kind: Kind = "match") -> Transcript | None:
        """Return a closed stream of that kind as it was written, or None."""

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        """Return the next lines of the ledger after a place, with their places."""


class Registration(Protocol):
    """Players and tokens within one transaction of the operator's."""

    def by_skeleton(self, skeleton: str) -> PlayerRow | None: ...

    def clear_skeleton(self, key: str) -> None:
        """Take the name of a guest away."""

    def add_account(self, account: PlayerRow) -> None: ...

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        """Write a token and return its number."""


class TokenRegister(Protocol):
    """Accounts and tokens, as the operator changes them beside a running server. It blocks."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None: ...

    def transaction(self, change: Callable[[Registration], int]) -> int:
        """Make a change as one transaction, and return what it returns."""

    def tokens(self) -> list[TokenEntry]:
        """Return all tokens, oldest first."""

    def revoke(self, id: int, now: int) -> bool:
        """Revoke a token; returns whether there was one to revoke."""
