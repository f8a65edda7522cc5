"""The pages in a real browser: one server and one browser for all tests, one context per test.

`KIBITZ_SCREENSHOTS` is a directory for screenshots of pages; by default they are written to
pytest's temporary directory.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.tools.browser import DESKTOP, PATIENCE_MS, WatchedPage, chromium_path, launch
from tests.tools.command import END_SECONDS, Kibitz, ended, marked

HERE = Path(__file__).parent
PLAIN = {"KIBITZ_PLAIN": "1"}
"""The matches are short, so bots without compilation are faster."""

FAILED = pytest.StashKey[bool]()
Shoot = Callable[[Page, str], Awaitable[Path]]


class OpenPage(Protocol):
    """Opens a path of a server in a new context."""

    async def __call__(
        self,
        path: str = ...,
        *,
        origin: str | None = ...,
        size: tuple[int, int] = ...,
        pardoned: tuple[str, ...] = ...,
        **context: Any,
    ) -> Page: ...


@pytest.hookimpl(tryfirst=True)  # before xdist groups tests and pytest-asyncio creates its loops
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in one process, which owns the browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Mark a failed test, for fixtures that end after it."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser, or a skip with the reason."""
    if chromium_path() is None:
        pytest.skip("there is no chromium here; KIBITZ_TEST_CHROMIUM may say where one is")
    async with async_playwright() as playwright:
        chromium = await launch(playwright)
        yield chromium
        await chromium.close()


@pytest.fixture(scope="session")
def web_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the pages of a server as shipped."""
    command = Kibitz(tmp_path_factory.mktemp("server"), uuid.uuid4().hex, PLAIN)
    words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
    with command.start(*words) as server:
        yield server.json()["http_url"]
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


@pytest.fixture
def plain_kibitz(tmp_path: Path) -> Iterator[Kibitz]:
    """The command without compiled code; none of its processes outlives the test."""
    command = Kibitz(tmp_path, uuid.uuid4().hex, PLAIN)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(
    browser: Browser, web_server: str, shoot: Shoot, request: pytest.FixtureRequest
) -> AsyncIterator[OpenPage]:
    """Open pages; at the end, require that there were no unexpected problems.

    A failed test saves screenshots of its pages.
    """
    watched: list[WatchedPage] = []

    async def opened(
        path: str = "/",
        *,
        origin: str | None = None,
        size: tuple[int, int] = DESKTOP,
        pardoned: tuple[str, ...] = (),
        **context: Any,
    ) -> Page:
        base = origin or web_server
        width, height = size
        made = await browser.new_context(
            base_url=base, viewport={"width": width, "height": height}, **context
        )
        made.set_default_timeout(PATIENCE_MS)
        page = await made.new_page()
        watched.append(WatchedPage(page, base, pardoned=pardoned))
        await page.goto(path)
        return page

    yield opened
    for number, each in enumerate(watched, 1):
        if request.node.stash.get(FAILED, False):
            await shoot(each.page, f"failed-{request.node.name}-{number}")
        await each.page.context.close()
    assert [problem for each in watched for problem in each.unexpected()] == []


@pytest.fixture(scope="session")
def shoot(tmp_path_factory: pytest.TempPathFactory) -> Shoot:
    """Save a screenshot of a page and return its path."""
    kept = os.environ.get("KIBITZ_SCREENSHOTS")
    directory = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    directory.mkdir(parents=True, exist_ok=True)

    async def written(page: Page, name: str) -> Path:
        path = directory / f"{re.sub(r'[^a-zA-Z0-9-]+', '-', name)}.png"
        await page.screenshot(path=path)
        return path

    return written
