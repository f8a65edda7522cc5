"""The rating log: the rated matches on the disk, and the rating list that they make.

A match is entered in the transaction that closes its log, under its own key. So it is there exactly
when its result is: a server that dies before has neither, and plays the match to its end again; one
that dies after has both. Nothing else is stored: each request folds the rating list from the disk,
continuing where the last fold ended.
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
"""Matches folded without a pause: some 30 ms in a thread."""


class RatingLog:
    """The rated matches of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rating_list = RatingList()
        self._folded_to = 0
        """The last line in the rating list."""
        self._folding = asyncio.Lock()

    def append(self, counted: RatedMatch) -> None:
        """Enter a match; call it in the same turn of the loop as its `Store.finish`."""
        line = counted.model_dump_json().encode()
        self._store.rate(counted.match, line)

    async def rating_list(self) -> RatingList:
        """Return the rating list as the disk has it; read it before awaiting anything else."""
        async with self._folding:
            while rows := await self._store.ledger(self._folded_to, FOLD_BATCH):
                await asyncio.to_thread(self._fold, rows)
        return self._rating_list

    def _fold(self, rows: Sequence[tuple[int, bytes]]) -> None:
        for place, line in rows:
            self._folded_to = place
            counted = _read(line)
            if counted is None:
                LOG.error("line %d of the ledger is damaged: its match counts for nobody", place)
            else:
                self._rating_list.add(counted)


def _read(line: bytes) -> RatedMatch | None:
    try:
        counted = RatedMatch.model_validate_json(line)
    except ValidationError:
        return None
    return counted if len(counted.ranks) == len(counted.entrants) else None
