"""Files of secrets in the user's state directory, each used by one process at a time.

`KIBITZ_STATE` names another directory. A process holds a lock as long as it lives, and the system
frees the lock of a process that was killed. Files have mode 0600, and are written whole or not at
all.
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
"""A file that was not used for so long is removed."""


class StateFile:
    """A file that this process holds; close it when the process is done."""

    def __init__(self, path: Path) -> None:
        """Lock the file; raise `filelock.Timeout` if a process has it, or another `OSError`."""
        self.path = path
        self._lock = FileLock(path.with_suffix(".lock"), mode=0o600)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except NotImplementedError as error:  # a file system without locks
            raise OSError(str(error)) from None
        _remove_old(path.parent)

    def write(self, text: str) -> None:
        """Replace the file's text; raise `OSError` on failure."""
        write_atomically(self.path, text, mode=0o600)

    def remove(self) -> None:
        """Remove it; the lock stays."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let other processes have the file."""
        self._lock.release(force=True)


def state_directory(kind: str) -> Path:
    """Return the directory for files of a kind."""
    own = os.environ.get("KIBITZ_STATE")
    return Path(own or platformdirs.user_state_dir("kibitz", appauthor=False)) / kind


def digest(*parts: str) -> str:
    """Return a name for a file that belongs to these texts, which are not in it."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _remove_old(place: Path) -> None:
    """Remove the files that no process has used for long and none uses now."""
    oldest = time.time() - DAYS * 86_400
    for lock in place.glob("*.lock"):
        with contextlib.suppress(OSError, Timeout):
            if lock.stat().st_mtime < oldest:
                with FileLock(lock, mode=0o600, timeout=0):
                    for path in place.glob(f"{lock.stem}.*"):
                        path.unlink(missing_ok=True)
