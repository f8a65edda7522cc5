"""A five-in-a-row bot as an engine for any Gomocup manager.

``kibitz pbrain five-in-a-row/greedy`` reads commands, one per line, from standard input and answers
on standard output. For managers that need a single executable file, put that command into a script.

`GomocupServer` implements the protocol: it takes a line and returns the lines to answer with. It
keeps the list of stones and replays them for each answer. It answers within ``timeout_turn`` and
budgets ``time_left``, or the rest of ``timeout_match``, for the rest of the match. A bot that
exceeds its time is canceled; its last suggestion is played, or else a stone next to the last one. A
MESSAGE with each stone contains the bot's evaluation or the error.

The manager's time is the only limit: a house bot's parameter ``time`` is 0 here unless the command
line sets another value. Before it answers START, it plays a turn under each ``rule`` to compile the
code, because the manager may announce the rule only later. A smaller transposition table keeps the
process within ``max_memory``; see `table_within`.

``SWAP2BOARD`` plays the swap2 opening. The bot's evaluation decides: it opens with the three stones
that it considers most balanced, and takes black if it considers white worse.

Source: P. Lastovicka and M. Petricek, Gomoku AI protocol; the Gomocup organizers' announcement of
SWAP2BOARD (2020).
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from kibitz_bots.adapters.line_process import read_lines
from kibitz_bots.budget import HORIZON, ClockFunction
from kibitz_bots.loading import load
from kibitz_bots.running import inprocess
from kibitz_bots.running import warmup as bots_warmup
from kibitz_bots.sdk import BadAnswer, Bot, Match, Turn
from kibitz_bots.spec import BotFactory, SpecError
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, IllegalAction
from kibitz_games.core.position import Position
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Comment

GAME = "five-in-a-row"
SMALLEST, LARGEST = 5, 20
LARGEST_NUMBER = 10**18
"""Larger numbers are read as this one: some managers send 2**64 - 1 for no limit."""
TURN_MS = 30_000
"""The default time for a turn."""
MARGIN_MS = 50
"""How much of a turn's time to keep in reserve, at most half of it. A bot that overruns is canceled
after half of this margin."""
WAIT = 0.5
"""How long a canceled bot may still answer, as a share of the other half of the margin."""
BEHIND = 0.25
"""How long to wait for a bot that is still busy with its previous turn, as a share of a turn."""
UNLIMITED_MS = 2147483647
OWN, OTHER = 1, 2
SLIM = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Environment variables that save 170 MB of virtual memory, which tournament managers limit."""
STACK_BYTES = 2 * 2**20
"""The stack size of each thread, also to save virtual memory."""
BASE_MIB = 346
"""The virtual memory of a process that plays `five-in-a-row/threat` without a table, in MiB.

342 MiB were measured. If a turn overruns, its thread keeps its stack, and the next turn needs
another one.
"""
SWAP2_OPENINGS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((1, 1), (3, 2), (2, 4)),
    ((1, 0), (4, 1), (2, 3)),
    ((2, 0), (0, 3), (4, 4)),
    ((0, 1), (4, 2), (3, 4)),
)
"""Swap2 openings near a corner, three stones each (black, white, black). The bot chooses among
them; far from the center black's advantage is small.
"""

Stone = tuple[int, int]


class CommandError(ValueError):
    """A command that failed; the message is sent after ERROR."""


@dataclass(frozen=True)
class Choice:
    """A stone and the bot's message."""

    stone: Stone
    message: str | None = None
    value: float | None = None
    """The value of the position for the player who places the stone; 0 is even."""


class GomocupServer:
    """The engine's side of the protocol; `handle` returns the answer to a line."""

    def __init__(
        self,
        chooser: StoneChooser,
        name: str,
        version: str,
        *,
        clock: ClockFunction = time.monotonic,
    ) -> None:
        self.over = False
        """Whether END was received."""
        self._chooser = chooser
        self._about = f'name="{name}", version="{version}", author="kibitz", country="XX"'
        self._size = 0
        # All stones in playing order; colors alternate.
        self._stones: list[Stone] = []
        # The lines of an unfinished BOARD or SWAP2BOARD, and the function that handles them at
        # DONE.
        self._block: tuple[list[str], Callable[[list[str]], list[str]]] | None = None
        self._info = {
            "timeout_turn": TURN_MS,
            "time_left": UNLIMITED_MS,
            "timeout_match": 0,  # no limit
            "max_memory": 0,  # no limit
            "rule": 0,
        }
        self._clock = clock
        # The time used in this match, and the part of it used before `time_left` arrived, in ms.
        self._used = 0
        self._used_when_told = 0

    def handle(self, line: str) -> list[str]:
        """Return the answer to a line from the manager, as lines."""
        text, before = line.strip(), self._stones
        try:
            if self._block is not None:
                return self._collect(text)
            return self._obey(text) if text else []
        except CommandError as refusal:
            self._stones = before
            return [f"ERROR {refusal}"]

    def _obey(self, text: str) -> list[str]:
        word, _, rest = text.partition(" ")
        commands: dict[str, Callable[[str], list[str]]] = {
            "START": self._start,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": lambda _: self._open(self._place_all),
            "SWAP2BOARD": lambda _: self._open(self._swap2),
            "TAKEBACK": self._take_back,
            "INFO": self._inform,
            "ABOUT": lambda _: [self._about],
            "END": self._end,
        }
        command = commands.get(word.upper())
        return [f"UNKNOWN {word[:40]}"] if command is None else command(rest.strip())

    def _start(self, rest: str) -> list[str]:
        size = _number(rest) or 0
        if not SMALLEST <= size <= LARGEST:
            raise CommandError(f"expected a size from {SMALLEST} to {LARGEST}, not {rest[:40]!r}")
        self._size, self._stones = size, []
        self._used = self._used_when_told = 0
        self._chooser.prepare(size, self._exact)
        return ["OK"]

    def _restart(self, rest: str) -> list[str]:
        self._started()
        self._stones = []
        self._used = self._used_when_told = 0
        return ["OK"]

    def _begin(self, rest: str) -> list[str]:
        self._started()
        if self._stones:
            raise CommandError(f"expected an empty board, but it has {len(self._stones)} stones")
        return self._think()

    def _turn(self, rest: str) -> list[str]:
        self._started()
        self._stones = [*self._stones, self._cell(rest)]
        return self._think()

    def _take_back(self, rest: str) -> list[str]:
        self._started()
        stone = self._cell(rest)
        if not self._stones or self._stones[-1] != stone:
            raise CommandError(f"expected the last stone, not {rest[:40]!r}")
        self._stones = self._stones[:-1]
        return ["OK"]

    def _open(self, done: Callable[[list[str]], list[str]]) -> list[str]:
        self._block = [], done
        return []

    def _collect(self, text: str) -> list[str]:
        """Add a line to the block; process the block at DONE."""
        assert self._block is not None
        lines, done = self._block
        if text.upper() != "DONE":
            lines += [text] if text else []
            return []
        self._block = None
        self._started()
        return done(lines)

    def _place_all(self, lines: list[str]) -> list[str]:
        """Set the position of a BOARD and think."""
        self._stones = self._ordered(lines)
        return self._think()

    def _swap2(self, lines: list[str]) -> list[str]:
        """Answer a step of the swap2 opening; the manager then sends a BOARD."""
        stones = [self._cell(line) for line in lines]
        if len(stones) not in (0, 3, 5):
            raise CommandError(f"expected 0, 3 or 5 stones, not {len(stones)}")
        self._stones = []
        if not stones:
            return self._open_swap2()
        choice = self._choose(stones)
        if (choice.value or 0) < 0:  # white moves next, but black is better
            return [*_message_lines(choice), "SWAP"]
        return [*_message_lines(choice), _cell_text(choice.stone)]

    def _open_swap2(self) -> list[str]:
        """Return the opening that the bot considers most balanced."""
        choices = [(self._choose(stones, len(SWAP2_OPENINGS)), stones) for stones in SWAP2_OPENINGS]
        best, stones = min(choices, key=lambda pair: abs(pair[0].value or 0))
        return [*_message_lines(best), " ".join(map(_cell_text, stones))]

    def _ordered(self, lines: Iterable[str]) -> list[Stone]:
        """Return the stones in a possible playing order; the engine moves next."""
        stones: dict[int, list[Stone]] = {OWN: [], OTHER: []}
        for line in lines:
            cell, _, field = line.rpartition(",")
            if field.strip() not in ("1", "2"):
                raise CommandError(f"expected x,y,1 or x,y,2, not {line[:40]!r}")
            stones[int(field)].append(self._cell(cell))
        own, other = stones[OWN], stones[OTHER]
        if not 0 <= len(other) - len(own) <= 1:
            raise CommandError(f"not my turn after {len(own)} own and {len(other)} other stones")
        first, second = (own, other) if len(own) == len(other) else (other, own)
        ordered = [stone for pair in zip(first, second, strict=False) for stone in pair]
        return [*ordered, *first[len(second) :]]

    def _inform(self, rest: str) -> list[str]:
        """Store a limit; ignore unknown keys, as the protocol requires."""
        key, _, text = rest.partition(" ")
        key, value = key.lower(), _number(text.strip())
        if key not in self._info or value is None:
            return []
        if key == "rule" and value not in (0, 1):
            raise CommandError(f"unsupported rule {value}; expected 0 or 1")
        self._info[key] = value
        if key == "time_left":
            self._used_when_told = self._used
        if key == "max_memory":
            self._chooser.limit_memory(value)
        return []

    def _end(self, rest: str) -> list[str]:
        self.over = True
        return []

    def _think(self) -> list[str]:
        choice = self._choose(self._stones)
        self._stones = [*self._stones, choice.stone]
        return [*_message_lines(choice), _cell_text(choice.stone)]

    def _choose(self, stones: Sequence[Stone], parts: int = 1) -> Choice:
        """Return the bot's stone after `stones`, within 1/`parts` of the turn's time."""
        began, play = self._clock(), self._replayed(stones)
        think_ms, most_ms = times(self._info["timeout_turn"] // parts, self._left_ms // parts)
        choice = self._chooser.choose(play, think_ms, most_ms)
        self._used += round((self._clock() - began) * 1000)
        return choice

    def _replayed(self, stones: Sequence[Stone]) -> Position:
        game = registry.get(GAME)
        play = Position(game, options(self._size, self._exact))
        for x, y in stones:
            try:
                play.push_move(game.Move.model_validate({"x": x, "y": y}))
            except IllegalAction as error:
                raise CommandError(str(error)) from None
        if play.to_act == TERMINAL:
            raise CommandError("the game is over")
        return play

    def _cell(self, text: str) -> Stone:
        x, _, y = (_number(part.strip()) for part in text.partition(","))
        if x is None or y is None or max(x, y) >= self._size:
            raise CommandError(f"expected x,y on a board of {self._size}, not {text[:40]!r}")
        return x, y

    def _started(self) -> None:
        if not self._size:
            raise CommandError("expected START first")

    @property
    def _left_ms(self) -> int:
        """The time for the rest of the match: the last announced time minus the time used since."""
        left, match = self._info["time_left"], self._info["timeout_match"]
        if left < UNLIMITED_MS:
            left -= self._used - self._used_when_told
        return max(0, min(left, match - self._used) if match else left)

    @property
    def _exact(self) -> bool:
        return self._info["rule"] == 1


def times(turn_ms: int, left_ms: int) -> tuple[int, int]:
    """Return the thinking time and the latest answer time, in ms.

    With a turn time of 0 the engine answers as fast as possible. A limited `left_ms` is spread over
    the next `HORIZON` turns.
    """
    if turn_ms == 0:
        return 1, MARGIN_MS
    turn_ms = min(turn_ms, UNLIMITED_MS)
    share = turn_ms if left_ms >= UNLIMITED_MS else min(turn_ms, left_ms // HORIZON)
    margin = min(MARGIN_MS, share // 2)
    return max(1, share - margin), max(1, share - margin // 2)


def options(size: int, exact: bool) -> Any:
    """Return the game's options for a manager's board size and rule."""
    given = {"size": size, "exact": exact, "first": "seat-0"}
    return registry.get(GAME).Options.model_validate(given)


class StoneChooser:
    """Runs a bot in a thread and waits for it only until a deadline."""

    def __init__(self, make: BotFactory, within: Callable[[int], BotFactory] | None = None) -> None:
        """Take a bot factory; `within` returns the factory for a memory limit in bytes."""
        self._within = within or (lambda _: make)
        self._make = make
        self._bot = make()
        # False until the first turn of a match, which creates its bot with the latest memory limit.
        self._playing = False
        # The thread of the bot's last turn, which may still be running.
        self._asked: threading.Thread | None = None

    @property
    def games(self) -> Sequence[str]:
        """The games that the bot plays; all if empty."""
        return self._bot.games

    def prepare(self, size: int, exact: bool) -> None:
        """Warm up a bot with a small table for a new match, for both rules."""
        self._bot, self._asked, self._playing = self._within(1)(), None, False
        rules = [options(size, exact), options(size, not exact)]
        bots_warmup.warm_up(
            self._bot,
            [ProgrammeItem(game=GAME, options=rule.to_wire(), seats=2) for rule in rules],
        )
        if type(self._bot).prepare is not Bot.prepare:  # it has a warm-up
            for rule in rules:
                self._warm_up(rule)

    def _warm_up(self, rules: Any) -> None:
        """Play two complete turns, as fast as possible, with a bot that is then discarded."""
        bot, play = self._within(1)(), Position(registry.get(GAME), rules)
        for _ in range(2):
            turn = inprocess.local_turn(play, _match(play), 1)
            play.push(inprocess.action_from(inprocess.answer_of(bot, turn), play, turn))
            _remark(turn.pending_comment)

    def limit_memory(self, memory: int) -> None:
        """Limit the bots of this and later matches to `memory` bytes; 0 means no limit."""
        self._make, self._playing = self._within(memory), False

    def choose(self, play: Position, think_ms: int, most_ms: int) -> Choice:
        """Return the bot's stone, or a fallback if the bot is late or fails."""
        end, last = _after(most_ms), _after(most_ms + WAIT * (most_ms - think_ms))
        bot = self._ready(BEHIND * most_ms)
        turn = inprocess.local_turn(play, _match(play), think_ms)
        answers: queue.Queue[int | Exception] = queue.Queue()
        self._asked = threading.Thread(target=_ask, args=(bot, play, turn, answers), daemon=True)
        self._asked.start()
        answer = _next(answers, end)
        if answer is None:
            turn.cancelled.set()
            answer = _next(answers, last)
        if isinstance(answer, int):
            comment = turn.pending_comment
            value = None if comment is None else comment.value
            return Choice(_placed(play, answer), _remark(comment), value)
        return _instead(play, turn, "no answer in time" if answer is None else _flaw(answer))

    def _ready(self, most_ms: float) -> Bot:
        """Return the bot; replace it if it is still busy with its previous turn after `most_ms`."""
        if not self._playing:
            self._bot, self._playing = self._make(), True
        if self._asked is not None:
            self._asked.join(most_ms / 1000)
            if self._asked.is_alive():
                self._bot = self._make()
        return self._bot


def _match(play: Position) -> Match:
    return inprocess.local_match(play, play.to_act, "pbrain")


def _after(ms: float) -> float:
    return time.monotonic() + ms / 1000


def _next(answers: queue.Queue[int | Exception], end: float) -> int | Exception | None:
    """Return the next answer, or None if none arrives before `end`."""
    try:
        return answers.get(timeout=max(0.0, end - time.monotonic()))
    except queue.Empty:
        return None


def _ask(bot: Bot, play: Position, turn: Turn, answers: queue.Queue[int | Exception]) -> None:
    try:
        answers.put(inprocess.action_from(inprocess.answer_of(bot, turn), play, turn))
    except Exception as error:  # noqa: BLE001 - a bot may raise anything
        answers.put(error)


def _placed(play: Position, action: int) -> Stone:
    wire = play.game.encode(play.state, action).to_wire()
    return wire["x"], wire["y"]


def _remark(comment: Comment | None) -> str | None:
    """Return a bot's comment on its stone as one line, None if it is empty."""
    if comment is None:
        return None
    names = ("depth", "value", "nodes", "line")
    fields = {name: getattr(comment, name) for name in names}
    parts = [
        f"{name} {' '.join(value) if isinstance(value, list) else f'{value:.15g}'}"
        for name, value in fields.items()
        if value is not None
    ]
    return _one_line(" ".join([*parts, *([comment.text] if comment.text else [])])) or None


def _flaw(error: Exception) -> str:
    return _one_line(f"{type(error).__name__}: {error}")


def _message_lines(choice: Choice) -> list[str]:
    return [] if choice.message is None else [f"MESSAGE {choice.message}"]


def _cell_text(stone: Stone) -> str:
    return f"{stone[0]},{stone[1]}"


def _number(text: str) -> int | None:
    """Parse a number from the manager; return None if it is invalid."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")
    return int(digits or 0) if len(digits) < 18 else LARGEST_NUMBER


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _instead(play: Position, turn: Turn, why: str) -> Choice:
    """Return the bot's last suggestion if there is one, or else a stone next to the last one."""
    if (move := turn.suggestion) is not None:
        with contextlib.suppress(BadAnswer, IllegalAction):
            stone = _placed(play, inprocess.action_from(move, play, turn))
            return Choice(stone, f"{why}; playing its best move so far")
    return Choice(nearest_empty(play), f"{why}; playing next to the last stone")


def nearest_empty(play: Position) -> Stone:
    """Return the empty cell nearest to the last stone, or to the center if there is none."""
    view = play.view().to_wire()
    middle = len(view["board"]) // 2
    x, y = view["moves"][-1] if view["moves"] else (middle, middle)
    empty = [
        (max(abs(column - x), abs(row - y)), row, column)
        for row, cells in enumerate(view["board"])
        for column, cell in enumerate(cells)
        if cell == "."
    ]
    _, row, column = min(empty)
    return column, row


def serve(brain: GomocupServer, commands: Iterable[str], answers: TextIO) -> None:
    """Answer commands until END or the end of the input."""
    for line in commands:
        for answer in brain.handle(line):
            answers.write(printable.line(answer) + "\n")
        answers.flush()
        if brain.over:
            return


def main(spec: str) -> int:
    """Run the engine of a bot, ``five-in-a-row/name`` or a .py file; return the exit status."""
    from importlib.metadata import version

    try:
        unlimited = without_time_limit(spec)
        chooser = StoneChooser(
            load(unlimited), lambda memory: load(table_within(unlimited, memory))
        )
        _fit(chooser, spec)
    except SpecError as error:
        sys.stderr.write(printable.lines(f"error: {error}\n"))
        return 2
    # The manager would interpret a bot's output as an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        brain = GomocupServer(chooser, f"kibitz {spec}", version("kibitz"))
        serve(brain, read_lines(sys.stdin.buffer), answers)
    finally:
        sys.stdout = answers
    return 0


def without_time_limit(spec: str) -> str:
    """Return `spec` with ``time=0``, so that a house bot uses all the time the manager allows.

    A ``time`` in `spec` is kept.
    """
    return _with_default(spec, "time", 0)


def table_within(spec: str, memory: int) -> str:
    """Return `spec` with a table size that fits into `memory` bytes; 0 means no limit.

    The estimate is `BASE_MIB` plus the table. The table is at least 1 MiB and at most the bot's
    default. A ``table`` in `spec` is kept.
    """
    from kibitz_bots.catalog import PERSONALITIES

    name = spec.partition(":")[0]
    parameters = PERSONALITIES[name].parameters if name in PERSONALITIES else ()
    usual = next((int(option.default) for option in parameters if option.name == "table"), 0)
    room = memory // 2**20 - BASE_MIB
    if not memory or not usual or room >= usual:
        return spec
    return _with_default(spec, "table", max(1, room))


def _with_default(spec: str, parameter: str, value: int) -> str:
    """Add a parameter to `spec` if its house bot has that parameter and `spec` does not set it."""
    from kibitz_bots.catalog import PERSONALITIES

    name, _, given = spec.partition(":")
    parameters = PERSONALITIES[name].parameters if name in PERSONALITIES else ()
    known = [option.name for option in parameters]
    given_names = [pair.partition("=")[0].strip() for pair in given.split(",")]
    if parameter not in known or parameter in given_names:
        return spec
    return f"{name}:{given},{parameter}={value}" if given else f"{name}:{parameter}={value}"


def run(spec: str) -> int:
    """Run the engine of a bot with reduced virtual memory; return the exit status.

    Re-executes the program with the variables of `SLIM` unless they are set.
    """
    if os.name == "posix" and not SLIM.keys() <= os.environ.keys():
        module = "kibitz_bots.adapters.gomocup_server"
        command = [sys.executable, "-P", "-m", module, spec]
        os.execve(sys.executable, command, os.environ | SLIM)
    threading.stack_size(STACK_BYTES)
    return main(spec)


def _fit(chooser: StoneChooser, spec: str) -> None:
    if chooser.games and GAME not in chooser.games:
        raise SpecError(f"{spec}: expected a bot of {GAME}, not of {', '.join(chooser.games)}")


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
