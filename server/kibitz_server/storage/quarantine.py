"""Quarantine for matches and lobbies whose logs the server cannot read.

A damaged log never affects the others. Its stream gets the state ``damaged`` with the reason and
the time, and is no longer loaded or appended to. Its data on disk remains unchanged, for `kibitz db
check` and for investigation. The server refuses requests for it with the code ``damaged``. Recovery
finds damage in the journal (`journal.py`). This module handles damage found later: logs that are
complete but cannot be replayed, unknown games, and unreadable summaries of past matches.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Kind

LOG = logging.getLogger("kibitz.quarantine")
REASON_CHARS = 300
"""The longest reason, in characters."""


class SetAside(StoreError):
    """A log is damaged. The message omits the reason, which may reveal hidden information."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the log of {key!r} is damaged, so it cannot continue")


class Quarantine:
    """The damaged streams of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._new: dict[str, str] = {}
        """Streams found damaged since startup; some may not be marked on disk yet."""
        self._known_before = 0

    def load(self) -> None:
        """Log all damaged streams after loading, including those found earlier. It blocks."""
        found = self._store.damaged()
        self._known_before = len(found)
        for each in found:
            _log_damage(each.kind, each.key, each.reason)

    @property
    def count(self) -> int:
        """The number of streams set aside that the operator has not accepted as lost."""
        return self._known_before + len(self._new)

    def add(self, kind: Kind, key: str, why: str | Exception) -> None:
        """Set a stream aside, with the next batch."""
        reason = _one_line(why)
        if self.reason(key) is not None:
            return
        self._new[key] = reason
        _log_damage(kind, key, reason)
        self._store.set_aside(key, reason, int(time.time()))

    @contextmanager
    def reading(self, kind: Kind, key: str) -> Iterator[None]:
        """Set a stream aside if the block finds it damaged, and raise `SetAside`."""
        try:
            yield
        except UnusableDatabase:
            raise  # the database failed, but the log may be sound
        except StoreError as error:
            self.add(kind, key, error)
            raise SetAside(key) from error

    def reason(self, key: str) -> str | None:
        """Return why a stream was set aside, or None if it was not."""
        if key in self._new:
            return self._new[key]
        return self._store.set_aside_reason(key)


def _one_line(why: str | Exception) -> str:
    text = why if isinstance(why, str) else str(why) or type(why).__name__
    return " ".join(text.split())[:REASON_CHARS]


def _log_damage(kind: str, key: str, reason: str) -> None:
    LOG.error(
        "%s %s is set aside because its log is damaged: %s; everything else continues; see"
        " `kibitz db check`",
        kind,
        key,
        reason,
    )
