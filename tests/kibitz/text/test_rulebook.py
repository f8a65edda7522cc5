"""The rules of the games as shown in the terminal."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import kibitz_games
from kibitz.text import rule_pages
from kibitz.text.game_guide import describe_game
from kibitz_games.core import registry, rulebook

ROOT = Path(__file__).parents[3]


def test_every_game_has_a_page_without_its_picture() -> None:
    for name in registry.names():
        page = rulebook.page(name)
        assert page is not None
        assert page.startswith(f"# {registry.get(name).info.title}\n")
        assert "![" not in page
        assert "<!--" not in page


def test_a_game_of_another_server_has_none_whatever_it_is_called() -> None:
    assert rulebook.page("no-such-game") is None
    assert rulebook.page("../README") is None
    assert rulebook.page("") is None


def test_every_page_is_html_that_does_nothing_and_leads_nowhere() -> None:
    fragments = rule_pages.fragments()
    assert sorted(fragments) == sorted(registry.names())
    for name, html in fragments.items():
        assert html.startswith(f"<h1>{registry.get(name).info.title}</h1>\n")
        for tag in ("<a", "<img", "<script", "<style", "style="):
            assert tag not in html
    assert "<table>" in fragments["chinese-checkers"]


def test_an_installed_package_has_the_pages_too() -> None:
    """They are packaged in the expected location."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packed = build["targets"]["wheel"]["force-include"]["docs/games"]
    assert packed == rulebook.PLACES[0].name
    assert rulebook.PLACES[0].parent == Path(kibitz_games.__file__).parents[1]


def test_in_an_installed_package_the_page_is_found_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rulebook, "PLACES", (tmp_path, tmp_path / "docs"))
    assert rulebook.path("tanks") is None
    page = tmp_path / "tanks.md"
    page.write_text("# Tanks\n")
    assert rulebook.path("tanks") == page
    guide = "\n".join(describe_game(registry.get("tanks"), [], 1000))
    assert f"rules     {page}" in guide
    page.unlink()
    assert "rules     " not in "\n".join(describe_game(registry.get("tanks"), [], 1000))
