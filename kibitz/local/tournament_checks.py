"""Checks of a tournament's bots, programs and tokens before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from kibitz.local.match_series import check_bot
from kibitz.options import connection
from kibitz_arena.config_error import ConfigProblem
from kibitz_arena.tournament import Entrant, Tournament


def startup_problems(
    tournament: Tournament, base: Path, server: str | None
) -> Iterator[ConfigProblem]:
    """Yield the problems that prevent a tournament from starting."""
    if tournament.rated and server is None:
        yield ConfigProblem(("rated",), "expected --server: a private server has no ratings")
    if tournament.rated and (tournament.openings or tournament.game.options):
        yield ConfigProblem(
            ("rated",), "expected no options and no openings, because rated games use the defaults"
        )
    if tournament.comments == "spectators" and server is not None:
        yield ConfigProblem(
            ("comments",), "expected no --server: an entrant could watch there under another name"
        )
    for index, entrant in enumerate(tournament.entrants):
        for key, sentence in _entrant_problems(tournament, entrant, base, server):
            yield ConfigProblem(("entrants", index, key), sentence)


def _entrant_problems(
    tournament: Tournament, entrant: Entrant, base: Path, server: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the key and the error for everything that prevents an entrant from playing."""
    from kibitz_bots.spec import SpecError

    try:
        _check(tournament, entrant, base)
    except SpecError as error:
        yield entrant.source, str(error)
    if entrant.remote and server is None:
        yield "remote", "expected --server: remote entrants cannot join a private server"
    if entrant.token_file is not None and server is None:
        yield "token_file", "expected --server: a private server has no accounts"
    elif entrant.token_file is not None:
        try:
            connection.token(base / entrant.token_file)
        except click.BadParameter as error:
            yield "token_file", error.message
    elif tournament.rated and not entrant.remote:
        yield "token_file", "expected the token of an account, since guests are not rated"


def _check(tournament: Tournament, entrant: Entrant, base: Path) -> None:
    """Raise `SpecError` for an entrant that cannot be started."""
    from kibitz_bots.adapters.external_program import require_command
    from kibitz_bots.adapters.gomocup_client import require_playable

    if entrant.bot is not None:
        check_bot(str(base / entrant.bot) if entrant.bot.endswith(".py") else entrant.bot)
    elif not entrant.remote:
        require_command(_resolve_program(base, getattr(entrant, entrant.source)), entrant.source)
    if entrant.gomocup is not None:
        require_playable(tournament.game.name, tournament.game.options)


def _resolve_program(base: Path, command: Sequence[str]) -> list[str]:
    """Return a command with its program's path relative to the current directory."""
    first = command[0]
    return [str(base / first) if "/" in first else first, *command[1:]]
