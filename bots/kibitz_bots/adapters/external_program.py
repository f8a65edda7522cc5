"""Command-line options for external programs given after ``--``: protocol, limits, games."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self, TypeAlias, TypeVar, get_args

import click

from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_bots.number_types import COUNT, DURATION, NATURAL
from kibitz_bots.spec import BotFactory, SpecError

Kind: TypeAlias = Literal["stdio", "gomocup"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_WORDS = "kibitz_bots.program_words"
_LIMIT, _NUMBER = COUNT, NATURAL
OPTIONS = (
    click.option("--stdio", "kind", flag_value="stdio", help="Speak lines of JSON to it."),
    click.option("--gomocup", "kind", flag_value="gomocup", help="Speak the Gomocup protocol."),
    click.option("--memory", type=_LIMIT, metavar="MIB", help="Memory limit per process."),
    click.option("--cpu", type=_LIMIT, metavar="S", help="CPU time limit per process."),
    click.option("--pause", type=_NUMBER, metavar="MS", help="Pause after each reply."),
    click.option("--margin", type=_NUMBER, metavar="MS", help="Safety margin per turn."),
    click.option(
        "--start-limit",
        type=DURATION,
        metavar="S",
        help="Startup timeout.",
    ),
    click.option("--whole-board", is_flag=True, help="Send an engine BOARD on every turn."),
    click.option(
        "--ahead/--no-ahead",
        default=True,
        help="Start the next match's engine in advance.",
    ),
)
"""The options for an external program: its protocol and limits; the last five are engine-only."""


class WithProgram(click.Command):
    """A command with a program after ``--``, which `program_words` returns."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the arguments after the first ``--`` and parse the rest."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_WORDS] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add the program to the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM...]"]


def program_words() -> tuple[str, ...]:
    """Return the arguments after ``--`` of the current command."""
    words: tuple[str, ...] = click.get_current_context().meta[_WORDS]
    return words


def add_options(command: Decorated, options: Sequence[Callable[[Any], Any]]) -> Decorated:
    """Add options to a command, in the given order."""
    for option in reversed(options):
        command = option(command)
    return command


def program_options(command: Decorated) -> Decorated:
    """Add `OPTIONS` to a command."""
    return add_options(command, OPTIONS)


@dataclass(frozen=True, kw_only=True)
class ExternalProgram:
    """A line-based external program, started once per match."""

    kind: Kind
    command: Sequence[str]
    games: Sequence[str] = ()
    """The games that the program plays; all if empty. The protocol determines an engine's games."""
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    pause_ms: int | None = None
    margin_ms: int | None = None
    start_s: float | None = None
    whole_board: bool = False
    ahead: bool = True
    """The last five fields are an engine's `GomocupOptions`; None selects the default."""

    @classmethod
    def from_options(
        cls, command: Sequence[str], options: Mapping[str, Any], games: Sequence[str] = ()
    ) -> Self:
        """Build the program from the parsed `program_options`; the default kind is stdio."""
        return cls(
            kind=options["kind"] or "stdio",
            command=tuple(command),
            games=tuple(games),
            limits=ProcessLimits(options["memory"], options["cpu"]),
            pause_ms=options["pause"],
            margin_ms=options["margin"],
            start_s=options["start_limit"],
            whole_board=options["whole_board"],
            ahead=options["ahead"],
        )

    def argv(self) -> list[str]:
        """Return the `kibitz_bots` arguments that describe this program."""
        return [f"--{self.kind}", *self.general, *self.gomocup_options, "--", *self.command]

    @property
    def general(self) -> list[str]:
        """The given options that apply to any program."""
        return [*(f"--game={game}" for game in self.games), *self.limits.options]

    @property
    def gomocup_options(self) -> list[str]:
        """The given options that apply only to engines."""
        numbers = {"pause": self.pause_ms, "margin": self.margin_ms, "start-limit": self.start_s}
        options = [f"--{name}={value}" for name, value in numbers.items() if value is not None]
        flags = {"--whole-board": self.whole_board, "--no-ahead": not self.ahead}
        return [*options, *(flag for flag, given in flags.items() if given)]

    def factory(self, stack: contextlib.ExitStack) -> BotFactory:
        """Return the program's bot factory; closing `stack` ends processes started in advance.

        Raises `SpecError` if the program is missing or the options conflict.
        """
        require_command(self.command, f"--{self.kind}")
        if self.kind == "stdio" and self.gomocup_options:
            raise SpecError(f"{self.gomocup_options[0]} is for an engine: add --gomocup")
        return self._stdio() if self.kind == "stdio" else self._gomocup(stack)

    def _stdio(self) -> BotFactory:
        from kibitz_bots.adapters import stdio
        from kibitz_games.core import registry

        for game in self.games:
            if game not in registry.names():
                known = ", ".join(registry.names())
                raise SpecError(f"--game: expected one of {known}, not {game!r}")
        return stdio.factory(self.command, self.limits, self.games)

    def _gomocup(self, stack: contextlib.ExitStack) -> BotFactory:
        from kibitz_bots.adapters.gomocup_client import GAME, EnginePool, GomocupOptions

        if self.games and set(self.games) != {GAME}:
            raise SpecError(f"--game: a Gomocup engine plays {GAME}, not {', '.join(self.games)}")
        given = {option.name: getattr(self, option.name) for option in fields(GomocupOptions)}
        manners = GomocupOptions(
            **{name: value for name, value in given.items() if value is not None}
        )
        engines = EnginePool(self.command, self.limits, manners)
        stack.callback(engines.close)
        return engines


def require_command(command: Sequence[str], after: str) -> None:
    """Raise `SpecError` unless `command` can be started; `after` is the argument before it."""
    if not command:
        raise SpecError(f"{after}: expected a program after --, such as -- node bot.js")
    if shutil.which(command[0]) is None:
        raise SpecError(f"{command[0]}: no such program; expected a path, or a name on the PATH")
