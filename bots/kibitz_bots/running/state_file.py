"""Files for secrets in the user's state directory, each locked by one process at a time.

`KIBITZ_STATE` overrides the directory. A process holds its lock until it exits; the operating
system releases the lock of a killed process. Files have mode 0600 and are written atomically.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import Final

import platformdirs
from filelock import FileLock, Timeout

from kibitz_protocol.atomic_write import write_atomically

DAYS: Final = 90
"""Files that have not been used for this many seconds are removed."""


class StateFile:
    """A file that this process has locked; close it to unlock it."""

    def __init__(self, path: Path) -> None:
        """Lock the file; raise `filelock.Timeout` if it is taken, or another `OSError`."""
        self.path = path
        self._lock = FileLock(path.with_suffix(".lock"), mode=0o600)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except NotImplementedError as error:  # the file system does not support locks
            raise OSError(str(error)) from None
        _remove_old(path.parent)

    def write(self, text: str) -> None:
        """Replace the file's content; raise `OSError` on failure."""
        write_atomically(self.path, text, mode=0o600)

    def remove(self) -> None:
        """Remove the file but keep the lock."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Unlock the file for other processes."""
        self._lock.release(force=True)


def state_directory(kind: str) -> Path:
    """Return the directory for one kind of file."""
    own = os.environ.get("KIBITZ_STATE")
    return Path(own or platformdirs.user_state_dir("kibitz", appauthor=False)) / kind


def digest(*parts: str) -> str:
    """Return a file name derived from texts by a one-way hash."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _remove_old(place: Path) -> None:
    """Remove old files that no process is using."""
    oldest = time.time() - DAYS * 86_400
    for lock in place.glob("*.lock"):
        with contextlib.suppress(OSError, Timeout):
            if lock.stat().st_mtime < oldest:
                with FileLock(lock, mode=0o600, timeout=0):
                    for path in place.glob(f"{lock.stem}.*"):
                        path.unlink(missing_ok=True)
