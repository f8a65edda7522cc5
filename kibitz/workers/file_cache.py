"""Files that came with tasks, kept once on each machine by the SHA-256 of their content."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import platformdirs

from kibitz_arena.runner.block_task import TaskFile


def sha256(content: bytes) -> str:
    """Return the hash of a content, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


class FileCache:
    """A directory of contents, each under its hash."""

    def __init__(self, directory: Path | None = None) -> None:
        """Use `directory`, which is made; without one that of this user's caches."""
        self._directory = directory or Path(platformdirs.user_cache_dir("kibitz")) / "task-files"
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def add(self, contents: Mapping[str, str]) -> None:
        """Keep contents, base64 by hash; raises `ValueError` where a hash is another one's."""
        for name, text in contents.items():
            content = base64.b64decode(text)
            if sha256(content) != name:
                raise ValueError(f"expected a file with the hash {name}, got {sha256(content)}")
            self._store(name, content)

    def _store(self, name: str, content: bytes) -> None:
        descriptor, partial = tempfile.mkstemp(dir=self._directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(partial).replace(self._directory / name)

    def missing(self, files: Sequence[TaskFile]) -> list[str]:
        """Return the hashes of files that are not here, or are not what they were."""
        return sorted({file.sha256 for file in files if self._content(file.sha256) is None})

    def _content(self, name: str) -> bytes | None:
        try:
            content = (self._directory / name).read_bytes()
        except FileNotFoundError:
            return None
        return content if sha256(content) == name else None

    def lay_out(self, files: Sequence[TaskFile], base: Path) -> None:
        """Write files below `base`; raises `ValueError` for a path that leads out of it."""
        for file in files:
            path = base / file.path
            if not path.resolve().is_relative_to(base.resolve()):
                raise ValueError(f"expected a path below the tournament's base, not {file.path!r}")
            content = self._content(file.sha256)
            if content is None:
                raise ValueError(f"the file {file.path} is not in the cache any more")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if file.executable else 0o644)
