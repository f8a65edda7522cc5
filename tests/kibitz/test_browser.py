"""Pages are opened without passing their secret on a command line."""

from __future__ import annotations

import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kibitz import browser


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that a fake browser was started with."""
    found: list[str] = []
    monkeypatch.setattr(browser, "has_desktop", lambda environment, platform: True)
    monkeypatch.setattr("webbrowser.open", found.append)
    return found


def test_a_secret_is_in_no_address_that_a_browser_is_started_with(opened: list[str]) -> None:
    browser.show_page("http://127.0.0.1:1/lobby/L1#token=the-secret")
    [address] = opened
    assert "the-secret" not in address
    page = Path(urlsplit(address).path)
    assert "url=http://127.0.0.1:1/lobby/L1#token=the-secret" in page.read_text(encoding="utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.unlink()


def test_a_page_without_a_secret_is_opened_as_it_is(opened: list[str]) -> None:
    browser.show_page("http://127.0.0.1:1/wall")
    assert opened == ["http://127.0.0.1:1/wall"]
