"""Digests of a bot's sources, which distinguish a changed bot from its earlier version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kibitz_protocol.wire.records import Engine

DIGITS: Final = 8
"""Hexadecimal digits of a digest: enough to tell some thousand versions of one bot apart."""
MAX_OWN: Final = 30
"""The number of characters of a bot's own version that precede the digest."""


def source_digest(words: Iterable[str]) -> str:
    """Return a digest of a command line: of its words, and of the files that they name."""
    digest = hashlib.sha256()
    for word in words:
        path = Path(word)
        content = path.read_bytes() if path.is_file() else word.encode()
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()


def source_version(engine: Engine, source: str) -> str:
    """Return the version of an engine with the digest of `source`, after its own version.

    Its parameters and weights distinguish versions as its source does.
    """
    facts = engine.model_dump_json(include={"name", "parameters", "weights"})
    short = hashlib.sha256(f"{source} {facts}".encode()).hexdigest()[:DIGITS]
    own = "-".join(engine.version.split())[:MAX_OWN]
    return f"{own}-{short}" if own else short
