"""The README and docs: the command accepts every command line in them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from docs.generate import __main__ as generate
from docs.generate import wall
from kibitz.builtin_games import load_games
from kibitz.cli import kibitz
from kibitz.commands.serve import serve
from kibitz.options.database import DatabaseType
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import Bot
from kibitz_clients.matches.recorded_match import load_record
from kibitz_clients.render.match_picture import draw_svg
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_server.app import Config

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "protocol",
    "games",
    "search",
    "training",
    "server",
    "bots",
    "clients",
    "arena",
    "kibitz",
)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(kibitz [a-z]+ [^`\n]+)`")
"""A command with arguments; a bare command is only a name."""
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_ANCHOR = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FILE = re.compile(r"`([\w/]+(?:\.py|/))`")
_GENERATED = re.compile(r"^::: (\S+)$", re.MULTILINE)
"""A name whose reference the site inserts."""


def commands(text: str) -> Iterator[str]:
    """Yield the command lines of a page, in shell blocks and inline."""
    for kind, block in _BLOCK.findall(text):
        if kind in {"sh", "console", "bash"}:
            joined = block.replace("\\\n", " ")
            yield from (line.strip() for line in joined.splitlines() if line.strip())
    yield from _INLINE.findall(_BLOCK.sub("", text))


def understood(line: str) -> None:
    """Parse a line like the shell and `kibitz`; raise `kibitz`'s usage errors."""
    words = shlex.split(re.sub(r"\s[>|&].*$", "", line), comments=True)
    context = click.Context(kibitz, info_name="kibitz")
    command: click.Command = kibitz
    rest = words[1:]
    for place, word in enumerate(words[1:], 1):
        if not isinstance(command, click.Group):
            break
        found = command.get_command(context, word)
        assert found is not None, f"no command {word!r} in {line!r}"
        command, rest = found, words[place + 1 :]
    if isinstance(command, click.Group) or not rest or "--help" in words:
        return  # the bare name of a command
    command.make_context(command.name, [_filled(word) for word in rest])


def _filled(word: str) -> str:
    """Return an existing file for a placeholder, an empty one for a configuration."""
    if word.endswith(".toml"):
        return os.devnull
    return (
        str(Path(__file__))
        if word.endswith((".jsonl", ".resume", ".yaml", ".psq", ".sgf"))
        else word
    )


def lines_of(prefix: str) -> list[tuple[str, str]]:
    return [
        (page.relative_to(ROOT).as_posix(), line)
        for page in PAGES
        for line in commands(page.read_text())
        if line.startswith(prefix)
    ]


def test_every_command_line_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseType, "convert", lambda _self, value, *_: value)
    lines = lines_of("kibitz ")
    assert len(lines) > 100
    for page, line in lines:
        try:
            understood(line)
        except click.UsageError as error:
            raise AssertionError(f"{page}: {line}: {error.message}") from None


def test_a_command_line_that_is_not_understood_is_found() -> None:
    with pytest.raises(click.UsageError):
        understood("kibitz play chinese-checkers a.py b.py --gamez 3")
    with pytest.raises(AssertionError, match="no command 'plya'"):
        understood("kibitz plya chinese-checkers a.py")


def test_the_readme_shows_the_two_commands_and_every_step() -> None:
    shown = {line.split()[1] for _, line in lines_of("kibitz ")}
    assert shown >= {"play", "connect", "serve", "host", "join", "watch", "record", "bot"}
    assert {line.split()[1] for _, line in lines_of("make ")} >= {"demo", "test"}


def test_every_goal_of_make_is_one() -> None:
    goals = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page, line in lines_of("make "):
        assert line.split()[1] in goals, f"{page}: {line}"


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        text = page.read_text()
        for target in _LINK.findall(text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for target, anchor in _ANCHOR.findall(text):
            there = (page.parent / target if target else page).read_text()
            anchors = {*map(slug, _HEADING.findall(there)), *_GENERATED.findall(there)}
            assert anchor in anchors, f"{page.name}: {target}#{anchor}"


def slug(heading: str) -> str:
    """Return the site's anchor for a heading."""
    words = re.sub(r"\]\([^)]*\)", "", heading)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip().lower())


def test_the_files_that_the_explanations_name_are_there() -> None:
    pages = [ROOT / "docs/architecture.md", *(ROOT / "docs/explanation").glob("*.md")]
    named = {(page, name) for page in pages for name in _FILE.findall(page.read_text())}
    assert len(named) > 80
    folders = [ROOT / each for each in (*PACKAGES, "tests", "benchmarks")]
    files = {path.relative_to(ROOT) for each in folders for path in each.rglob("*.*")}
    there = {f"/{path.as_posix()}" for path in files}
    for page, name in named:
        where = f"/{name}"
        assert any(path.endswith(where) or where in path for path in there), f"{page}: {name}"


def test_what_is_generated_is_what_the_code_and_the_results_say() -> None:
    """After changing a bot, an event file or a result, run python -m docs.generate."""
    for path, text in generate.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.relative_to(ROOT)


@pytest.mark.parametrize(
    ("page", "game", "count"),
    [("README.md", "chinese-checkers", 1), ("docs/how-to/bots.md", "tanks", 2)],
)
def test_the_bots_on_a_page_choose_legal_actions(page: str, game: str, count: int) -> None:
    bots = [block for block in python_blocks(page) if "(Bot)" in block]
    assert len(bots) == count
    position = Position(registry.get(game), seed=1)
    match = inprocess.local_match(position, position.to_act)
    for block in bots:
        world: dict[str, Any] = {}
        exec(compile(block, page, "exec"), world)
        (kind,) = [each for each in world.values() if _is_bot(each)]
        assert inprocess.choose_action(kind(), position, match) in position.legal


def test_the_match_without_a_server_on_the_page_is_played() -> None:
    (block,) = [each for each in python_blocks("docs/how-to/bots.md") if "play_locally" in each]
    world: dict[str, Any] = {}
    exec(compile(block, "bots.md", "exec"), world)
    assert world["end"].outcome is not None


def _is_bot(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Bot) and value is not Bot


def python_blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    return [body for kind, body in _BLOCK.findall(text) if kind == "python"]


def test_the_keys_of_the_configuration_file_are_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs/reference/limits.md").read_text(), re.M | re.S
    )
    seen: list[Config] = []
    monkeypatch.setattr("kibitz_server.app.run", lambda config, *_, **__: seen.append(config))
    (tmp_path / "kibitz.toml").write_text(block)
    words = ["--config", str(tmp_path / "kibitz.toml"), "--db", str(tmp_path / "x.db")]
    done = CliRunner().invoke(serve, words)
    assert done.exit_code == 0, done.output
    [config] = seen
    assert config.quotas.lobbies == 4
    assert config.keeping.days == 90


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """It loads no fonts, scripts or style sheets from other hosts."""
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link)[^>]*(?:src|href)=\"?(https?:[^\s\">]+)", text)
        assert loaded == [], page.name


@pytest.mark.parametrize("page", ["explanation/promises.md", "reference/interoperability.md"])
def test_every_test_that_a_table_names_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 30
    for path, name in named:
        text = (ROOT / path).read_text()
        assert not name or f"def {name}(" in text, f"{path} has no {name}"


@dataclass(frozen=True)
class Picture:
    """A picture and the command that creates it."""

    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    @property
    def path(self) -> Path:
        return ROOT / self._after("--out")

    def drawn(self) -> str:
        ply, seat = self._number("--ply"), self._number("--seat")
        viewpoint = None if seat is None else seat - 1
        record = load_record(ROOT / self.words[3], load_games("plain"), viewpoint)
        return draw_svg(record, ply)

    def _number(self, option: str) -> int | None:
        return int(self._after(option)) if option in self.words else None

    def _after(self, option: str) -> str:
        return self.words[self.words.index(option) + 1]


PICTURES = [Picture(line) for _, line in lines_of("kibitz record export docs/images/")]


def test_a_picture_is_what_the_docs_say_how_to_make() -> None:
    for picture in PICTURES:
        assert picture.path.read_text(encoding="utf-8") == picture.drawn(), picture.line


def test_every_picture_has_its_line_and_every_built_in_game_its_picture() -> None:
    made = {picture.path.name for picture in PICTURES}
    there = {path.name for path in (ROOT / "docs/images").glob("*.svg")}
    assert there == made | {wall.PICTURE.name, "packages.svg"}
    assert made >= {f"{name}.svg" for name in registry.BUILT_IN}


@pytest.mark.parametrize(
    ("page", "names", "form"),
    [
        ("README.md", registry.BUILT_IN, "(docs/games/{}.md)"),
        ("docs/games/README.md", registry.BUILT_IN, "({}.md)"),
        ("docs/games/README.md", registry.BUILT_IN, "(../images/{}.svg)"),
        ("mkdocs.yml", registry.BUILT_IN, "- games/{}.md\n"),
    ],
)
def test_the_lists_of_games_name_each_game_once(page: str, names: Iterable[str], form: str) -> None:
    text = (ROOT / page).read_text()
    for name in names:
        assert text.count(form.format(name)) == 1, name


def test_the_list_of_games_says_who_plays_and_what_is_hidden() -> None:
    text = (ROOT / "docs/games/README.md").read_text()
    late = {"forfeit": {"drops out", "loses"}, "random": {"makes a random move"}}
    for name, game in load_games("plain").items():
        row = next(line for line in text.splitlines() if f"]({name}.md)" in line)
        _, players, hidden, out = [cell.strip() for cell in row.strip("|").split("|")][1:]
        seats = game.info.seats
        assert players == (f"{seats[0]} to {seats[-1]}" if len(seats) > 1 else str(seats[0]))
        assert hidden == ("yes" if game.info.hidden else "no")
        assert out in late.get(game.info.on_flag, {"does nothing"})
