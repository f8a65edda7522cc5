"""The types that worker pools share: their JSON, and the error of an unusable pool."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


class PoolError(Exception):
    """A worker pool is unusable; the message is for users."""
