"""The connection on which a server receives other programs' changes.

The server reads accounts and tokens twice a second. Other nodes send a notification when they have
written lines. A notification is only a hint and may get lost: the next exchange reads the lines
anyway.
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
HALL: Final = "kibitz_hall"
"""The channel on which nodes announce written lines; the payload is the node's name."""
POLL_S = 0.5
"""Seconds between reads of the accounts."""
RETRY_S = 1.0


async def watch(
    url: PostgresURL,
    take_up_accounts: Callable[[Connection], Awaitable[None]],
    lines_written: Callable[[str], None] | None,
) -> None:
    """Read changes by other programs, until canceled.

    On a node, `lines_written` is called with the name of each node that has written lines.
    """
    while True:
        try:
            db = await connect_async(url)
            try:
                if lines_written is not None:
                    await db.execute(f"LISTEN {HALL}")
                while True:
                    await take_up_accounts(db)
                    if lines_written is None:
                        await asyncio.sleep(POLL_S)
                    else:
                        async for each in db.notifies(timeout=POLL_S):
                            lines_written(each.payload)
            finally:
                await db.close()
        except (psycopg.Error, OSError) as error:
            LOG.warning("cannot read changed accounts, will retry: %s", error)
            await asyncio.sleep(RETRY_S)
