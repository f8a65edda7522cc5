"""Loads the record that a user names: a file, or a finished match on a server."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kibitz_clients.matches.fetch import fetch_record
from kibitz_clients.matches.game_files import read_match
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import Record


def load(source: str, server: str) -> Record:
    """Return the record in the file `source`, or that of the match `source` at `server`.

    Raises `RecordError` for an invalid record, and `OSError` if it is unavailable.
    """
    return read(source) if is_file(source) else asyncio.run(fetch_record(server, source))


def is_file(source: str) -> bool:
    """Return whether a source is a file; match keys contain no dots or slashes."""
    return Path(source).is_file() or "." in source or "/" in source


def read(source: str) -> Record:
    """Return the record in a file, which may be in another program's format.

    Raises `RecordError`, and `OSError` like `open`.
    """
    return read_match(source, registry.load_all)
