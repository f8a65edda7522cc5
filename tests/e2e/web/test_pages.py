"""Every page: accessible by axe's rules, rendered on all screen sizes, and small to load."""

from __future__ import annotations

import json
import random
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.e2e.web.conftest import OpenPage, Shoot
from tests.tools.browser import AXE, DESKTOP, PHONE, axe_violations, transferred_bytes
from tests.tools.measurements import ReportFigure
from tests.tools.web_player import YOURS, come_in, host, play

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIRST_LOAD_BYTES = 200_000
PLACES = ["/", "/play", "/host", "/ladder", "/wall", "/event"]
"""Pages that work without any data."""
UNATTENDED = ("/wall", "/event")
LOOKS = [("dark", DESKTOP), ("light", PHONE)]


def name_of(path: str) -> str:
    return path.strip("/") or "hall"


async def checked(page: Page) -> None:
    """Check a rendered page with axe, if installed, and for horizontal overflow."""
    if AXE.exists():
        assert await axe_violations(page) == []
    wider = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await page.evaluate(wider) <= 0, "the page is wider than its window"


async def test_axe_is_there_or_it_is_said_that_it_is_not() -> None:
    if not AXE.exists():
        pytest.skip("there is no axe-core here: `npm install` in tests/tools/web brings it")


@pytest.mark.parametrize(("look", "size"), LOOKS)
@pytest.mark.parametrize("path", PLACES)
async def test_a_page_with_nothing_going_on(
    open_page: OpenPage, shoot: Shoot, path: str, look: str, size: tuple[int, int]
) -> None:
    page = await open_page(path, size=size, color_scheme=look)
    if path not in UNATTENDED:
        await come_in(page, f"a {look} {name_of(path)}")
    await expect(page.locator("main h1")).to_be_attached()
    await shoot(page, f"{name_of(path)}-{look}-{size[0]}")
    await checked(page)


async def test_signing_in(open_page: OpenPage, shoot: Shoot) -> None:
    page = await open_page("/")
    await page.locator("#header").get_by_role("button", name="Sign in").click()
    await expect(page.get_by_label("Your name")).not_to_have_value("")
    await shoot(page, "sign-in")
    await checked(page)
    await page.get_by_label("Your name").fill("no/name")
    await page.get_by_role("button", name="Play as guest").click()
    await expect(page.get_by_role("alert").first).to_contain_text("name")
    await come_in(page, "grace h")
    await page.reload()
    await expect(page.locator("#header .who")).to_have_text("grace h")


async def test_the_front_page_shows_live_boards_without_a_name(
    open_page: OpenPage, shoot: Shoot
) -> None:
    ada = await open_page("/host?game=line-nim")
    await come_in(ada, "ada shown")
    await host(ada, "line-nim", {}, seats=2)
    await ada.wait_for_url("**/match/*")
    page = await open_page("/", size=PHONE)
    card = page.locator(".match-card", has_text="ada shown")
    await expect(card.locator("kibitz-board svg")).to_be_visible()
    await expect(page.locator("#header .who")).to_be_empty()
    await shoot(page, "hall-viewer-phone")
    await checked(page)
    await card.click()
    await expect(page.locator(".match-title")).to_contain_text("ada shown")
    await expect(page.get_by_placeholder("Say something…")).to_have_count(0)
    await page.goto("/lobby/no-such-lobby")
    await expect(page.get_by_role("button", name="Join")).to_be_visible()
    await checked(page)


async def test_a_long_name_is_clipped_in_the_head_of_a_page(
    open_page: OpenPage, shoot: Shoot
) -> None:
    name = "Wolfgang Amadeus von Mecklenburg"
    page = await open_page("/", size=PHONE)
    await come_in(page, name)
    await expect(page.locator("#header .who")).to_have_attribute("title", name)
    tops = await page.evaluate(
        "() => ['.brand', '.corner', 'nav'].map((each) => {"
        " const box = document.querySelector('#header ' + each).getBoundingClientRect();"
        " return [box.top, box.bottom]; })"
    )
    (brand, brand_end), (corner, corner_end), (nav, _) = tops
    await shoot(page, "hall-long-name-phone")
    assert corner < brand_end, "who one is stands beside the brand, above the places to go"
    assert brand < corner_end <= nav
    await expect(page.locator("h1")).to_be_visible()
    await checked(page)


async def test_a_host_chooses_what_a_bot_judges_by(open_page: OpenPage) -> None:
    page = await open_page("/host?game=line-nim")
    await come_in(page, "ada judges")
    sent: list[str] = []
    page.on("websocket", lambda ws: ws.on("framesent", lambda frame: sent.append(str(frame))))
    await page.reload()
    form = page.locator(".seat-form").nth(1)
    await form.get_by_label("House bot").select_option("line-nim/minimax")
    await form.locator("summary", has_text="Parameters").click()
    evaluation = form.get_by_label("Evaluation")
    await expect(evaluation.locator("option:checked")).to_have_text("parts")
    await evaluation.select_option("outcome")
    await form.get_by_label("Time").fill("0.1")
    await page.get_by_role("button", name="Open the lobby").click()
    await page.wait_for_url("**/lobby/*")
    assert any("line-nim/minimax:time=0.1,evaluation=outcome" in frame for frame in sent)


@pytest.mark.parametrize(("look", "size"), LOOKS)
async def test_a_lobby_and_a_match(
    open_page: OpenPage, shoot: Shoot, look: str, size: tuple[int, int]
) -> None:
    page = await open_page("/host?game=line-nim", size=size, color_scheme=look)
    await come_in(page, f"ada {look}")
    lobby = await host(page, "line-nim", {}, seats=2)
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()
    await shoot(page, f"match-{look}-{size[0]}")
    await checked(page)
    await page.goto(f"/lobby/{lobby}")
    await expect(page.locator("main h1")).to_have_text(f"ada {look}'s lobby")
    await shoot(page, f"lobby-{look}-{size[0]}")
    await checked(page)
    await page.goto("/")
    await page.locator(".thumbnail svg").first.wait_for()
    await shoot(page, f"hall-busy-{look}-{size[0]}")
    await checked(page)
    await page.go_back()
    await page.get_by_role("link", name="Go to your board").click()
    await play(page, random.Random(size[0]))
    await shoot(page, f"match-over-{look}-{size[0]}")
    await checked(page)


@pytest.mark.parametrize("path", ["/", "/wall"])
async def test_the_first_load_is_small(
    open_page: OpenPage, path: str, report: ReportFigure
) -> None:
    page = await open_page("about:blank")
    sizes = await transferred_bytes(page, path)
    report(f"first load of {path}: {sum(sizes.values()):,} bytes in {len(sizes)} answers")
    assert sum(sizes.values()) <= FIRST_LOAD_BYTES, json.dumps(sizes, indent=2)
    assert len(sizes) > 5, "all that the page needs is counted"


async def test_an_address_of_nothing(open_page: OpenPage) -> None:
    page = await open_page("/match/NOSUCHMATCH", pardoned=("404",))
    await come_in(page, "lost one")
    await expect(page.locator("main")).to_contain_text("cannot be shown")
    await checked(page)
    assert urlsplit(page.url).path == "/match/NOSUCHMATCH"
