"""Atomic writes: a file is written as a whole or not at all; and syncing to disk."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_atomically(
    path: Path, data: str | bytes, *, mode: int = 0o644, durable: bool = True
) -> Path:
    """Replace a file and return its path; with `durable`, sync it to disk first.

    Only one process at a time may write to a path. Raises `OSError` and keeps the old file on
    failure.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(descriptor, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        return partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Sync a file or the entries of a folder to disk, on systems where folders can be opened."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
