"""Compute the files that the Dockerfile puts into the image, without Docker.

These are the files in its COPY lines except those that `.dockerignore` excludes.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN = frozenset({".git", ".venv"})
"""Large directories of a checkout that no COPY line includes."""


def instructions(dockerfile: str) -> Iterator[list[str]]:
    """Yield the words of each instruction, with continuation lines joined."""
    joined = re.sub(r"\\\n", " ", dockerfile)
    for line in joined.splitlines():
        if line.strip() and not line.startswith("#"):
            yield shlex.split(line)


def let_through(path: str, patterns: Sequence[str]) -> bool:
    """Return whether the context includes a file.

    The last pattern in `.dockerignore` that matches it or one of its directories decides.
    """
    parts = path.split("/")
    prefixes = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    admitted = True
    for pattern in patterns:
        bare = pattern.removeprefix("!")
        if any(_fits(prefix, bare) for prefix in prefixes):
            admitted = pattern.startswith("!")
    return admitted


def _fits(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    if wanted[0] == "**":
        parts, wanted = parts[len(parts) - len(wanted) + 1 :], wanted[1:]
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def copy_context(target: Path, root: Path = ROOT) -> dict[str, str]:
    """Copy the files that the COPY lines put into the image's working directory to `target`.

    Return the files copied elsewhere, as a mapping from absolute paths in the image to files of the
    checkout. Raises `AssertionError` for a source without files.
    """
    ignored = (root / ".dockerignore").read_text().split()
    elsewhere: dict[str, str] = {}
    for words in instructions((root / "Dockerfile").read_text()):
        if words[0] != "COPY":
            continue
        *sources, place = words[1:]
        for source in sources:
            files = [each for each in _files(root, source) if let_through(each, ignored)]
            assert files, f"COPY {source}: no files in the context"
            if place.startswith("/"):
                elsewhere[place] = source
                continue
            for each in files:
                inside = Path(each).relative_to(source) if (root / source).is_dir() else source
                copied = target / place / inside
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / each, copied)
    return elsewhere


def _files(root: Path, source: str) -> Iterator[str]:
    if (root / source).is_file():
        yield source
    for directory, below, names in os.walk(root / source):
        below[:] = [each for each in below if each not in OWN]
        for name in names:
            yield (Path(directory) / name).relative_to(root).as_posix()
