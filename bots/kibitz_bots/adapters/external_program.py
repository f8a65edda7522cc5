"""What a command line says of a foreign program: how to talk to it, its limits, its games."""

from __future__ import annotations

import argparse
import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias, get_args

from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_bots.spec import BotFactory, SpecError

Kind: TypeAlias = Literal["stdio", "gomocup"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, kw_only=True)
class ExternalProgram:
    """A program that is started for each match and spoken to in lines."""

    kind: Kind
    command: Sequence[str]
    games: Sequence[str] = ()
    """The games it plays; all where it is empty. An engine's are those of its protocol."""
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    pause_ms: int | None = None
    margin_ms: int | None = None
    start_s: float | None = None
    whole_board: bool = False
    ahead: bool = True
    """These five are an engine's `gomocup.GomocupOptions`; None is their default."""

    def argv(self) -> list[str]:
        """Return the end of a command line of `kibitz_bots` that says the same."""
        return [f"--{self.kind}", *self.general, *self.gomocup_options, "--", *self.command]

    @property
    def general(self) -> list[str]:
        """The options that make sense for any program, as far as they were given."""
        return [*(f"--game={game}" for game in self.games), *self.limits.options]

    @property
    def gomocup_options(self) -> list[str]:
        """The options that only an engine has, as far as they were given."""
        numbers = {"pause": self.pause_ms, "margin": self.margin_ms, "start-limit": self.start_s}
        said = [f"--{name}={value}" for name, value in numbers.items() if value is not None]
        flags = {"--whole-board": self.whole_board, "--no-ahead": not self.ahead}
        return [*said, *(flag for flag, given in flags.items() if given)]

    def factory(self, stack: contextlib.ExitStack) -> BotFactory:
        """Return what makes its bots; what that starts ahead is ended with `stack`.

        Raises `SpecError` for a program that is not there, and for what does not go together.
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
        said = {each.name: getattr(self, each.name) for each in fields(GomocupOptions)}
        manners = GomocupOptions(
            **{name: value for name, value in said.items() if value is not None}
        )
        engines = EnginePool(self.command, self.limits, manners)
        stack.callback(engines.close)
        return engines


def require_command(command: Sequence[str], after: str) -> None:
    """Raise `SpecError` unless `command` is one that can be started; `after` is what it follows."""
    if not command:
        raise SpecError(f"{after}: expected a program after --, such as -- node bot.js")
    if shutil.which(command[0]) is None:
        raise SpecError(f"{command[0]}: no such program; expected a path, or a name on the PATH")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of foreign programs to a command line."""
    group = parser.add_argument_group("a program in any language, after --")
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument(
        "--stdio", action="store_const", const="stdio", dest="kind", help="speak lines of JSON"
    )
    kinds.add_argument(
        "--gomocup",
        action="store_const",
        const="gomocup",
        dest="kind",
        help="speak the Gomocup protocol",
    )
    group.add_argument("--game", action="append", default=[], help="a game that it plays")
    limit, number = _number(int, 1), _number(int, 0)
    group.add_argument("--memory", type=limit, metavar="MIB", help="most memory of each process")
    group.add_argument("--cpu", type=limit, metavar="S", help="most CPU time of each process")
    group.add_argument("--pause", type=number, metavar="MS", help="wait so long after its replies")
    group.add_argument("--margin", type=number, metavar="MS", help="time it is not told of")
    group.add_argument(
        "--start-limit", type=_number(float, 0), metavar="S", help="how long it may take to start"
    )
    group.add_argument("--whole-board", action="store_true", help="send it BOARD on every turn")
    group.add_argument(
        "--no-ahead",
        action="store_false",
        dest="ahead",
        help="do not start the engine of the next match while one plays",
    )


def from_arguments(arguments: argparse.Namespace, command: Sequence[str]) -> ExternalProgram | None:
    """Return what the options of `options` say of `command`, None where they say nothing.

    Raises `SpecError` for an option that needs a foreign program, and there is none.
    """
    given = ExternalProgram(
        kind=arguments.kind or "stdio",
        command=tuple(command),
        games=tuple(arguments.game),
        limits=ProcessLimits(arguments.memory, arguments.cpu),
        pause_ms=arguments.pause,
        margin_ms=arguments.margin,
        start_s=arguments.start_limit,
        whole_board=arguments.whole_board,
        ahead=arguments.ahead,
    )
    if arguments.kind is not None:
        return given
    if stray := [*given.general, *given.gomocup_options]:
        raise SpecError(f"{stray[0]} is for a program: add --stdio or --gomocup")
    return None


def _number(kind: type[int] | type[float], least: int) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = least - 1
        if not least <= value < 2**31:
            raise argparse.ArgumentTypeError(f"expected a number from {least}, not {text!r}")
        return value

    return number
