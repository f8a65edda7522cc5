"""Users play on the pages: every game, against bots and each other, and by keyboard only."""

from __future__ import annotations

import asyncio
import random

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.web.conftest import OpenPage, Shoot
from tests.tools.browser import PHONE
from tests.tools.web_player import LEGAL, RESULT, YOURS, come_in, host, play

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHORT: dict[str, tuple[dict[str, str], int]] = {
    "connect-four": ({}, 2),
    "tic-tac-toe": ({}, 2),
    "line-nim": ({"free": "12"}, 2),
    "five-in-a-row": ({"size": "5", "dead_board_draw": "yes"}, 2),
    "tanks": ({"turns": "24"}, 4),
    "number-merge": ({"preset": "classic"}, 2),
    "chinese-checkers": ({"size": "1"}, 2),
}
"""Options for short matches, and the seats."""


@pytest.mark.parametrize("game", SHORT)
async def test_a_person_hosts_a_lobby_and_plays_a_whole_match(
    open_page: OpenPage, shoot: Shoot, game: str
) -> None:
    options, seats = SHORT[game]
    page = await open_page(f"/host?game={game}")
    await come_in(page, f"ada {game[:8]}")
    bot = "greedy-euclid" if game == "chinese-checkers" else "random"
    await host(page, game, options, seats=seats, bot=bot)
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()
    await shoot(page, f"match-{game}")
    assert await play(page, random.Random(game)) > 0
    await shoot(page, f"match-{game}-over")


async def test_two_people_play_each_other_and_a_third_watches_from_the_middle(
    open_page: OpenPage, shoot: Shoot
) -> None:
    ada = await open_page("/host?game=connect-four")
    await come_in(ada, "ada")
    lobby = await host(ada, "connect-four", {}, seats=2, bot=None)
    grace = await open_page(f"/lobby/{lobby}", size=PHONE)
    await come_in(grace, "grace")
    await grace.get_by_role("button", name="Join").click()
    await grace.get_by_role("button", name="Ready").click()
    await asyncio.gather(*(page.wait_for_url("**/match/*") for page in (ada, grace)))
    # After two moves, the third page joins during the match.
    for _ in range(2):
        mover = await whose_turn(ada, grace)
        await mover.locator(LEGAL).first.click()
        await expect(mover.locator(YOURS)).to_have_count(0)
    watcher = await open_page(grace.url)
    await come_in(watcher, "edsger")
    await expect(watcher.locator(".place")).to_have_text("ply 2 of 2")
    await shoot(grace, "match-phone")
    rng = random.Random(3)
    await asyncio.gather(*(play(page, rng) for page in (ada, grace)))
    said = await ada.locator(RESULT).inner_text()
    for page in (grace, watcher):
        await expect(page.locator(RESULT)).to_have_text(said)
    await shoot(watcher, "match-watched")


async def whose_turn(*pages: Page) -> Page:
    """Wait until it is the turn of one of the pages, and return that page."""
    waiting = [asyncio.create_task(page.locator(YOURS).wait_for()) for page in pages]
    done, others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.wait(waiting)
    return pages[waiting.index(done.pop())]


async def test_a_match_is_played_with_the_keys_alone(open_page: OpenPage) -> None:
    page = await open_page("/host?game=line-nim")
    # Keys pressed before an input exists are lost.
    await expect(page.get_by_label("Your name")).to_be_focused()
    await page.keyboard.type("ada keys")
    await page.keyboard.press("Enter")
    await page.get_by_label("Game", exact=True).wait_for()
    for label, value in (("Game", "Line-Nim"), ("Matches", "1")):
        await go_to(page, page.get_by_label(label, exact=True))
        await page.keyboard.type(value)
    await go_to(page, page.get_by_label("Players take turns in the seats"))
    await page.keyboard.press("Space")
    await go_to(page, page.get_by_role("button", name="Open the lobby"))
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()
    assert await play(page, random.Random(5), keyboard=True) > 0


async def go_to(page: Page, element: Locator) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(80):
        if await element.evaluate("(element) => element === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"no way with Tab to {element}")
