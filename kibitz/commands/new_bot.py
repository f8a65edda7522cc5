"""`kibitz bot new`: a directory with a bot that plays, and a test of it, to begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import click

from kibitz import starters
from kibitz.output import echo

Language: TypeAlias = Literal["python", "node", "c"]
HERE = Path(__file__).parents[1]
EXAMPLES = (HERE.parent / "kibitz_examples", HERE.parent / "docs" / "examples")
"""The places of `docs/examples`: in an installed package and in a checkout."""
COPIED: dict[Language, tuple[str, ...]] = {"python": (), "node": ("bot.js",), "c": ("bot.c",)}
"""The examples that a starter is made of, besides its templates."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")
NEXT: dict[Language, tuple[str, str]] = {
    "python": ("python -m unittest", "kibitz play {game} bot.py {opponents}"),
    "node": ("node --test", "kibitz play {game} {opponents} --stdio -- node bot.js"),
    "c": ("make test", "kibitz play {game} {opponents} --stdio -- ./bot"),
}
"""How the test of a starter is run, and how the bot plays, from within its directory."""


@click.command("new", short_help="Create a starter bot and its test.")
@click.argument("name")
@click.option(
    "--lang",
    "language",
    type=click.Choice(get_args(Language)),
    default="python",
    show_default=True,
    help="What it is written in.",
)
@click.option("--game", help="The game that its test and its first match are of.")
def new_bot(name: str, language: Language, game: str | None) -> None:
    """Write a directory NAME with a bot that plays, and a test of it.

    \b
    kibitz bot new mybot
    kibitz bot new mybot --lang node
    """
    directory = Path(name)
    if not NAME.fullmatch(directory.name):
        raise click.UsageError(
            f"expected a name of letters, digits, - and _, up to 24 of them, not {directory.name!r}"
        )
    values = _values(directory.name, game)
    starters.make_directory(directory)
    for path in (*_copy(directory, language), *starters.fill(language, directory, values)):
        echo(f"wrote {path}")
    test, play = NEXT[language]
    echo(f"Go on with:\n  cd {directory}\n  {test}\n  {play.format_map(values)}")


def _values(name: str, game: str | None) -> dict[str, str]:
    """Return what the templates leave open."""
    from kibitz_games.core import registry

    chosen = registry.get(game or registry.names()[-1]).info
    return {
        "name": name,
        "class_name": "".join(part.title() for part in re.split("[-_]+", name)) or "Bot",
        "game": chosen.name,
        "opponents": " ".join([f"{chosen.name}/random"] * (min(chosen.seats) - 1)),
    }


def _copy(directory: Path, language: Language) -> Iterator[Path]:
    """Write the examples that a starter is made of, and yield the files."""
    for example in COPIED[language]:
        source = next(place for place in EXAMPLES if place.is_dir()) / example
        text = source.read_text(encoding="utf-8").replace("docs/examples/", "")
        (directory / example).write_text(text, encoding="utf-8")
        yield directory / example
