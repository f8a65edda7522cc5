"""Programs in any language on the command line, and their protocols.

A single program follows ``--`` as separate words. Commands that take several programs also accept
each as one word, like a bot: ``stdio:COMMAND`` or ``gomocup:COMMAND``, quoted for the shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from kibitz_bots.adapters.external_program import (
    KINDS,
    ExternalProgram,
    program_words,
    require_command,
)
from kibitz_bots.adapters.line_process import program_name
from kibitz_bots.spec import SpecError


def bot_or_program(bots: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the single bot or program that a command takes."""
    command = program_words()
    if len(bots) + bool(command) != 1:
        given = " and ".join([*bots, *(["a program after --"] if command else [])]) or "nothing"
        raise click.UsageError(f"expected one BOT, or a program after --, found {given}")
    return command or tuple(bots)


@dataclass(frozen=True)
class Program:
    """A program that plays on this machine."""

    foreign: ExternalProgram
    connects: bool
    """Whether it uses the server's protocol itself."""

    @property
    def name(self) -> str:
        """A player name derived from its command."""
        return program_name(self.foreign.command)

    def check(self, game: str, options: Mapping[str, Any]) -> None:
        """Raise `SpecError` if the program cannot be started or cannot play the game."""
        from kibitz_bots.adapters.gomocup_client import require_playable

        require_command(self.foreign.command, "PROGRAM")
        engine = self.foreign.kind == "gomocup" and not self.connects
        if self.foreign.gomocup_options and not engine:
            raise SpecError(f"{self.foreign.gomocup_options[0]} needs an engine: add --gomocup")
        if engine:
            require_playable(game, options)


def program_of_word(word: str, options: Mapping[str, Any]) -> Program | None:
    """Return the program in a word like ``gomocup:./engine -x``, None if the word names a bot.

    Its settings are those in `options` that are meant for its kind of program.
    """
    kind = next((kind for kind in KINDS if word.startswith(f"{kind}:")), None)
    if kind is None:
        return None
    try:
        command = shlex.split(word.removeprefix(f"{kind}:"))
    except ValueError as error:
        raise click.UsageError(f"{word}: {str(error).lower()}") from None
    if not command:
        raise click.UsageError(f'{word}: expected a command, such as "{kind}:./bot --fast"')
    program = ExternalProgram.from_options(command, {**options, "kind": kind})
    if kind == "stdio":
        program = ExternalProgram(kind=kind, command=program.command, limits=program.limits)
    return Program(program, connects=False)


def trailing_program(options: Mapping[str, Any], others: Sequence[Program] = ()) -> Program | None:
    """Return the program after ``--`` on the command line, None if there is none.

    `others` are programs from `program_of_word`, to which the options may also apply.
    """
    command = program_words()
    program = ExternalProgram.from_options(command, options)
    if command:
        return Program(program, connects=options["kind"] is None)
    engine = any(other.foreign.kind == "gomocup" for other in others)
    # The limits also apply to Python and house bots.
    stray = (
        [f"--{options['kind']}"] if options["kind"] else [] if engine else program.gomocup_options
    )
    if stray:
        raise click.UsageError(f"{stray[0]} needs a program after --, such as -- node bot.js")
    return None
