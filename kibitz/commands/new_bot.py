"""`kibitz bot new`: a directory with a bot that plays, and a test of it, to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import click

from kibitz import starters
from kibitz.output import echo

HERE = Path(__file__).parents[1]
EXAMPLES = (HERE.parent / "kibitz_examples", HERE.parent / "docs" / "examples")
"""The places of `docs/examples`: in an installed package and in a checkout."""
PLAY_PYTHON = "kibitz play {game} bot.py {opponents}"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")


class Language(NamedTuple):
    """A language of starters: how a bot in it is built, run and tested, in its directory."""

    test: str
    run: str
    """The command of the bot, empty for one that kibitz loads itself."""
    templates: str = "lines"
    example: str = ""
    """The file of `docs/examples` that the bot is, unless it is a template."""
    build: str = ""
    """The command that builds it, in `make`."""


LANGUAGES: Final = {
    "python": Language("python -m unittest", "", "python"),
    "node": Language("node --test", "node bot.js", "node", "bot.js"),
    "typescript": Language(
        "make test", "node bot.js", example="bot.ts", build="tsc --strict --target es2022 bot.ts"
    ),
    "c": Language(
        "make test", "./bot", example="bot.c", build="cc -std=c99 -O2 -Wall -Wextra -o bot bot.c"
    ),
    "c++": Language(
        "make test",
        "./bot",
        example="bot.cpp",
        build="c++ -std=c++17 -O2 -Wall -Wextra -o bot bot.cpp",
    ),
    "rust": Language("make test", "./bot", example="bot.rs", build="rustc -O -o bot bot.rs"),
    "go": Language("make test", "./bot", example="bot.go", build="go build -o bot bot.go"),
    "java": Language("make test", "java Bot", example="Bot.java", build="javac Bot.java"),
}


@click.command("new", short_help="Create a starter bot and its test.")
@click.argument("name")
@click.option(
    "--lang",
    "language",
    type=click.Choice(list(LANGUAGES)),
    default="python",
    show_default=True,
    help="What it is written in.",
)
@click.option("--game", help="The game that its test and its first match are of.")
def new_bot(name: str, language: str, game: str | None) -> None:
    """Write a directory NAME with a bot that plays, and a test of it.

    \b
    kibitz bot new mybot
    kibitz bot new mybot --lang rust
    """
    directory = Path(name)
    if not NAME.fullmatch(directory.name):
        raise click.UsageError(
            f"expected a name of letters, digits, - and _, up to 24 of them, not {directory.name!r}"
        )
    chosen = LANGUAGES[language]
    values = _values(directory.name, game) | {"run": chosen.run, "build": chosen.build}
    starters.make_directory(directory)
    copied = [_copy(directory, chosen.example)] if chosen.example else []
    for path in (*copied, *starters.fill(chosen.templates, directory, values)):
        echo(f"wrote {path}")
    play = "kibitz play {game} {opponents} --stdio -- {run}" if chosen.run else PLAY_PYTHON
    echo(f"Go on with:\n  cd {directory}\n  {chosen.test}\n  {play.format_map(values)}")


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


def _copy(directory: Path, example: str) -> Path:
    """Write the example that a starter is made of, and return its file."""
    source = next(place for place in EXAMPLES if place.is_dir()) / example
    text = source.read_text(encoding="utf-8").replace("docs/examples/", "")
    path = directory / example
    path.write_text(text, encoding="utf-8")
    return path
