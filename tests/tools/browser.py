"""A real browser for tests of the pages: headless Chromium, driven by Playwright.

`KIBITZ_TEST_CHROMIUM` is the path to Chromium; by default one on the PATH is used, preferably
`chromium-headless-shell`. It has no window, and opens a page with a fifth of the processor time
that the whole browser takes in headless mode.

A `WatchedPage` records everything that must not happen on a page: console errors, failed requests,
requests to other origins, and violations of the content security policy.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Playwright, Request, Response

TOOLS = Path(__file__).parent / "web" / "node_modules"
"""The packages that `npm install` in `tests/tools/web` installs."""
AXE = TOOLS / "axe-core" / "axe.min.js"
PATIENCE_MS = 15_000
"""The timeout for something to appear."""
DESKTOP, PHONE, SCREEN_4K = (1280, 800), (360, 740), (3840, 2160)
"""Window sizes."""


def chromium_path() -> str | None:
    """Return the Chromium to test with, None if there is none."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    chosen = os.environ.get("KIBITZ_TEST_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, names)), None)


async def launch(playwright: Playwright) -> Browser:
    """Start the browser.

    Root, as in containers, cannot use Chromium's sandbox. The software GPU is disabled, because
    Chromium renders faster without any GPU.
    """
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    path = chromium_path()
    assert path is not None
    return await playwright.chromium.launch(executable_path=path, args=arguments)


@dataclass
class WatchedPage:
    """A page and the problems that occurred on it."""

    page: Page
    origin: str
    problems: list[str] = field(default_factory=list)
    pardoned: tuple[str, ...] = ()
    """Words that identify problems caused by the test itself."""

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._requested)
        self.page.on("response", self._answered)

    def unexpected(self) -> list[str]:
        """Return the problems that the test did not cause."""
        return [each for each in self.problems if not any(w in each for w in self.pardoned)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            where = message.location
            line = f"{where.get('url')}:{where.get('lineNumber')}"
            self.problems.append(f"console: {message.text} ({line})")

    def _failed(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED":  # the page was left before the response arrived
            return
        self.problems.append(f"failed: {request.url}: {request.failure}")

    def _requested(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and _host(request.url) != _host(self.origin):
            self.problems.append(f"another origin: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")


def _host(url: str) -> str:
    return urlsplit(url).netloc


async def axe_violations(page: Page) -> list[str]:
    """Return the rules of axe-core (WCAG 2 A and AA, best practices) that the page violates."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = await page.evaluate("() => axe.run(document)")
    return [_violation(each) for each in found["violations"]]


def _violation(violation: dict[str, Any]) -> str:
    nodes: Sequence[dict[str, Any]] = violation["nodes"]
    shown = "; ".join(
        f"{' '.join(map(str, node['target']))}: {_one_line(node['failureSummary'])}"
        for node in nodes[:3]
    )
    return f"{violation['id']} ({violation['impact']}, {len(nodes)} times): {shown}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


async def transferred_bytes(page: Page, url: str) -> dict[str, int]:
    """Open a page with an empty cache; return the transferred bytes by URL."""
    session = await page.context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def began(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def ended(event: dict[str, Any]) -> None:
        address = addresses.get(event["requestId"], "?")
        sizes[address] = sizes.get(address, 0) + int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", began)
    session.on("Network.loadingFinished", ended)
    await page.goto(url, wait_until="networkidle")
    await session.detach()
    return sizes
