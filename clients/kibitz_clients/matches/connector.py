"""What the clients are given to connect with: a function, so that a session can be made anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from kibitz_protocol.client.client import Client

Connector: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]
"""Makes a connection when it is entered."""
