"""Whether the server here is compiled: its hot path as C extensions (docs/how-to/compiled.md)."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec


def is_compiled() -> bool:
    """Return whether a server started here runs compiled; imports nothing of it."""
    spec = find_spec("kibitz_server.match.engine")
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)
