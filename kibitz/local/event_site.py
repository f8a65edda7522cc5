"""The web pages with the document of a running event beside them, at ``/event.json``.

The arena writes the document into a file (`kibitz_arena.live`), and the server of the event serves
what is there at the moment: ``null`` where no event runs, for the page to say so.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kibitz_clients.web.site import WebFile, WebSite

EVENT_PATH = "/event.json"
_NO_EVENT = b"null"


class EventSite:
    """A site and one file that changes."""

    def __init__(self, site: WebSite, document: Path | None = None) -> None:
        self._site = site
        self._document = document
        self._stamp: tuple[int, int, int] | None = None
        """Which file was read last: its inode, time and size."""
        self._file = _json_file(_NO_EVENT)

    def file(self, path: str) -> WebFile | None:
        """Return what is at a path, None where there is nothing."""
        return self._read() if path == EVENT_PATH else self._site.file(path)

    def _read(self) -> WebFile:
        if self._document is None:
            return self._file
        try:
            status = self._document.stat()
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._file = _json_file(self._document.read_bytes())
                self._stamp = stamp
        except OSError:  # not there yet, or gone
            self._stamp, self._file = None, _json_file(_NO_EVENT)
        return self._file


def _json_file(body: bytes) -> WebFile:
    digest = hashlib.sha256(body).hexdigest()[:16]
    return WebFile(body, "application/json", digest, immutable=False)
