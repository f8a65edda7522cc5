"""`kibitz play`."""

from __future__ import annotations

import json
import re
import signal

from tests.tools.command import Kibitz

GREEDY, RANDOM = "chinese-checkers/greedy-euclid", "chinese-checkers/random"
SMALL = "chinese-checkers:size=2"

CRASHING = """
from kibitz import Bot

class Crashing(Bot):
    def choose(self, turn):
        return turn.legal[0] if turn.ply < 4 else 1 / 0
"""
DYING = """
import os
from kibitz import Bot

class Dying(Bot):
    def choose(self, turn):
        os._exit(3)
"""
THINKING = """
from kibitz import Bot

class Thinking(Bot):
    async def choose(self, turn):
        import asyncio
        await asyncio.sleep(3600)
"""


def test_a_bot_alone_gets_its_score_and_a_list_on_request(kibitz: Kibitz) -> None:
    (kibitz.directory / "mybot.py").write_text(CRASHING.replace("< 4", "< 400"))
    done = kibitz.run("play", "connect-four", "mybot.py", "--games", "2", "--list")
    assert done.returncode == 0, done.stdout + done.stderr
    listed, _, score = done.stdout.partition("Results of mybot against connect-four/random")
    assert len(re.findall(r"^[12] +connect-four ", listed, re.M)) == 2
    assert "Elo: " in score
    assert "Games: 2, wins: " in score
    assert "Time losses: 0, crashes: 0" in score
    quiet = kibitz.run("play", "connect-four", "mybot.py", "--games", "2")
    assert quiet.stdout.startswith("Results of mybot")
    assert "begins" not in quiet.stderr  # no progress without a terminal


def test_a_bot_climbs_the_levels_until_one_beats_it(kibitz: Kibitz) -> None:
    (kibitz.directory / "mybot.py").write_text(CRASHING.replace("< 4", "< 400"))
    words = ["play", "connect-four", "mybot.py", "--climb", "--games", "2", "-q"]
    done = kibitz.run(*words, seconds=240)  # up to eight series
    assert done.returncode == 0, done.stdout + done.stderr
    *steps, summary = done.stdout.splitlines()
    assert [step.partition(",")[0] for step in steps] == [
        f"level {number}" for number in range(1, len(steps) + 1)
    ]
    scores = [int(re.findall(r"(\d+)% of 2 games", step)[0]) for step in steps]
    assert min(scores[:-1], default=100) >= 50
    assert summary.startswith("mybot ")
    if scores[-1] < 50 and len(steps) > 1:
        assert f"stands at level {len(steps) - 1} of 8" in summary


def test_several_games_of_three_as_json(kibitz: Kibitz) -> None:
    words = [SMALL, GREEDY, GREEDY, RANDOM, "--games", "3", "--seed", "5", "--tc", "move=5"]
    done = kibitz.run("play", *words, "--json", "--quiet", "--records", "here")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert done.stderr == ""
    assert [match["number"] for match in result["matches"]] == [1, 2, 3]
    assert {line["name"] for line in result["standings"]} == {
        "greedy-euclid",
        "greedy-euclid-2",
        "random",
    }
    assert all((kibitz.directory / match["record"]).is_file() for match in result["matches"])
    assert result["trouble"] == []


def test_a_bot_that_crashes_is_named_and_the_status_is_one(kibitz: Kibitz) -> None:
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    done = kibitz.run("play", SMALL, "crashing.py", RANDOM)
    assert done.returncode == 1, done.stdout
    assert "ZeroDivisionError" in (kibitz.directory / "records" / "crashing.log").read_text()
    assert "crashing exited with status 1; see its log records/crashing.log" in done.stderr


def test_a_bot_whose_process_dies_loses_and_nothing_new_begins(kibitz: Kibitz) -> None:
    (kibitz.directory / "dying.py").write_text(DYING)
    done = kibitz.run("play", SMALL, "dying.py", RANDOM, "--games", "5")
    assert done.returncode == 1, done.stdout
    assert "dying exited with status 3" in done.stderr
    assert re.search(r"2\. dying \(disconnect\)", done.stdout)


def test_a_bot_that_cannot_be_loaded_says_why(kibitz: Kibitz) -> None:
    (kibitz.directory / "broken.py").write_text("import nosuchmodule\n")
    done = kibitz.run("play", SMALL, "broken.py", RANDOM)
    assert done.returncode == 1
    assert "broken exited with status 2" in done.stderr
    assert "No module named 'nosuchmodule'" in done.stderr


def test_an_option_that_the_game_does_not_have_is_refused_as_wrong_usage(kibitz: Kibitz) -> None:
    done = kibitz.run("play", "chinese-checkers", GREEDY, RANDOM, "--option", "size=77")
    assert done.returncode == 2
    assert "Invalid value for --option: chinese-checkers: size: " in done.stderr


def test_ctrl_c_twice_ends_everything(kibitz: Kibitz) -> None:
    (kibitz.directory / "thinking.py").write_text(THINKING)
    with kibitz.start("play", SMALL, "thinking.py", RANDOM, "--games", "2") as play:
        while "begins" not in play.log.read_text():
            assert play.process.poll() is None
        play.send(signal.SIGINT)
        while "finishing the running matches" not in play.log.read_text():
            assert play.process.poll() is None
        play.send(signal.SIGINT)
        play.rest()
        assert play.process.returncode == 130


def test_a_parent_that_is_killed_leaves_nobody_behind(kibitz: Kibitz) -> None:
    """The fixture checks for leftover processes."""
    (kibitz.directory / "thinking.py").write_text(THINKING)
    with kibitz.start("play", SMALL, "thinking.py", RANDOM) as play:
        while "begins" not in play.log.read_text():
            assert play.process.poll() is None
        play.send(signal.SIGKILL)
        play.rest()


def test_an_engine_that_cannot_start_ends_the_series_with_its_reason(kibitz: Kibitz) -> None:
    program = kibitz.directory / "engine"
    program.write_text("#!/bin/sh\necho 'no weights here' >&2\nexit 3\n")
    program.chmod(0o755)
    done = kibitz.run("play", "line-nim", "line-nim/random", "stdio:./engine", "--games", "200")
    assert done.returncode == 1
    assert "engine crashed at its first turn; starting no new matches" in done.stderr
    assert "no weights here" in done.stderr
    assert done.stderr.count(" begins: ") <= 20  # only those in transit, not all 200
