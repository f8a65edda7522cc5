"""Command groups that import a command only when it runs."""

from __future__ import annotations

import difflib
import gc
import signal
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from kibitz import extras
from kibitz.process import interrupts

Entry: TypeAlias = tuple[str, str]
"""The location of a command, as MODULE:NAME, and its line in the help."""
UNIX_MODULES = frozenset({"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"})
"""Modules of the standard library that only Unix systems have."""


class CommandTable(click.Group):
    """A click group over a table of commands, shown in sections in the help."""

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Mapping[str, Entry]],
        elsewhere: Iterable[str] = (),
        **kwargs: Any,
    ) -> None:
        """Store the commands by section; `elsewhere` has full names of others to suggest for a
        typo."""
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.entries = {name: entry for table in sections.values() for name, entry in table.items()}
        self.elsewhere = tuple(elsewhere)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.entries:
            return None
        command = _load(self.entries[cmd_name][0], f"{ctx.command_path} {cmd_name}")
        if (
            signal.getsignal(signal.SIGINT) is interrupts.leave
        ):  # from here on the command can handle Ctrl-C and clean up
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if not gc.isenabled():  # disabled by the entry point; collections skip frozen objects
            gc.freeze()
            gc.enable()
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; if a package is missing, name the extra that provides it."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            path = f"{ctx.command_path} {ctx.invoked_subcommand or ''}"
            raise extras.missing(_without_program(path), error) or error from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command for the first word; suggest the closest names if it is unknown."""
        word = args[0]
        if word in self.entries or word.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        names = suggestions(word, (*self.entries, *self.elsewhere))
        meant = " or ".join(f"'{ctx.command_path} {name}'" for name in names)
        question = f" Did you mean {meant}?" if names else ""
        raise click.UsageError(f"No such command {word!r}.{question}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections without importing any command."""
        width = max(map(len, self.entries))
        for title, table in self.sections.items():
            with formatter.section(title):
                rows = [(name.ljust(width), line) for name, (_, line) in table.items()]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without importing any command."""
        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in self.entries.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def suggestions(word: str, names: Iterable[str]) -> list[str]:
    """Return up to three full names that a mistyped word may mean, best first.

    A name such as `record replay` also matches by its last word.
    """
    names = list(names)
    if by_last_word := [name for name in names if word == name.split()[-1]]:
        return by_last_word
    last_words = {name.split()[-1]: name for name in reversed(names)}
    close = difflib.get_close_matches(word, last_words, n=3, cutoff=0.6)
    return [last_words[name] for name in close]


def _without_program(path: str) -> str:
    """Return the words of a command after the program name."""
    return path.partition(" ")[2].strip()


def _load(place: str, path: str) -> click.Command:
    """Import a command; on a system that cannot run it, raise a one-sentence error."""
    module, name = place.split(":")
    try:
        command = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name in UNIX_MODULES:
            sentence = f"`{path}` needs a Unix system, such as Linux, macOS or WSL"
            raise click.ClickException(sentence) from error
        raise extras.missing(_without_program(path), error) or error from None
    assert isinstance(command, click.Command)
    return command
