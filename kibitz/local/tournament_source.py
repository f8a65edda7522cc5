"""The source of the tournament that `kibitz arena` runs: a file, flags, or a directory."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from kibitz.local.match_series import distinct_names, player_name
from kibitz.local.tournament_checks import startup_problems
from kibitz.options import notation
from kibitz.output import echo
from kibitz.process.limits import MIB
from kibitz_arena.config import build, load, plain_lines
from kibitz_arena.config_error import ConfigError, ConfigProblem
from kibitz_arena.journal import JournalError
from kibitz_arena.runner.directory import NoTournamentError, TournamentDirectory
from kibitz_arena.tournament import Tournament
from kibitz_arena.yaml_positions import Document
from kibitz_bots.adapters.external_program import program_words

EXIT_UNABLE = 2
"""The exit status of a tournament that could not begin."""


def resolve(
    words: Sequence[str], given: dict[str, Any]
) -> tuple[Tournament, TournamentDirectory, Path]:
    """Return the tournament, its directory, and the base of its paths; refuse invalid input."""
    from kibitz_games.compiled import kernels

    kernels.set_mode("plain")
    try:
        if given["game"] is not None:
            return _from_flags(words, given)
        _refuse_flags(given)
        if len(words) != 1:
            raise click.UsageError(
                "expected a tournament file or directory, or --game and --players"
            )
        path = Path(words[0])
        return _from_directory(path, given) if path.is_dir() else _from_file(path, given)
    except (ConfigError, NoTournamentError, JournalError) as error:
        echo(f"Error: {error}", err=True)
        sys.exit(EXIT_UNABLE)


def _from_file(path: Path, given: dict[str, Any]) -> tuple[Tournament, TournamentDirectory, Path]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoTournamentError(f"{path}: expected a tournament file: {error}") from None
    tournament = load(text, str(path))
    folder = TournamentDirectory(given["directory"] or path.parent / f"{tournament.name}.arena")
    given["server"] = given["server"] or _previous_server(folder)
    problems = [*startup_problems(tournament, path.parent, given["server"])]
    if problems:
        raise ConfigError(str(path), problems, plain_lines(Document.read(text).lines))
    return tournament, folder, path.parent


def _previous_server(folder: TournamentDirectory) -> str | None:
    """Return the server on which a tournament continues, if it is not a private one."""
    place = folder.host_session()
    return None if place is None else place.server


def _from_directory(
    path: Path, given: dict[str, Any]
) -> tuple[Tournament, TournamentDirectory, Path]:
    folder = TournamentDirectory(path)
    tournament, base = folder.tournament(), folder.base()
    given["server"] = given["server"] or _previous_server(folder)
    problems = [*startup_problems(tournament, base, given["server"])]
    if problems:
        raise ConfigError(str(folder.journal), problems, {})
    return tournament, folder, base


_FLAGS = {
    "format": "format",
    "seats": "seats",
    "games": "games",
    "blocks": "blocks",
    "rounds": "rounds",
    "challengers": "challengers",
    "tc": "time_control",
    "seed": "seed",
    "concurrency": "concurrency",
}
"""The flags that set a key of a tournament, with the key."""
_IN_FILES = {flag: f"--{flag}" for flag in _FLAGS if flag != "concurrency"} | {
    "players": "--players",
    "remote": "--remote",
    "kind": "--stdio or --gomocup",
    "memory": "--memory",
    "cpu": "--cpu",
    "options": "--option",
    "openings": "--opening",
    "sprt": "--sprt",
    "rated": "--rated",
    "title": "--name",
}
"""The parameters that correspond to keys of a tournament file, with their flags."""


def _from_flags(
    words: Sequence[str], given: dict[str, Any]
) -> tuple[Tournament, TournamentDirectory, Path]:
    values = {key: given[flag] for flag, key in _FLAGS.items() if given[flag] is not None}
    values |= {"name": given["title"] or "event", "entrants": [*_entrants(words, given)]}
    values |= _game(given)
    if given["rated"]:
        values["rated"] = True
    if given["games"] == 1:  # a single game has no block
        values["balanced"] = False
    limits = {key: given[key] for key in ("memory", "cpu") if given[key] is not None}
    if limits:
        values["limits"] = limits | ({"memory": given["memory"] * MIB} if given["memory"] else {})
    if given["concurrency"] not in (None, "auto"):
        values["concurrency"] = _number(given["concurrency"])
    if given["sprt"]:
        values["stop"] = _stop(given["sprt"], values["entrants"])
    tournament = build(values, "flags")
    problems = [*startup_problems(tournament, Path(), given["server"])]
    if problems:
        raise ConfigError("flags", problems, {})
    if not given["title"]:
        # The same flags continue the same tournament; other flags start another one.
        name = f"{tournament.game.name}-{tournament.hash[:8]}"
        tournament = tournament.model_copy(update={"name": name})
    directory = TournamentDirectory(given["directory"] or Path(f"{tournament.name}.arena"))
    return tournament, directory, Path()


def _game(given: dict[str, Any]) -> dict[str, Any]:
    """Return the game, its options and the openings as keys of a tournament."""
    try:
        chosen = notation.parse_game(given["game"])
        options = chosen.options | notation.parse_options(given["options"], chosen.name)
        found: dict[str, Any] = {"game": {"name": chosen.name, "options": options}}
        if given["openings"]:
            found["openings"] = _openings(given["openings"], chosen.name)
    except ValueError as error:
        raise ConfigError("flags", [ConfigProblem((), str(error))], {}) from None
    return found


def _openings(texts: Sequence[str], game: str) -> Any:
    if len(texts) == 1 and (random := re.fullmatch(r"random=(\d+)", texts[0])):
        return {"random_plies": int(random[1])}
    if len(texts) == 1 and texts[0].startswith("file="):
        return {"file": texts[0].removeprefix("file=")}
    return [notation.parse_options(text.split(","), game) for text in texts]


def _entrants(words: Sequence[str], given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the entrants from flags: `--players` and the words after it, then the program."""
    from kibitz_bots.adapters.line_process import program_name

    bots = [*given["players"], *words]
    command = [*program_words()]
    names = distinct_names([*map(player_name, bots), *([program_name(command)] if command else [])])
    for name, bot in zip(names, bots, strict=False):
        yield {"name": name, "bot": bot}
    for name in given["remote"]:
        yield {"name": name, "remote": True}
    if command:
        yield {"name": names[-1], given["kind"] or "command": command}
    elif given["kind"]:
        raise click.UsageError(
            f"--{given['kind']} needs a program after --, such as -- node bot.js"
        )


def _stop(text: str, entrants: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if not 2 <= len(numbers) <= 4 or len(entrants) < 2:
        raise click.UsageError(f"--sprt: expected ELO0,ELO1 and at least two players, not {text!r}")
    values = dict(zip(("elo0", "elo1", "alpha", "beta"), numbers, strict=False))
    return {"better": [each["name"] for each in entrants[:2]], **values}


def _refuse_flags(given: dict[str, Any]) -> None:
    """Refuse flags that a tournament file replaces."""
    told = next((flag for key, flag in _IN_FILES.items() if given[key]), None)
    if told is not None or program_words():
        raise click.UsageError(
            f"{told or 'a program after --'} needs --game; in a tournament file, set it there"
        )


def with_concurrency(tournament: Tournament, concurrency: str) -> Tournament:
    number = "auto" if concurrency == "auto" else _number(concurrency)
    return tournament.model_copy(update={"concurrency": number})


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise click.UsageError(
            f"--concurrency: expected a number of at least 1, or auto, not {text!r}"
        )
    return int(text)
