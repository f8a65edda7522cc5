"""Fixtures of the bots' tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import async_solipsism
import pytest

Virtual = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def virtually() -> Virtual:
    """Run a coroutine on a loop with virtual time; it must not use threads."""

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=async_solipsism.EventLoop) as runner:
            return runner.run(work)

    return run
