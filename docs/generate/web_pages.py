"""Write the pictures of the web pages in docs/images: `python -m docs.generate.web_pages`.

A guest plays Connect Four against level 1 in Chromium while the demo runs on the same server. The
pictures differ between runs, because bots and player draw random moves.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Final

from playwright.async_api import Page, async_playwright

import docs.generate
from kibitz.local.demo_host import DemoHost
from kibitz.local.demo_programme import DEMO
from kibitz.process.event_loop import run
from kibitz.process.private_server import private_server
from kibitz_clients.tui.screens.wall import Preparation
from kibitz_protocol.client.client import Client
from tests.tools.browser import DESKTOP, launch
from tests.tools.web_player import YOURS, play

PICTURES: Final = Path(docs.generate.__file__).parents[1] / "images"
BOARDS: Final = 6
"""The running matches on the picture of the front page."""
PATIENCE_MS: Final = 120_000


async def draw(page: Page) -> None:
    """Play a match, and save a picture of its pages."""
    page.set_default_timeout(PATIENCE_MS)
    await page.locator(".match-card kibitz-board svg").nth(BOARDS - 1).wait_for()
    await page.screenshot(path=PICTURES / "web-front-page.png")
    await page.get_by_role("link", name="Play Connect Four").click()
    await page.get_by_role("button", name="Start", exact=True).wait_for()
    await page.screenshot(path=PICTURES / "web-play.png")
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.locator(YOURS).wait_for()
    await play(page, random.Random(4))
    await page.get_by_role("button", name="Analyze").click()
    await page.locator(".analysis h2").wait_for()
    await page.screenshot(path=PICTURES / "web-analysis.png")


async def main() -> int:
    """Write the pictures and return the exit status."""
    async with (
        private_server(options=["--pace", "1.2"], env={"KIBITZ_PLAIN": "1"}) as server,
        Client(server.url, name="demo", kind="human", agent="kibitz demo") as client,
        async_playwright() as playwright,
        asyncio.TaskGroup() as group,
    ):
        host = DemoHost(client, DEMO, Preparation(), lambda _: None, endless=True)
        hosting = group.create_task(host.run())
        browser = await launch(playwright)
        width, height = DESKTOP
        page = await browser.new_page(viewport={"width": width, "height": height})
        await page.goto(server.address.http_url)
        await draw(page)
        await browser.close()
        hosting.cancel()
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main()))
