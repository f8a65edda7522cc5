"""The event loop used by programs."""

from __future__ import annotations

import asyncio
import builtins

import pytest

from kibitz_protocol import event_loop


async def name_of_loop() -> str:
    return type(asyncio.get_running_loop()).__module__


def test_the_loop_is_uvloop_where_there_is_one() -> None:
    pytest.importorskip("uvloop")
    assert event_loop.run(name_of_loop()) in {"uvloop", "uvloop.loop"}


def test_the_loop_is_the_own_one_of_asyncio_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_uvloop(name: str, *rest: object) -> object:
        if name == "uvloop":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_uvloop)
    assert event_loop.run(name_of_loop()).startswith("asyncio.")
