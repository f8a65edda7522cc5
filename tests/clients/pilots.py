"""Waiting for an application's asynchronous work without a clock."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App
from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot


async def until(pilot: Pilot[str], happened: Callable[[], bool]) -> None:
    """Wait for the application's other tasks."""
    for _ in range(100):
        if happened():
            return
        await pilot.pause()
    raise AssertionError("it did not happen")


async def settle(pilot: Pilot[str]) -> None:
    """Wait until workers, due timers and redraws are done."""
    for _ in range(4):
        await pilot.pause()


def type_at_once(app: App[str], text: str) -> None:
    """Send all keys of a text in a burst, like a terminal, without waiting in between."""
    for character in text:
        if character == "\r":
            app.post_message(Key("enter", "\r"))
        else:
            app.post_message(Key(_character_to_key(character), character))
