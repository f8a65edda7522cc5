"""Quarantine: matches and lobbies whose logs the server cannot read, set aside one by one.

One damaged log never stops the others. Its stream gets the state ``damaged`` with the reason and
the time, and nothing loads it or appends to it any more. Its data on the disk stays as it is, for
`kibitz db check` and for investigation. Requests for it are refused with the code ``damaged``.
Recovery finds damage in the journal (`journal.py`). This module handles damage found later: logs
that are whole but do not fold, games that this server does not have, summaries of the past.
"""

from __future__ import annotations

import logging
import time

from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Kind

LOG = logging.getLogger("kibitz.quarantine")
REASON_CHARS = 300
"""The longest reason, in characters."""


class Quarantine:
    """The damaged streams of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._new: dict[str, str] = {}
        """Streams found damaged since the start; the disk may not have all of them yet."""
        self._known_before = 0

    def load(self) -> None:
        """Log the damaged streams once all is loaded, whenever they were found. It blocks."""
        found = self._store.damaged()
        self._known_before = len(found)
        for each in found:
            _log_damage(each.kind, each.key, each.reason)

    @property
    def count(self) -> int:
        """The number of streams that are set aside and were not accepted as lost."""
        return self._known_before + len(self._new)

    def add(self, kind: Kind, key: str, why: str | Exception) -> None:
        """Set a stream aside: its state is written with the next batch."""
        reason = _one_line(why)
        if self.reason(key) is not None:
            return
        self._new[key] = reason
        _log_damage(kind, key, reason)
        self._store.set_aside(key, reason, int(time.time()))

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
        "%s %s is set aside, its log is damaged: %s; everything else goes on, and"
        " `kibitz db check` tells more",
        kind,
        key,
        reason,
    )
