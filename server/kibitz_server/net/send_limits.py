"""Limits on the output queued for a slow connection, part of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LARGE_PATCH: Final = 16 * 1024
"""Bytes of a frame from which the whole hall or lobby may be shorter than its patch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendLimits:
    """Limits on the output queued for a peer."""

    high_water: int = 32 * 1024
    """Bytes in the transport's buffer at which it pauses."""
    frames_bytes: int = 256 * 1024
    """Bytes of frames queued for a paused transport; beyond this limit the peer is too slow."""
