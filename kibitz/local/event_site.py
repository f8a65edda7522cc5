"""The web pages, plus the document of a running event at ``/event.json``.

The arena writes the document into a file (`kibitz_arena.report.live`), and the event's server
serves its current content, or ``null`` if no event is running.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from kibitz_clients.web.site import WebFile, WebSite

EVENT_PATH = "/event.json"
_NO_EVENT = b"null"


class EventSite:
    """The web pages plus the document, which changes while the event runs."""

    def __init__(self, site: WebSite, document: Path | None = None) -> None:
        self._site = site
        self._document = document

    def file(self, path: str) -> WebFile | None:
        """Return the file at a path, None if there is none."""
        return self._read() if path == EVENT_PATH else self._site.file(path)

    def _read(self) -> WebFile:
        body = _NO_EVENT
        if self._document is not None:
            with contextlib.suppress(OSError):  # not written yet, or removed
                body = self._document.read_bytes()
        digest = hashlib.sha256(body).hexdigest()[:16]
        return WebFile(body, "application/json", digest, immutable=False)
