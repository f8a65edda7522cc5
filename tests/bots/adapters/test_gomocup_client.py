"""External Gomocup engines as players: the commands they receive, and all known quirks."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from kibitz_bots.adapters.gomocup_client import (
    UNLIMITED_MS,
    EngineError,
    EnginePool,
    GomocupBot,
    GomocupEngine,
    GomocupOptions,
    board,
    require_playable,
    terms,
    times,
)
from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_bots.adapters.line_process import MAX_NOTED, TRUNCATED, ProgramError
from kibitz_bots.budget import Budget
from kibitz_bots.running import inprocess
from kibitz_bots.running.log_capture import LogBuffer, captured_by, captured_stderr
from kibitz_bots.running.threads import TurnCancelled
from kibitz_bots.sdk import BadAnswer, Match, Turn
from kibitz_bots.spec import SpecError
from kibitz_games.core import registry
from kibitz_games.core.game import IllegalAction
from kibitz_games.core.position import Position
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult

STANDIN = Path(__file__).parents[2] / "tools" / "pbrain_standin.py"
GAME = registry.get("five-in-a-row")
RESULT = Result(
    seats=[SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)],
    cause=Cause.RULES,
    reason="five",
    plies=9,
)
FIRST = {"first": "seat-0"}


def standin(*quirks: str) -> list[str]:
    return [sys.executable, "-I", str(STANDIN), *quirks]


def table(**options: Any) -> Position:
    return Position(GAME, GAME.Options.model_validate(FIRST | options))


@contextmanager
def engine(*quirks: str, log: Path | None = None, **manners: Any) -> Iterator[EnginePool]:
    """Yield a bot factory for the stand-in; no process is left after the block.

    No engine is started in advance unless requested, because starting is slow.
    """
    words = [*quirks, *([] if log is None else ["--log", str(log)])]
    engines = EnginePool(standin(*words), manners=GomocupOptions(**{"ahead": False} | manners))
    try:
        yield engines
    finally:
        engines.close()


@contextmanager
def seated(engines: EnginePool, play: Position, seat: int = 0) -> Iterator[Callable[[], int]]:
    """Seat an engine; yield a function that lets it act in the current turn."""
    bot, match = engines(), inprocess.local_match(play, seat)
    bot.on_match_start(match)

    def act() -> int:
        action = inprocess.choose_action(bot, play, match)
        play.push(action)
        return action

    try:
        yield act
    finally:
        bot.on_match_end(match, RESULT)


def heard(log: Path) -> list[str]:
    """Return the commands that an engine received, without those before its first stone."""
    lines = log.read_text().splitlines()
    return [line for line in lines if not line.startswith(("START", "INFO", "ABOUT"))]


QUIRKS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["deaf"], {}),
    (["ordered"], {}),
    (["stateless"], {"whole_board": True}),
    (["slow"], {}),
    (["chatty"], {}),
    (["grumpy"], {}),
    (["grumpy", "deaf"], {}),
    (["curt"], {}),
    (["suggest"], {}),
    (["spaced"], {}),
    (["strict"], {}),
    (["only-10"], {}),
    (["minimal"], {}),
    (["silent"], {}),
    (["minimal", "grumpy"], {}),
    (["silent", "grumpy", "deaf"], {}),
    (["cr"], {}),
    (["crlf"], {}),
    (["deaf", "ordered", "chatty", "curt", "spaced", "strict"], {}),
]


@pytest.mark.e2e
@pytest.mark.parametrize(("quirks", "manners"), QUIRKS, ids=lambda part: "-".join(part) or "none")
def test_an_engine_with_a_quirk_plays_from_an_opening(
    quirks: list[str], manners: dict[str, Any]
) -> None:
    play = table(opening=["e5", "e6", "f6"])
    with engine(*quirks, **manners) as engines, seated(engines, play, 1) as act:
        for answer in ("a1", "c10", "j1"):
            act()
            play.push_move(answer)
    assert len(play.history) == 6


@pytest.mark.e2e
def test_an_empty_board_begins_and_stones_are_told_one_by_one(tmp_path: Path) -> None:
    play, log = table(), tmp_path / "log"
    with engine(log=log) as engines, seated(engines, play) as act:
        act()
        play.push_move("a1")
        act()
        play.push_move("j10")
        act()
    assert heard(log)[:3] == ["BEGIN", "TURN 0,0", "TURN 9,9"]
    assert heard(log)[3:] == ["END", "(ended)"]


@pytest.mark.e2e
def test_the_second_player_hears_a_turn_first(tmp_path: Path) -> None:
    play, log = table(), tmp_path / "log"
    with engine(log=log) as engines, seated(engines, play, 1) as act:
        play.push_move("c4")
        act()
    assert heard(log)[0] == "TURN 2,3"


@pytest.mark.e2e
def test_an_opening_and_a_match_in_its_middle_are_boards_in_playing_order(tmp_path: Path) -> None:
    play, log = table(opening=["h8", "g7", "h7"]), tmp_path / "log"
    play.push_move("a1")
    with engine("ordered", log=log) as engines, seated(engines, play, 0) as act:
        act()
    assert heard(log)[:6] == ["BOARD", "7,7,1", "6,6,2", "7,6,1", "0,0,2", "DONE"]


def test_whose_stones_are_whose() -> None:
    stones = [(1, 2), (3, 4), (5, 6)]
    assert board(stones, white=True) == ["BOARD", "1,2,2", "3,4,1", "5,6,2", "DONE"]
    assert board(stones, white=False) == ["BOARD", "1,2,1", "3,4,2", "5,6,1", "DONE"]


@pytest.mark.e2e
def test_limits_and_rule_are_told_before_the_first_stone(tmp_path: Path) -> None:
    play, log = table(exact=True), tmp_path / "log"
    manners = GomocupOptions(ahead=False)
    engines = EnginePool(standin("--log", str(log)), ProcessLimits(memory_mib=1024), manners)
    with seated(engines, play) as act:
        act()
    engines.close()
    lines = log.read_text().splitlines()
    told = dict(line.split()[1:] for line in lines if line.startswith("INFO"))
    assert told["rule"] == "1"
    assert told["max_memory"] == str(768 * 2**20)
    assert told["game_type"] == "1"
    assert 0 < int(told["timeout_turn"]) <= inprocess.THINK_MS - 50
    assert told["time_left"] == str(UNLIMITED_MS)
    assert lines.index("ABOUT") < lines.index("BEGIN")


def match_of(control: str, kind: Any = "bot") -> Match:
    players = (
        Player(player="a", name="a", kind="bot"),
        Player(player="b", name="b", kind=kind),
    )
    return Match(
        id="m",
        game=GAME.info.name,
        options={},
        players=players,
        seat=0,
        time_control=TimeControl.parse(control),
    )


@pytest.mark.parametrize(
    ("control", "kind", "expected"),
    [
        ("none", "bot", (0, 1)),
        ("10+0.1", "bot", (10_000, 1)),
        ("move=1,bank=60", "human", (60_000, 0)),
    ],
)
def test_the_time_of_a_match_and_the_kind_of_opponent(
    control: str, kind: str, expected: tuple[int, int]
) -> None:
    told = terms(match_of(control, kind), ProcessLimits())
    assert (told["timeout_match"], told["game_type"]) == expected
    assert (told["max_memory"], told["rule"]) == (0, 0)


@pytest.mark.parametrize(
    ("ms", "flag_ms", "expected"),
    [
        (1000, None, (950, UNLIMITED_MS)),
        (1000, 5000, (950, 4950)),
        (40, 60, (20, 40)),
        (0, 0, (1, 1)),
    ],
)
def test_the_time_of_a_turn_leaves_a_margin(
    ms: int, flag_ms: int | None, expected: tuple[int, int]
) -> None:
    budget = Budget(ms, flag_ms, 5.0, lambda: 5.0)
    turn = Turn(match=match_of("none"), ply=0, observation={}, budget=budget)
    assert tuple(times(turn, 50).values()) == expected


def notes_of(*quirks: str) -> str:
    """Return the notes of a match with output of an engine."""
    notes, terminal = LogBuffer(), io.StringIO()
    sys.stderr, real = terminal, sys.stderr
    try:
        with (
            captured_stderr(),
            engine(*quirks) as engines,
            captured_by(notes),
            seated(engines, table()) as act,
        ):
            act()
    finally:
        sys.stderr = real
    return "\n".join(notes.flush())


@pytest.mark.e2e
def test_what_it_says_goes_into_the_notes() -> None:
    noted = notes_of("chatty")
    assert "MESSAGE depth 3 ev 12" in noted
    assert "DEBUG thinking" in noted
    assert 'name="Stand-in"' in noted
    assert "UNKNOWN command" in notes_of("curt")


@pytest.mark.e2e
def test_an_engine_that_says_too_much_is_listened_to_no_longer_but_plays_on() -> None:
    """Of two megabytes before each of three stones, a quarter megabyte is kept in total."""
    play, terminal, real = table(), io.StringIO(), sys.stderr
    sys.stderr = terminal
    try:
        with engine("noisy") as engines, seated(engines, play) as act:
            for answer in ("a1", "a2", "a3"):
                act()
                play.push_move(answer)
    finally:
        sys.stderr = real
    assert len(play.history) == 6
    assert MAX_NOTED <= len(terminal.getvalue()) < MAX_NOTED + 2000
    assert terminal.getvalue().splitlines()[-1] == TRUNCATED


@pytest.mark.e2e
def test_a_stone_that_was_not_asked_for_is_dropped_and_noted() -> None:
    """Otherwise it would answer the next turn, and each answer would be a turn late."""
    play, notes, terminal = table(), LogBuffer(), io.StringIO()
    real, sys.stderr = sys.stderr, terminal
    try:
        with captured_stderr(), captured_by(notes), engine("twice") as engines:
            bot, match = engines(), inprocess.local_match(play, 0)
            bot.on_match_start(match)
            assert isinstance(bot, GomocupBot)
            for answer in ("a1", "a2", "a3"):
                play.push(inprocess.choose_action(bot, play, match))
                waiting = cast("GomocupEngine", bot._engine)._program._lines
                while not waiting.qsize():
                    time.sleep(0.001)
                play.push_move(answer)
            bot.on_match_end(match, RESULT)
    finally:
        sys.stderr = real
    moves = play.view().to_wire()["moves"]
    assert [9, 9] not in moves
    assert len(moves) == 6
    assert "\n".join(notes.flush()).count("dropped unsolicited output: 9,9") == 2


@pytest.mark.e2e
def test_a_stone_outside_of_the_board_is_illegal_and_the_engine_is_asked_again() -> None:
    play = table()
    play.push_move("e5")
    with engine("outside") as engines:
        bot, match = engines(), inprocess.local_match(play, 1)
        turn = inprocess.local_turn(play, match)
        answer = bot.choose(turn)
        assert answer == {"x": -1, "y": 3}
        with pytest.raises(BadAnswer, match="not a move"):
            inprocess.action_from(answer, play, turn)
        again = Turn(
            match=match,
            ply=1,
            observation=turn.observation,
            budget=turn.budget,
            refusal="off the board",
        )
        assert bot.choose(again) == {"x": 3, "y": 3}
        bot.on_match_end(match, RESULT)


@pytest.mark.e2e
def test_an_engine_for_another_size_is_refused_before_the_match() -> None:
    item = ProgrammeItem(game=GAME.info.name, options={"size": 10})
    with engine("only-15") as engines, pytest.raises(SpecError) as raised:
        engines().prepare([item])
    assert str(raised.value) == (
        "pbrain_standin cannot play on 10x10: "
        "the engine answered 'ERROR I play on 15 only' to START 10, not OK"
    )


@pytest.mark.parametrize(
    ("game", "options", "sentence"),
    [
        ("line-nim", {}, "a Gomocup engine plays five-in-a-row, not line-nim"),
        (GAME.info.name, {"swap": True}, "without swap"),
    ],
)
def test_what_no_engine_plays_is_refused_before_the_match(
    game: str, options: dict[str, Any], sentence: str
) -> None:
    with engine() as engines, pytest.raises(SpecError, match=sentence):
        engines().prepare([ProgrammeItem(game=game, options=options)])
    with pytest.raises(SpecError, match=sentence):
        require_playable(game, options)


@pytest.mark.e2e
def test_a_warm_engine_waits_for_the_match(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with engine("slow", log=log) as engines:
        engines().prepare([ProgrammeItem(game=GAME.info.name, options={"size": 7})])
        assert log.read_text().split() == ["START", "7"]
        with seated(engines, table(size=7)) as act:
            act()
    assert log.read_text().count("BEGIN") == 1


@pytest.mark.e2e
def test_the_engine_of_the_next_match_is_started_meanwhile(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with engine(log=log, ahead=True) as engines:
        with seated(engines, table()) as act:
            act()
            engines.prepare(10)
            assert log.read_text().count("START") == 2
        with seated(engines, table()) as act:
            act()
    lines = heard(log)
    assert (lines.count("BEGIN"), lines.count("(ended)")) == (2, 3)


@pytest.mark.e2e
def test_an_engine_that_does_not_start_in_time_says_so() -> None:
    with engine("slow", start_s=0.05) as engines, pytest.raises(EngineError, match=r"0\.05 s"):
        engines.prepare(10)


@pytest.mark.e2e
def test_a_stone_on_an_occupied_cell_is_the_tables_to_refuse() -> None:
    play = table()
    play.push_move("e5")
    with (
        engine("occupied") as engines,
        seated(engines, play, 1) as act,
        pytest.raises(IllegalAction, match="there is a stone on e5"),
    ):
        act()


@pytest.mark.e2e
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("quirk", ["chatty", "minimal", "silent"])
def test_after_a_refusal_a_new_process_gets_the_whole_board(
    quirk: str, ahead: bool, tmp_path: Path
) -> None:
    play, log = table(), tmp_path / "log"
    play.push_move("e5")
    with engine("occupied", quirk, log=log, ahead=ahead) as engines:
        bot, match = engines(), inprocess.local_match(play, 1)
        first = inprocess.local_turn(play, match)
        assert bot.choose(first) == {"x": 4, "y": 4}
        again = Turn(
            match=match,
            ply=1,
            observation=first.observation,
            budget=first.budget,
            refusal="illegal: a stone",
        )
        assert bot.choose(again) == {"x": 3, "y": 3}
        bot.on_match_end(match, RESULT)
    assert heard(log)[:5] == ["TURN 4,4", "END", "(ended)", "BOARD", "4,4,2"]


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("quirk", "opening", "sentence"),
    [
        ("boardless", ["c3"], "the engine answered 'UNKNOWN command' to BOARD"),
        ("stateless", [], "the engine answered 'ERROR I keep no board' to TURN 0,0"),
    ],
)
def test_an_engine_that_cannot_take_a_command_is_not_waited_for(
    quirk: str, opening: list[str], sentence: str
) -> None:
    play = table(opening=opening)
    play.push_move("a1")
    with (
        engine(quirk) as engines,
        seated(engines, play, 1) as act,
        pytest.raises(EngineError) as raised,
    ):
        act()
    assert str(raised.value) == sentence


@pytest.mark.e2e
def test_an_engine_that_dies_says_how() -> None:
    play = table()
    with engine("dies") as engines, seated(engines, play) as act:
        act()
        play.push_move("a1")
        with pytest.raises(
            ProgramError, match=r"(?s)ended with status 7; its last output:\nout of ideas"
        ):
            act()


@pytest.mark.e2e
def test_an_engine_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    play = table()
    with engine("mute") as engines:
        bot, match = engines(), inprocess.local_match(play, 0)
        assert isinstance(bot, GomocupBot)
        turn = inprocess.local_turn(play, match)
        turn.cancelled.set()
        with pytest.raises(TurnCancelled):
            bot.choose(turn)
        assert bot._engine is None
        bot.on_match_end(match, RESULT)


def test_a_bot_of_an_engine_is_named_after_it_and_plays_one_game() -> None:
    with engine() as engines:
        bot = engines()
        assert (bot.name, list(bot.games), list(bot.seats)) == (
            "pbrain_standin",
            ["five-in-a-row"],
            [2],
        )
