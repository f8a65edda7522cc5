"""A user's first minute: from the URL to the first move, by mouse, keyboard and touch."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Locator, Page, expect

from kibitz.builtin_games import load_games
from kibitz_games.core import registry
from tests.e2e.web.conftest import OpenPage, Shoot
from tests.e2e.web.test_pages import checked
from tests.e2e.web.test_play import go_to
from tests.tools.browser import DESKTOP
from tests.tools.measurements import ReportFigure
from tests.tools.web_player import LEGAL, RESULT, YOURS, play

pytestmark = pytest.mark.asyncio(loop_scope="session")

SMALL: Final = (390, 844)
MOST_CLICKS: Final = 3
"""The maximum number of actions from the URL up to and including the first move."""
MOST_PICKS: Final = 12
"""The picks after which a guest resigns."""
ANALYSIS_MS: Final = 300_000
"""How long an analysis, or the rest of a match of four bots, may take on a busy machine."""
GAMES: Final = sorted(load_games("plain"))
COUNT_CLICKS: Final = """() => {
  const count = () => { sessionStorage.clicks = Number(sessionStorage.clicks || 0) + 1; };
  addEventListener("click", (event) => { if (event.detail) count(); }, true);
}"""
WAYS: Final[Mapping[str, Mapping[str, Any]]] = {
    "mouse": {"size": DESKTOP},
    "touch": {"size": SMALL, "has_touch": True, "is_mobile": True},
}
OFTEN: Final = {("line-nim", "mouse"), ("connect-four", "touch"), ("tic-tac-toe", "keys")}
"""The plays outside the slow tests: one of each way."""
PLAYS: Final = [
    pytest.param(*case, marks=[] if case in OFTEN else pytest.mark.slow)
    for case in itertools.product(GAMES, [*WAYS, "keys"])
]
RULES: Final = [
    pytest.param(game, marks=[] if game in ("connect-four", "tanks") else pytest.mark.slow)
    for game in GAMES
]

NOTE_NOTIFICATIONS: Final = """() => {
  window.notes = [];
  Object.defineProperty(document, "hidden", { get: () => true });
  window.Notification = class {
    static permission = "granted";
    constructor(title) { window.notes.push(title); }
  };
}"""


async def press(page: Page, way: str, button: Locator) -> None:
    """Activate a button by mouse, touch or keyboard."""
    await button.wait_for()
    if way == "keys":
        await go_to(page, button)
        await page.keyboard.press("Enter")
    else:
        await (button.tap if way == "touch" else button.click)()


async def analyzed(page: Page) -> None:
    """Wait until a match has been analyzed."""
    await expect(page.locator(".analysis h2")).to_have_text("Analysis", timeout=ANALYSIS_MS)


async def begin(page: Page, way: str, game: str) -> None:
    """Start a match as a guest at level 1, with the first available buttons."""
    await press(page, way, page.get_by_role("link", name=f"Play {game}"))
    await press(page, way, page.get_by_role("button", name="Start", exact=True))
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()


async def test_the_first_own_move_takes_three_clicks(
    open_page: OpenPage, shoot: Shoot, report: ReportFigure
) -> None:
    page = await open_page("/")
    await page.evaluate(COUNT_CLICKS)
    await shoot(page, "first-hall")
    await begin(page, "mouse", "Connect Four")
    await page.locator(LEGAL).first.click()
    await expect(page.locator(".place")).to_contain_text("of 2")
    clicks = int(await page.evaluate("() => sessionStorage.clicks"))
    seconds = await page.evaluate("() => performance.now() / 1000")
    report(f"first own move: {clicks} clicks, {seconds:.1f} s from the address to the reply")
    assert clicks <= MOST_CLICKS


@pytest.mark.parametrize(("game", "way"), PLAYS)
async def test_a_guest_plays_level_1_and_reads_the_analysis(
    open_page: OpenPage, shoot: Shoot, game: str, way: str
) -> None:
    page = await open_page("/", **WAYS.get(way, {}))
    await begin(page, way, registry.get(game).info.title)
    await shoot(page, f"first-match-{game}-{way}")
    await checked(page)
    picks = await play(
        page, random.Random(way), keyboard=way == "keys", touch=way == "touch", most=MOST_PICKS
    )
    assert picks > 0
    if await page.locator(RESULT).count() == 0:
        await press(page, way, page.get_by_role("button", name="Resign"))
        await press(page, way, page.locator("dialog").get_by_role("button", name="Resign"))
    analyze = page.get_by_role("button", name="Analyze")
    await analyze.wait_for(timeout=ANALYSIS_MS)
    await press(page, way, analyze)
    await analyzed(page)
    await expect(page.locator(".graph")).to_be_visible()
    await shoot(page, f"first-match-{game}-over-{way}")
    await checked(page)


@pytest.mark.parametrize("size", [DESKTOP, SMALL], ids=["desktop", "phone"])
async def test_the_form_to_play(open_page: OpenPage, shoot: Shoot, size: tuple[int, int]) -> None:
    page = await open_page("/play?game=chinese-checkers", size=size)
    await expect(page.get_by_label("Your name")).not_to_have_value("")
    await page.get_by_label("Players").select_option("3")
    await page.get_by_label("2", exact=True).check()
    await shoot(page, f"play-{size[0]}")
    await checked(page)


async def test_a_name_that_is_taken_can_be_changed(open_page: OpenPage) -> None:
    page = await open_page("/play?game=connect-four")
    await page.get_by_label("Your name").fill("no/name")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("name")
    await page.get_by_label("Your name").fill("a better name")
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.wait_for_url("**/match/*")
    await expect(page.locator("#header .who")).to_have_text("a better name")


@pytest.mark.parametrize("game", RULES)
async def test_the_rules_stand_beside_a_board_to_try_them_on(
    open_page: OpenPage, shoot: Shoot, game: str
) -> None:
    page = await open_page(f"/play?game={game}", size=SMALL)
    await page.get_by_role("link", name="Rules").click()
    await expect(page.locator("article h1")).to_be_visible()
    await checked(page)
    await page.get_by_role("button", name="Try it on a board").click()
    await page.locator(YOURS).wait_for()
    await checked(page)
    assert await play(page, random.Random(game), most=1) == 1
    await expect(page.locator("article h1")).to_be_attached()
    await page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    await shoot(page, f"rules-{game}")
    await checked(page)


@pytest.mark.parametrize("size", [DESKTOP, SMALL], ids=["desktop", "phone"])
async def test_a_hint_is_drawn_on_the_board(
    open_page: OpenPage, shoot: Shoot, size: tuple[int, int]
) -> None:
    page = await open_page("/play?game=connect-four", size=size)
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.locator(YOURS).wait_for()
    await page.get_by_role("button", name="Hint").click()
    await expect(page.locator(YOURS)).to_contain_text("Hint:", timeout=ANALYSIS_MS)
    await expect(page.locator(".kb-line")).to_have_count(1)
    await shoot(page, f"hint-{size[0]}")
    await checked(page)
    assert await play(page, random.Random(5), most=1) == 1
    await expect(page.locator(".kb-line")).to_have_count(0)


async def finished(open_page: OpenPage, **context: Any) -> Page:
    """Return the page of a match that a guest has finished at level 1."""
    page = await open_page("/play?game=line-nim", **context)
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.wait_for_url("**/match/*")
    await play(page, random.Random(3))
    return page


async def test_play_again_swaps_the_seats(open_page: OpenPage, shoot: Shoot) -> None:
    page = await finished(open_page)
    before = page.url
    (name,) = await page.locator("#header .who").all_inner_texts()
    await shoot(page, "after-the-game")
    await page.get_by_role("button", name="Play again").click()
    await page.wait_for_url(
        lambda url: "/match/" in url and url.partition("?")[0] != before.partition("?")[0]
    )
    await page.locator(YOURS).wait_for()
    await expect(page.locator(".match-title .muted")).to_contain_text(f"– {name}")
    await play(page, random.Random(4))
    await page.get_by_role("link", name="Another level").click()
    await page.get_by_label("2", exact=True).check()
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()
    await expect(page.locator(".match-title .muted")).to_contain_text(f"{name} –")


async def test_a_position_is_shared_as_a_link_and_as_a_picture(
    open_page: OpenPage, tmp_path: Path
) -> None:
    page = await finished(open_page)
    await page.get_by_role("button", name="First position").click()
    await page.get_by_role("button", name="Next move").click()
    await page.get_by_role("button", name="Share").click()
    link = await page.get_by_label("Link to ply 1", exact=True).input_value()
    assert link.endswith("?ply=1")
    for kind, beginning in (("PNG", b"\x89PNG\r\n"), ("SVG", b"<svg")):
        async with page.expect_download() as coming:
            await page.get_by_role("button", name=f"Picture ({kind})").click()
        download = await coming.value
        assert download.suggested_filename.endswith(f"-1.{kind.lower()}")
        await download.save_as(tmp_path / f"board.{kind}")
        content = (tmp_path / f"board.{kind}").read_bytes()
        assert content.startswith(beginning)
        assert len(content) > 2_000
    await checked(page)
    stranger = await open_page(link.removeprefix(page.url.partition("/match/")[0]))
    await expect(stranger.locator(".place")).to_contain_text("ply 1 of")


async def test_a_friend_joins_by_a_link_and_both_play_again(
    open_page: OpenPage, shoot: Shoot
) -> None:
    ada = await open_page("/play?game=line-nim")
    await ada.get_by_label("Your name").fill("ada invites")
    await ada.get_by_role("button", name="Play a friend").click()
    link = await ada.get_by_label("Link to this lobby", exact=True).input_value()
    friend = await open_page(link, **WAYS["touch"])
    await friend.get_by_label("Your name").fill("a friend")
    await shoot(friend, "invited-phone")
    await checked(friend)
    await friend.get_by_role("button", name="Join").tap()
    await play_both(ada, friend, 1)
    first = ada.url.partition("?")[0]
    await ada.get_by_role("button", name="Play again").click()
    await friend.get_by_role("button", name="Play again").tap()
    for page in (ada, friend):
        await page.wait_for_url(lambda url: "/match/" in url and not url.startswith(first))
        await page.locator(RESULT).wait_for(state="detached")
    await play_both(ada, friend, 2)


async def play_both(ada: Page, friend: Page, seed: int) -> None:
    """Play a match between two users to its end."""
    for page in (ada, friend):
        await page.wait_for_url("**/match/*")
    plays = play(ada, random.Random(seed)), play(friend, random.Random(-seed), touch=True)
    await asyncio.gather(*plays)


async def test_it_is_said_when_it_is_ones_turn_and_how_the_last_move_was(
    open_page: OpenPage, shoot: Shoot
) -> None:
    page = await open_page("/play?game=connect-four", permissions=["notifications"])
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.wait_for_url("**/match/*")
    await page.locator(YOURS).wait_for()
    assert (await page.title()).startswith("● Your turn")
    sound = page.get_by_role("button", name="Sound")
    await expect(sound).to_have_attribute("aria-pressed", "false")
    notify = page.get_by_role("button", name="Notify me")
    await expect(notify).to_have_attribute("aria-pressed", "false")
    await notify.click()
    await expect(notify).to_have_attribute("aria-pressed", "true")
    await page.evaluate(NOTE_NOTIFICATIONS)
    await page.locator(LEGAL).first.click()
    await expect(page.locator(".last-move")).to_have_text(
        re.compile(r"Computer, level 1 played [a-g]\d?\.")
    )
    await page.wait_for_function("() => window.notes.length === 1")
    await shoot(page, "match-last-move")


async def test_a_page_that_is_offline_says_so_and_goes_on_by_itself(open_page: OpenPage) -> None:
    page = await open_page("/", pardoned=("ERR_INTERNET_DISCONNECTED",))
    status = page.locator("#status")
    await page.get_by_role("link", name="Play Connect Four").wait_for()
    await page.wait_for_load_state("networkidle")
    await page.context.set_offline(True)
    await expect(status).to_contain_text("You are offline")
    await page.context.set_offline(False)
    await expect(status).to_be_empty()
    await expect(page.locator(".light")).to_have_attribute("data-state", "online")
