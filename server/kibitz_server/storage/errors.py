"""What can be wrong with a database, whatever engine keeps it.

StoreError
 +-- ForeignDatabase    a database of another program, or of another version of this one
 +-- UnusableDatabase   nothing that a database can be read from, or kept in
 +-- DatabaseInUse      another server has it open
 +-- CommitsMissing     the database is older than what was written to it
 +-- WriteFailed        what was appended is not on the disk
 |    +-- OwnedElsewhere    its lobby is another node's by now
 |    +-- TakenOver         another server owns the database by now
 +-- NotStored          the disk has nothing of a stream
 +-- DamagedStream      a stream is not as it was written
"""

from __future__ import annotations


class StoreError(Exception):
    """Something about the database; `str()` is fit for the operator."""


class ForeignDatabase(StoreError):
    """The database is not a kibitz database, or one of another version."""


class UnusableDatabase(StoreError):
    """The database is damaged, cannot be reached, or cannot be read and written."""


class DatabaseInUse(StoreError):
    """Another server has the database open."""


class CommitsMissing(StoreError):
    """The database lacks what was written to it last, such as the end of its write-ahead log."""


class WriteFailed(StoreError):
    """The disk does not have what was appended."""


class OwnedElsewhere(WriteFailed):
    """A lobby, or a match of it, is another node's: nothing is written there any more."""

    def __init__(self, lobby: str, node: str | None) -> None:
        self.lobby = lobby
        self.node = node
        """The owner's name; None where no node owns it."""
        owner = "no node any more" if node is None else f"node {node!r}"
        super().__init__(f"lobby {lobby} belongs to {owner}")


class TakenOver(WriteFailed):
    """Another server owns the database: nothing is written to it any more."""

    def __init__(self) -> None:
        super().__init__("another server has taken this database over")


class NotStored(StoreError):
    """The disk has nothing of a stream, not even its head."""


class DamagedStream(StoreError):
    """A stream is not as it was written; the first `sound` entries are."""

    def __init__(self, sound: int, reason: str) -> None:
        super().__init__(reason)
        self.sound = sound
