"""Pages of other sites: their scripts can neither connect nor read."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.web.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONNECT = """(url) => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onopen = () => resolve("open");
  socket.onerror = () => resolve("refused");
})"""
READ = "(url) => fetch(url).then(() => 'read', () => 'refused')"


class _EmptyPage(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another site</title><link rel=icon href=data:,>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def foreign_site() -> Iterator[str]:
    """A site on another port, and thus of another origin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_script_of_another_site_is_refused(
    open_page: OpenPage, web_server: str, foreign_site: str
) -> None:
    authority = urlsplit(web_server).netloc
    words = (authority, "console: Access to fetch", "ERR_FAILED", "403")
    page = await open_page("/", origin=foreign_site, pardoned=words)
    assert await page.evaluate(CONNECT, f"ws://{authority}/") == "refused"
    for path in ("/", "/matches.json", "/metrics"):
        assert await page.evaluate(READ, f"{web_server}{path}") == "refused"


async def test_the_same_script_on_a_page_of_the_server_is_let_in(
    open_page: OpenPage, web_server: str
) -> None:
    page = await open_page("/")
    authority = urlsplit(web_server).netloc
    assert await page.evaluate(CONNECT, f"ws://{authority}/") == "open"
