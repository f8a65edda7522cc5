"""The error for an invalid configuration: its problems, each with its position in the document."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz_arena.yaml_positions import Path


@dataclass(frozen=True)
class ConfigProblem:
    """One problem of a configuration: its path and a message."""

    path: Path
    message: str


class ConfigError(ValueError):
    """An invalid configuration; `problems` lists all problems, and `str()` has a line for each.

    A line looks like ``final.yaml:12: entrants.3.bot: expected ...``; without a file it starts with
    the name of the source.
    """

    def __init__(
        self, source: str, problems: Sequence[ConfigProblem], lines: Mapping[Path, int]
    ) -> None:
        super().__init__("\n".join(_error_line(source, problem, lines) for problem in problems))
        self.problems = tuple(problems)


def suggestion(word: str, known: Sequence[str]) -> str:
    """Suggest a similar known key, or list all known ones."""
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        return f"; did you mean {key_text(near[0])!r}?"
    return f"; known: {', '.join(map(key_text, known))}"


def key_text(key: str) -> str:
    return key.replace("_", "-")


def abbreviated(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _error_line(source: str, problem: ConfigProblem, lines: Mapping[Path, int]) -> str:
    """Return the text of an error; a path without a line has the line of its longest known
    prefix."""
    parts = (problem.path[:length] for length in range(len(problem.path), -1, -1))
    line = next((lines[part] for part in parts if part in lines), None)
    where = source if line is None else f"{source}:{line}"
    path = ".".join(key_text(str(part)) for part in problem.path)
    return ": ".join(part for part in (where, path, problem.message) if part)
