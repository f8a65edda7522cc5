"""Measure the decoding cost of the most expensive frames of every request type.

`python -m benchmarks.frames` prints for each type the CPU time of its slowest valid and its slowest
malformed frame of at most 16 KiB, as a ratio to decoding a valid `ready`. Only the ratios are
comparable between machines.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable

from kibitz_protocol.wire.codec import DecodeError, decode_request
from tests.tools.heavy_frames import MODELS, invalid_frames, valid_frames

READY = b'{"id":1,"type":"ready","lobby":"bcdfgh"}'
ROUNDS = 5
"""Rounds of decoding per frame; the fastest counts."""
CALLS = 2000
"""Decodings of `ready` per round, because a single one is too short for the clock."""


def cpu_s(frame: bytes, calls: int = 1) -> float:
    """Return the CPU seconds to decode or refuse a frame."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(calls):
            with contextlib.suppress(DecodeError):
                decode_request(frame)
        best = min(best, time.process_time() - start)
    return best / calls


def slowest(frames: Iterable[bytes]) -> tuple[float, int]:
    """Return the CPU seconds of the slowest frame, and its length."""
    return max((cpu_s(frame), len(frame)) for frame in frames)


def main() -> None:
    ready = cpu_s(READY, CALLS)
    print(f"a valid `ready` takes {ready * 1e6:.1f} us to decode")
    print(f"{'request':14}{'valid':>10}{'bytes':>8}{'malformed':>12}{'bytes':>8}")
    for kind in MODELS:
        valid, valid_bytes = slowest(valid_frames(kind))
        invalid, invalid_bytes = slowest(invalid_frames(kind))
        ratios = f"{valid / ready:9.0f}x{valid_bytes:8}{invalid / ready:11.0f}x{invalid_bytes:8}"
        print(f"{kind:14}{ratios}")


if __name__ == "__main__":
    main()
