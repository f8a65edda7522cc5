"""Run coroutines on uvloop if it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

_T = TypeVar("_T")


def run(main: Coroutine[None, None, _T]) -> _T:
    """Run a coroutine on uvloop if it is installed, else on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    result: _T = uvloop.run(main)
    return result
