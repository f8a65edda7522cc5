"""Limits on the output queued for a slow connection, part of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LARGE_PATCH: Final = 16 * 1024
"""For patches of at least this many bytes, the server checks whether the whole hall or lobby would
be shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendLimits:
    """Limits on the output queued for a peer."""

    high_water: int = 32 * 1024
    """Bytes in the transport's buffer at which the transport pauses writing."""
    frames_bytes: int = 256 * 1024
    """Bytes of frames queued for a paused transport; beyond this limit the peer is too slow."""
