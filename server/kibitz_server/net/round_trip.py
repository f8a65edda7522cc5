"""The round trip of a connection, measured by pings. Pure: `now` is passed in, in milliseconds."""

from __future__ import annotations

SAMPLES = 8
"""The round trip is the shortest of this many recent measurements."""


class RoundTrip:
    """The round trips of a connection's last pings."""

    __slots__ = ("_samples", "_sent_at", "ms")

    def __init__(self) -> None:
        self._sent_at = 0
        """When the unanswered ping was sent; 0 for none."""
        self._samples: tuple[int, ...] = ()
        self.ms = 0
        """The round trip in milliseconds, 0 before the first pong.

        It is the shortest of the last few: in longer ones a side may have been busy, for instance
        loading a bot. NTP's clock filter does the same (RFC 5905, section 10).
        """

    @property
    def is_new(self) -> bool:
        """Whether there are still too few measurements."""
        return len(self._samples) < SAMPLES

    def ping(self, now: int) -> bytes:
        """Start a measurement; return the ping's payload."""
        self._sent_at = now
        return now.to_bytes(8, "big")

    def pong(self, data: bytes | bytearray, now: int) -> bool:
        """Handle a pong; return whether it answers the last ping."""
        if not self._sent_at or data != self._sent_at.to_bytes(8, "big"):
            return False
        self._samples = (*self._samples, now - self._sent_at)[-SAMPLES:]
        self.ms = min(self._samples)
        self._sent_at = 0
        return True
