"""Output paths, checked before a command starts its work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class OutputPath(click.Path):
    """A click type for a writable file or directory.

    The parent directory must exist; with `parents` the command creates missing ones. With `dash` a
    file may be ``-``.
    """

    def __init__(
        self, *, directory: bool = False, parents: bool = False, dash: bool = False
    ) -> None:
        super().__init__(
            path_type=Path, file_okay=not directory, dir_okay=directory, allow_dash=dash
        )
        self._parents = parents or directory

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check a path."""
        path = Path(str(super().convert(value, param, ctx)))
        if str(path) != "-" and (problem := self._problem(path.absolute())):
            self.fail(f"cannot write {str(path)!r}: {problem}", param, ctx)
        return path

    def _problem(self, path: Path) -> str | None:
        if path.exists():
            return None if os.access(path, os.W_OK) else "permission denied"
        above = path.parent
        while self._parents and not os.path.lexists(above):
            above = above.parent
        if not above.is_dir():
            return f"{str(above)!r} is not a directory"
        return None if os.access(above, os.W_OK) else "permission denied"
