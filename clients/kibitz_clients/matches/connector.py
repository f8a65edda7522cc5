"""The type of functions that open sessions for the clients, which can so replace a lost one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from kibitz_protocol.client.client import Client

Connector: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]
"""A factory of clients, each of which connects when entered."""
