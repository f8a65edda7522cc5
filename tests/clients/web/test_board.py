"""The board in a real browser: drawing a golden by paints equals drawing its stages.

Every paint is applied. The result is compared with a new drawing of the stage only about forty
times per play and at its end, since drawing a whole board is much slower than a paint.
"""

from __future__ import annotations

import itertools
import json
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import async_playwright

from kibitz_clients.web import site
from kibitz_games.core.drawing import stage_of
from tests.games.core.test_drawing import GOLDENS, golden_play, looks
from tests.tools.browser import chromium_path, launch
from tests.tools.paints import paint_between

needs_chromium = pytest.mark.skipif(chromium_path() is None, reason="chromium is not installed")

COMPARED = 40
"""The minimum number of comparisons per play."""

ENTRY = b"""import { define } from "./board/board.js";
define();
const made = (stage, compact) => {
  const board = document.createElement("kibitz-board");
  board.compact = compact;
  document.body.append(board);
  board.stage = stage;
  return board;
};
// The parts of a path may come in any order.
const sorted = (markup) => markup.replace(/ d="([^"]*)"/, (words, d) =>
  ` d="${d.split(/(?=M)/).sort().join("")}"`);
const layers = (board) => [...board.querySelectorAll("svg > *")].map((layer) =>
  [layer.getAttribute("class"), layer.getAttribute("d"), ...[...layer.children]
    .map((each) => sorted(each.outerHTML)).filter((each) => !each.includes('d=""')).sort()]);
window.differences = (stages, paints, compact, every) => {
  const painted = made(stages[0], compact);
  const found = [];
  paints.forEach((paint, i) => {
    painted.paint(paint, { animate: false });
    if (i % every && i !== paints.length - 1) return;
    const whole = made(stages[i + 1], compact);
    const [one, other] = [painted, whole].map((board) => JSON.stringify(layers(board)));
    if (one !== other) found.push([i + 1, compact, one, other]);
    whole.remove();
  });
  painted.remove();
  return found;
};
window.counted = (stage, compact) => made(stage, compact).querySelectorAll("*").length;
"""
PAGE = b'<!doctype html><body></body><script type="module" src="test.js"></script>'


def drawn(path: Path) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the stages of a golden and the paints between them, for each viewer."""
    first, moves = golden_play(path)
    assert first.seats is not None
    for look in looks(first.game, first.seats):
        position, _ = golden_play(path)
        scenes = [look(position)]
        for move in moves:
            position.push_move(move)
            scenes.append(look(position))
        pairs = itertools.pairwise(scenes)
        yield (
            [json.loads(json.dumps(stage_of(scene))) for scene in scenes],
            [json.loads(json.dumps(paint_between(*pair))) for pair in pairs],
        )


@pytest.mark.e2e
@needs_chromium
@pytest.mark.parametrize(
    "path",
    [
        # The longest play with six viewers takes minutes in a browser; `test_modules` covers its
        # paints.
        pytest.param(path, marks=pytest.mark.slow if "tanks" in path.stem else (), id=path.stem)
        for path in GOLDENS
    ],
)
async def test_a_board_that_was_painted_is_the_board_of_its_stage(path: Path) -> None:
    files = site.read_files(site.STATIC_FILES) | {"test.js": ENTRY, "page.html": PAGE}

    async def serve(route: Any) -> None:
        name = urlsplit(route.request.url).path[1:]
        await route.fulfill(body=files[name], content_type=mimetypes.guess_type(name)[0])

    async with async_playwright() as engine:
        browser = await launch(engine)
        page = await browser.new_page()
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        await page.route("**/*", serve)
        await page.goto("http://board.test/page.html")
        for stages, paints in drawn(path):
            every = max(7, len(paints) // COMPARED)
            # The last stage of a long play is sent in pieces, because messages to a page are
            # limited in size.
            for start in range(0, len(paints), 50):
                part = [stages[start : start + 51], paints[start : start + 50]]
                for compact in (False, True):
                    call = "(given) => differences(...given)"
                    assert await page.evaluate(call, [*part, compact, every]) == []
            # A wall has two hundred thumbnails, so equal shapes share one element.
            cells = len(stages[0]["cells"])
            count = "stage => counted(stage, true)"
            assert await page.evaluate(count, stages[-1]) <= cells + 25
        await browser.close()
    assert trouble == []
