"""Downloads: how many records are on their way, to whom, and how many bytes of them are in memory.

A record is read from the database a piece at a time, and the next piece only when the
transport has room again, so a download holds one piece, however long the record is and however
slow its reader. What all of them hold is counted, and where that is too much nobody else begins.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

PIECE_BYTES = 64 * 1024
"""About how long a piece is; one entry more is the most that it can be longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadLimits:
    """How much of the server downloads may take."""

    at_once: int = 200
    """Records on their way at the same time."""
    an_address: int = 8
    """Records on their way to one address, or one for each of the people that it is counted as,
    where those are more; this machine's own is not counted."""
    held_bytes: int = 16 * 1024 * 1024
    """Bytes of records in memory; a download that has begun goes on beyond it, by one piece."""
    piece_s: float = 10
    """Seconds in which a reader has to take a piece."""
    retry_after_s: int = 5
    """What somebody is told to wait for who cannot begin."""


class Download:
    """One record on its way. `end` must be called."""

    def __init__(self, downloads: Downloads, address: str | None) -> None:
        self._downloads = downloads
        self._address = address
        self._held_bytes = 0

    def hold(self, size: int) -> None:
        """Say how many bytes of it are in memory now."""
        self._downloads.held_bytes += size - self._held_bytes
        self._held_bytes = size

    def end(self) -> None:
        self.hold(0)
        self._downloads.ended(self._address)


class Downloads:
    """All that are on their way."""

    def __init__(self, limits: DownloadLimits | None = None) -> None:
        self.limits = limits or DownloadLimits()
        self.count = 0
        self.held_bytes = 0
        """Bytes that downloads have in memory."""
        self._by_address: Counter[str] = Counter()

    def full(self) -> bool:
        """Whether nobody may begin, wherever they come from."""
        return self.count >= self.limits.at_once or self.held_bytes >= self.limits.held_bytes

    def address_is_full(self, address: str | None, people: int = 0) -> bool:
        """Whether an address has as many as it may; None is this machine.

        `people` is how many people it is counted as, 0 where it is counted as itself.
        """
        most = max(self.limits.an_address, people)
        return address is not None and self._by_address[address] >= most

    def begin(self, address: str | None) -> Download:
        """Count a download; the caller has asked `full` and `crowded`."""
        self.count += 1
        if address is not None:
            self._by_address[address] += 1
        return Download(self, address)

    def ended(self, address: str | None) -> None:
        self.count -= 1
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
