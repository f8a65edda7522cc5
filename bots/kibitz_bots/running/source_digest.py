"""Digests of bots' sources, which distinguish a changed bot from its earlier version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kibitz_protocol.wire.records import Engine

DIGITS: Final = 8
"""The number of hexadecimal digits of a digest, enough for thousands of versions of a bot."""
MAX_OWN: Final = 30
"""The maximum number of characters of a bot's own version before the digest."""


def source_digest(words: Iterable[str]) -> str:
    """Return a digest of a command line: its arguments and the contents of files among them."""
    digest = hashlib.sha256()
    for word in words:
        path = Path(word)
        content = path.read_bytes() if path.is_file() else word.encode()
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()


def source_version(engine: Engine, source: str) -> str:
    """Return an engine's version followed by the digest of `source`.

    The digest also covers its parameters and weights.
    """
    facts = engine.model_dump_json(include={"name", "parameters", "weights"})
    short = hashlib.sha256(f"{source} {facts}".encode()).hexdigest()[:DIGITS]
    own = "-".join(engine.version.split())[:MAX_OWN]
    return f"{own}-{short}" if own else short
