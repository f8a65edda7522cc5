"""The web pages with the document of a running event beside them, at ``/event.json``.

The arena writes the document into a file (`kibitz_arena.live`), and the server of the event serves
what is there at the moment.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kibitz_clients.web.site import WebFile, WebSite

EVENT_PATH = "/event.json"


class EventSite:
    """A site and one file that changes (`kibitz_server.net.site.Site`)."""

    def __init__(self, site: WebSite, document: Path) -> None:
        self._site = site
        self._document = document
        self._stamp: tuple[int, int, int] | None = None
        """Which file was read last: its inode, time and size."""
        self._file: WebFile | None = None

    def file(self, path: str) -> WebFile | None:
        """Return what is at a path, None where there is nothing."""
        return self._read() if path == EVENT_PATH else self._site.file(path)

    def _read(self) -> WebFile | None:
        try:
            status = self._document.stat()
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                body = self._document.read_bytes()
                digest = hashlib.sha256(body).hexdigest()[:16]
                self._file = WebFile(body, "application/json", digest, immutable=False)
                self._stamp = stamp
        except OSError:  # not there yet, or gone: the page says that no event runs
            self._stamp = self._file = None
        return self._file
