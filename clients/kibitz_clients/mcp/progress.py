"""Progress notifications of a waiting call, so that the agent does not give up on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

PROGRESS_SECONDS: Final = 5.0
"""Seconds between two progress notifications of a waiting call."""
Progress = Callable[[float], Awaitable[None]]
"""A callback that gets the seconds that a call has waited."""


def progress_of(context: Context, seconds: float) -> Progress:
    """Return a callback that notifies the agent how much of `seconds` a call has waited."""

    async def report(waited: float) -> None:
        await context.report_progress(waited, seconds, "waiting for the others")

    return report
