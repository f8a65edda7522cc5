"""The `kibitz` command: tables of commands, each imported only when it runs.

Errors that a person can do something about end with one sentence and status 1; a mistake on
the command line with click's usage and status 2; Ctrl-C with 130. Everything else is a bug and
shows its traceback.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from kibitz import extras, output
from kibitz.process import interrupts
from kibitz.process.interrupts import EXIT_INTERRUPTED
from kibitz_protocol import printable

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Play and host": {
        "play": ("kibitz.commands.play", "Play bots against each other on this machine."),
        "bot": ("kibitz_bots.process", "Connect a bot to a server."),
        "join": ("kibitz.commands.join", "Take a seat in a lobby and play in the terminal."),
        "seek": ("kibitz.commands.seek", "Find opponents for a game."),
        "host": ("kibitz.commands.host", "Open a lobby with a programme of matches."),
        "lobby": ("kibitz.commands.lobby", "Start, change or close a lobby that you opened."),
        "lobbies": ("kibitz.commands.lobbies", "List the open lobbies of a server."),
        "games": ("kibitz.commands.games", "List the games, or explain one."),
        "bots": ("kibitz.commands.bots", "List the house bots, or explain one."),
    },
    "Watch": {
        "demo": ("kibitz.commands.demo", "Show a server, bots and a wall of games on one screen."),
        "watch": ("kibitz.commands.watch", "Follow matches, live or from a file."),
        "matches": ("kibitz.commands.matches", "List the matches of a server."),
        "shadow": (
            "kibitz.commands.shadow",
            "Ask a bot for its move at each turn of a live match.",
        ),
    },
    "Tournaments": {
        "arena": ("kibitz.commands.arena", "Run a tournament with ratings."),
        "ladder": ("kibitz.commands.ladder", "Show the rating list, or keep a standing ladder."),
    },
    "Records": {
        "replay": ("kibitz.commands.replay", "Step through a recorded match."),
        "export": ("kibitz.commands.export", "Draw a record as a picture or a page."),
        "analyse": ("kibitz.commands.analyse", "Evaluate every move of a record with a bot."),
        "branch": ("kibitz.commands.branch", "Play on from any ply of a match with another bot."),
        "bisect": ("kibitz.commands.bisect", "Find the move that decided a match."),
        "verify": (
            "kibitz.commands.verify",
            "Check records: hashes, seeds, legality, clocks, results.",
        ),
        "report": ("kibitz.commands.report", "Explain why a seat dropped out of a match."),
        "retry": ("kibitz.commands.retry", "Send a recorded turn to a bot again."),
    },
    "Build bots and games": {
        "new-bot": ("kibitz.commands.new_bot", "Create a starter bot and its test."),
        "doctor": ("kibitz.commands.doctor", "Test a bot: legal play, passes, clocks, reconnects."),
        "train": ("kibitz.commands.train", "Train a bot with a reproducible experiment."),
        "pbrain": ("kibitz.commands.pbrain", "Run a bot as a Gomocup engine."),
        "mcp": ("kibitz.commands.mcp", "Let a language model play, over MCP."),
        "new-game": ("kibitz.commands.new_game", "Create a working game to change into yours."),
    },
    "Operate": {
        "serve": ("kibitz.commands.serve", "Run a server."),
        "token": ("kibitz.commands.token", "Create, list and revoke the tokens of accounts."),
        "abort": ("kibitz.commands.abort", "End a match without a result, as the operator."),
        "db": ("kibitz.commands.db", "Check a server's database, and back it up."),
        "nodes": ("kibitz.commands.nodes", "Show the nodes of a PostgreSQL database."),
    },
}
"""The commands in the groups of the help: the module of each, and its line there."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}

START = """\
kibitz runs board games for bots and people. Three commands to start with:

  kibitz demo            watch a server, its bots and six games on one screen
  kibitz new-bot mybot   create a bot that plays, and see how to play it
  kibitz serve           run a server for others, with pages for browsers

kibitz --help lists all commands.
"""


_WIRE_PATH = re.compile(r"\b(?:settings|terms)(?:\.\w+)*\.(\w+):")


class Commands(click.Group):
    """The commands above as a click group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        try:
            module = importlib.import_module(COMMANDS[cmd_name][0])
        except ModuleNotFoundError as error:
            raise extras.missing(cmd_name, error) or error from None
        if (
            signal.getsignal(signal.SIGINT) is interrupts.leave
        ):  # from here on the command can clean up
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups without importing any command."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), line) for name, (_, line) in group.items()]
                formatter.write_dl(rows)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command; ``--help`` prints here."""
        with _explained():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn errors that a person can mend into a sentence."""
        with _explained():
            try:
                return super().invoke(ctx)
            except ModuleNotFoundError as error:
                raise extras.missing(ctx.invoked_subcommand or "", error) or error from None


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn Ctrl-C into its status, and errors that a person can mend into a sentence.

    A sentence may quote what others have written, in a file or from a server.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        vars(error)["message"] = printable.lines(error.message)  # final only for type checkers
        raise
    except (click.exceptions.Exit, click.Abort):
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

    from kibitz_games.core.model import GameError
    from kibitz_protocol.client.errors import KibitzError, RefusedError, UnreachableError
    from kibitz_protocol.wire.recordfile import RecordError
    from kibitz_server.storage.errors import StoreError

    if isinstance(error, UnreachableError):
        advice = "start one with `kibitz serve`, or name another with --server"
        return f"{printable.line(str(error))}; {advice}"
    if isinstance(error, RefusedError):  # its path leads through a message that nobody typed
        return printable.line(_WIRE_PATH.sub(r"\1:", str(error)))
    if isinstance(error, KibitzError | GameError | RecordError | StoreError):
        return printable.line(str(error) or type(error).__name__)
    if isinstance(error, OSError):  # with the last lines of a log, perhaps
        return printable.lines(str(error) or type(error).__name__)
    return (
        f"the database: {printable.line(str(error))}" if isinstance(error, sqlite3.Error) else None
    )


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="kibitz", prog_name="kibitz", help="Show the version.")
@click.pass_context
def kibitz(context: click.Context) -> None:
    """Run board games for bots and people, and watch them.

    Each command has its own --help.
    """
    if context.invoked_subcommand is None:
        output.echo(START, nl=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.excepthook = output.show_fault
    output.open_standard_descriptors()
    printable.replace_unencodable()
    try:
        kibitz.main(args=None if argv is None else list(argv), prog_name="kibitz")
    except OSError:  # even the sentence about an error could not be written
        sys.exit(1)
    except SystemExit:
        if interrupts.pressed():
            sys.exit(EXIT_INTERRUPTED)
        raise
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupts.leave)
        output.discard_unwritten()
