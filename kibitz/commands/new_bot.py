"""`kibitz bot new`: create a working starter bot in the language of its file suffix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from kibitz import starters
from kibitz.output import echo
from kibitz.starters.languages import CLIENTS, LANGUAGES, Language

HERE = Path(__file__).parents[1]
EXAMPLES = (HERE.parent / "kibitz_examples", HERE.parent / "docs" / "examples")
"""The paths of `docs/examples` in an installed package and in a checkout."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")


@click.command("new", short_help="Create a starter bot; the suffix selects the language.")
@click.argument("name")
@click.option("--game", help="The game that the bot plays.")
@click.option(
    "--websocket", is_flag=True, help="Write a .js or .ts bot that connects by itself, not --stdio."
)
def new_bot(name: str, game: str | None, websocket: bool) -> None:
    """Write a working bot: a directory NAME with a Python bot and its test, or a single file.

    The file suffix sets the language: .py, .js, .ts, .c, .cpp, .rs, .go or .java.

    \b
    kibitz bot new mybot
    kibitz bot new mybot.py
    kibitz bot new mybot.go --game line-nim
    kibitz bot new mybot.ts --websocket
    """
    path = Path(name)
    if not NAME.fullmatch(path.stem):
        raise click.UsageError(
            f"expected a name of up to 24 letters, digits, - and _, not {path.stem!r}"
        )
    values = _values(path.stem, game)
    if websocket:
        if path.suffix not in CLIENTS:
            raise click.UsageError(f"--websocket is for .js and .ts, not {path.name!r}")
        _write_file(path, "client", CLIENTS[path.suffix], values, "--")
    elif not path.suffix:
        _write_directory(path, values)
    elif path.suffix == ".py":
        text = starters.text_of(Path("python", "bot.py.tmpl"), values)
        _write_new(path, text.replace("bot.py", path.name))
        _tell_next(path.parent, f"kibitz play {values['game']} {path.name} {values['opponents']}")
    elif path.suffix in LANGUAGES:
        _write_file(path, "bot", LANGUAGES[path.suffix], values, "--stdio --")
    else:
        suffixes = ", ".join([".py", *LANGUAGES])
        raise click.UsageError(
            f"expected a name without a suffix, or with one of {suffixes}, not {path.name!r}"
        )


def _values(name: str, game: str | None) -> dict[str, str]:
    """Return the values of the templates' placeholders."""
    from kibitz.builtin_games import get_game
    from kibitz_games.core import registry

    chosen = get_game(game or registry.names()[-1]).info
    return {
        "name": name,
        "class_name": "".join(part.title() for part in re.split("[-_]+", name)) or "Bot",
        "game": chosen.name,
        "opponents": " ".join([f"{chosen.name}/random"] * (min(chosen.seats) - 1)),
    }


def _write_directory(directory: Path, values: Mapping[str, str]) -> None:
    """Write a bot in Python and its test."""
    starters.make_directory(directory)
    for path in starters.fill("python", directory, values):
        echo(f"wrote {path}")
    play = "kibitz play {game} bot.py {opponents}".format_map(values)
    _tell_next(directory, "python -m unittest", play)


def _write_file(
    path: Path, example: str, language: Language, values: Mapping[str, str], protocol: str
) -> None:
    """Copy the example of a language to `path`; `protocol` goes before its command."""
    source = next(place for place in EXAMPLES if place.is_dir()) / f"{example}{path.suffix}"
    text = source.read_text(encoding="utf-8")
    text = text.replace(f"docs/examples/{source.name}", path.name)
    text = text.replace(f'"{source.name}"', f'"{path.name}"')
    text = text.replace("-o bot ", f"-o {path.stem} ").replace("./bot\n", f"./{path.stem}\n")
    _write_new(path, text)
    build = [language.build.format_map(values)] if language.build else []
    run = language.run.format_map(values)
    play = f"{'kibitz play {game} {opponents}'.format_map(values)} {protocol} {run}"
    _tell_next(path.parent, *build, play)


def _write_new(path: Path, text: str) -> None:
    """Write a new file; refuse to overwrite an existing one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.ClickException(f"{path} already exists") from None
    echo(f"wrote {path}")


def _tell_next(directory: Path, *commands: str) -> None:
    """Print the next commands."""
    steps = [f"cd {directory}", *commands] if directory != Path() else list(commands)
    echo("Next:\n  " + "\n  ".join(steps))
