"""Downloads: limits on how many records are sent at a time, and on their bytes in memory.

A record is read from the database a piece at a time, and the next piece only when the transport has
room again. So a download holds one piece, however long the record is and however slow its reader.
While all downloads together hold too much memory, no other one starts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

PIECE_BYTES = 64 * 1024
"""The approximate length of a piece, which may exceed it by at most one entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadLimits:
    """Limits on the share of the server that downloads may use."""

    at_once: int = 200
    """Records that are sent at the same time."""
    an_address: int = 8
    """Records that are sent to one address, or one for each person that it counts as, if those are
    more; this machine is exempt."""
    held_bytes: int = 16 * 1024 * 1024
    """Bytes of records in memory; a download that has begun may exceed it by one piece."""
    piece_s: float = 10
    """Seconds in which a reader has to take a piece."""
    retry_after_s: int = 5
    """Seconds after which a refused client should retry."""


class Download:
    """One record on its way. `end` must be called."""

    def __init__(self, downloads: Downloads, address: str | None) -> None:
        self._downloads = downloads
        self._address = address
        self._held_bytes = 0

    def hold(self, size: int) -> None:
        """Set how many bytes of it are in memory now."""
        self._downloads.held_bytes += size - self._held_bytes
        self._held_bytes = size

    def end(self) -> None:
        self.hold(0)
        self._downloads.ended(self._address)


class Downloads:
    """All downloads that are being sent."""

    def __init__(self, limits: DownloadLimits | None = None) -> None:
        self.limits = limits or DownloadLimits()
        self.count = 0
        self.held_bytes = 0
        """Bytes that downloads have in memory."""
        self._by_address: Counter[str] = Counter()

    def full(self) -> bool:
        """Return whether no download may start, for any address."""
        return self.count >= self.limits.at_once or self.held_bytes >= self.limits.held_bytes

    def address_is_full(self, address: str | None, people: int = 0) -> bool:
        """Return whether an address has as many downloads as it may; None is this machine.

        `people` is how many people the address counts as, 0 if it counts as itself.
        """
        most = max(self.limits.an_address, people)
        return address is not None and self._by_address[address] >= most

    def begin(self, address: str | None) -> Download:
        """Count a download, after the caller has checked `full` and `address_is_full`."""
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
