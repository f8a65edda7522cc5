"""Limits on simultaneous downloads of records, and on their bytes in memory.

The server reads the next piece of a record from the database when the transport has room for it. So
a download keeps only one piece in memory, however long the record is and however slow its reader.
No download starts while the running ones use too much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@dataclass(eq=False, slots=True)
class Download:
    """A record that is being sent."""

    address: str | None
    """The address that receives it; None for this machine."""
    held_bytes: int = 0
    """Its bytes that are in memory now."""


class Downloads:
    """All downloads that are being sent."""

    def __init__(self, limits: DownloadLimits | None = None) -> None:
        self.limits = limits or DownloadLimits()
        self._running: set[Download] = set()

    @property
    def count(self) -> int:
        return len(self._running)

    @property
    def held_bytes(self) -> int:
        """The bytes in memory of all downloads together."""
        return sum(download.held_bytes for download in self._running)

    def full(self) -> bool:
        """Return whether downloads are blocked for all addresses."""
        return self.count >= self.limits.at_once or self.held_bytes >= self.limits.held_bytes

    def address_is_full(self, address: str | None, people: int = 0) -> bool:
        """Return whether an address has reached its limit of downloads; None is this machine.

        `people` is the number of people that the address counts as, 0 for an ordinary address.
        """
        own = sum(download.address == address for download in self._running)
        return address is not None and own >= max(self.limits.an_address, people)

    @contextmanager
    def begin(self, address: str | None) -> Iterator[Download]:
        """Count a download within the block; check `full` and `address_is_full` before."""
        download = Download(address)
        self._running.add(download)
        try:
            yield download
        finally:
            self._running.discard(download)
