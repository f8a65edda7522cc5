"""The rules of the games, as the terminal shows them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from kibitz.text import rulebook
from kibitz_games.core import registry

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


def test_an_installed_package_has_the_pages_too() -> None:
    """They are packed where `rules` looks for them, and the image has them to pack."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packed = build["targets"]["wheel"]["force-include"]["docs/games"]
    assert ROOT / packed == rulebook.PLACES[0]
    assert "COPY docs/games docs/games" in (ROOT / "Dockerfile").read_text()
    assert "!docs/games" in (ROOT / ".dockerignore").read_text()
