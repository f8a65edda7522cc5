"""Digests of what a bot is made of, so that a changed bot is told from what it was before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kibitz_protocol.wire.records import Engine

DIGITS: Final = 8
"""Hexadecimal digits of a digest: enough to tell some thousand versions of one bot apart."""
MAX_OWN: Final = 30
"""Characters of what a bot says of its version that are put before the digest."""


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
    """Return the version of an engine that is made of `source`, with what it says of its own.

    Its parameters and weights tell versions apart as its source does.
    """
    facts = engine.model_dump_json(include={"name", "parameters", "weights"})
    short = hashlib.sha256(f"{source} {facts}".encode()).hexdigest()[:DIGITS]
    own = "-".join(engine.version.split())[:MAX_OWN]
    return f"{own}-{short}" if own else short
