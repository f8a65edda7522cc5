"""A server is killed during a match, and the pages resume."""

from __future__ import annotations

import asyncio
import random
import signal
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.web.conftest import OpenPage
from tests.e2e.web.test_play import whose_turn
from tests.e2e.web.test_wall import GONE
from tests.tools.browser import PHONE
from tests.tools.command import Kibitz
from tests.tools.server_process import free_port
from tests.tools.web_player import LEGAL, RESULT, YOURS, come_in, host, play

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_match_goes_on_when_the_server_was_killed_and_is_back(
    open_page: OpenPage, plain_kibitz: Kibitz
) -> None:
    words = ["serve", "--port", str(free_port()), "--db", "kibitz.db", "--json"]
    with plain_kibitz.start(*words) as server:
        where: dict[str, Any] = {"origin": server.json()["http_url"], "pardoned": GONE}
        ada = await open_page("/host?game=five-in-a-row", **where)
        await come_in(ada, "ada")
        lobby = await host(ada, "five-in-a-row", {"size": "5"}, seats=2, bot=None)
        grace = await open_page(f"/lobby/{lobby}", size=PHONE, **where)
        await come_in(grace, "grace")
        await grace.get_by_role("button", name="Join").click()
        await grace.get_by_role("button", name="Ready").click()
        await asyncio.gather(*(page.wait_for_url("**/match/*") for page in (ada, grace)))
        mover = await whose_turn(ada, grace)
        await mover.locator(LEGAL).first.click()
        await expect(mover.locator(YOURS)).to_have_count(0)
        server.send(signal.SIGKILL)
        server.rest()
        for page in (ada, grace):
            await expect(page.locator("#status")).to_contain_text("Connection lost")
    with plain_kibitz.start(*words) as server:
        server.json()
        for page in (ada, grace):
            await expect(page.locator("#status")).to_be_empty(timeout=20_000)
            await expect(page.locator(".place")).to_have_text("ply 1 of 1")
        assert await whose_turn(ada, grace) is not mover
        # A page that is closed and reopened is the same player and has its seat.
        await grace.reload()
        rng = random.Random(9)
        await asyncio.gather(*(play(page, rng) for page in (ada, grace)))
        said = await ada.locator(RESULT).inner_text()
        await expect(grace.locator(RESULT)).to_have_text(said)
