"""Reads other programs' changes of accounts and tokens, twice a second, on its own connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import psycopg

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import Connection, connect_async

LOG = logging.getLogger("kibitz.store")
POLL_S = 0.5
"""Seconds between reads of the accounts."""
RETRY_S = 1.0


async def watch(url: PostgresURL, take_up: Callable[[Connection], Awaitable[None]]) -> None:
    """Call `take_up` regularly, until canceled."""
    while True:
        try:
            db = await connect_async(url)
            try:
                while True:
                    await take_up(db)
                    await asyncio.sleep(POLL_S)
            finally:
                await db.close()
        except (psycopg.Error, OSError) as error:
            LOG.warning("cannot read changed accounts, will retry: %s", error)
            await asyncio.sleep(RETRY_S)
