"""`kibitz new-game`: a game that works, to be changed into the one that is meant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

import click

from kibitz.output import echo

STARTER = Path(__file__).parents[1] / "starters" / "game"
"""The templates of the files."""
_REGISTRY = "games/kibitz_games/core/registry.py"
_GOLDEN = "tests/games/data/playthrough-{name}.txt"
_PACKAGES = ("", "protocol", "games", "search", "training", "server", "bots", "arena", "clients")
"""Where the packages of a clone are."""


@dataclass(frozen=True)
class GameList:
    """A file of the clone that lists the games, one per line."""

    path: str
    entry: re.Pattern[str]
    """The line of a game; the new one is added below the last of them."""
    template: str


_LISTS = (
    GameList(
        _REGISTRY,
        re.compile(r'^    "[a-z0-9-]+": "kibitz_games\.\w+",\n', re.MULTILINE),
        '    "$name": "kibitz_games.$package",\n',
    ),
    GameList(
        "README.md",
        re.compile(r"^- \[.+\]\(docs/games/[a-z0-9-]+\.md\).*\n", re.MULTILINE),
        "- [$title](docs/games/$name.md)\n",
    ),
    GameList(
        "docs/games/README.md",
        re.compile(r"^\|.*\]\([a-z0-9-]+\.md\).*\|\n", re.MULTILINE),
        "| | [$title]($name.md) | 2 | no | loses |\n",
    ),
    GameList(
        "mkdocs.yml",
        re.compile(r"^ +- games/[a-z0-9-]+\.md\n", re.MULTILINE),
        "      - games/$name.md\n",
    ),
)


@click.command("new-game", short_help="Create a working game to change into yours.")
@click.argument("name")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="The clone of kibitz to write into; usually where you are.",
)
def new_game(name: str, root: Path) -> None:
    """Write the rules, the tests and the page of a game called NAME, for example tic-tac-toe.

    It is a game for two who fill a board of three by three. Its tests pass as they are; change
    them with the rules.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        message = f"expected lower-case words with hyphens, such as hop or two-words, not {name!r}"
        raise click.BadParameter(message, param_hint="NAME")
    if not (root / _REGISTRY).is_file():
        raise click.ClickException(f"{root} is no clone of kibitz: it has no {_REGISTRY}")
    files = _files(name)
    for path in files:
        if (root / path).exists():
            raise click.ClickException(f"{path} is there already")
    lists = {edit.path: _extended(edit, name, root) for edit in _LISTS}
    for path, text in (files | lists).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    golden = _GOLDEN.format(name=name)
    playthrough = _run(root, "kibitz_games.conformance.playthrough", name)
    (root / golden).write_text(playthrough, encoding="utf-8")
    for path in (*files, golden, *lists, *_generated(root)):
        echo(f"wrote {path}")
    echo(_filled("next.txt", _words(name)).rstrip())


def _extended(games: GameList, name: str, root: Path) -> str:
    """Return the text of a list with the new game in it."""
    text = (root / games.path).read_text(encoding="utf-8") if (root / games.path).exists() else ""
    entries = [*games.entry.finditer(text)]
    if not entries:
        raise click.ClickException(f"{games.path} has no list of games to add the new one to")
    place = entries[-1].end()
    return text[:place] + Template(games.template).substitute(_words(name)) + text[place:]


def _package(name: str) -> str:
    return name.replace("-", "_")


def _words(name: str) -> dict[str, str]:
    """Return what the templates are filled with."""
    return {
        "name": name,
        "package": _package(name),
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "title": name.replace("-", " ").capitalize(),
    }


def _files(name: str) -> dict[str, str]:
    """Return the new files by their paths."""
    package, words = _package(name), _words(name)
    return {
        f"games/kibitz_games/{package}/rules.py": _filled("rules.py", words),
        f"games/kibitz_games/{package}/__init__.py": _filled("__init__.py", words),
        f"tests/games/{package}/cases.py": _filled("cases.py", words),
        f"tests/games/{package}/test_rules.py": _filled("test_rules.py", words),
        f"tests/games/data/{name}-perft.jsonl": _filled("perft.jsonl", words),
        f"docs/games/{name}.md": _filled("page.md", words),
    }


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (STARTER / f"{template}.tmpl").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _generated(root: Path) -> list[str]:
    """Write the generated pages, which list each game; return the paths of the changed ones."""
    printed = _run(root, "docs.generate")
    written = [line.removeprefix("written: ") for line in printed.splitlines()]
    return [Path(path).relative_to(root.resolve()).as_posix() for path in written]


def _run(root: Path, module: str, *arguments: str) -> str:
    """Run a module of the clone in a process that finds the new game; return what it prints."""
    packages = [str((root / package).resolve()) for package in _PACKAGES]
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=root,
        env=os.environ | {"KIBITZ_PLAIN": "1", "PYTHONPATH": os.pathsep.join(packages)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise click.ClickException(f"python -m {module} failed:\n{done.stderr.strip()}")
    return done.stdout
