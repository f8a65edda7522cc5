"""The connection on which a server hears at once that others have changed something.

A notification is a hint, and may be lost. What is read because of it is read anyway after a while,
and what is read counts: a lost one costs that while and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import psycopg

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import Connection, connect_async

LOG = logging.getLogger("kibitz.store")
ACCOUNTS: Final = "kibitz_accounts"
"""Players or tokens were changed."""
HALL: Final = "kibitz_hall"
"""A node, whose name is the payload, has written lines."""
POLL_S = 0.5
"""Seconds after which accounts are looked at without a notification."""
RETRY_S = 1.0
SOON_S: Final = 0.001
"""What is due so soon is due: a wait that is shorter than the clock's rounding would not end."""


async def watch(
    url: PostgresURL,
    take_up_accounts: Callable[[Connection], Awaitable[None]],
    lines_written: Callable[[str], None] | None,
) -> None:
    """Take up what is changed beside the server, until it is cancelled.

    Where there are nodes, `lines_written` is called with the name of one that has written lines.
    """
    while True:
        try:
            db = await connect_async(url)
            try:
                await db.execute(f"LISTEN {ACCOUNTS}")
                if lines_written is not None:
                    await db.execute(f"LISTEN {HALL}")
                while True:
                    await take_up_accounts(db)
                    await _wait_for_accounts(db, lines_written)
            finally:
                await db.close()
        except (psycopg.Error, OSError) as error:
            LOG.warning("accounts cannot be looked at, it is tried again: %s", error)
            await asyncio.sleep(RETRY_S)


async def _wait_for_accounts(db: Connection, lines_written: Callable[[str], None] | None) -> None:
    """Return when accounts were changed, or are due; tell of lines that were written meanwhile."""
    time = asyncio.get_running_loop().time
    due, changed = time() + POLL_S, False
    while not changed and (left := due - time()) > SOON_S:
        async for each in db.notifies(timeout=left, stop_after=1):
            if each.channel == ACCOUNTS:
                changed = True
            elif lines_written is not None:
                lines_written(each.payload)
