"""Grows SQLite's write-ahead log ahead of its use.

A sync of a file that has become longer also commits the file system's own journal, and so waits for
whatever other programs write and delete at that time. On an ext4 disk that another program was
writing to, such syncs took up to 540 ms, while a sync of overwritten bytes took 90 ms at most.
SQLite lengthens its log with each commit until the first checkpoint, and then overwrites it.

So once a server has written some commits, it appends zeros to the log in steps, between commits.
SQLite ignores them: it reads a log up to the first frame whose checksum is wrong.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from kibitz_server.storage.sqlite.connection import WAL_PAGES

LOG = logging.getLogger("kibitz.store")
FULL_BYTES = 32 + WAL_PAGES * (24 + 4096)
"""The size of a log with `WAL_PAGES` frames: its header, then a header and a page per frame."""
GROW_AFTER = 100
"""The number of commits before the first step; short-lived servers write nothing extra."""
STEP_BYTES = 256 * 1024
"""The number of bytes that are appended after a commit."""


class LogFile:
    """A database's write-ahead log, seen as a file.

    No transaction may be in progress during a call. Unlike the database itself, the log may be
    opened and closed here, because SQLite holds no locks on it.
    """

    def __init__(self, path: Path) -> None:
        """`path` is the database."""
        self._path = f"{path}-wal"
        self._commits = 0
        self._full = False

    def committed(self) -> None:
        """Count a commit, and append a step of zeros if the log is not full yet."""
        self._commits += 1
        if self._full or self._commits <= GROW_AFTER:
            return
        try:
            self._grow()
        except OSError as error:  # such as a full disk, which commits report
            LOG.warning("cannot grow %r ahead of its use: %s", self._path, error)
            self._full = True

    def _grow(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(descriptor).st_size
            self._full = size >= FULL_BYTES
            if not self._full:
                os.lseek(descriptor, size, os.SEEK_SET)
                os.write(descriptor, bytes(min(STEP_BYTES, FULL_BYTES - size)))
        finally:
            os.close(descriptor)
