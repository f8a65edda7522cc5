"""What README and docs say: every command line is one that the command understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from kibitz.box import games
from kibitz.cli import kibitz
from kibitz_clients.replay import export_svg
from kibitz_games import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(kibitz [a-z]+ [^`\n]+)`")
"""A command with its arguments; a command alone is a name."""
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def commands(text: str) -> Iterator[str]:
    """Yield the command lines of a page: in blocks of shell, and inline."""
    for kind, block in _BLOCK.findall(text):
        if kind in {"sh", "console", "bash"}:
            joined = block.replace("\\\n", " ")
            yield from (line.strip() for line in joined.splitlines() if line.strip())
    yield from _INLINE.findall(_BLOCK.sub("", text))


def understood(line: str) -> None:
    """Parse a line as the shell and then `kibitz` would; raise what `kibitz` would complain of."""
    words = shlex.split(re.sub(r"\s[>|&].*$", "", line), comments=True)
    context = click.Context(kibitz, info_name="kibitz")
    command: click.Command = kibitz
    for place, word in enumerate(words[1:], 1):
        if not isinstance(command, click.Group):
            break
        found = command.get_command(context, word)
        assert found is not None, f"no command {word!r} in {line!r}"
        command, rest = found, words[place + 1 :]
    if isinstance(command, click.Group) or "--help" in words:
        return
    command.make_context(command.name, [_filled(word) for word in rest])


def _filled(word: str) -> str:
    """A file that stands for any file is there."""
    return str(Path(__file__)) if word.endswith((".jsonl", ".toml", ".resume", ".yaml")) else word


def lines_of(prefix: str) -> list[tuple[str, str]]:
    return [
        (page.relative_to(ROOT).as_posix(), line)
        for page in PAGES
        for line in commands(page.read_text())
        if line.startswith(prefix)
    ]


@pytest.mark.parametrize(("page", "line"), lines_of("kibitz "))
def test_a_command_line_is_understood(page: str, line: str) -> None:
    understood(line)


def test_a_command_line_that_is_not_understood_is_found() -> None:
    with pytest.raises(click.UsageError):
        understood("kibitz play chinese-checkers a.py b.py --gamez 3")
    with pytest.raises(AssertionError, match="no command 'plya'"):
        understood("kibitz plya chinese-checkers a.py")


def test_the_readme_shows_the_two_commands_and_every_step() -> None:
    shown = {line.split()[1] for _, line in lines_of("kibitz ")}
    assert shown >= {"play", "bot", "serve", "host", "join", "watch", "replay", "export"}
    assert {line.split()[1] for _, line in lines_of("make ")} >= {"demo", "test"}


@pytest.mark.parametrize(("page", "line"), lines_of("make "))
def test_every_goal_of_make_is_one(page: str, line: str) -> None:
    goals = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert line.split()[1] in goals


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_test_that_keeps_a_promise_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs/promises.md").read_text())
    assert len(named) > 30
    for path, name in named:
        text = (ROOT / path).read_text()
        assert not name or f"def {name}(" in text, f"{path} has no {name}"


@dataclass(frozen=True)
class Picture:
    """A picture, and the line that makes it."""

    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    @property
    def path(self) -> Path:
        return ROOT / self._after("--svg")

    def drawn(self) -> str:
        ply, seat = self._number("--ply"), self._number("--seat")
        return export_svg(ROOT / self.words[2], games("plain"), ply, seat)

    def _number(self, option: str) -> int | None:
        return int(self._after(option)) if option in self.words else None

    def _after(self, option: str) -> str:
        return self.words[self.words.index(option) + 1]


PICTURES = [Picture(line) for _, line in lines_of("kibitz export docs/images/")]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.name)
def test_a_picture_is_what_the_docs_say_how_to_make(picture: Picture) -> None:
    assert picture.path.read_text(encoding="utf-8") == picture.drawn()


def test_every_picture_has_its_line_and_every_game_its_picture() -> None:
    made = {picture.path.name for picture in PICTURES}
    assert made == {path.name for path in (ROOT / "docs/images").glob("*.svg")}
    assert made >= {f"{name}.svg" for name in registry.names()}


@pytest.mark.parametrize("page", ["README.md", "docs/games/README.md"])
def test_the_lists_of_games_have_a_link_and_a_picture_for_each(page: str) -> None:
    links = set(_LINK.findall((ROOT / page).read_text()))
    named = {Path(link).name for link in links}
    for name in registry.names():
        assert {f"{name}.md", f"{name}.svg"} <= named


def test_the_list_of_games_says_who_plays_and_what_is_hidden() -> None:
    text = (ROOT / "docs/games/README.md").read_text()
    late = {"forfeit": {"drops out", "loses"}, "random": {"has a move drawn"}}
    for name, game in games("plain").items():
        row = next(line for line in text.splitlines() if f"]({name}.md)" in line)
        _, players, hidden, out = [cell.strip() for cell in row.strip("|").split("|")][1:]
        seats = game.info.seats
        assert players == (f"{seats[0]} to {seats[-1]}" if len(seats) > 1 else str(seats[0]))
        assert hidden == ("yes" if game.info.hidden else "no")
        assert out in late.get(game.info.on_flag, {"does nothing"})
