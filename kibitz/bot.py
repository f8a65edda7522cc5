"""`kibitz bot`: the process of one bot, as ``python -m kibitz_bots`` runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from kibitz.options.connection import server_option
from kibitz.options.program import WithProgram, external_program, program_options, program_words


@click.command(cls=WithProgram, short_help="Connect a bot to a server.")
@click.argument("spec", metavar="[BOT]", required=False)
@server_option
@click.option("--lobby", help="The lobby to join; KIBITZ_LOBBY says it too.")
@click.option("--invite", help="The lobby's invite code, where it has one.")
@click.option("--name", help="The name at the table; KIBITZ_NAME says it too.")
@click.option("--matches", type=click.IntRange(1), help="End after so many matches.")
@click.option("--at-once", type=click.IntRange(1, 1000), help="Matches at the same time.")
@click.option("--token-file", type=click.Path(path_type=Path), help="Holds an account's token.")
@click.option(
    "--resume-file",
    type=click.Path(path_type=Path),
    help="Keeps the secret for coming back as the same player; read if it is there.",
)
@click.option(
    "--on-fault",
    type=click.Choice(["resign", "exit"]),
    default="resign",
    show_default=True,
    help="After a crash or illegal answers: give up that match only, or end.",
)
@program_options
@click.option("--game", "games", multiple=True, help="A game that the program plays; else all.")
@click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
def bot(
    spec: str | None,
    server: str,
    lobby: str | None,
    invite: str | None,
    name: str | None,
    matches: int | None,
    at_once: int | None,
    token_file: Path | None,
    resume_file: Path | None,
    on_fault: str,
    verbose: bool,
    games: tuple[str, ...],
    **program: Any,
) -> None:
    """Connect BOT, a house bot like chinese-checkers/random or a file like mybot.py.

    A program in any language takes its place after --, with --stdio or --gomocup before it.

    Plays until its lobby closes. Ctrl-C plays the running matches to their end; a second one
    leaves at once. The status is 1 when the bot failed, 2 when it could not begin.

    \b
    kibitz bot mybot.py --lobby CODE
    kibitz bot --stdio --lobby CODE -- node bot.js
    kibitz bot --gomocup --lobby CODE -- ./pbrain-engine
    """
    from kibitz_bots.process import main

    words = {
        "--lobby": lobby,
        "--invite": invite,
        "--name": name,
        "--matches": matches,
        "--at-once": at_once,
        "--token-file": token_file,
        "--resume-file": resume_file,
    }
    options = [f"{option}={value}" for option, value in words.items() if value is not None]
    loud = ["--verbose"] if verbose else []
    named = [] if spec is None else [spec]
    said = external_program(program_words(), program, games)
    kind = [f"--{said.kind}"] if program["kind"] else []
    ending = [*kind, *said.general, *said.gomocup_options, *named, "--", *said.command]
    sys.exit(main([f"--url={server}", f"--on-fault={on_fault}", *options, *loud, *ending]))
