"""The files of the browser client, read once, with one digest for all of them.

Every file is at ``/static/<digest>/...``, with the digest of the whole tree. Modules can therefore
import each other by relative paths, and browsers may cache the files forever. All application paths
(`APP_PATHS`) return the same HTML page, the *shell*, which contains the digest. The shell and the
modules refer to other files only by relative paths (`parts/address.js`), so a proxy may serve the
site below a path that the server does not know. Files are read when the site is created; later
changes on disk take effect after a restart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from posixpath import join, normpath
from typing import Final

STATIC_FILES: Final = Path(__file__).with_name("static")
SHELL: Final = "app.html"
ENTRY: Final = "main.js"
_PLACE: Final = b"%STATIC%"
"""The placeholder in the shell for the path of the static files."""
_PRELOADS: Final = b"%PRELOADS%"
"""The placeholder in the shell for preload hints: the modules that `ENTRY` imports."""
_CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The file types to serve; others in the folder, such as declarations, are not served."""
APP_PATHS: Final = re.compile(
    r"/(?:play|host|wall|event|ladder|sign-in|(?:lobby|match|rules)/[A-Za-z0-9_-]{1,64})?"
)
_IMPORT: Final = re.compile(
    rb'^(?:import|export)\b[^"\';]*?\bfrom\s+"(\.[^"]+)"|^import\s+"(\.[^"]+)"', re.MULTILINE
)
_LINK: Final = re.compile(
    r'^(?:import\s+\{[^}]*\}\s+from\s+"[^"]+";\n|export\s+(?=async\s|function|class|const|let))',
    re.MULTILINE,
)
"""An import, or the keyword before an exported declaration."""


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file to serve."""

    body: bytes
    content_type: str
    digest: str
    immutable: bool


class WebSite:
    """The files of the browser client by path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """Take the contents of `files` by path inside the folder, such as ``wire/stage.js``."""
        self.digest = _digest(files)
        root = f"static/{self.digest}"
        self._shells = [
            _web_file(SHELL, _fill_shell(files, f"{way_up}{root}"), immutable=False)
            for way_up in ("", "../")
        ]
        """The shell for paths with one part, like ``/host``, and with two, like ``/match/m1``."""
        self._files = {
            f"/{root}/{name}": _web_file(name, body, immutable=True)
            for name, body in files.items()
            if name != SHELL
        }

    def file(self, path: str) -> WebFile | None:
        """Return the file at a path, or None if there is none."""
        if APP_PATHS.fullmatch(path):
            return self._shells[path.count("/") - 1]
        return self._files.get(path)

    @property
    def paths(self) -> list[str]:
        """Return the paths of all files, without the application paths."""
        return sorted(self._files)


def web_site(folder: Path = STATIC_FILES, rules: Mapping[str, str] | None = None) -> WebSite:
    """Read the browser client. Raises `OSError` if it is missing.

    `rules` maps each game to the HTML body of its rules page.
    """
    pages = {f"rules/{game}.html": text.encode() for game, text in (rules or {}).items()}
    return WebSite(read_files(folder) | pages)


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the files to serve, by path inside the folder."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in _CONTENT_TYPES)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def imported_modules(files: Mapping[str, bytes], first: str = ENTRY) -> list[str]:
    """Return `first` and the modules that load with it, each after its imports.

    Dynamically imported modules are not included.
    """
    visited: set[str] = set()

    def in_order(name: str) -> Iterator[str]:
        visited.add(name)
        folder = PurePosixPath(name).parent.as_posix()
        for match in _IMPORT.finditer(files[name]):
            target = normpath(join(folder, (match[1] or match[2]).decode()))
            if target not in visited:
                yield from in_order(target)
        yield name

    return list(in_order(first))


def joined_modules(files: Mapping[str, bytes], first: str) -> str:
    """Return `first` and all its imports as one module, for pages opened from ``file://``.

    Browsers do not import modules from files. The joined modules share one scope, so their
    top-level names must differ, and their imports and exports must have the plain forms of `_LINK`.
    """
    names = imported_modules(files, first)
    return "\n".join(_LINK.sub("", files[name].decode("utf-8")) for name in names)


def _fill_shell(files: Mapping[str, bytes], root: str) -> bytes:
    hints = "\n".join(
        f'<link rel="modulepreload" href="{root}/{name}">' for name in imported_modules(files)
    )
    return files[SHELL].replace(_PRELOADS, hints.encode()).replace(_PLACE, root.encode())


def _web_file(name: str, body: bytes, *, immutable: bool) -> WebFile:
    digest = hashlib.sha256(body).hexdigest()[:16]
    return WebFile(body, _CONTENT_TYPES[PurePosixPath(name).suffix], digest, immutable)


def _digest(files: Mapping[str, bytes]) -> str:
    """Return a digest that identifies these files."""
    whole = hashlib.sha256()
    for name, body in sorted(files.items()):
        whole.update(f"{name} {len(body)}\n".encode() + body)
    return whole.hexdigest()[:16]
