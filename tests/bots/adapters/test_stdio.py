"""Programs in any language: JSON lines, and misbehaving programs."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kibitz_bots.adapters import stdio
from kibitz_bots.adapters.launcher import ProcessLimits, launch_command
from kibitz_bots.adapters.line_process import LineProcess, ProgramError, starters
from kibitz_bots.running import inprocess
from kibitz_bots.running.log_capture import LogBuffer, captured_by, captured_stderr
from kibitz_bots.running.threads import TurnCancelled
from kibitz_bots.sdk import BadAnswer, Decision, Match, Turn, parse_answer
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_protocol.wire.records import Cause, Result, SeatResult

GAME = registry.get("chinese-checkers")
RESULT = Result(
    seats=[SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)],
    cause=Cause.RULES,
    reason="goal",
    plies=2,
)
Write = Callable[[str], list[str]]


@pytest.fixture
def program(tmp_path: Path) -> Write:
    """Return a function that writes a Python program and returns its command."""

    def write(code: str) -> list[str]:
        path = tmp_path / "program.py"
        path.write_text("import json, os, sys, time\n" + textwrap.dedent(code))
        return [sys.executable, "-u", str(path)]

    return write


FIRST = """
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print(json.dumps(message["legal"][0]))
"""


@contextmanager
def seated(command: list[str], limits: ProcessLimits | None = None) -> Iterator[Any]:
    """Yield a bot for a command; its match ends with the block."""
    bot = stdio.factory(command, limits)()
    play = Position(GAME)
    match = inprocess.local_match(play, 0)
    try:
        yield bot
    finally:
        bot.on_match_end(match, RESULT)


def turn() -> Turn:
    play = Position(GAME)
    return inprocess.local_turn(play, inprocess.local_match(play, 0))


@pytest.mark.e2e
def test_a_program_answers_with_a_move(program: Write) -> None:
    with seated(program(FIRST)) as bot:
        asked = turn()
        assert bot.choose(asked) == bot.choose(asked) == asked.legal[0]


@pytest.mark.e2e
def test_it_hears_the_start_every_turn_and_the_end(program: Write, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    command = program(
        f"""
        log = open({str(heard)!r}, "w")
        for line in sys.stdin:
            log.write(line)
            log.flush()
            if json.loads(line)["type"] == "turn":
                print(json.dumps({{"from": 0, "to": 14}}))
        """
    )
    play = Position(GAME)
    match = inprocess.local_match(play, 0, "m7")
    bot = stdio.factory(command)()
    bot.on_match_start(match)
    asked = inprocess.local_turn(play, match, 321)
    bot.choose(asked)
    bot.on_match_end(match, RESULT)
    start, question, end = (json.loads(line) for line in heard.read_text().splitlines())
    assert start == stdio.start_message(match)
    assert (start["match"], start["game"], start["seat"]) == ("m7", "chinese-checkers", 0)
    assert question["view"] == asked.observation
    assert question["legal"] == asked.legal
    assert (question["ply"], question["ms"], question["refused"]) == (0, 321, None)
    assert end == {"type": "end", "result": RESULT.model_dump(mode="json")}


@pytest.mark.e2e
def test_an_answer_may_come_with_a_comment(program: Write) -> None:
    code = """
    for line in sys.stdin:
        if json.loads(line)["type"] == "turn":
            print(json.dumps({"action": {"from": 0, "to": 14}, "comment": {"depth": 3}}))
    """
    with seated(program(code)) as bot:
        answer = bot.choose(turn())
    assert isinstance(answer, Decision)
    assert answer.action == {"from": 0, "to": 14}
    assert answer.comment == {"depth": 3}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("3-14", "expected a JSON object on one line, not '3-14'"),
        ("[1, 2]", r"expected a JSON object, not '\[1, 2\]'"),
        ("[" * 100_000, "expected a JSON object on one line"),
        ('{"x": 3, "comment": nan}', "expected a JSON object on one line"),
        ('{"action": {"x": nan}, "comment": 1}', "expected a JSON object on one line"),
        ('{"action": {"x": 1}, "action": {"x": 2}, "comment": nan}', "expected a JSON object on"),
    ],
    ids=["words", "list", "depth", "no action", "no number", "two actions"],
)
def test_what_is_no_answer_says_what_was_expected(line: str, sentence: str) -> None:
    with pytest.raises(BadAnswer, match=sentence):
        stdio.parse_reply(line)


COMMENTS = {
    "inf": '{"value": Infinity}',
    "beyond a float": '{"value": 1e999}',
    "printed by C": '{"value": nan, "depth": 3}',
    "printed by Windows": '{"value": -nan(ind)}',
    "many digits": f'{{"nodes": {"9" * 5000}}}',
    "deep": "[" * 100_000 + "]" * 100_000,
    "long": f'{{"text": "{"x" * 5000}"}}',
    "surrogate": '{"text": "\\ud800"}',
    "other types": '{"line": {"a": [1]}, "depth": "deep"}',
    "words": '"good"',
    "quoted": '{"text": "\\"action\\": {}", "value": nan}',
}
"""Comments that programs write and the protocol rejects."""


@pytest.mark.parametrize(
    "order",
    [
        '{{"action": {action}, "comment": {comment}}}',
        '{{"comment": {comment}, "action": {action}}}',
    ],
)
@pytest.mark.parametrize("case", COMMENTS)
def test_a_bad_comment_costs_no_move(case: str, order: str) -> None:
    asked = turn()
    answer = stdio.parse_reply(order.format(action='{"from": 0, "to": 14}', comment=COMMENTS[case]))
    move, comment = parse_answer(answer, asked)
    assert move == {"from": 0, "to": 14}
    assert comment is None
    assert asked.comment_faults


@pytest.mark.e2e
def test_a_program_that_ends_says_how_and_what_it_said(program: Write) -> None:
    code = """
    sys.stdin.readline()
    sys.stderr.write("out of ideas\\n")
    sys.exit(3)
    """
    with (
        seated(program(code)) as bot,
        pytest.raises(
            ProgramError, match=r"(?s)ended with status 3; its last output:\nout of ideas"
        ),
    ):
        bot.choose(turn())


@pytest.mark.e2e
def test_a_command_that_is_not_there_is_named() -> None:
    with (
        seated(["no-such-program"]) as bot,
        pytest.raises(ProgramError, match="cannot start 'no-such-program': No such file"),
    ):
        bot.choose(turn())


@pytest.mark.e2e
def test_a_late_answer_is_not_taken_for_the_next_one(program: Write, tmp_path: Path) -> None:
    """The first turn is canceled; its late answer arrives before the second's and is dropped."""
    go = tmp_path / "go"
    code = f"""
    count = 0
    for line in sys.stdin:
        if json.loads(line)["type"] == "turn":
            while count == 0 and not os.path.exists({str(go)!r}):
                time.sleep(0.01)
            count += 1
            print(json.dumps({{"from": count, "to": count}}))
    """
    with seated(program(code)) as bot:
        first = turn()
        threading.Timer(0.05, first.cancelled.set).start()
        with pytest.raises(TurnCancelled):
            bot.choose(first)
        go.touch()
        assert bot.choose(turn()) == {"from": 2, "to": 2}


@pytest.mark.e2e
def test_what_it_complains_of_goes_into_the_notes_of_its_match(program: Write) -> None:
    notes, code = LogBuffer(), 'sys.stderr.write("thinking hard\\n")\n' + FIRST
    terminal = io.StringIO()
    sys.stderr, real = terminal, sys.stderr
    try:
        with captured_stderr(), captured_by(notes), seated(program(code)) as bot:
            bot.choose(turn())
    finally:
        sys.stderr = real
    assert "thinking hard" in "".join(notes.flush())
    assert "thinking hard" in terminal.getvalue()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def gone(pid: int, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


@pytest.mark.e2e
def test_a_program_that_does_not_end_is_ended_with_what_it_started(program: Write) -> None:
    code = """
    import signal, subprocess
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    print(child.pid, flush=True)
    while True:
        time.sleep(1)
    """
    running = LineProcess(program(code), starters())
    child = int(running.receive(10))
    assert running.close() == -signal.SIGKILL
    assert gone(child)


@pytest.mark.e2e
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's leash is Linux's")
def test_a_program_ends_with_the_process_that_started_it(program: Write, tmp_path: Path) -> None:
    command = program("time.sleep(600)")
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import time\n"
        "from kibitz_bots.adapters.line_process import LineProcess, starters\n"
        f"running = LineProcess({command!r}, starters())\n"
        "print(running._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, str(parent)], stdout=subprocess.PIPE) as held:
        assert held.stdout is not None
        child = int(held.stdout.readline())
        assert alive(child)
        held.kill()
    assert gone(child)


@pytest.mark.e2e
def test_a_program_that_wants_too_much_memory_fails_by_itself(program: Write) -> None:
    code = """
    sys.stdin.readline()
    hoard = bytearray(600 << 20)
    """
    with (
        seated(program(code), ProcessLimits(memory_mib=300)) as bot,
        pytest.raises(ProgramError, match="MemoryError"),
    ):
        bot.choose(turn())


@pytest.mark.e2e
def test_a_program_that_uses_up_its_cpu_is_killed(program: Write) -> None:
    code = """
    sys.stdin.readline()
    while True:
        pass
    """
    with (
        seated(program(code), ProcessLimits(cpu_s=1)) as bot,
        pytest.raises(ProgramError, match=r"was killed by SIG(XCPU|KILL)"),
    ):
        bot.choose(turn())


def test_the_launcher_is_told_the_limits() -> None:
    command = launch_command(["engine", "--fast"], ProcessLimits(memory_mib=64, cpu_s=9))
    assert command[-7:] == ["--memory", "64", "--cpu", "9", "--", "engine", "--fast"]


@pytest.mark.e2e
def test_a_match_that_nobody_started_is_started_by_its_first_turn(program: Write) -> None:
    play = Position(GAME)
    match: Match = inprocess.local_match(play, 0)
    with seated(program(FIRST)) as bot:
        assert bot.choose(inprocess.local_turn(play, match))


@pytest.mark.e2e
def test_a_move_that_was_not_asked_for_is_dropped_and_noted(program: Write) -> None:
    """A program that answers twice plays the answer to each turn, not the one before it."""
    twice = """
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "turn":
            print(json.dumps({"ply": message["ply"]}) + "\\n" + json.dumps({"again": 1}))
    """
    play, terminal, real = Position(GAME), io.StringIO(), sys.stderr
    bot, match = stdio.factory(program(twice))(), inprocess.local_match(play, 0)
    turn = inprocess.local_turn(play, match)
    sys.stderr = terminal
    try:
        bot.on_match_start(match)
        assert isinstance(bot, stdio.StdioBot)
        for ply in range(3):
            asked = Turn(match=match, ply=ply, observation=turn.observation, budget=turn.budget)
            assert bot.choose(asked) == {"ply": ply}
            while not bot._program._lines.qsize():  # type: ignore[union-attr]
                time.sleep(0.001)
    finally:
        sys.stderr = real
        bot.on_match_end(match, RESULT)
    assert terminal.getvalue().count('dropped unsolicited output: {"again": 1}') == 2
