"""Playing on from a ply of a finished match, begun on its page."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.web.conftest import OpenPage, Shoot
from tests.e2e.web.test_first_minute import SMALL, finished
from tests.e2e.web.test_pages import checked
from tests.tools.browser import DESKTOP
from tests.tools.web_player import YOURS, play

pytestmark = pytest.mark.asyncio(loop_scope="session")


def branch_button(page: Page) -> Any:
    return page.get_by_role("button", name="Play from here")


@pytest.mark.parametrize("size", [DESKTOP, SMALL], ids=["desktop", "phone"])
async def test_play_on_from_a_ply_in_the_other_seat(
    open_page: OpenPage, shoot: Shoot, size: tuple[int, int]
) -> None:
    page = await finished(open_page, size=size)
    origin = page.url.partition("?")[0]
    await expect(branch_button(page)).to_have_count(0)  # the end of the game has no next move
    await page.get_by_role("button", name="First position").click()
    for ply in (1, 2, 3):
        await page.get_by_role("button", name="Next move").click()
        await expect(page.locator(".place")).to_contain_text(f"ply {ply} of")
    await shoot(page, f"branch-button-{size[0]}")
    await checked(page)
    await branch_button(page).click()
    await page.wait_for_url("**/play?*ply=3")
    await expect(page.locator("h1")).to_have_text("Play Line-Nim from ply 3")
    await expect(page.get_by_label("Your seat")).to_have_value("1")  # the seat to act
    await page.get_by_label("Your seat").select_option("1")
    await page.get_by_label("2", exact=True).check()
    await shoot(page, f"branch-form-{size[0]}")
    await checked(page)
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.wait_for_url("**/match/*")
    assert page.url.partition("?")[0] != origin
    await expect(page.locator(".match-title a")).to_have_text("from ply 3 of another match")
    await shoot(page, f"branch-match-{size[0]}")
    await checked(page)
    await page.get_by_role("button", name="First position").click()
    await expect(page.locator(".place")).to_contain_text("ply 0 of")
    await page.get_by_role("button", name="Newest position").click()
    assert await play(page, random.Random(5)) > 0
    await page.locator(".match-title a").click()
    await page.wait_for_url(re.compile(re.escape(origin) + r"\?ply=3$"))
    await expect(page.locator(".place")).to_contain_text("ply 3 of")


async def test_a_refusal_is_shown_on_the_form(open_page: OpenPage) -> None:
    page = await open_page("/play?game=line-nim&seats=2&seat=0&match=nothing&ply=1")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("no match 'nothing'", ignore_case=True)
    await checked(page)


async def test_another_level_begins_at_the_same_ply(open_page: OpenPage) -> None:
    page = await finished(open_page)
    await page.get_by_role("button", name="First position").click()
    await branch_button(page).click()
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.locator(YOURS).wait_for()
    await play(page, random.Random(6))
    await page.get_by_role("link", name="Another level").click()
    await expect(page.locator("h1")).to_have_text("Play Line-Nim from ply 0")
