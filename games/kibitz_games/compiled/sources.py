"""The source code that a kernel's machine code depends on, reduced to its statements.

A kernel can include code from its own module and from all modules imported directly or indirectly,
anywhere in a file: the *closure* of the module. Comments, docstrings and formatting are ignored.
Imports from the standard library and installed packages are not followed, except for kibitz and the
package that contains the kernel.

If a name imported from a package is a submodule, the import counts as an import of the submodule
and not of the package's ``__init__``. Changes that a package makes to its submodules at run time
are therefore not detected.

Parsing a file takes a few milliseconds, so the cache stores the result under a hash of the file's
contents.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

SUFFIX = ".syntax"
"""The suffix of cached results: the hash of a syntax tree, a line for each import, and `END`."""
END = "end"
"""Marks a complete file: after a power failure, a renamed file may be empty or truncated."""


@functools.cache
def closure(path: Path, cache: Path) -> frozenset[Path]:
    """Return the file `path` and all files that it imports, directly or indirectly."""
    files, waiting = {path}, [path]
    while waiting:
        importer = waiting.pop()
        _, names = _syntax(importer, cache)
        imported = {_resolve(name, importer) for name in names} - {None}
        new = {file for file in imported if file is not None} - files
        files |= new
        waiting += new
    return frozenset(files)


def fingerprint(paths: Iterable[Path], cache: Path) -> str:
    """Return a hash of the names and statements of several modules."""
    modules = sorted((dotted_name(path), _syntax(path, cache)[0]) for path in paths)
    return hashlib.sha256(repr(modules).encode()).hexdigest()


def dotted_name(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


@functools.cache
def _syntax(path: Path, cache: Path) -> tuple[str, list[str]]:
    """Return the hash of a file's syntax tree, and the names it imports (see `_imports`)."""
    raw = path.read_bytes()
    kept = cache / (hashlib.sha256(sys.version.encode() + raw).hexdigest()[:32] + SUFFIX)
    lines = kept.read_text().splitlines() if kept.exists() else []
    if lines[-1:] != [END]:
        tree = _WithoutDocstrings().visit(ast.parse(raw))
        digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
        lines = [digest, *sorted(_imports(tree)), END]
        _write(kept, "\n".join(lines))
    return lines[0], lines[1:-1]


def _write(path: Path, text: str) -> None:
    """Write a file that other processes may read or write concurrently."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
        os.chmod(file.name, 0o644)  # as numba's files: isolated bots of another user read it
    os.replace(file.name, path)


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Drop statements that consist of a string only."""
        value = node.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        return None if is_text else node


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield a module's imports as ``package.module.name``, with leading dots if relative."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (f"{node.module}." if node.module else "")
            yield from (origin + alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[: end + 1]) for end in range(len(parts)))


@functools.cache
def _resolve(name: str, importer: Path) -> Path | None:
    """Return the file that defines an imported name, or None if the import is not followed."""
    relative = name.lstrip(".")
    if level := len(name) - len(relative):
        folder = importer.parents[level - 1]
    elif (home := _home(relative.partition(".")[0])) is not None and _follows(importer, home):
        folder = home.parent
    else:
        return None
    module = folder.joinpath(*relative.split("."))
    for path in (module, module.parent):
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


@functools.cache
def _home(top: str) -> Path | None:
    """Return a top-level package's folder or a module's file, or None for installed libraries."""
    spec = None if top in sys.stdlib_module_names else importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).resolve()
    return file.parent if file.name == "__init__.py" else file


def _follows(importer: Path, home: Path) -> bool:
    """Return whether to follow imports from a top-level package or module in `importer`."""
    installed = {"site-packages", "dist-packages"} & set(home.parts)
    return not installed or home.name.startswith("kibitz") or importer.is_relative_to(home)
