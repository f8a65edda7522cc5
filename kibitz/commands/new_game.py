"""`kibitz game new`: create a package with a working game to change into your own."""

from __future__ import annotations

import importlib.util
import keyword
import re
from pathlib import Path

import click

from kibitz import starters
from kibitz.output import echo

NEXT = """Next:
  cd {name}
  pip install -e .
  kibitz play {name} {name}/random {name}/greedy --games 2
The rules are in {package}/rules.py; python -m pytest runs the tests."""


@click.command("new", short_help="Create a working game to change into yours.")
@click.argument("name")
def new_game(name: str) -> None:
    """Write the package of a new game to the directory NAME, such as avoid-three.

    The starter is a two-player game on a three-by-three board. kibitz finds it after `pip install
    -e NAME`. Its tests pass; adapt them when you change the rules.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        message = f"expected lower-case words with hyphens, such as hop or two-words, not {name!r}"
        raise click.BadParameter(message, param_hint="NAME")
    package, directory = name.replace("-", "_"), Path(name)
    if _is_taken(name, package):
        raise click.ClickException(f"the name {name!r} is taken by another game or Python module")
    starters.make_directory(directory)
    values = {
        "name": name,
        "package": package,
        "distribution": f"kibitz-{name}",
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "title": name.replace("-", " ").capitalize(),
    }
    for path in starters.fill("game", directory, values):
        echo(f"wrote {path}")
    echo(NEXT.format_map(values))


def _is_taken(name: str, package: str) -> bool:
    from kibitz_games.core import registry

    if name in registry.names() or keyword.iskeyword(package):
        return True
    return importlib.util.find_spec(package) is not None
