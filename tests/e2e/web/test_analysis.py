"""The analysis of a finished match, asked for on its page."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.web.conftest import OpenPage, Shoot
from tests.e2e.web.test_first_minute import SMALL, analyzed, finished
from tests.e2e.web.test_pages import checked
from tests.tools.browser import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_button_shows_values_best_lines_and_costly_moves(
    open_page: OpenPage, shoot: Shoot
) -> None:
    page = await finished(open_page)
    await page.get_by_role("button", name="Analyze").click()
    await expect(page.locator(".analysis")).to_be_focused()
    await shoot(page, "analysis-begins")
    await expect(page.get_by_role("button", name="Analyze")).to_have_count(0)
    await analyzed(page)
    await shoot(page, "analysis")
    await checked(page)
    await expect(page.locator(".graph")).to_be_visible()
    await expect(page.locator(".graph figcaption")).to_contain_text("by line-nim/solver")
    await page.get_by_role("button", name="First position").click()
    await expect(page.locator(".said-now")).to_contain_text("Best for")
    costliest = page.locator(".costliest a")
    if await costliest.count():
        name = await costliest.first.inner_text()
        await costliest.first.press("Enter")
        ply = name.removeprefix("Ply ")
        await expect(page.locator(".place")).to_contain_text(f"ply {ply} of")
        await page.wait_for_url(re.compile(rf"\?ply={ply}$"))
        await expect(page.locator(".moves .costly").first).to_be_visible()
        await shoot(page, "analysis-costliest-move")
    assert await costliest.count() <= 5

    # Another person opens the same match: the analysis is there at once.
    other = await open_page(
        page.url.removeprefix(await page.evaluate("location.origin")), size=PHONE
    )
    await other.get_by_role("button", name="Analyze").click()
    await expect(other.locator(".analysis h2")).to_be_visible()
    await shoot(other, "analysis-phone")
    await checked(other)


async def test_a_refusal_is_shown_and_the_button_stays(open_page: OpenPage) -> None:
    page = await finished(open_page, size=SMALL, pardoned=("503",))
    refusal = "too many matches are already waiting for analysis; try again later\n"
    await page.route("**/analysis", lambda route: route.fulfill(status=503, body=refusal))
    await page.get_by_role("button", name="Analyze").click()
    await expect(page.locator(".analysis [role=alert]")).to_have_text(
        "Too many matches are already waiting for analysis; try again later."
    )
    await expect(page.get_by_role("button", name="Analyze")).to_be_visible()
    await checked(page)
