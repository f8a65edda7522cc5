"""The rating log: the rated matches on disk, and the rating list computed from them.

The transaction that closes a match's log also adds the match to the ledger. So a crash can never
separate a result from its rating: if the server crashes before the commit, both are missing, and it
resumes the match. Ratings are not stored. Each request updates the rating list in memory with the
matches that were added to the ledger since the last request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from pydantic import ValidationError

from kibitz_server.rating.rating_list import RatedMatch, RatingList
from kibitz_server.storage.interface import Store

LOG = logging.getLogger("kibitz.rating")
FOLD_BATCH = 500
"""The number of matches to process without a pause, about 30 ms in a thread."""


class RatingLog:
    """The rated matches of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rating_list = RatingList()
        self._folded_to = 0
        """The last ledger line included in the rating list."""
        self._folding = asyncio.Lock()

    def append(self, counted: RatedMatch) -> None:
        """Add a match. Call this in the same event loop iteration as its `Store.finish`."""
        line = counted.model_dump_json().encode()
        self._store.rate(counted.match, line)

    async def rating_list(self) -> RatingList:
        """Return the rating list of all matches on disk. Use it before the next `await`."""
        async with self._folding:
            while rows := await self._store.ledger(self._folded_to, FOLD_BATCH):
                await asyncio.to_thread(self._fold, rows)
        return self._rating_list

    def _fold(self, rows: Sequence[tuple[int, bytes]]) -> None:
        for place, line in rows:
            self._folded_to = place
            counted = _read(line)
            if counted is None:
                LOG.error("line %d of the ledger is damaged: its match does not count", place)
            else:
                self._rating_list.add(counted)


def _read(line: bytes) -> RatedMatch | None:
    try:
        counted = RatedMatch.model_validate_json(line)
    except ValidationError:
        return None
    return counted if len(counted.ranks) == len(counted.entrants) else None
