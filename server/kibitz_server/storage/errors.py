"""The errors of a database, the same for every engine.

They form this hierarchy:

    StoreError
     +-- ForeignDatabase    a database of another program, or of another version of this one
     +-- UnusableDatabase   the database cannot be read or written
     +-- DatabaseInUse      another server has it open
     +-- CommitsMissing     the database lacks its latest commits
     +-- WriteFailed        appended entries are not on the disk
     |    +-- OwnedElsewhere    another node owns the lobby by now
     |    +-- TakenOver         another server owns the database by now
     +-- NotStored          the disk has nothing of a stream
     +-- DamagedStream      a stream is not as it was written
"""

from __future__ import annotations


class StoreError(Exception):
    """An error of the database; `str()` is a message for the operator."""


class ForeignDatabase(StoreError):
    """The database is not a kibitz database, or one of another version."""


class UnusableDatabase(StoreError):
    """The database is damaged, cannot be reached, or cannot be read and written."""


class DatabaseInUse(StoreError):
    """Another server has the database open."""


class CommitsMissing(StoreError):
    """The database lacks its latest commits, such as the end of its write-ahead log."""


class WriteFailed(StoreError):
    """The appended entries are not on the disk."""


class OwnedElsewhere(WriteFailed):
    """Another node owns the lobby, or the match's lobby; this node no longer writes to it."""

    def __init__(self, lobby: str, node: str | None) -> None:
        self.lobby = lobby
        self.node = node
        """The owner's name; None if no node owns it."""
        owner = "no node any more" if node is None else f"node {node!r}"
        super().__init__(f"lobby {lobby} belongs to {owner}")


class TakenOver(WriteFailed):
    """Another server owns the database; this one no longer writes to it."""

    def __init__(self) -> None:
        super().__init__("another server has taken this database over")


class NotStored(StoreError):
    """The disk has nothing of a stream, not even its head."""


class DamagedStream(StoreError):
    """A stream is not as it was written; the first `sound` entries are."""

    def __init__(self, sound: int, reason: str) -> None:
        super().__init__(reason)
        self.sound = sound
