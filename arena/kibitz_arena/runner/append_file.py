"""A journal's file: opened by one process at a time, on the disk after every append."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from filelock import FileLock, Timeout

from kibitz_arena.journal import JournalError


class Parsed(Protocol):
    """What is needed of what a journal's bytes say."""

    @property
    def header(self) -> object | None:
        """None where not even the first line is whole: nothing has begun."""

    @property
    def length(self) -> int:
        """How many bytes are whole lines; what is after them is torn."""

    @property
    def torn(self) -> bytes: ...


P = TypeVar("P", bound=Parsed)


class AppendFile:
    """The open file of a journal, for one writer at a time."""

    def __init__(self, file: BinaryIO, lock: FileLock) -> None:
        self._file = file
        self._lock = lock

    def append(self, data: bytes) -> None:
        """Append `data` whole and wait for the disk; may be called in a thread."""
        _append_durably(self._file, data)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()
        self._lock.release()


def open_append_file(
    path: Path, parse: Callable[[bytes], P], header: bytes, busy: str
) -> tuple[AppendFile, P]:
    """Open or begin the file at `path`, whose folder must be there; return what it says as well.

    `parse` reads it, and raises `JournalError` where it is not what is expected. Half a line at its
    end is cut off. `header` is the first line of a new one. Raises `JournalError` with `busy` where
    another process has it open.
    """
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise JournalError(f"{path} is open already: {busy}") from None
    try:
        file, found = _open(path, parse, header)
    except BaseException:
        lock.release()
        raise
    return AppendFile(file, lock), found


def _open(path: Path, parse: Callable[[bytes], P], header: bytes) -> tuple[BinaryIO, P]:
    """Return the file, open at its end, and what its whole lines say."""
    file = path.open("a+b", buffering=0)
    try:
        file.seek(0)
        found = parse(file.read())
        if found.torn:
            file.truncate(found.length)
        if found.header is None:
            _append_durably(file, header)
            _sync_folder(path.parent)
    except BaseException:
        file.close()
        raise
    return file, found


def _append_durably(file: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Wait until the disk knows the file's name, where folders can be opened at all."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
