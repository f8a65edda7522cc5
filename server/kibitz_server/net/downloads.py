"""Limits on simultaneous downloads of records, and on their bytes in memory.

The server reads the next piece of a record from the database when the transport has room for it. So
a download keeps only one piece in memory, however long the record is and however slow its reader.
No download starts while the running ones use too much memory.
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
    """The number of records sent at the same time."""
    an_address: int = 8
    """Records sent to one address at the same time. An address that counts as many people may get
    one for each of them. This machine is exempt.
    """
    held_bytes: int = 16 * 1024 * 1024
    """Bytes of records in memory; a running download may exceed the limit by one piece."""
    piece_s: float = 10
    """Seconds that a reader has to receive a piece."""
    retry_after_s: int = 5
    """Seconds after which a refused client should retry."""


class Download:
    """A record that is being sent. The caller must call `end`."""

    def __init__(self, downloads: Downloads, address: str | None) -> None:
        self._downloads = downloads
        self._address = address
        self._held_bytes = 0

    def hold(self, size: int) -> None:
        """Set the number of bytes of this download that are in memory now."""
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
        """The bytes in memory of all downloads together."""
        self._by_address: Counter[str] = Counter()

    def full(self) -> bool:
        """Return whether downloads are blocked for all addresses."""
        return self.count >= self.limits.at_once or self.held_bytes >= self.limits.held_bytes

    def address_is_full(self, address: str | None, people: int = 0) -> bool:
        """Return whether an address has reached its limit of downloads; None is this machine.

        `people` is the number of people that the address counts as, 0 for an ordinary address.
        """
        most = max(self.limits.an_address, people)
        return address is not None and self._by_address[address] >= most

    def begin(self, address: str | None) -> Download:
        """Start counting a download; the caller must have checked `full` and `address_is_full`."""
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
