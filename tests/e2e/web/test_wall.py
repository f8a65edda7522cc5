"""The wall and the event page, with matches of bots on real servers."""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.e2e.web.conftest import OpenPage, Shoot
from tests.e2e.web.test_pages import checked
from tests.tools.browser import PHONE, SCREEN_4K
from tests.tools.command import Kibitz, Running

pytestmark = pytest.mark.asyncio(loop_scope="session")

GONE = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "WebSocket")
"""Errors that a page reports if its server stops first."""
BOARDS = "#page .live:not(.live-empty)"
SECONDS = 60_000
"""The timeout for steps that need bots, in milliseconds."""
ENTRANTS = [("Ada", "greedy"), ("Bob", "random"), ("Cyd", "greedy"), ("Dan", "random")]


async def said_page(running: Running) -> str:
    """Wait for the page's URL in a command's stderr."""
    for _ in range(600):
        for line in running.log.read_text().splitlines():
            if "in a browser:" in line:
                return line.rpartition(" ")[2]
        await asyncio.sleep(0.1)
    raise AssertionError(running.log.read_text())


@pytest.mark.slow
async def test_the_demo_is_shown_on_the_wall(
    open_page: OpenPage, plain_kibitz: Kibitz, shoot: Shoot
) -> None:
    with plain_kibitz.start("demo", "--web", "--pace", "0.2", "--records", "here") as demo:
        address = urlsplit(await said_page(demo))
        origin = f"{address.scheme}://{address.netloc}"
        where: dict[str, Any] = {"origin": origin, "pardoned": GONE}
        wall = await open_page(address.path, size=SCREEN_4K, color_scheme="dark", **where)
        phone = await open_page(address.path, size=PHONE, **where)
        await expect(wall.locator(f"{BOARDS} svg")).to_have_count(6, timeout=SECONDS)
        await expect(wall.locator(".ticker-track li").first).to_be_attached(timeout=SECONDS)
        await expect(phone.locator(f"{BOARDS} svg").first).to_be_attached()
        await wall.wait_for_timeout(1000)
        await shoot(wall, "wall-demo-4k")
        await shoot(phone, "wall-demo-phone")
        await checked(wall)
        await checked(phone)
        demo.send(signal.SIGINT)
        said = demo.rest()
    assert demo.process.returncode == 130, said
    assert "records are in here/" in said


@pytest.mark.slow
async def test_ended_matches_make_room_for_new_ones(
    open_page: OpenPage, plain_kibitz: Kibitz
) -> None:
    bots = "house=line-nim/random,house=line-nim/random"
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--pace", "0.1"]
        server = stack.enter_context(plain_kibitz.start(*words)).json()
        programme = ["line-nim:free=12", "--seats", bots, "--games", "40", "--at-once", "1"]
        host = ["host", *programme, "--server", server["url"], "--json"]
        stack.enter_context(plain_kibitz.start(*host))
        page = await open_page("/wall", origin=server["http_url"], pardoned=GONE)
        seen = set()
        for _ in range(2):
            board = page.locator(f"{BOARDS}.is-over").first
            await board.wait_for(timeout=SECONDS)
            match = await board.get_attribute("data-match")
            seen.add(match)
            await expect(page.locator(f"[data-match='{match}']")).to_have_count(0, timeout=SECONDS)
        assert len(seen) == 2


async def test_the_page_of_an_event_follows_it(
    open_page: OpenPage, plain_kibitz: Kibitz, shoot: Shoot
) -> None:
    (plain_kibitz.directory / "cup.yaml").write_text(
        "name: Spring cup\n"
        "game: connect-four\n"
        "entrants:\n"
        + "".join(f"  - name: {name}\n    bot: connect-four/{bot}\n" for name, bot in ENTRANTS)
        # More than are played while the page is checked, even on a fast machine.
        + "games: 2000\ntime-control: 60+1\nconcurrency: 3\nclaims:\n"
        "  - Ada scores at least 60% against Bob\n  - Cyd never loses to Bob\n"
    )
    with plain_kibitz.start("arena", "cup.yaml") as event:
        address = urlsplit(await said_page(event))
        origin = f"{address.scheme}://{address.netloc}"
        path = f"{address.path}#{address.fragment}"
        page = await open_page(path, origin=origin, size=(1920, 1080), pardoned=GONE)
        await expect(page.locator("main h1")).to_have_text("Spring cup", timeout=SECONDS)
        await expect(page.locator(".live svg").first).to_be_attached(timeout=SECONDS)
        await expect(page.locator(".event-side .line a").first).to_be_attached(timeout=SECONDS)
        claim = page.get_by_text("Ada scores at least 60% against Bob")
        await expect(claim).not_to_contain_text("not played", timeout=SECONDS)
        await shoot(page, "event-running")
        await checked(page)
        await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await shoot(page, "event-running-phone")
        await checked(page)
        event.send(signal.SIGINT)
        event.rest()
