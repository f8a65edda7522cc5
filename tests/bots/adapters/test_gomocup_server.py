"""Our bots as Gomocup engines: the protocol, time, and both bridges combined."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from typing import Any

import pytest

from kibitz_bots.adapters import gomocup_server
from kibitz_bots.adapters.gomocup_client import EnginePool, GomocupOptions
from kibitz_bots.adapters.gomocup_server import (
    BASE_MIB,
    GAME,
    SLIM,
    TURN_MS,
    UNLIMITED_MS,
    Choice,
    GomocupServer,
    StoneChooser,
    nearest_empty,
    table_within,
    times,
    without_time_limit,
)
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import Bot, Turn
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_protocol.wire.records import Cause, Result, SeatResult

RULES = registry.get(GAME)


class Beside(StoneChooser):
    """Places its stone next to the last one and records its requests."""

    def __init__(self) -> None:
        super().__init__(Bot)
        self.prepared: list[tuple[int, bool]] = []
        self.asked: list[tuple[Position, int, int]] = []
        self.memory = 0

    def prepare(self, size: int, exact: bool) -> None:
        self.prepared.append((size, exact))

    def limit_memory(self, memory: int) -> None:
        self.memory = memory

    def choose(self, play: Position, think_ms: int, most_ms: int) -> Choice:
        self.asked.append((play, think_ms, most_ms))
        return Choice(nearest_empty(play))


class Judging(Beside):
    """A chooser that gives its moves the given values, in order."""

    def __init__(self, *values: float) -> None:
        super().__init__()
        self.values = list(values)

    def choose(self, play: Position, think_ms: int, most_ms: int) -> Choice:
        stone = super().choose(play, think_ms, most_ms).stone
        return Choice(stone, value=self.values.pop(0))


def told(*lines: str, mind: StoneChooser | None = None) -> list[str]:
    """Return an engine's answers to these lines."""
    brain = GomocupServer(mind or Beside(), "test", "1")
    return [answer for line in lines for answer in brain.handle(line)]


def test_a_game_from_the_empty_board() -> None:
    assert told("START 10", "BEGIN", "TURN 5,6") == ["OK", "5,5", "4,5"]
    assert told("start 15\r\n", "turn 0 , 0\n", "TAKEBACK 1,0", "END") == ["OK", "1,0", "OK"]


def test_an_engine_introduces_itself() -> None:
    assert told("ABOUT") == ['name="test", version="1", author="kibitz", country="XX"']


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("START 4", "ERROR expected a size from 5 to 20, not '4'"),
        ("START 21", "ERROR expected a size from 5 to 20, not '21'"),
        ("START", "ERROR expected a size from 5 to 20, not ''"),
        ("RECTSTART 5,6", "UNKNOWN RECTSTART"),
        ("BEGIN", "ERROR expected START first"),
        ("TURN 1,1", "ERROR expected START first"),
        ("RESTART", "ERROR expected START first"),
        ("YXSHOWINFO", "UNKNOWN YXSHOWINFO"),
        ("INFO rule 4", "ERROR unsupported rule 4; expected 0 or 1"),
    ],
)
def test_what_cannot_be_done_is_said(line: str, answer: str) -> None:
    assert told(line) == [answer]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["TURN 10,0"], "ERROR expected x,y on a board of 10, not '10,0'"),
        (["TURN x"], "ERROR expected x,y on a board of 10, not 'x'"),
        (["TURN 5,5", "BEGIN"], "ERROR expected an empty board, but it has 2 stones"),
        (["TURN 5,5", "TURN 5,5"], "ERROR expected an empty cell, but there is a stone on f6"),
        (["TURN 5,5", "TAKEBACK 0,0"], "ERROR expected the last stone, not '0,0'"),
        (["BOARD", "1,1,3", "DONE"], "ERROR expected x,y,1 or x,y,2, not '1,1,3'"),
        (["BOARD", "1,1,1", "DONE"], "ERROR not my turn after 1 own and 0 other stones"),
    ],
)
def test_a_command_that_does_not_fit_the_board_changes_nothing(
    lines: list[str], answer: str
) -> None:
    assert told("START 10", *lines)[-1] == answer
    assert told("START 10", *lines, "RESTART", "BEGIN")[-2:] == ["OK", "5,5"]


def test_what_is_no_limit_of_ours_is_ignored() -> None:
    assert told("INFO folder /x", "INFO timeout_turn soon", "INFO", "", "INFO evaluate 1,1") == []


@pytest.mark.parametrize("key", ["timeout_turn", "timeout_match", "time_left", "max_memory"])
@pytest.mark.parametrize("number", ["18446744073709551616", "9" * 5000, "0" * 30 + "7"])
def test_numbers_of_any_length_are_limits(key: str, number: str) -> None:
    assert told(f"INFO {key} {number}", "START 10", "BEGIN") == ["OK", "5,5"]


def test_a_size_of_many_digits_is_refused() -> None:
    assert told(f"START {'9' * 5000}")[0].startswith("ERROR expected a size from 5 to 20")


def test_the_memory_of_the_manager_reaches_the_bot() -> None:
    mind = Beside()
    told("START 10", f"INFO max_memory {350 * 2**20}", mind=mind)
    assert mind.memory == 350 * 2**20


def test_an_opening_of_swap2_is_the_one_that_is_judged_most_even() -> None:
    mind = Judging(30, -2, 9, -40)
    first, second, third = gomocup_server.SWAP2_OPENINGS[1]
    answer = " ".join(f"{x},{y}" for x, y in (first, second, third))
    assert told("START 15", "SWAP2BOARD", "DONE", mind=mind) == ["OK", answer]
    assert len(mind.asked) == len(gomocup_server.SWAP2_OPENINGS)
    assert {each[1:] for each in mind.asked} == {times(TURN_MS // 4, UNLIMITED_MS // 4)}


@pytest.mark.parametrize("stones", [["7,7", "8,7", "9,9"], ["7,7", "8,7", "9,9", "8,8", "8,6"]])
def test_swap2_takes_black_where_white_is_worse_off(stones: list[str]) -> None:
    lines = ["START 15", "SWAP2BOARD", *stones, "DONE"]
    assert told(*lines, mind=Judging(-1)) == ["OK", "SWAP"]
    stone = told(*lines, mind=Judging(1))[1]
    assert re.fullmatch(r"\d+,\d+", stone)
    assert stone not in stones
    board = ["BOARD", "7,7,1", "8,7,2", "9,9,1", "1,1,2", "DONE"]
    assert len(told(*lines, *board, mind=Judging(-1, 0))) == 3


def test_swap2_with_another_number_of_stones_is_an_error() -> None:
    said = "ERROR expected 0, 3 or 5 stones, not 1"
    assert told("START 15", "SWAP2BOARD", "1,1", "DONE", "TURN 0,0") == ["OK", said, "1,0"]


@pytest.mark.parametrize("size", [5, 15, 20])
def test_every_opening_of_swap2_may_be_played_on_every_board(size: int) -> None:
    for number, stones in enumerate(gomocup_server.SWAP2_OPENINGS):
        values = [float(each != number) for each in range(len(gomocup_server.SWAP2_OPENINGS))]
        answer = told(f"START {size}", "SWAP2BOARD", "DONE", mind=Judging(*values))
        assert answer == ["OK", " ".join(f"{x},{y}" for x, y in stones)]


def test_a_board_in_any_order_becomes_a_position_with_the_own_turn_next() -> None:
    mind = Beside()
    lines = ["BOARD", "1,1,2", "2,2,2", "3,3,1", "DONE"]
    assert told("INFO rule 1", "START 10", *lines, mind=mind) == ["OK", "2,1"]
    assert mind.prepared == [(10, True)]
    view = mind.asked[0][0].view().to_wire()
    assert view["moves"] == [[1, 1], [3, 3], [2, 2]]
    assert view["to_act"] == 1
    assert view["options"]["exact"]


def test_after_a_five_there_is_nothing_to_answer() -> None:
    own = [f"{x},0,1" for x in range(5)]
    other = [f"{x},9,2" for x in (0, 2, 4, 6, 8)]
    assert told("START 10", "BOARD", *own, *other, "DONE") == ["OK", "ERROR the game is over"]


def test_a_refused_board_leaves_the_one_before() -> None:
    lines = ["TURN 4,4", "BOARD", "1,1,2", "1,1,1", "DONE", "TURN 0,0"]
    answers = told("START 10", *lines)
    assert answers == [
        "OK",
        "3,3",
        "ERROR expected an empty cell, but there is a stone on b2",
        "1,0",
    ]


def test_restart_and_start_begin_anew() -> None:
    assert told("START 10", "BEGIN", "RESTART", "BEGIN", "START 5", "BEGIN") == [
        *("OK", "5,5", "OK", "5,5", "OK", "2,2")
    ]


@pytest.mark.parametrize(
    ("turn_ms", "left_ms", "expected"),
    [
        (1000, UNLIMITED_MS, (950, 975)),
        (60, UNLIMITED_MS, (30, 45)),
        (0, UNLIMITED_MS, (1, 50)),
        (5000, 30_000, (950, 975)),
        (1000, 0, (1, 1)),
    ],
)
def test_the_time_is_the_turns_or_a_share_of_what_is_left_less_a_margin(
    turn_ms: int, left_ms: int, expected: tuple[int, int]
) -> None:
    assert times(turn_ms, left_ms) == expected


def test_limits_reach_the_bot() -> None:
    mind = Beside()
    told("START 10", "INFO timeout_turn 400", "INFO time_left 9000", "BEGIN", mind=mind)
    assert mind.asked[0][1:] == times(400, 9000)


class Clock:
    """A clock that advances by a number of seconds with every stone."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds = 0.0, seconds / 2

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (["INFO time_left 9000"], [9000, 7000, 5000]),
        (["INFO timeout_match 8000"], [8000, 6000, 4000]),
        (["INFO timeout_match 8000", "INFO time_left 5000"], [5000, 3000, 1000]),
        (["INFO timeout_match 3000"], [3000, 1000, 0]),
        (["INFO timeout_match 0"], [UNLIMITED_MS] * 3),
    ],
)
def test_what_is_left_of_a_match_is_counted_down(limits: list[str], left: list[int]) -> None:
    """Managers that send it once get the same result as those that send it before each turn."""
    mind = Beside()
    brain = GomocupServer(mind, "test", "1", clock=Clock(4.0))
    for line in (*limits, "START 10", "BEGIN", "TURN 0,0", "TURN 9,9"):
        brain.handle(line)
    assert [each[1:] for each in mind.asked] == [times(TURN_MS, each) for each in left]
    for line in ("RESTART", "INFO time_left 3000", "BEGIN"):
        brain.handle(line)
    assert mind.asked[3][1:] == times(TURN_MS, 3000)


class Late(Bot):
    """Answers once it is canceled."""

    def choose(self, turn: Turn) -> Any:
        turn.cancelled.wait(20)
        return {"x": 0, "y": 0}


class Deaf(Bot):
    """Continues after being canceled; answers immediately in its second turn."""

    made = 0

    def __init__(self) -> None:
        Deaf.made += 1
        self.turns = 0
        self.released = threading.Event()

    def choose(self, turn: Turn) -> Any:
        self.turns += 1
        if self.turns == 1:
            self.released.wait(20)
        return {"x": 9, "y": self.turns}


class Suggesting(Deaf):
    """The same, but it also suggests its best move so far."""

    def choose(self, turn: Turn) -> Any:
        turn.suggest({"x": 7, "y": 7})
        turn.suggest({"x": 8, "y": 7})
        return super().choose(turn)


class Nonsense(Deaf):
    def choose(self, turn: Turn) -> Any:
        turn.suggest({"x": 4, "y": 4})  # the place of the other stone
        return super().choose(turn)


class Broken(Bot):
    def choose(self, turn: Turn) -> Any:
        raise LookupError("where is\nmy book?")


class Corner(Bot):
    async def choose(self, turn: Turn) -> Any:
        return {"x": 9, "y": 0}


def test_a_bot_that_is_late_or_broken_is_answered_for() -> None:
    quick = ("START 10", "INFO timeout_turn 60", "TURN 4,4")
    for kind in (Deaf, Nonsense):
        late = told(*quick, mind=StoneChooser(kind))
        said = "MESSAGE no answer in time; playing next to the last stone"
        assert late == ["OK", said, "3,3"]
    broken = told("START 10", "TURN 4,4", mind=StoneChooser(Broken))
    said = "MESSAGE LookupError: where is my book?; playing next to the last stone"
    assert broken == ["OK", said, "3,3"]


def test_a_late_answer_is_the_best_so_far() -> None:
    quick = ("START 10", "INFO timeout_turn 60", "TURN 4,4")
    suggested = told(*quick, mind=StoneChooser(Suggesting))
    assert suggested == ["OK", "MESSAGE no answer in time; playing its best move so far", "8,7"]


@pytest.mark.slow
def test_a_bot_that_answers_when_it_is_called_off_is_heard() -> None:
    """The limits are far apart so that a busy machine does not affect the result."""
    play = Position(RULES, gomocup_server.options(10, False))
    assert StoneChooser(Late).choose(play, 1, 5000) == Choice((0, 0))


def test_the_bot_that_was_late_plays_on_unless_it_is_still_busy() -> None:
    mind, play = StoneChooser(Deaf), Position(RULES, gomocup_server.options(10, False))
    assert mind.choose(play, 10, 20).stone == nearest_empty(play)
    late: Any = mind._bot
    made = Deaf.made
    late.released.set()
    assert mind.choose(play, 1000, 20_000).stone == (9, 2)
    assert (mind._bot, Deaf.made) == (late, made)
    busy = StoneChooser(Deaf)
    assert busy.choose(play, 10, 20).stone == nearest_empty(play)
    first: Any = busy._bot
    assert busy.choose(play, 10, 20).stone == nearest_empty(play)
    assert busy._bot is not first
    first.released.set()


def test_a_bot_answers_with_its_move() -> None:
    assert told("START 10", "BEGIN", mind=StoneChooser(Corner)) == ["OK", "9,0"]


class Talking(Bot):
    def choose(self, turn: Turn) -> Any:
        turn.comment("so so,\nI think", value=-12.5, depth=7, nodes=12345678, line=["j1", "a1"])
        return {"x": 9, "y": 0}


def test_what_a_bot_has_seen_is_a_message() -> None:
    said = "MESSAGE depth 7 value -12.5 nodes 12345678 line j1 a1 so so, I think"
    assert told("START 10", "BEGIN", mind=StoneChooser(Talking)) == ["OK", said, "9,0"]


@pytest.mark.parametrize(
    ("spec", "loaded"),
    [
        (f"{GAME}/threat", f"{GAME}/threat:time=0"),
        (f"{GAME}/threat:seed=4", f"{GAME}/threat:seed=4,time=0"),
        (f"{GAME}/threat:time=0.5,seed=4", f"{GAME}/threat:time=0.5,seed=4"),
        (f"{GAME}/greedy", f"{GAME}/greedy"),
        ("my/bot.py", "my/bot.py"),
    ],
)
def test_the_managers_limit_is_the_only_one(spec: str, loaded: str) -> None:
    assert without_time_limit(spec) == loaded


@pytest.mark.parametrize(
    ("spec", "mib", "loaded"),
    [
        (f"{GAME}/threat", 0, f"{GAME}/threat"),
        (f"{GAME}/threat", 4096, f"{GAME}/threat"),
        (f"{GAME}/threat:seed=4", BASE_MIB + 8, f"{GAME}/threat:seed=4,table=8"),
        (f"{GAME}/threat", 5, f"{GAME}/threat:table=1"),
        (f"{GAME}/threat:table=40", BASE_MIB, f"{GAME}/threat:table=40"),
        (f"{GAME}/greedy", 5, f"{GAME}/greedy"),
        ("my/bot.py", 5, "my/bot.py"),
    ],
)
def test_a_table_fits_into_the_memory_of_the_manager(spec: str, mib: int, loaded: str) -> None:
    assert table_within(spec, mib * 2**20) == loaded


WARMED = f"""
from kibitz_bots.adapters.gomocup_server import (
    StoneChooser,
    GomocupServer,
    load,
    without_time_limit,
)
from tests.tools.compile_audit import requested_signatures

for name in ("threat", "alphabeta", "greedy"):
    brain = GomocupServer(
        StoneChooser(load(without_time_limit(f"{GAME}/{{name}}"))), "test", "1"
    )
    assert brain.handle("START 9") == ["OK"]
    with requested_signatures() as more:
        for line in ("INFO rule 1", "INFO timeout_turn 300", "BEGIN"):
            brain.handle(line)
        for line in ("BOARD", "1,1,2", "2,2,1", "5,5,2"):
            brain.handle(line)
        answers = brain.handle("DONE")
    assert answers[0].startswith("MESSAGE depth "), answers
    print(name, more)
"""


@pytest.mark.slow
def test_a_turn_after_start_compiles_nothing() -> None:
    run = [sys.executable, "-c", WARMED]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "threat []\nalphabeta []\ngreedy []\n"


def test_commands_after_end_are_not_read() -> None:
    answers = io.StringIO()
    gomocup_server.serve(
        GomocupServer(Beside(), "test", "1"), iter(["START 5\r\n", "END\r\n", "BEGIN\r\n"]), answers
    )
    assert answers.getvalue() == "OK\n"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("line-nim/random", "line-nim/random: expected a bot of five-in-a-row, not of line-nim"),
        ("nobody.py", "nobody.py: no such file"),
    ],
)
def test_what_is_no_bot_of_the_game_is_no_engine(
    spec: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gomocup_server.main(spec) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.e2e
def test_an_engine_survives_a_folder_that_is_no_text_and_lines_that_end_in_cr() -> None:
    commands = b"START 6\rINFO folder /caf\xe9\rINFO time_left 99999999999999999999\rBEGIN\rEND\r"
    done = subprocess.run(
        [*ENGINE, f"{GAME}/random:seed=1"], input=commands, capture_output=True, check=True
    )
    assert re.fullmatch(rb"OK\n\d,\d\n", done.stdout), done


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits virtual memory so")
def test_the_strongest_engine_plays_within_the_memory_of_judges() -> None:
    """350 MiB of virtual memory, including machine code."""
    run = ["prlimit", f"--as={350 * 2**20}", *ENGINE, f"{GAME}/threat"]
    lines = ["START 15", f"INFO max_memory {350 * 2**20}", "INFO timeout_turn 500"]
    commands = "\n".join([*lines, "BEGIN", "TURN 3,3", "END\n"])
    done = subprocess.run(
        run, input=commands, capture_output=True, text=True, check=True, env=os.environ | SLIM
    )
    answers = [line for line in done.stdout.splitlines() if not line.startswith("MESSAGE depth")]
    assert answers[0] == "OK"
    assert [bool(re.fullmatch(r"\d+,\d+", line)) for line in answers[1:]] == [True, True], done


ENGINE = [sys.executable, "-m", "kibitz_bots.adapters.gomocup_server"]


@pytest.mark.e2e
def test_our_engine_plays_through_our_bridge_to_the_end() -> None:
    """Both directions at once: the engine bridge talks to our own engine."""
    command = [sys.executable, "-m", "kibitz_bots.adapters.gomocup_server", f"{GAME}/random:seed=1"]
    engines = EnginePool(command, manners=GomocupOptions(ahead=False))
    play = Position(RULES, gomocup_server.options(6, False))
    bots, matches = [engines(), engines()], [inprocess.local_match(play, seat) for seat in (0, 1)]
    for bot, match in zip(bots, matches, strict=True):
        bot.on_match_start(match)
    try:
        while (seat := play.to_act) != TERMINAL:
            play.push(inprocess.choose_action(bots[seat], play, matches[seat]))
    finally:
        result = Result(
            seats=[SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)],
            cause=Cause.RULES,
            reason="five",
            plies=9,
        )
        for bot, match in zip(bots, matches, strict=True):
            bot.on_match_end(match, result)
    assert play.outcome is not None
