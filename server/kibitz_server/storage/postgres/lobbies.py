"""The open lobbies and their matches, with their owners.

A server with a database of its own owns all lobbies, so it reads only the streams' keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kibitz_server.storage.errors import OwnedElsewhere
from kibitz_server.storage.group_commit import Batch, Waiting
from kibitz_server.storage.postgres.connection import SyncConnection
from kibitz_server.storage.streams import Stream


class Lobbies:
    """A server's copy of the lobbies in its database."""

    def __init__(self, db: SyncConnection, node: str | None) -> None:
        """Read all streams and which of them this node owns. It blocks."""
        self.node = node
        """This node's name; None for a server with a database of its own."""
        self.owned: set[str] = set()
        """The open lobbies that the node owns, as of its last heartbeat."""
        self.by_number: dict[int, str] = {}
        """The lobby of each stream that the node owns or owned, by the stream's number."""
        self.by_key: dict[str, str] = {}
        """The lobby of each stream that the node owns or owned, by the stream's key."""
        self._elsewhere: dict[str, str | None] = {}
        """The current owners of lobbies that this node has lost."""
        self._streams: dict[str, set[str]] = {}
        """The keys of each open lobby's streams, including its own. They are dropped when the lobby
        closes, because only open lobbies look up their past matches.
        """
        self.endings: dict[str, tuple[bytes | None, bytes | None]] = {}
        """Summaries and footers of closed matches of reloaded lobbies."""
        if node is not None:
            self._read_owned(db, node)
        for key, owner in db.execute(
            "SELECT key, owner FROM stream WHERE (kind = 'lobby' AND state = 'open') OR owner IN"
            " (SELECT key FROM stream WHERE kind = 'lobby' AND state = 'open')"
        ):
            self._note_key(str(key), owner)

    def _read_owned(self, db: SyncConnection, node: str) -> None:
        """Find the open streams whose lobbies this node owns."""
        rows = db.execute(
            "SELECT stream.number, stream.key, lobby.key"
            " FROM stream JOIN stream AS lobby ON lobby.key = coalesce(stream.owner, stream.key)"
            " WHERE stream.state = 'open' AND lobby.node = %s",
            (node,),
        )
        for number, key, lobby in rows:
            self.by_number[number] = self.by_key[key] = lobby
            self.owned.add(lobby)

    # --- existing streams -----------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        """Return whether the key names an open lobby or one of its matches."""
        return any(key in keys for keys in self._streams.values())

    def created(self, stream: Stream, owner: str | None) -> None:
        """Record a new stream of lobby `owner`."""
        self._note_key(stream.key, owner)
        if self.node is not None:
            lobby = owner or stream.key  # a match without a lobby counts as its own lobby
            self.by_number[stream.number] = self.by_key[stream.key] = lobby
            self.owned.add(lobby)

    def closed(self, stream: Stream) -> None:
        """Record that a stream is closed on disk, so no more batches write to it."""
        self.by_number.pop(stream.number, None)
        self.by_key.pop(stream.key, None)
        self.owned.discard(stream.key)
        self._forget(stream.key)

    def missing(self, keys: Collection[str]) -> None:
        """Record that these streams do not exist."""
        for known in self._streams.values():
            known -= set(keys)

    def _note_key(self, key: str, owner: str | None) -> None:
        self._streams.setdefault(owner or key, set()).add(key)

    def _forget(self, key: str) -> None:
        """Drop a lobby's streams, if the key names a lobby and nothing refers to them any more."""
        for each in self._streams.pop(key, ()):
            self.endings.pop(each, None)

    # --- ownership ------------------------------------------------------------------------------

    def of_batch(self, batch: Batch) -> set[str]:
        """Return the lobbies that a batch writes to, if nodes own lobbies."""
        of = self.by_number
        found = {of[each[0]] for each in batch.entries if each[0] in of}
        return found | {each.lobby for each in batch.statements if each.lobby is not None}

    def require_owned(self, lobby: str | None) -> None:
        """Raise `OwnedElsewhere` if another node owns the lobby."""
        if lobby is not None and lobby in self._elsewhere:
            raise OwnedElsewhere(lobby, self._elsewhere[lobby])

    def taken(self, key: str, number: int, matches: Mapping[str, int]) -> None:
        """Record a lobby taken over by this node; `matches` maps its matches' keys to numbers."""
        self._elsewhere.pop(key, None)
        self.owned.add(key)
        for each in (key, *matches):
            self._note_key(each, key)
        self.by_number.update(dict.fromkeys((number, *matches.values()), key))
        self.by_key.update(dict.fromkeys((key, *matches), key))

    def lost(self, owners: Mapping[str, str | None]) -> dict[str, str | None]:
        """Record lobbies that other nodes own; return the newly lost ones and their owners."""
        news = {key: node for key, node in owners.items() if key not in self._elsewhere}
        self._elsewhere.update(news)
        self.owned.difference_update(news)
        for key in news:
            self._forget(key)
        return news

    def drop_lost(self, batches: Iterable[Batch]) -> list[tuple[OwnedElsewhere, list[Waiting]]]:
        """Remove the entries and rows of lost lobbies from batches.

        Returns their waiters, in lists paired with the error to report.
        """
        lost: dict[str, list[Waiting]] = {}
        for batch in batches:
            kept: list[Waiting] = []
            for each in batch.waiting:
                lobby = None if each[0] is None else self.by_number.get(each[0].number)
                if lobby is not None and lobby in self._elsewhere:
                    lost.setdefault(lobby, []).append(each)
                else:
                    kept.append(each)
            batch.waiting = kept
            of, elsewhere = self.by_number, self._elsewhere
            batch.entries = [each for each in batch.entries if of.get(each[0]) not in elsewhere]
            batch.closing = [each for each in batch.closing if of.get(each.number) not in elsewhere]
            batch.statements = [each for each in batch.statements if each.lobby not in elsewhere]
        return [
            (OwnedElsewhere(key, self._elsewhere[key]), waiting) for key, waiting in lost.items()
        ]
