"""The browser client as files: read once, with one digest for all of them.

Every file is at ``/static/<digest>/...``, where the digest is that of the whole tree: so modules
import each other by relative paths, and everything there may be kept for ever. The paths of the
application (`APP_PATHS`) are all answered with the shell, which names the digest. The shell names
its files relative to the path that it is served at, and the modules find everything else relative
to their own (`parts/address.js`). So a proxy may serve the site below a path that is not known
here. Files are read when the site is made; what is changed on the disk later shows after the next
start.
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
"""The placeholder in the shell for the folder of the files ..."""
_PRELOADS: Final = b"%PRELOADS%"
"""... and the one for preload hints of the modules that the first one needs."""
_CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The types of files that are served; others of the folder, such as declarations, are not."""
APP_PATHS: Final = re.compile(
    r"/(?:play|host|wall|event|ladder|sign-in|(?:lobby|match)/[A-Za-z0-9_-]{1,64})?"
)
_IMPORT: Final = re.compile(
    rb'^(?:import|export)\b[^"\';]*?\bfrom\s+"(\.[^"]+)"|^import\s+"(\.[^"]+)"', re.MULTILINE
)
_LINK: Final = re.compile(
    r'^(?:import\s+\{[^}]*\}\s+from\s+"[^"]+";\n|export\s+(?=async\s|function|class|const|let))',
    re.MULTILINE,
)
"""An import, or the word before a declaration that is exported."""


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file as it is served."""

    body: bytes
    content_type: str
    digest: str
    immutable: bool


class WebSite:
    """The files of the browser client by the paths that they are served at."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files` has contents by paths inside the folder, such as ``wire/stage.js``."""
        self.digest = _digest(files)
        root = f"static/{self.digest}"
        self._shells = [
            _web_file(SHELL, _fill_shell(files, f"{way_up}{root}"), immutable=False)
            for way_up in ("", "../")
        ]
        """The shell for paths like ``/host``, and for those like ``/match/m1``."""
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
        """Return the paths of all files, without those of the application."""
        return sorted(self._files)


def web_site(folder: Path = STATIC_FILES, rules: Mapping[str, str] | None = None) -> WebSite:
    """Read the browser client. Raises `OSError` if it is missing.

    `rules` has a page for each game, as the HTML of the page's body.
    """
    pages = {f"rules/{game}.html": text.encode() for game, text in (rules or {}).items()}
    return WebSite(read_files(folder) | pages)


def read_files(folder: Path) -> dict[str, bytes]:
    """Read the files that are served, by their paths inside the folder."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in _CONTENT_TYPES)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def imported_modules(files: Mapping[str, bytes], first: str = ENTRY) -> list[str]:
    """Return the modules that load with `first`, each after those it imports, and `first` itself.

    Modules that load when needed are not among them.
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
    """Return `first` and all that it imports as one module, for pages opened from ``file://``.

    Browsers import no modules from files. The modules share one scope there, so their top-level
    names must differ, and they write imports and exports in the plain forms of `_LINK`.
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
