"""Modules of the browser client as one script, for pages that no server serves.

A browser imports no modules from ``file://``. So each module becomes a function that is called
once and returns what the module exports; its imports are taken from what those before it returned.
The modules of the client keep to the few forms of ``import`` and ``export`` that are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from posixpath import join, normpath
from typing import Final

_IMPORT: Final = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"(\.[^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export\s+((?:async\s+)?(?:function|class|const|let)\s+(\w+))", re.MULTILINE
)
_EXPORT_LIST: Final = re.compile(r"^export\s+\{([^}]*)\};\n", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class BundleError(ValueError):
    """A module that cannot be put into one script, with its name and the reason."""


def bundle(files: Mapping[str, bytes], entry: str) -> str:
    """Return the module `entry` with all that it imports as one script.

    `files` has contents by paths inside the folder, such as ``wire/stage.js``. Raises
    `BundleError`.
    """
    order = list(_in_order(files, entry, ()))
    names = {module: f"module{place}" for place, module in enumerate(dict.fromkeys(order))}
    return "".join(_wrapped(files, module, names) for module in names)


def _in_order(files: Mapping[str, bytes], module: str, within: tuple[str, ...]) -> Iterator[str]:
    """Yield the modules that `module` imports, directly or not, before itself."""
    if module in within:
        raise BundleError(f"{module}: it imports itself by way of {', '.join(within)}")
    if module not in files:
        raise BundleError(f"{within[-1] if within else 'the bundle'}: there is no module {module}")
    for found in _IMPORT.finditer(files[module].decode("utf-8")):
        yield from _in_order(files, _target(module, found[2]), (*within, module))
    yield module


def _target(module: str, path: str) -> str:
    return normpath(join(PurePosixPath(module).parent.as_posix(), path))


def _wrapped(files: Mapping[str, bytes], module: str, names: Mapping[str, str]) -> str:
    source = files[module].decode("utf-8")
    exported = [found[2] for found in _EXPORT.finditer(source)]
    for found in _EXPORT_LIST.finditer(source):
        exported += [name.strip() for name in found[1].split(",") if name.strip()]

    def taken(found: re.Match[str]) -> str:
        return f"const {{{_renamed(found[1])}}} = {names[_target(module, found[2])]};\n"

    body = _EXPORT_LIST.sub("", _EXPORT.sub(r"\1", _IMPORT.sub(taken, source)))
    if left := _LEFT.search(body):
        raise BundleError(f"{module}: expected a plain import or export, not {left[0]!r}")
    returned = ", ".join(exported)
    return f"const {names[module]} = (() => {{\n{body}\nreturn {{ {returned} }};\n}})();\n"


def _renamed(names: str) -> str:
    """Write the names of an import as those of an assignment: ``a as b`` is ``a: b`` there."""
    parts = (" ".join(part.split()) for part in names.split(",") if part.strip())
    return ", ".join(part.replace(" as ", ": ") for part in parts)
