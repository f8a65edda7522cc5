"""External programs on a real server."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz
from tests.tools.measurements import ReportFigure

STANDIN = Path(__file__).parents[1] / "tools" / "pbrain_standin.py"
GAME = "five-in-a-row"
QUIRKS = ("deaf", "ordered", "chatty", "curt", "spaced", "strict", "slow", "only-10")
"""All quirks that a careful manager can handle."""


@pytest.mark.slow
def test_an_engine_with_every_quirk_plays_twenty_games_without_a_forfeit(
    kibitz: Kibitz, report: ReportFigure
) -> None:
    words = ["play", GAME, f"{GAME}/random:seed=3", "--games=20", "--tc=move=2", "--json"]
    engine = ["--gomocup", "--", sys.executable, "-I", str(STANDIN), *QUIRKS]
    done = kibitz.run(*words, *engine, seconds=120)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    records = [read_record(kibitz.directory / match["record"]) for match in result["matches"]]
    causes = [record.footer.result.cause for record in records if record.footer is not None]
    assert len(causes) == 20
    assert {str(cause) for cause in causes} == {"rules"}
    report(f"20 games of a scripted engine: {sum(len(r.entries) for r in records)} entries")


@pytest.mark.slow
def test_our_own_engine_comes_in_by_the_door_for_foreign_ones(kibitz: Kibitz) -> None:
    engine = ["--gomocup", "--", sys.executable, "-m", "kibitz", "pbrain", f"{GAME}/random"]
    done = kibitz.run("play", GAME, f"{GAME}/random", "--json", *engine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(done.stdout)["matches"]) == 2


def test_an_engine_that_plays_on_stones_loses_as_illegal_and_its_log_says_so(
    kibitz: Kibitz,
) -> None:
    """The stand-in first answers with an occupied cell; the server's check suffices."""
    words = ["play", f"{GAME}:first=seat-0", f"{GAME}/random", "--strict", "--no-rotate"]
    engine = ["--gomocup", "--", sys.executable, "-I", str(STANDIN), "occupied"]
    done = kibitz.run(*words, "--games=1", *engine)
    assert "2. pbrain_standin (illegal)" in done.stdout, done.stdout + done.stderr
    assert "expected an empty cell" in (kibitz.directory / "records/pbrain_standin.log").read_text()


def test_a_program_that_connects_by_itself_finds_the_table(kibitz: Kibitz) -> None:
    (kibitz.directory / "own.py").write_text(
        "from kibitz import Bot\n"
        "class Own(Bot):\n"
        "    def choose(self, turn):\n"
        "        return turn.legal[0]\n"
        "Own.main()\n"
    )
    done = kibitz.run("play", "line-nim", "line-nim/random", "--", sys.executable, "own.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "own" in done.stdout


def test_two_programs_play_each_other(kibitz: Kibitz) -> None:
    one = shlex.join([sys.executable, "-I", str(STANDIN), "twice", "chatty"])
    two = shlex.join([sys.executable, "-m", "kibitz", "pbrain", f"{GAME}/random"])
    done = kibitz.run("play", GAME, f"gomocup:{one}", f"gomocup:{two}", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    matches = json.loads(done.stdout)["matches"]
    assert [match["result"]["cause"] for match in matches] == ["rules", "rules"]


def test_an_engine_that_falls_silent_loses_and_the_status_says_so(kibitz: Kibitz) -> None:
    words = ["play", GAME, f"{GAME}/random", "--games=1", "--no-rotate", "--tc=move=0.3", "-q"]
    engine = ["--gomocup", "--", sys.executable, "-I", str(STANDIN), "mute"]
    done = kibitz.run(*words, *engine)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "match 1: pbrain_standin dropped out: time" in done.stderr


def test_an_engine_that_refuses_to_start_says_why_in_a_quiet_run_too(kibitz: Kibitz) -> None:
    words = ["play", f"{GAME}:size=12", f"{GAME}/random", "--games=1", "--no-rotate", "-q"]
    engine = ["--gomocup", "--", sys.executable, "-I", str(STANDIN), "only-10"]
    done = kibitz.run(*words, *engine)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the engine answered 'ERROR I play on 10 only' to START 12, not OK" in done.stderr
