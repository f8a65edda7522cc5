"""Records by what a person names: a file, or a finished match of a server."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kibitz_clients.matches.fetch import fetch_record
from kibitz_clients.matches.game_files import read_match
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import Record


def load(source: str, server: str) -> Record:
    """Return the record in the file `source`, or of the match of that name at `server`.

    Raises `RecordError` if it is no record, `OSError` if it is unavailable.
    """
    return read(source) if is_file(source) else asyncio.run(fetch_record(server, source))


def is_file(source: str) -> bool:
    """Return whether a source names a file: keys of matches have no dots."""
    return Path(source).is_file() or "." in source or "/" in source


def read(source: str) -> Record:
    """Return the record in a file, or of a match that another program saved.

    Raises `RecordError`, and `OSError` as `open`.
    """
    return read_match(source, registry.load_all)
