"""The round trip of a connection, as pings measure it. Pure: `now` is milliseconds, passed in."""

from __future__ import annotations

SAMPLES = 8
"""How many measurements a round trip is taken from."""


class RoundTrip:
    """What the last pings of one connection took."""

    __slots__ = ("_samples", "_sent_at", "ms")

    def __init__(self) -> None:
        self._sent_at = 0
        """When the ping was sent that is not answered yet; 0 for none."""
        self._samples: tuple[int, ...] = ()
        self.ms = 0
        """The round trip in milliseconds, 0 before the first pong.

        The shortest of the last few is the one in which neither side was busy with anything else,
        such as loading a bot: the clock filter of NTP (RFC 5905, section 10)."""

    @property
    def is_new(self) -> bool:
        """Whether there are fewer measurements than are kept."""
        return len(self._samples) < SAMPLES

    def ping(self, now: int) -> bytes:
        """Begin a measurement; return what the ping carries."""
        self._sent_at = now
        return now.to_bytes(8, "big")

    def pong(self, data: bytes | bytearray, now: int) -> bool:
        """Take a pong; return whether it answers the last ping, and was not sent unasked."""
        if not self._sent_at or data != self._sent_at.to_bytes(8, "big"):
            return False
        self._samples = (*self._samples, now - self._sent_at)[-SAMPLES:]
        self.ms = min(self._samples)
        self._sent_at = 0
        return True
