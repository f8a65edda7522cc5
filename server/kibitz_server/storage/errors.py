"""Database errors, shared by all engines.

The hierarchy:

    StoreError
     +-- ForeignDatabase    another program's database, or another version of ours
     +-- UnusableDatabase   the database cannot be read or written
     +-- DatabaseInUse      another server has the database open
     +-- CommitsMissing     the database lacks its latest commits
          +-- WriteFailed        appended entries were not written
     |    +-- OwnedElsewhere    another node now owns the lobby
     |    +-- TakenOver         another server now owns the database
     +-- NotStored          a stream is not on disk
     +-- DamagedStream      a stream is corrupt
"""

from __future__ import annotations


class StoreError(Exception):
    """A database error; `str()` gives a message for the operator."""


class ForeignDatabase(StoreError):
    """The database belongs to another program, or an incompatible version created it."""


class UnusableDatabase(StoreError):
    """The database is damaged, unreachable, or not readable and writable."""


class DatabaseInUse(StoreError):
    """Another server has the database open."""


class CommitsMissing(StoreError):
    """The database lacks its latest commits, for example the end of its write-ahead log."""


class WriteFailed(StoreError):
    """The appended entries were not written to disk."""


class OwnedElsewhere(WriteFailed):
    """Another node owns the lobby (or the match's lobby), so this node no longer writes to it."""

    def __init__(self, lobby: str, node: str | None) -> None:
        self.lobby = lobby
        self.node = node
        """The owner's name; None if no node owns it."""
        owner = "no node any more" if node is None else f"node {node!r}"
        super().__init__(f"lobby {lobby} belongs to {owner}")


class TakenOver(WriteFailed):
    """Another server owns the database, so this one no longer writes to it."""

    def __init__(self) -> None:
        super().__init__("another server has taken over this database")


class NotStored(StoreError):
    """The stream is not on disk: even its head line was never written."""


class DamagedStream(StoreError):
    """The stream is corrupt after its first `sound` entries."""

    def __init__(self, sound: int, reason: str) -> None:
        super().__init__(reason)
        self.sound = sound
