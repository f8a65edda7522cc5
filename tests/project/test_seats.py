"""Seats are numbered from 1 for people, and from 0 in messages and programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kibitz.cli import kibitz
from kibitz_games.core.scene import seat_name

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^( *)```.*?^\1```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FIRST_SEAT = re.compile(r"\bseats? 0\b|shoulder=0|--seat 0", re.IGNORECASE)
PACKAGES = ("games", "search", "training", "bots", "arena", "clients", "kibitz")
SHOWN = re.compile(r"(?<!-)\bseats?:? $")
FROM_ONE = {
    "clients/kibitz_clients/wording/line_output.py",
    "clients/kibitz_clients/mcp/match_text.py",
    "bots/kibitz_bots/llm/prompts.py",
    "kibitz/analysis/verification.py",
    "kibitz/analysis/regression_test.py",
    "kibitz/analysis/branch.py",
    "kibitz/commands/bisect.py",
    "games/kibitz_games/chinese_checkers/models.py",
}
"""Modules in which the number after the word "seat" already counts from 1."""


def test_the_first_seat_of_a_scene_is_1() -> None:
    assert seat_name(0) == "seat 1"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_counts_seats_from_0_in_prose(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not FIRST_SEAT.search(CODE.sub("", text))
    assert not re.search(r"shoulder=0|--seat 0", text)


def test_the_rule_is_stated_once() -> None:
    stating = [page for page in PAGES if "Seats count from 1" in page.read_text(encoding="utf-8")]
    assert [page.relative_to(ROOT).as_posix() for page in stating] == ["docs/games/README.md"]


def texts_with_seats(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions after the word "seat" in f-strings."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, value in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(before, ast.Constant)
                and SHOWN.search(str(before.value))
                and isinstance(value, ast.FormattedValue)
            ):
                yield value.value


def test_no_sentence_of_a_program_counts_seats_from_0() -> None:
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if name in FROM_ONE or not re.search("seats?:? {", text):
            continue
        for shown in texts_with_seats(ast.parse(text)):
            assert ast.unparse(shown).endswith("+ 1"), f"{name}: {ast.unparse(shown)}"


def test_every_seat_option_counts_from_1() -> None:
    def options(command: click.Command) -> Iterator[click.Parameter]:
        yield from command.params
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                yield from options(found)

    numbered = [each for each in options(kibitz) if "--seat" in each.opts]
    assert len(numbered) > 5
    for each in numbered:
        assert isinstance(each.type, click.IntRange)
        assert each.type.min == 1
