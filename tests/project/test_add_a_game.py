"""The page "Add a game", followed to the letter in a copy of the project.

Files are written as the page shows them, lines are added where it adds them, the commands of its
shell blocks are run in their order, and what it says is seen has to be seen.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tools.project_copy import copy_project, environment

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "add-a-game.md"
OF_THE_PROJECT = (
    "tests/project/test_docs.py",
    "tests/project/test_imports.py",
    "tests/project/test_structure.py",
    "tests/house/test_bot_catalog.py",
    "tests/kibitz/local/test_demo_programme.py",
)
"""Tests that list the games, beyond those of the games themselves."""
FOR_EACH_GAME = ("tests/clients/test_games.py", "tests/bots/running/test_warmup.py")
"""Tests that are run for each game, some of which its length or board could fail."""
SECONDS = 300.0
_STEP = re.compile(
    r"^(?:\*\*`(?P<path>[^`\n]+)`\*\*\n\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_DRAW = """
from kibitz_clients.render.svg import document
from kibitz_clients.render.terminal import canvas
from kibitz_games.core import registry
from kibitz_games.core.position import Position

position = Position(registry.get("tic-tac-toe"))
while True:
    scene = position.scene()
    assert canvas.board_size(scene, canvas.fit_tile_size(scene, 52, 18))[0] <= 52
    assert canvas.draw(scene, canvas.fit_tile_size(scene, 52, 18)).rows
    assert document.render_svg(scene).startswith("<svg")
    if position.outcome is not None:
        break
    position.push(position.legal[-1])
print("drawn")
"""


@dataclass(frozen=True)
class Step:
    """A block of the page: a file, a change of one, commands, or what is seen then."""

    kind: str
    path: str | None
    body: str


def steps() -> Iterator[Step]:
    for found in _STEP.finditer(PAGE.read_text()):
        yield Step(found["kind"], found["path"], found["body"])


@dataclass
class Clone:
    """A copy of the project, which a reader changes."""

    root: Path

    def write(self, path: str, body: str) -> None:
        """Write a new file."""
        place = self.root / path
        assert not place.exists(), f"{path} is there already"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(body)

    def change(self, path: str, diff: str) -> None:
        """Apply a diff without line numbers; what it stands on has to be there once."""
        lines = [(line[:1], line[1:] + "\n") for line in diff.splitlines()]
        before = "".join(text for sign, text in lines if sign in " -")
        after = "".join(text for sign, text in lines if sign in " +")
        place = self.root / path
        text = place.read_text()
        assert text.count(before) == 1, f"{path} has no single place for {diff!r}"
        place.write_text(text.replace(before, after))

    def take(self, kind: str, path: str, body: str) -> None:
        """Do what a block with a path says."""
        if kind == "diff":
            self.change(path, body)
        else:
            self.write(path, body)

    def run(self, commands: str) -> str:
        """Run commands in a shell and return what a person sees."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.root,
            env=environment(self.root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        return done.stdout


def seen(expected: str, printed: str) -> None:
    """Fail unless the lines are printed in this order; dots stand for what may differ."""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in expected.splitlines():
        wanted = re.compile(".*".join(re.escape(" ".join(p.split())) for p in line.split("...")))
        assert any(wanted.fullmatch(each) for each in lines), f"{line!r} is not in\n{printed}"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(copy_project(tmp_path))


@pytest.mark.e2e
def test_the_page_leads_to_a_game_that_is_played_and_drawn(clone: Clone) -> None:
    printed = ""
    for step in steps():
        match step:
            case Step(_, str(path), _):
                clone.take(step.kind, path, step.body)
            case Step("sh", None, body):
                printed = clone.run(body)
            case Step("text", None, body):
                seen(body, printed)
            case Step(kind):
                assert kind == "console"  # what waits for a person
    assert (clone.root / "tic-tac-toe.svg").read_text().startswith("<svg")
    assert clone.run(f"python - <<'EOF'{_DRAW}EOF") == "drawn\n"
    check_the_project(clone, "tic-tac-toe")


def check_the_project(clone: Clone, name: str) -> None:
    """Run the project's own tests that list the games, and those of each game for the new one."""
    for chosen in (" ".join(OF_THE_PROJECT), f"{' '.join(FOR_EACH_GAME)} -k {name}"):
        fast = f"{chosen} -m 'not slow and not e2e'"
        assert " passed" in clone.run(f"python -m pytest -q -n 0 -p no:cacheprovider {fast}")


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("name", ["board", "nine-holes"])
def test_a_new_game_passes_the_tests_of_the_project_as_it_is(clone: Clone, name: str) -> None:
    clone.run(f"python -m kibitz new-game {name}")
    check_the_project(clone, name)


@pytest.mark.slow
def test_the_rules_of_the_page_compile(clone: Clone) -> None:
    clone.run(next(step.body for step in steps() if step.kind == "sh"))
    for step in steps():
        if step.path is not None:
            clone.take(step.kind, step.path, step.body)
    digest = "python -m kibitz_games.conformance.laws tic-tac-toe 12"
    compiled = clone.run(f"unset KIBITZ_PLAIN; KIBITZ_CACHE=cache {digest}")
    assert list((clone.root / "cache").rglob("*.nbi"))
    assert compiled == clone.run(digest)


def test_the_page_changes_every_kind_of_file_that_a_game_has() -> None:
    named = {step.path for step in steps() if step.path}
    game = "games/kibitz_games/tic_tac_toe"
    tests = ("tests/games/tic_tac_toe/test_rules.py", "tests/games/data/tic-tac-toe-perft.jsonl")
    assert named == {f"{game}/rules.py", f"{game}/__init__.py", *tests}


def test_what_is_seen_is_compared() -> None:
    seen("one\n... three ...", "zero\none\ntwo and three  or four\n")
    with pytest.raises(AssertionError, match="'three' is not in"):
        seen("one\nthree", "three\none\n")
    with pytest.raises(AssertionError, match="no single place"):
        Clone(ROOT).change("pyproject.toml", " not there\n+anything\n")
