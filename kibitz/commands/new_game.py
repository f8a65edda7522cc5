"""`kibitz new-game`: a game that works, to be changed into the one that is meant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

import click

from kibitz.output import echo

STARTER = Path(__file__).parents[1] / "starters" / "game"
"""The templates of the files."""
_REGISTRY = "games/kibitz_games/core/registry.py"
_TABLE = "MODULES: dict[str, str] = {\n"
_GOLDEN = "tests/games/data/playthrough-{name}.txt"


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
        message = f"expected lower-case words with hyphens, as in tic-tac-toe, not {name!r}"
        raise click.BadParameter(message, param_hint="NAME")
    if not (root / _REGISTRY).is_file():
        raise click.ClickException(f"{root} is no clone of kibitz: it has no {_REGISTRY}")
    files = _files(name)
    for path in files:
        if (root / path).exists():
            raise click.ClickException(f"{path} is there already")
    registry = (root / _REGISTRY).read_text()
    if registry.count(_TABLE) != 1:
        raise click.ClickException(f"{_REGISTRY} has no table of games that begins {_TABLE!r}")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    line = f'    "{name}": "kibitz_games.{_package(name)}",\n'
    (root / _REGISTRY).write_text(registry.replace(_TABLE, _TABLE + line))
    golden = _GOLDEN.format(name=name)
    (root / golden).write_text(_playthrough(name, root))
    for path in (*files, golden, _REGISTRY):
        echo(f"wrote {path}")
    echo(_filled("next.txt", _words(name)).rstrip())


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


def _playthrough(name: str, root: Path) -> str:
    """Return the golden playthrough, made by a process that finds the new game first."""
    command = [sys.executable, "-m", "kibitz_games.conformance.playthrough", name]
    done = subprocess.run(
        command,
        cwd=root / "games",
        env=os.environ | {"KIBITZ_PLAIN": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
