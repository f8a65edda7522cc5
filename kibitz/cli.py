"""The `kibitz` command: a table of commands, each imported only when it is the one to run.

Errors that a person can do something about end with one sentence and status 1; a mistake on
the command line with click's usage and status 2; Ctrl-C with 130. Everything else is a bug and
shows its traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import click

from kibitz import output
from kibitz.compiled_server import is_compiled
from kibitz_protocol import printable

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("kibitz.commands.demo", "Show the whole thing on one screen."),
    "play": ("kibitz.commands.play", "Let bots play each other, here and now."),
    "arena": ("kibitz.commands.arena", "Hold a whole event: tournaments with ratings."),
    "train": ("kibitz.commands.train", "Train a bot by an experiment that anybody can run again."),
    "serve": ("kibitz.commands.serve", "Run a server."),
    "host": ("kibitz.commands.host", "Open a lobby with a programme of matches."),
    "bot": ("kibitz_bots.process", "Connect a bot to a server."),
    "new-bot": ("kibitz.commands.new_bot", "Write a bot to begin with, and its test."),
    "pbrain": ("kibitz.commands.pbrain", "Be an engine for a Gomocup manager."),
    "join": ("kibitz.commands.join", "Sit down at a lobby and play in the terminal."),
    "seek": ("kibitz.commands.seek", "Find opponents who want to play the same."),
    "mcp": ("kibitz.commands.mcp", "Let an agent play through the Model Context Protocol."),
    "watch": ("kibitz.commands.watch", "Follow matches, live or from a file."),
    "lobby": ("kibitz.commands.lobby", "Start, clear or close a lobby that you have opened."),
    "lobbies": ("kibitz.commands.lobbies", "List the open lobbies of a server."),
    "matches": ("kibitz.commands.matches", "List the matches of a server."),
    "ladder": ("kibitz.commands.ladder", "Show how strong players are, or keep a ladder."),
    "games": ("kibitz.commands.games", "List the games, or explain one."),
    "bots": ("kibitz.commands.bots", "List the house bots, or explain one."),
    "replay": ("kibitz.commands.replay", "Step through a recorded match."),
    "export": ("kibitz.commands.export", "Draw a record as a picture or a page."),
    "report": ("kibitz.commands.report", "Say why a seat dropped out of a match."),
    "retry": ("kibitz.commands.retry", "Send a recorded turn to a bot once more."),
    "analyse": ("kibitz.commands.analyse", "Let a bot judge every move of a record."),
    "branch": ("kibitz.commands.branch", "Play on from any ply of a match with another bot."),
    "bisect": ("kibitz.commands.bisect", "Find the move that decided a match."),
    "shadow": (
        "kibitz.commands.shadow",
        "Ask a bot at every turn of a running match, without playing.",
    ),
    "verify": (
        "kibitz.commands.verify",
        "Check records: hashes, seeds, legality, clocks, results.",
    ),
    "doctor": ("kibitz.commands.doctor", "Examine a bot: legal play, passes, clocks, reconnects."),
    "db": ("kibitz.commands.db", "Check a server's database, and back it up."),
    "nodes": ("kibitz.commands.nodes", "Show the nodes of a PostgreSQL database."),
    "token": ("kibitz.commands.token", "Make, list and revoke the tokens of accounts."),
    "new-game": ("kibitz.commands.new_game", "Write a game that works, to be changed into yours."),
}
"""Each command: the module that has a function of its name, and its line in the help."""


class Commands(click.Group):
    """The table above as a click group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn errors that a person can mend into a sentence.

        A sentence may quote what others have written, in a file or from a server.
        """
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            vars(error)["message"] = printable.lines(error.message)  # final only for type checkers
            raise
        except Exception as error:
            if sentence := _sentence(error):
                raise click.ClickException(sentence) from error
            raise


def _sentence(error: BaseException) -> str | None:
    """Return what to tell of an error, or None where only a traceback helps."""
    if isinstance(error, BrokenPipeError):  # whoever read the output has seen enough; click ends
        return None
    if isinstance(error, BaseExceptionGroup):
        return _sentence(error.exceptions[0]) if len(error.exceptions) == 1 else None
    import sqlite3

    from kibitz_games.core.game import GameError
    from kibitz_protocol.client.errors import KibitzError
    from kibitz_protocol.wire.recordfile import RecordError
    from kibitz_server.storage.errors import StoreError

    if isinstance(error, KibitzError | GameError | RecordError | StoreError):
        return printable.line(str(error) or type(error).__name__)
    if isinstance(error, OSError):  # with the last lines of a log, perhaps
        return printable.lines(str(error) or type(error).__name__)
    return (
        f"the database: {printable.line(str(error))}" if isinstance(error, sqlite3.Error) else None
    )


def _show_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        form = "compiled" if is_compiled() else "plain Python"
        output.echo(f"kibitz, version {version('kibitz')}, {form}")
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and whether the server is compiled.",
)
def kibitz() -> None:
    """A server where bots and people play board games, and you watch.

    Start with `kibitz demo`. Each command explains itself with --help.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.excepthook = output.show_fault
    kibitz.main(args=None if argv is None else list(argv), prog_name="kibitz")
