"""Copies a database while a server continues writing to it.

The copy is consistent, because the reading connection keeps one snapshot from the first page to the
last. The server's commits are not in the copy. They do not restart it either, as they would in an
ordinary SQLite backup. Nothing is checkpointed, and the copy and the server's writer never wait for
each other. The only cost to the server is that its write-ahead log grows until the copy is
complete.

When the copy is complete, synced and checked, it is renamed to its final name.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from pathlib import Path

from kibitz_protocol.atomic_write import sync
from kibitz_server.maintenance.check import Findings, check_database
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.sqlite.connection import (
    FILE_MODE,
    SIDE_FILES,
    connect_read_only,
    os_error_text,
    resolve_path,
    translate_errors,
)
from kibitz_server.storage.sqlite.schema import require_schema

PAGES = 256
"""Pages to copy at a time, one mebibyte."""
PAUSE_S = 0.002
"""Seconds between steps, during which the server has the disk to itself."""


def back_up(path: Path, target: Path) -> Findings:
    """Copy the database at `path` to `target`, which must not exist; return the copy's contents.

    Raises `StoreError`, and leaves no files behind, if the database cannot be read, or if the copy
    cannot be written or is corrupt.
    """
    path = resolve_path(path)
    target = Path(os.path.realpath(target))
    _require_free(target)
    part = _part(target)
    try:
        _copy(path, part, target)
        findings = check_database(part, marked=False)
        if not findings.sound:
            raise UnusableDatabase(
                f"no backup was made, because the copy would be damaged"
                f" ({findings.problems[0]}); see `kibitz db check`"
            )
        _require_free(target)
        os.rename(part, target)
        sync(target.parent)
    except OSError as error:
        raise StoreError(f"cannot write {str(target)!r}: {os_error_text(error)}") from error
    finally:
        part.unlink(missing_ok=True)
    findings.file = str(target)
    return findings


def _require_free(target: Path) -> None:
    for suffix in ("", *SIDE_FILES):
        name = f"{target}{suffix}"
        if os.path.lexists(name):
            raise StoreError(f"{name!r} already exists; a backup never replaces a file")


def _part(target: Path) -> Path:
    """Create the temporary file that becomes the backup, accessible only to its owner."""
    try:
        number, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise StoreError(f"cannot write {str(target)!r}: {os_error_text(error)}") from error
    os.fchmod(number, FILE_MODE)
    os.close(number)
    return Path(name)


def _copy(path: Path, part: Path, target: Path) -> None:
    with translate_errors(path), contextlib.closing(connect_read_only(path)) as source:
        require_schema(source, path)
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with translate_errors(target), contextlib.closing(sqlite3.connect(part)) as copy:
            try:
                source.backup(copy, pages=PAGES, sleep=0, progress=_pause)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
                    raise UnusableDatabase(
                        f"{str(path)!r} is damaged: no backup was made"
                    ) from error
                raise
    sync(part)


def _pause(status: int, remaining: int, total: int) -> None:
    if remaining:
        time.sleep(PAUSE_S)
