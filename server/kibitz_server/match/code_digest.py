"""A digest of the program's source code, for data that is only valid with the code that made it."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import numpy as np

import kibitz_games
import kibitz_protocol
import kibitz_server


@functools.cache
def code_digest() -> str:
    """Return the digest of all code that computes a match from its log. Takes 5 ms, then cached."""
    total = hashlib.sha256(np.__version__.encode())
    for package in (kibitz_protocol, kibitz_games, kibitz_server):
        for top in map(Path, package.__path__):
            for path in sorted(top.rglob("*.py")):
                name = path.relative_to(top).as_posix()
                total.update(b"%b\0%b\0" % (name.encode(), path.read_bytes()))
    return total.hexdigest()[:32]
