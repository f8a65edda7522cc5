"""Random numbers for many matches: hashes of one counter per match.

The hash is splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
2014). The draws of a match depend only on its counter's initial value and the number of draws so
far, so they are the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel

i64 = kernels.int64_cast()
u64: Any = np.uint64 if kernels.compiled() else int
_MASK = u64(2**64 - 1)
_GAMMA, _FIRST, _SECOND = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = u64(27), u64(30), u64(31), u64(32)


@kernel
def mix(counter: Any) -> Any:
    """Return the hash of a 64-bit number."""
    x = (counter + _GAMMA) & _MASK
    x = ((x ^ (x >> _S30)) * _FIRST) & _MASK
    x = ((x ^ (x >> _S27)) * _SECOND) & _MASK
    return x ^ (x >> _S31)


@kernel
def below(drawn: Any, n: Any) -> Int:
    """Map a hash to a number below `n`, where `n` is below 2**32."""
    return i64(((drawn >> _S32) * u64(n)) >> _S32)


@kernel
def draw(counters: Any, i: Int, n: Any) -> Int:
    """Draw a uniformly random number below `n` for match `i`."""
    counter = (u64(counters[i]) + _GAMMA) & _MASK
    counters[i] = counter
    return below(mix(counter), n)
