"""A simulated web user: signs in, hosts a lobby, and plays by mouse or only by keyboard.

The page highlights the clickable elements (`kb-legal`). The player chooses one of them at random,
so the same player works for all games.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from playwright.async_api import Error, Page, expect

LEGAL = "kibitz-board .kb-hit.kb-legal"
ACTIONS = "kibitz-board .kb-actions button:enabled"
RESULT = ".result"
YOURS = ".turn-line[data-yours]"
"""The selector that matches when it is this player's turn."""
PATIENCE_S = 120.0
"""The timeout of a match."""


async def come_in(page: Page, name: str) -> None:
    """Sign in as a guest and wait for the requested page."""
    button = page.locator("#header").get_by_role("button", name="Sign in")
    await button.or_(page.get_by_role("button", name="Play as guest")).first.wait_for()
    if await button.is_visible():
        await button.click()
    await page.get_by_label("Your name").fill(name)
    await page.get_by_role("button", name="Play as guest").click()
    await expect(page.locator("#header .who")).to_have_text(name)


async def host(
    page: Page, game: str, options: Mapping[str, str], *, seats: int, bot: str | None = "random"
) -> str:
    """Open a lobby with the form, with a bot on each other seat; return its key.

    Without `bot` the other seats are open.
    """
    await page.get_by_label("Game", exact=True).select_option(game)
    if seats != 2:
        await page.get_by_label("Players per match").select_option(str(seats))
    await page.get_by_label("Matches", exact=True).fill("1")
    turns = page.get_by_label("Players take turns in the seats")
    if await turns.is_checked():
        await turns.uncheck()
    if options:
        await page.locator("summary", has_text="Options of the game").click()
    for name, value in options.items():
        field = page.locator(f"[name='{name}']")
        match await field.evaluate("(field) => field.type"):
            case "select-one":
                await field.select_option(label=value)
            case "checkbox":
                await field.set_checked(value == "yes")
            case _:
                await field.fill(value)
    for seat in range(1, seats):
        form = page.locator(".seat-form").nth(seat)
        if bot is None:
            await form.get_by_label(f"Player in seat {seat + 1}").select_option("open")
        else:
            await form.get_by_label("House bot").select_option(f"{game}/{bot}")
    await page.get_by_role("button", name="Open the lobby").click()
    await page.wait_for_url("**/lobby/*")
    return urlsplit(page.url).path.rpartition("/")[2]


async def play(
    page: Page,
    rng: random.Random,
    *,
    keyboard: bool = False,
    touch: bool = False,
    most: float = math.inf,
) -> int:
    """Play a match to its end, or make `most` picks; return the number of picks."""
    picked = 0
    deadline = time.monotonic() + PATIENCE_S
    ready = page.locator(f"{LEGAL}, {ACTIONS}, {RESULT}").first
    while time.monotonic() < deadline:
        await ready.wait_for(state="attached")
        if picked >= most or await page.locator(RESULT).count():
            return picked
        picked += await (_press(page, rng) if keyboard else _click(page, rng, touch=touch))
    raise AssertionError(f"the match did not end in {PATIENCE_S:g} s: {await page.title()}")


TARGET = """([selector, chance]) => {
  const targets = [...document.querySelectorAll(selector)]
    .filter((target) => target.textContent !== "Take back");
  return targets[Math.floor(chance * targets.length)] ?? null;
}"""
"""Script: choose a clickable cell or button."""
PRESS_MS = 2_000
"""The longest wait for a chosen element that is about to disappear."""


async def _click(page: Page, rng: random.Random, *, touch: bool) -> int:
    """Click or tap one of the highlighted cells or of the buttons next to the board.

    The element is clicked, not its position: at the end of a match other buttons move there.
    """
    chosen = await page.evaluate_handle(TARGET, [f"{LEGAL}, {ACTIONS}", rng.random()])
    element = chosen.as_element()
    if element is None:
        return 0
    try:
        await (element.tap if touch else element.click)(timeout=PRESS_MS)
    except Error:  # the board has changed meanwhile
        return 0
    return 1


async def _press_button(page: Page, rng: random.Random) -> int:
    """Move to one of the buttons below the board with Tab, and press Enter."""
    for _ in range(120):
        is_button = await page.evaluate(f"() => document.activeElement.matches('{ACTIONS}')")
        if is_button and rng.random() < 0.5:
            await page.keyboard.press("Enter")
            return 1
        await page.keyboard.press("Tab")
    return 0


async def _press(page: Page, rng: random.Random) -> int:
    """Move to the board with Tab and to a cell with the arrow keys, and press Enter.

    If no cell of the board can be chosen, press a button below it.
    """
    if not await page.locator(LEGAL).count():
        return await _press_button(page, rng)
    board = page.locator("kibitz-board .kb-hit[tabindex='0']")
    for _ in range(60):
        if await board.evaluate("(cell) => cell === document.activeElement"):
            break
        await page.keyboard.press("Tab")
    for _ in range(200):
        legal = await page.evaluate("() => document.activeElement.classList.contains('kb-legal')")
        if legal:
            await page.keyboard.press("Enter")
            return 1
        keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]
        await page.keyboard.press(rng.choice(keys))
    return 0
