"""Constants and environment variables in the packages' sources, found without importing them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import docs.generate

ROOT = Path(docs.generate.__file__).parents[2]
PACKAGES: Final = (
    "protocol",
    "games",
    "search",
    "training",
    "server",
    "bots",
    "arena",
    "clients",
    "kibitz",
)
_VARIABLE = re.compile(r"KIBITZ_[A-Z_]*[A-Z]")


def trees(containing: str = "") -> Iterator[tuple[Path, ast.Module]]:
    """Yield the path, relative to the project, and the syntax tree of modules with this text."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if containing in text:  # parsing all modules takes seconds
                yield path.relative_to(ROOT), ast.parse(text)


def environment_variables() -> set[str]:
    """Return all environment variable names that are string literals in the sources."""
    return {
        node.value
        for _, tree in trees("KIBITZ_")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _VARIABLE.fullmatch(node.value)
    }


def exit_statuses() -> Mapping[str, int]:
    """Return the integer constants `EXIT_...` of all modules, keyed by `path:NAME`."""
    found = {}
    for path, tree in trees("EXIT_"):
        for node in tree.body:
            target, value = _assigned(node)
            if target.startswith("EXIT_") and isinstance(value, int):
                found[f"{path.as_posix()}:{target}"] = value
    return found


def _assigned(node: ast.stmt) -> tuple[str, object]:
    """Return the name and the constant that a statement assigns; otherwise an empty name."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value))
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=value))
        ):
            return name, value
    return "", None
