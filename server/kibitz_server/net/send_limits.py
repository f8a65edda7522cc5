"""How much may wait for a connection that reads too slowly: a part of the configuration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SendLimits:
    """How much may wait for a peer."""

    high_water: int = 32 * 1024
    """Bytes in the transport at which it pauses."""
    frames_bytes: int = 256 * 1024
    """Bytes of frames that wait for a paused transport; beyond, the peer is too slow."""
