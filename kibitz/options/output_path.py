"""Paths that a command writes to, checked before its work starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class OutputPath(click.Path):
    """A file or directory that can be written.

    Its directory must exist, or with `parents` some directory above it, as the command makes those
    between. A file may be ``-`` with `dash`.
    """

    def __init__(
        self, *, directory: bool = False, parents: bool = False, dash: bool = False
    ) -> None:
        super().__init__(
            path_type=Path, file_okay=not directory, dir_okay=directory, allow_dash=dash
        )
        self._parents = parents or directory

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a path."""
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
            return f"{str(above)!r} is no directory"
        return None if os.access(above, os.W_OK) else "permission denied"
