"""A digest of the program's own sources, for what is only valid with the code that made it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import kibitz_games
import kibitz_protocol
import kibitz_server


@functools.cache
def code_digest() -> str:
    """Return the digest of all that decides what a log leads to; 5 ms, once a process."""
    return digest_of_packages(
        Path(part)
        for package in (kibitz_protocol, kibitz_games, kibitz_server)
        for part in package.__path__
    )


def digest_of_packages(packages: Iterable[Path]) -> str:
    """Return the digest of the Python files below some directories, and of numpy's version."""
    total = hashlib.sha256(np.__version__.encode())
    for top in packages:
        for path in sorted(top.rglob("*.py")):
            name = path.relative_to(top).as_posix()
            total.update(b"%b\0%b\0" % (name.encode(), path.read_bytes()))
    return total.hexdigest()[:32]
