"""A Gomocup engine as a five-in-a-row player.

Each match has its own process. The next match's process is started in advance, so a slow startup
uses no clock time. A match looks like this::

    START 10                           OK
    INFO timeout_match 60000           (limits and rule; no answer)
    ABOUT                              name="Engine", version="1.0"
    INFO timeout_turn 1950
    INFO time_left 59950
    BEGIN  |  TURN 4,4  |  BOARD ... DONE                4,5
    ...
    END

``BEGIN`` opens an empty board. ``TURN`` sends the opponent's stone to an engine that has all
others. ``BOARD`` sends every other position: an opening, or a match joined midway. Its stones are
in playing order, which some engines need. If the position does not continue the engine's own, for
instance after an illegal move, the bot sends ``END`` and starts a new process.

Only commands that the protocol makes mandatory are needed: START, BEGIN, INFO, BOARD, TURN and END.
The answer to ``ABOUT`` shows that an engine has read its INFO lines; for an engine that does not
answer it, the bot waits `QUIET_S` for errors in these lines.

Other output of engines: ``MESSAGE`` and ``DEBUG`` are added to the match notes. ``SUGGEST x,y`` is
answered with ``PLAY x,y``. If an engine answers a request for a stone with ``ERROR`` or
``UNKNOWN``, the bot resigns with the engine's message. A stone on an occupied cell or off the board
(``-1,3``) is passed on unchanged: the server refuses it, and the engine is asked again with the
whole board. An unsolicited stone is dropped before the next turn and noted.

If a lobby's programme has an item that the engine cannot play (another game, ``swap``, a size that
it refuses), the bot fails with an error before it reports ready.

Source: P. Lastovicka and M. Petricek, Gomoku AI protocol, and the observed behavior of engines that
implement it.
"""

from __future__ import annotations

import contextlib
import contextvars
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from kibitz_bots.adapters.launcher import MIB, ProcessLimits
from kibitz_bots.adapters.line_process import LineProcess, ProgramError, program_name, starters
from kibitz_bots.running.threads import TurnCancelled
from kibitz_bots.sdk import Bot, Match, Move, Turn
from kibitz_bots.spec import SpecError
from kibitz_games.core import registry
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Result
from kibitz_search.cancellation import CancelToken

GAME = "five-in-a-row"
UNLIMITED_MS = 2147483647
"""The protocol's value for unlimited time."""
MEMORY_SHARE = 0.75
"""The share of an engine's address space that is announced as ``max_memory``; the rest is for code
and stacks."""
EXACT = 1
"""The protocol's ``rule`` if rows longer than five do not win; 0 if they do."""
HUMAN, BRAIN = 0, 1
"""The kinds of opponents, as the protocol's ``game_type``."""
AGAIN_S = 0.25
"""How long to wait for an answer to ABOUT before sending it again, in seconds."""
ABOUTS = 4
"""How many times to send ABOUT before giving up on an answer."""
QUIET_S = 0.1
"""How long an engine that does not answer ABOUT must be silent after INFO, in seconds."""
OWN, OTHER = 1, 2
"""The owners of stones in a BOARD."""
_STONE = re.compile(r"([+-]?\d{1,9})\s*,\s*([+-]?\d{1,9})", re.ASCII)

Stone = tuple[int, int]


class EngineError(RuntimeError):
    """The engine failed; the message contains the command and the engine's reply."""


@dataclass(frozen=True, kw_only=True)
class GomocupOptions:
    """Protocol settings for an engine. The defaults work for all known engines."""

    pause_ms: int = 10
    """Pause between a reply and the next command: some engines drop a command that arrives
    sooner."""
    margin_ms: int = 50
    """How much of a turn's time to withhold from the engine; at most half."""
    start_s: float = 30.0
    """Timeout for the answer to START."""
    whole_board: bool = False
    """Send BOARD instead of TURN every time, for engines that keep no board."""
    ahead: bool = True
    """Start the next match's engine during the current match; this doubles the memory use."""


@dataclass
class EngineTraits:
    """Facts learned about an engine, shared by its successive processes."""

    answers_about: bool = True
    """False once the engine has failed to answer ABOUT."""


class GomocupEngine:
    """One process for one match on one board size. The constructor sends START."""

    def __init__(
        self,
        program: LineProcess,
        size: int,
        manners: GomocupOptions,
        limits: ProcessLimits | None = None,
        traits: EngineTraits | None = None,
    ) -> None:
        self.size = size
        self._program = program
        self._manners = manners
        self._traits = traits or EngineTraits()
        self._limits = limits or ProcessLimits()
        # The time of the engine's last line, from which the pause is measured.
        self._heard = 0.0
        # The engine's position as stones in playing order; None before the first one is sent.
        self._known: list[Stone] | None = None
        self._started = False
        # Whether the engine has rejected an INFO line; if so, it may reject more.
        self._complains = False
        # How many rejections an engine that does not answer ABOUT may still send.
        self._late_complaints = 0
        program.send(f"START {size}")

    def ready(self, match: Match | None = None) -> None:
        """Wait for the answer to START; with `match`, send its limits and rule.

        Raises `EngineError` on any answer other than OK.
        """
        self._program.adopt()
        if not self._started:
            self._expect_ok(f"START {self.size}")
            self._started = True
        if match is not None:
            self._inform(terms(match, self._limits))
            self._complains = self._read_all(self._note)

    def follows(self, turn: Turn) -> bool:
        """Return whether this process can play the turn.

        It cannot if the position does not continue the engine's own, unless every turn is sent as a
        BOARD.
        """
        before = turn.observation["moves"][:-1]
        return (
            self._known is None
            or self._manners.whole_board
            or (self._known == [(x, y) for x, y in before] and turn.refusal is None)
        )

    def stone(self, turn: Turn) -> Stone:
        """Request the engine's stone for a turn.

        Raises `EngineError`, `ProgramError` if the engine has exited, `TurnCancelled` if the turn
        is over.
        """
        stones = [(x, y) for x, y in turn.observation["moves"]]
        self._drop()
        self._inform(times(turn, self._manners.margin_ms))
        if self._complains:
            self._complains = self._read_all()
        command = self._position(stones, turn)
        stone = self._answer(command, turn.cancelled)
        self._known = [*stones, stone]
        self._late_complaints = 0  # rejections precede the stone
        return stone

    def _drop(self) -> None:
        """Note and discard lines that arrived before the request for a stone."""
        for line in map(str.strip, self._program.pending()):
            if line:
                self._note(f"dropped unsolicited output: {line}" if _answers(line) else line)

    def _note(self, line: str) -> None:
        self._program.note(line)

    def close(self) -> None:
        """Send END and end the process."""
        try:
            self._say("END")
        except ProgramError:
            pass  # it exited before the match ended
        finally:
            self._program.close()

    def _position(self, stones: Sequence[Stone], turn: Turn) -> str:
        """Send the position with the fitting command; return that command for error messages."""
        if not stones:
            return self._say("BEGIN")
        follows = (self._known or []) == stones[:-1] and turn.refusal is None
        if follows and not self._manners.whole_board:
            return self._say(f"TURN {_text(stones[-1])}")
        for line in board(stones, turn.observation["colours"][turn.seat] == "white"):
            self._say(line)
        return "BOARD"

    def _answer(self, command: str, called_off: CancelToken) -> Stone:
        for line in self._lines(called_off=called_off):
            word, _, rest = line.partition(" ")
            if stone := _STONE.fullmatch(line):
                return int(stone[1]), int(stone[2])
            if word.upper() == "SUGGEST" and _STONE.fullmatch(rest.strip()):
                self._say(f"PLAY {rest.strip()}")
            elif _complains(line) and self._late_complaints:
                self._late_complaints -= 1
                self._note(line)
            elif _complains(line):
                self._note(line)
                raise EngineError(f"the engine answered {line!r} to {command}")
            else:
                self._note(line)
        raise AssertionError("the engine's lines end only with an exception")

    def _inform(self, limits: Mapping[str, int]) -> None:
        for key, value in limits.items():
            self._say(f"INFO {key} {value}")
        if not self._traits.answers_about and (self._complains or self._known is None):
            self._late_complaints += len(limits)

    def _read_all(self, hear: Callable[[str], object] = str) -> bool:
        """Wait until the engine has read all INFO lines; return whether it rejected any."""
        complained = False
        if self._traits.answers_about:
            complained, answered = self._ask_about(hear)
            if answered:
                return complained
            self._traits.answers_about = False
        return self._wait_for_silence(hear) or complained

    def _ask_about(self, hear: Callable[[str], object]) -> tuple[bool, bool]:
        """Send ABOUT until it is answered; return whether INFO was rejected, and ABOUT answered.

        It is sent again because some engines drop a command that arrives right after a rejection.
        """
        complained = answered = False
        for attempt in range(ABOUTS):
            self._say("ABOUT")
            for line in self._lines_until_silence(AGAIN_S):
                hear(line)
                complained |= _complains(line)
                answered |= not _complains(line)
                if answered and attempt == 0:
                    return complained, answered
            if answered:  # repeated commands may have several answers, all read by now
                break
        return complained, answered

    def _wait_for_silence(self, hear: Callable[[str], object]) -> bool:
        """Read rejections until the engine is silent; return whether there were any."""
        complaints = 0
        for line in self._lines_until_silence(QUIET_S):
            hear(line)
            complaints += _complains(line)
        # More rejections can arrive late, but only from an engine that has already rejected a line.
        self._late_complaints = max(0, self._late_complaints - complaints) if complaints else 0
        return complaints > 0

    def _lines_until_silence(self, seconds: float) -> Iterator[str]:
        with contextlib.suppress(EngineError):
            yield from self._lines(seconds)

    def _expect_ok(self, command: str) -> None:
        for line in self._lines(self._manners.start_s):
            if line.partition(" ")[0].upper() == "OK":
                return
            if _complains(line):
                raise EngineError(f"the engine answered {line!r} to {command}, not OK")
            self._note(line)

    def _lines(
        self, seconds: float | None = None, called_off: CancelToken | None = None
    ) -> Iterator[str]:
        """Yield the engine's lines except empty ones and messages; messages are noted."""
        while True:
            try:
                line = self._program.receive(seconds, called_off).strip()
            except TimeoutError as error:
                raise EngineError(f"the engine did not answer: {error}") from None
            self._heard = time.monotonic()
            if line.partition(" ")[0].upper() in {"MESSAGE", "DEBUG"}:
                self._note(line)
            elif line:
                yield line

    def _say(self, line: str) -> str:
        wait = self._heard + self._manners.pause_ms / 1000 - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self._program.send(line)
        return line


def terms(match: Match, limits: ProcessLimits) -> dict[str, int]:
    """Return the INFO values for a match: total time (0 for no clock), memory, rule."""
    control = match.time_control
    memory = limits.memory_mib or 0
    people = any(player.kind == "human" for player in match.players)
    # Send the rule first: an engine that rejects a limit may ignore what follows.
    return {
        "rule": EXACT if match.options.get("exact") else 0,
        "timeout_match": control.main_ms + control.bank_ms,
        "max_memory": int(memory * MIB * MEMORY_SHARE),
        "game_type": HUMAN if people else BRAIN,
    }


def times(turn: Turn, margin_ms: int) -> dict[str, int]:
    """Return the INFO values for the time of a turn, in ms.

    The turn's time is the planned budget, since many engines ignore all other values.
    """
    wanted, flag_ms = max(2, round(turn.budget.left * 1000)), turn.budget.flag_ms
    margin = min(margin_ms, wanted // 2)
    left = UNLIMITED_MS if flag_ms is None else max(1, flag_ms - margin)
    return {"timeout_turn": wanted - margin, "time_left": left}


def board(stones: Sequence[Stone], white: bool) -> list[str]:
    """Return the lines of a BOARD for an engine that plays white (`white`) or black."""
    fields = [OWN if number % 2 == white else OTHER for number in range(len(stones))]
    lines = [f"{_text(stone)},{field}" for stone, field in zip(stones, fields, strict=True)]
    return ["BOARD", *lines, "DONE"]


class EnginePool:
    """A bot factory for an engine; close it to end processes that were started in advance."""

    def __init__(
        self,
        command: Sequence[str],
        limits: ProcessLimits | None = None,
        manners: GomocupOptions | None = None,
        *,
        starter: Executor | None = None,
    ) -> None:
        self.command = list(command)
        self.manners = manners or GomocupOptions()
        self._limits = limits
        self._starter = starter or starters()
        self._guard = threading.Lock()
        # The engine started in advance for the next match.
        self._ahead: GomocupEngine | None = None
        self._closed = False
        self._traits = EngineTraits()

    def __call__(self) -> Bot:
        """Return a bot for one match."""
        return GomocupBot(self)

    def prepare(self, size: int) -> None:
        """Start an engine in advance and wait until it is ready; raises `EngineError`."""
        with self._guard:
            self._look_ahead(size)
            assert self._ahead is not None
            self._ahead.ready()

    def take(self, size: int) -> GomocupEngine:
        """Return an engine for a match and start another for the next one."""
        with self._guard:
            self._look_ahead(size)
            taken, self._ahead = self._ahead, None
            if self.manners.ahead and not self._closed:
                # Its startup output belongs to no match.
                contextvars.Context().run(self._look_ahead, size)
        assert taken is not None
        return taken

    def close(self) -> None:
        """End the engine that was started in advance; matches end their own."""
        with self._guard:
            self._closed = True
            if self._ahead is not None:
                self._ahead.close()
            self._ahead = None

    def _look_ahead(self, size: int) -> None:
        if self._ahead is not None and self._ahead.size != size:
            self._ahead.close()
            self._ahead = None
        if self._ahead is None:
            program = LineProcess(self.command, self._starter, limits=self._limits, newline="\r\n")
            self._ahead = GomocupEngine(program, size, self.manners, self._limits, self._traits)


class GomocupBot(Bot):
    """A bot that plays an engine's stones."""

    games = (GAME,)
    seats = (2,)
    at_once = 1

    def __init__(self, engines: EnginePool) -> None:
        self.name = program_name(engines.command)
        self._engines = engines
        self._engine: GomocupEngine | None = None

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Refuse unplayable programmes and start an engine in advance."""
        for item in programme:
            require_playable(item.game, item.options)
        sizes = dict.fromkeys(_size(item.options) for item in programme)
        for size in reversed(sizes):
            try:
                self._engines.prepare(size)
            except (EngineError, ProgramError) as error:
                raise SpecError(f"{self.name} cannot play on {size}x{size}: {error}") from None

    def on_match_start(self, match: Match) -> None:
        """Take the engine started in advance and send it the match's settings."""
        require_playable(match.game, match.options)
        self._engine = self._engines.take(_size(match.options))
        self._engine.ready(match)

    def choose(self, turn: Turn) -> Move:
        """Return the engine's stone; start a new process if the engine's position differs."""
        if self._engine is not None and not self._engine.follows(turn):
            self._dismiss()
        if self._engine is None:
            self.on_match_start(turn.match)
        assert self._engine is not None
        try:
            x, y = self._engine.stone(turn)
        except TurnCancelled:
            self._dismiss()
            raise
        return {"x": x, "y": y}

    def on_match_end(self, match: Match, result: Result) -> None:
        """End the engine."""
        self._dismiss()

    def _dismiss(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def require_playable(game: str, options: Mapping[str, Any]) -> None:
    """Raise `SpecError` for a match that no Gomocup engine can play."""
    if game != GAME:
        raise SpecError(f"a Gomocup engine plays {GAME}, not {game}")
    if options.get("swap"):
        raise SpecError(f"a Gomocup engine plays {GAME} without swap; the protocol has no command")


def _size(options: Mapping[str, Any]) -> int:
    """Return the board size in `options`, or the game's default."""
    rules = registry.get(GAME)
    return int(rules.Options.model_validate(dict(options)).to_wire()["size"])


def _text(stone: Stone) -> str:
    return f"{stone[0]},{stone[1]}"


def _complains(line: str) -> bool:
    return line.strip().partition(" ")[0].upper() in {"ERROR", "UNKNOWN"}


def _answers(line: str) -> bool:
    return _STONE.fullmatch(line.strip()) is not None
