"""The secret of a bot that plays, kept on disk so that it has its seats again after it was killed.

A server knows a guest by the resume secret of its first welcome. Without it a bot that is started
again finds its own name taken for as long as its match runs. A file for each server, name and bot
has the secret, mode 0600, in the user's state directory (`KIBITZ_STATE` names another one), from
the welcome until the run has ended by itself.

A file is used by one process at a time, which holds a lock as long as it lives: a second process
of the same bot takes the next file, and with it another player's place. The system frees the lock
of a process that was killed. Nothing here keeps a bot from playing: where the directory cannot be
used, a log line says so and nothing is saved.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs
from filelock import FileLock, Timeout

from kibitz_protocol.atomic_write import write_atomically

log = logging.getLogger("kibitz_bots")

MOST: Final = 64
"""How many processes of one bot have a file each."""
DAYS: Final = 90
"""A file that was not used for so long is removed."""
MIN_SECRET_LENGTH: Final = 8
"""Characters of the shortest secret that the protocol takes."""


class SavedSeat:
    """The file of one process; close it when the process is done."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self._path = path
        self._lock = lock

    @property
    def resume(self) -> str | None:
        """The secret that a process left behind, None where there is none."""
        try:
            secret = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return secret if len(secret) >= MIN_SECRET_LENGTH else None

    def keep(self, secret: str) -> None:
        """Write the secret down, whole or not at all, for nobody else to read."""
        try:
            write_atomically(self._path, f"{secret}\n", mode=0o600)
        except OSError as error:
            log.warning("this seat cannot be saved, a killed bot will not come back: %s", error)

    def forget(self) -> None:
        """Remove the secret: the server does not know it, or the run is over."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let other processes have the file."""
        self._lock.release(force=True)


def take_seat(server: str, name: str | None, words: Sequence[str]) -> SavedSeat | None:
    """Return the first file of a bot that no process uses, None where none can be used.

    `words` name the bot, those that are files by their whole path.
    """
    parts = [server.rstrip("/"), name or "", *map(_whole_path, words)]
    place = directory()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_old(place)
        for number in range(1, MOST + 1):
            path = place / f"{_digest(*parts, str(number))}.resume"
            lock = FileLock(path.with_suffix(".lock"), mode=0o600)
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0)
                return SavedSeat(path, lock)
    except (OSError, NotImplementedError) as error:
        log.warning("this seat cannot be saved, a killed bot will not come back: %s", error)
    return None


def directory() -> Path:
    """Return where secrets of bots are saved."""
    if override := os.environ.get("KIBITZ_STATE"):
        return Path(override) / "bots"
    return Path(platformdirs.user_state_dir("kibitz", appauthor=False)) / "bots"


def _whole_path(word: str) -> str:
    path = Path(word)
    return str(path.resolve()) if path.is_file() else word


def _remove_old(place: Path) -> None:
    """Remove the files that no process has used for long and none uses now."""
    oldest = time.time() - DAYS * 86_400
    for path in place.glob("*.lock"):
        with contextlib.suppress(OSError, Timeout):
            if path.stat().st_mtime < oldest:
                with FileLock(path, mode=0o600, timeout=0):
                    path.with_suffix(".resume").unlink(missing_ok=True)
                    path.unlink(missing_ok=True)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
