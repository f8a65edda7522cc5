"""The frame rate of a wall of live boards, with a synthetic feed."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.web.conftest import Shoot
from tests.tools.browser import PATIENCE_MS, SCREEN_4K, WatchedPage
from tests.tools.measurements import ReportFigure
from tests.tools.wall_feed import feed_script

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

GAMES = ["connect-four", "line-nim", "five-in-a-row", "tanks", "number-merge", "chinese-checkers"]
BOARDS = 200
EVENTS_A_SECOND = 1.0
SECONDS = 5.0
FRAMES_A_SECOND = 30
FRAMES = """(milliseconds) => new Promise((resolve) => {
  const begun = performance.now();
  const told = globalThis.feed.told;
  let last = begun, worst = 0, frames = 0;
  const frame = (now) => {
    frames += 1;
    worst = Math.max(worst, now - last);
    last = now;
    if (now - begun < milliseconds) return requestAnimationFrame(frame);
    const seconds = (now - begun) / 1000;
    const events = (globalThis.feed.told - told) / seconds;
    resolve({ frames, rate: frames / seconds, worst, events });
  };
  requestAnimationFrame(frame);
})"""
BOARDS_A_FRAME = """(milliseconds) => new Promise((resolve) => {
  const begun = performance.now();
  const drawn = [];
  let now = new Set();
  const observer = new MutationObserver((records) => {
    for (const { target } of records) now.add(target.closest(".live-board")).delete(null);
  });
  const watched = { subtree: true, childList: true, attributes: true };
  observer.observe(document.querySelector(".board-grid"), watched);
  const frame = (at) => {
    drawn.push(now.size);
    now = new Set();
    if (at - begun < milliseconds) return requestAnimationFrame(frame);
    observer.disconnect();
    const changing = drawn.filter((count) => count > 0);
    const mean = changing.reduce((sum, count) => sum + count, 0) / changing.length;
    resolve({ least: Math.min(...changing), mean, most: Math.max(...changing) });
  };
  requestAnimationFrame(frame);
})"""
"""Script: the boards that changed between two frames; measured separately, since it costs
frames."""


async def wall_with_feed(browser: Browser, origin: str, rate: float) -> tuple[Page, WatchedPage]:
    context = await browser.new_context(viewport={"width": SCREEN_4K[0], "height": SCREEN_4K[1]})
    page = await context.new_page()
    watched = WatchedPage(page, origin)
    await page.add_init_script(feed_script(GAMES, BOARDS, rate))
    await page.goto(f"{origin}/wall")
    await expect(page.locator(".live svg")).to_have_count(BOARDS, timeout=PATIENCE_MS)
    return page, watched


async def test_two_hundred_live_boards_move_at_thirty_frames_a_second(
    browser: Browser, web_server: str, shoot: Shoot, report: ReportFigure
) -> None:
    page, watched = await wall_with_feed(browser, web_server, EVENTS_A_SECOND)
    await page.wait_for_timeout(1000)
    figures = await page.evaluate(FRAMES, SECONDS * 1000)
    boards = await page.evaluate(BOARDS_A_FRAME, SECONDS * 1000)
    await shoot(page, "wall-200-boards-4k")
    await page.context.close()
    report(
        f"{BOARDS} boards, {figures['events']:.0f} events/s: {figures['frames']} frames in"
        f" {SECONDS:.0f} s, {figures['rate']:.0f} frames/s, longest {figures['worst']:.0f} ms;"
        f" where boards change {boards['least']} of them at least, {boards['mean']:.1f} on average,"
        f" {boards['most']} at most"
    )
    assert watched.unexpected() == []
    assert figures["events"] >= 0.9 * BOARDS * EVENTS_A_SECOND
    assert figures["rate"] >= FRAMES_A_SECOND
