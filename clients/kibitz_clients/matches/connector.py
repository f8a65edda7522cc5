"""The type of functions that open sessions, so that clients can replace a lost one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from kibitz_protocol.client.client import Client

Connector: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]
"""Returns a new client, which connects on ``async with``."""
