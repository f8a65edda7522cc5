"""The journal of a training run: JSON Lines, one line per step, each with a checksum.

The first line is the run's header. The others are the results of steps (a generation or a batch of
games), numbered from 0. All randomness depends only on the seed and the number of the step. An
interrupted run therefore resumes after the last complete line and gives the same results. Only the
last line can be incomplete; it is then discarded.

    JournalError   the run cannot be resumed from the file; names file, line and the expected
    content
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, Self

from kibitz_training.experiment import Parameters, TrainingRun
from kibitz_training.output import OutputError

SCHEMA = "kibitz-training/2"
JOURNAL = "journal.jsonl"
"""The name of a run's journal in its directory."""


class JournalError(ValueError):
    """A journal that cannot be read or resumed; `str()` is a message for people."""


@dataclass
class Progress:
    """The contents of a journal."""

    header: dict[str, Any]
    entries: list[dict[str, Any]] = field(default_factory=list)
    length: int = 0
    """The length of the complete lines in bytes."""


def encode(entry: Mapping[str, Any]) -> bytes:
    """Return the line of an entry."""
    text = json.dumps(entry, separators=(",", ":"), sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def parse(data: bytes, name: str) -> Progress:
    """Read a journal; `name` is for messages. A torn last line is ignored."""
    lines = data.split(b"\n")[:-1]
    if not lines:
        raise JournalError(f"{name}: expected the journal of a training run, not an empty file")
    header = _entry(lines[0], 1, name)
    if header.get("schema") != SCHEMA:
        raise JournalError(f"{name}, line 1: expected the header of a run ({SCHEMA})")
    progress = Progress(header, length=len(lines[0]) + 1)
    for number, line in enumerate(lines[1:], 2):
        _take(progress, _entry(line, number, name), len(line) + 1, f"{name}, line {number}")
    return progress


def _entry(line: bytes, number: int, name: str) -> dict[str, Any]:
    """Return the entry of a complete line."""
    digits, _, text = line.partition(b" ")
    if digits != b"%08x" % zlib.crc32(text):
        raise JournalError(f"{name}, line {number}: damaged (wrong checksum)")
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise JournalError(f"{name}, line {number}: expected a JSON object")
    return entry


def _take(progress: Progress, entry: dict[str, Any], length: int, where: str) -> None:
    """Add the entry of a line of `length` bytes to the contents of a journal."""
    expected = len(progress.entries)
    if entry.get("number") != expected:
        raise JournalError(f"{where}: expected entry number {expected}")
    progress.entries.append(entry)
    progress.length += length


class Journal:
    """The journal file of a run, open for appending. Raises `JournalError` if the file is invalid
    or belongs to another run, and `OutputError` if a line cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps({"schema": SCHEMA, **header}))
        self.path = path
        data = _read(path)
        if b"\n" in data:
            self._progress = parse(data, str(path))
            _compare(self._progress.header, wanted, str(path))
        elif data and not encode(wanted).startswith(data):
            raise JournalError(f"{path}: expected the journal of a training run")
        else:
            self._progress = Progress(wanted)
        self._file = _opened(path, self._progress.length)
        if self._progress.length == 0:
            self._begin(wanted)

    def _begin(self, header: Mapping[str, Any]) -> None:
        """Write the first line."""
        try:
            self._progress.length = self._write(header)
        except OutputError:
            self._file.close()
            raise

    @classmethod
    def of_run(
        cls, given: TrainingRun, experiment: str, parameters: Parameters, free: Set[str]
    ) -> Self:
        """Return the journal of a run; resuming is allowed if only the `free` parameters differ."""
        header = {"experiment": experiment, "seed": given.seed}
        return cls(given.out / JOURNAL, header | parameters.model_dump(exclude=set(free)))

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """The journal's data of each step."""
        return self._progress.entries

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write the entry of the next step, unbuffered.

        The entry survives a crash of the process.
        """
        numbered = {"number": len(self.entries), **entry}
        _take(self._progress, numbered, self._write(numbered), str(self.path))

    def _write(self, entry: Mapping[str, Any]) -> int:
        """Write a line. If a full disk cuts it off, resuming discards the partial line."""
        line = memoryview(encode(entry))
        written = 0
        try:
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError as error:
            raise OutputError(self.path, error) from None
        return written

    def sync(self) -> None:
        """Sync the file to disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(self.path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()


def _read(path: Path) -> bytes:
    """Return the contents of the file, empty if it does not exist."""
    try:
        if path.exists() and not path.is_file():
            raise JournalError(f"{path}: expected a file with the journal of a training run")
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise JournalError(f"{path}: cannot read the journal ({error.strerror})") from None


def _opened(path: Path, length: int) -> FileIO:
    """Truncate the file to `length` bytes and open it for appending.

    The file is unbuffered, so a failed write raises at once.
    """
    try:
        file = FileIO(path, "r+" if path.exists() else "w+")
        file.truncate(length)
        file.seek(length)
    except OSError as error:
        raise OutputError(path, error) from None
    return file


def _compare(found: Mapping[str, Any], wanted: Mapping[str, Any], name: str) -> None:
    """Raise `JournalError` if a journal belongs to a run with other settings.

    A different experiment is reported first, because other differences follow from it.
    """
    keys = sorted({*found, *wanted}, key=lambda key: (key != "experiment", key))
    for key in keys:
        if found.get(key) != wanted.get(key):
            raise JournalError(
                f"{name}: the run was started with {key} = {found.get(key)!r}, "
                f"not {wanted.get(key)!r}; choose another --out, or use the same settings"
            )
