"""The log of a sequential test: its settings and every pair of games.

The file consists of JSON lines. The first line has the settings; a test continues from a log with
the same settings. A last line that was cut off is dropped.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from kibitz.local.engine_pairs import PlayedPair


class SprtLogError(ValueError):
    """A file is not the log of this test."""


class SprtLog:
    """An open log. `points` has the first engine's points in the two games of each pair so far."""

    def __init__(self, path: Path, terms: dict[str, Any]) -> None:
        self.points: list[tuple[float, float]] = []
        self._header = json.dumps({"sprt": terms}, ensure_ascii=False) + "\n"
        whole = self._read(path, terms) if path.exists() else 0
        self._file: TextIO = path.open("r+" if whole else "w", encoding="utf-8")
        self._file.truncate(whole)
        self._file.seek(whole)
        if not whole:
            self._write(self._header)

    def add(self, pair: PlayedPair) -> None:
        """Append a pair."""
        self.points.append(pair.points)
        entry = {"pair": len(self.points)} | asdict(pair)
        self._write(json.dumps(entry, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, path: Path, terms: dict[str, Any]) -> int:
        """Read the pairs of a log; return the length of its complete lines, in bytes."""
        data = path.read_bytes()
        lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
        if not lines and not self._header.encode().startswith(data):  # not even a cut-off header
            raise SprtLogError(f"{path} is not the log of a sequential test")
        try:
            entries = [json.loads(line) for line in lines]
            logged = entries[0]["sprt"] if entries else terms
            self.points = [(float(a), float(b)) for a, b in (e["points"] for e in entries[1:])]
        except (ValueError, KeyError, TypeError) as error:
            raise SprtLogError(f"{path} is not the log of a sequential test") from error
        if logged != json.loads(json.dumps(terms)):
            different = next(name for name in terms if terms[name] != logged.get(name))
            raise SprtLogError(
                f"{path} is the log of a test with another value of {different}; "
                "choose another file with --log"
            )
        return sum(map(len, lines))

    def _write(self, line: str) -> None:
        self._file.write(line)
        self._file.flush()
