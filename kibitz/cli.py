"""The `kibitz` command: a table of commands, each imported only when it runs.

Errors that the user can fix end with one sentence and status 1; mistakes on the command line with
click's usage and status 2; Ctrl-C with 130. Everything else is a bug and shows its traceback.
"""

from __future__ import annotations

import contextlib
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from kibitz import output
from kibitz.command_table import CommandTable, Entry
from kibitz.commands.nouns import NOUN_COMMANDS
from kibitz.process import interrupts
from kibitz.process.interrupts import EXIT_INTERRUPTED
from kibitz_protocol import printable

SECTIONS: dict[str, dict[str, Entry]] = {
    "Play": {
        "play": ("kibitz.commands.play:play", "Play bots against each other on this machine."),
        "connect": ("kibitz_bots.process:connect", "Connect a bot to a server."),
        "join": ("kibitz.commands.join:join", "Take a seat in a lobby and play in the terminal."),
        "seek": ("kibitz.commands.seek:seek", "Find opponents for a game."),
        "host": ("kibitz.commands.host:host", "Open a lobby with a programme of matches."),
        "arena": ("kibitz.commands.arena:arena", "Run a tournament with ratings."),
        "sprt": ("kibitz.commands.sprt:sprt", "Test whether one engine is stronger than another."),
    },
    "Watch": {
        "demo": (
            "kibitz.commands.demo:demo",
            "Show a server, bots and a wall of games on one screen.",
        ),
        "watch": ("kibitz.commands.watch:watch", "Follow matches, live or from a file."),
    },
    "Manage": {
        "bot": ("kibitz.commands.nouns:bot", "List, create and check bots."),
        "game": ("kibitz.commands.nouns:game", "List, explain and create games."),
        "lobby": ("kibitz.commands.lobby:lobby", "List lobbies; start, change or close your own."),
        "match": ("kibitz.commands.nouns:match", "List, shadow and abort matches on a server."),
        "record": ("kibitz.commands.nouns:record", "Replay, draw, analyze and verify records."),
        "ladder": ("kibitz.commands.ladder:ladder", "Show ratings, or run a standing ladder."),
        "token": ("kibitz.commands.token:token", "Create, list and revoke the tokens of accounts."),
        "db": ("kibitz.commands.db:db", "Check and back up a server's database."),
    },
    "Run a service": {
        "serve": ("kibitz.commands.serve:serve", "Run a server."),
        "mcp": ("kibitz.commands.mcp:mcp", "Let a language model play, over MCP."),
        "pbrain": ("kibitz.commands.pbrain:pbrain", "Run a bot as a Gomocup engine."),
        "train": ("kibitz.commands.train:train", "Train a bot with a reproducible experiment."),
    },
}
"""The commands in the sections of the help.

The grammar: a command of one word is a verb, or the name of a program that runs until it is done.
All others are a singular noun and a verb: `list` and `show` to inspect, `new` to create.
"""

START = """\
kibitz runs board games for bots and people. Three commands to start with:

  kibitz demo            watch a server, its bots and six games on one screen
  kibitz bot new mybot   create a working bot, and see how to run it
  kibitz serve           run a server for others, with pages for browsers

kibitz --help lists all commands.
"""


_WIRE_PATH = re.compile(r"\b(?:settings|terms)(?:\.\w+)*\.(\w+):")


class Kibitz(CommandTable):
    """The command line, which reports errors as sentences."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command; ``--help`` is handled here."""
        with _explained():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors that the user can fix in a sentence."""
        with _explained():
            return super().invoke(ctx)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn Ctrl-C into an exit status, and errors that the user can fix into a sentence.

    A sentence may quote untrusted text from a file or a server, so it is made printable.
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
            from kibitz_bots.spec import SpecError

            kind = click.UsageError if isinstance(error, SpecError) else click.ClickException
            raise kind(sentence) from error
        raise


def _sentence(error: BaseException) -> str | None:
    """Return the sentence for an error, or None if only a traceback helps.

    Errors of kibitz's own classes are for users; their messages are sentences.
    """
    if isinstance(error, BrokenPipeError):  # the reader closed the pipe; click exits
        return None
    if isinstance(error, BaseExceptionGroup):
        sentences = dict.fromkeys(map(_sentence, error.exceptions))  # without duplicates
        return None if None in sentences else "\n".join(filter(None, sentences))
    import sqlite3

    from kibitz_games.core.model import GameError
    from kibitz_protocol.client.errors import KibitzError, RefusedError, UnreachableError
    from kibitz_protocol.wire.recordfile import RecordError
    from kibitz_server.storage.errors import StoreError

    if isinstance(error, UnreachableError):
        advice = "start one with `kibitz serve`, or choose another with --server"
        return f"{printable.line(str(error))}; {advice}"
    if isinstance(
        error, RefusedError
    ):  # it names a path in the request, which the user did not write
        return printable.line(_WIRE_PATH.sub(r"\1:", str(error)))
    if isinstance(error, KibitzError | GameError | RecordError | StoreError):
        return printable.line(str(error) or type(error).__name__)
    ours = any(kind.__module__.startswith("kibitz") for kind in type(error).__mro__)
    if ours or isinstance(error, OSError):  # may contain the last lines of a log
        return printable.lines(str(error) or type(error).__name__)
    return (
        f"the database: {printable.line(str(error))}" if isinstance(error, sqlite3.Error) else None
    )


@click.group(
    cls=Kibitz,
    sections=SECTIONS,
    elsewhere=NOUN_COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="kibitz", prog_name="kibitz", help="Show the version.")
@click.pass_context
def kibitz(context: click.Context) -> None:
    """Run and watch board games for bots and people. Each command has its own --help."""
    if context.invoked_subcommand is None:
        output.echo(START, nl=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.excepthook = output.show_fault
    output.open_standard_descriptors()
    printable.replace_unencodable()
    try:
        kibitz.main(args=None if argv is None else list(argv), prog_name="kibitz")
    except OSError:  # not even the error message could be written
        sys.exit(1)
    except SystemExit:
        if interrupts.pressed():
            sys.exit(EXIT_INTERRUPTED)
        raise
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupts.leave)
        output.discard_unwritten()
