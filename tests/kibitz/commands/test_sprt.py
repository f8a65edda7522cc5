"""`kibitz sprt`: a test that decides, goes on from its log, or refuses what it cannot test."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz

GAME = "connect-four"
A, B = f"{GAME}/alphabeta", f"{GAME}/greedy"
FAILING = """
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_search.algorithms.outcome import outcome
from kibitz_search.algorithms.result import SearchResult

class Failing:
    searched = 0
    def __init__(self, state):
        pass
    @staticmethod
    def supports(info, state):
        return None
    def search(self, state, ev, limits):
        from kibitz_games.connect_four import GAME
        Failing.searched += 1
        return SearchResult(GAME.legal(state)[0], 1 / (60 - Failing.searched), 1, 1, ())

def BOT():
    return EngineBot(Failing, None)
"""


def call(*arguments: str) -> Result:
    return CliRunner().invoke(kibitz, ["sprt", *arguments])


def test_a_clear_difference_is_accepted(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    arguments = (GAME, A, B, "--elo", "0", "200", "--nodes", "1000", "--log", str(log))
    done = call(*arguments)
    assert done.exit_code == 0, done.output
    assert f"accepted H1: {A} is +200 Elo stronger than {B}" in done.output
    logged = log.read_text()
    again = call(*arguments)
    assert again.output.splitlines()[-2:] == done.output.splitlines()[-2:]
    assert log.read_text() == logged


def test_a_test_ends_undecided_after_its_pairs_and_continues(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    arguments = (GAME, A, A, "--nodes", "50", "--log", str(log))
    first = call(*arguments, "--pairs", "2")
    assert "2 pairs: Elo +0.0" in first.output
    assert "not decided" in first.output
    more = call(*arguments, "--pairs", "3")
    assert "3 pairs: Elo +0.0" in more.output
    assert len(log.read_text().splitlines()) == 4


def test_the_number_of_threads_does_not_change_the_games(tmp_path: Path) -> None:
    logs = []
    for threads in ("1", "3"):
        path = tmp_path / f"{threads}.jsonl"
        call(GAME, A, B, "--nodes", "50", "--pairs", "4", "--threads", threads, "--log", str(path))
        logs.append(path.read_text())
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((GAME, A, B, "--nodes", "5", "--seconds", "1"), "give --nodes or --seconds, not both"),
        (("chess", A, B), "unknown game 'chess'"),
        (("tanks", "tanks/random", "tanks/random"), "tanks is not a game for two"),
        ((GAME, A, f"{GAME}/random"), "'connect-four/random' is not an engine"),
        ((GAME, A, "connect-four/odd"), "unknown bot 'connect-four/odd'"),
        ((GAME, A, B, "--elo", "10", "0"), "expected ELO0 below ELO1"),
        ((GAME, "five-in-a-row/threat", B), "Threat cannot play"),
        ((GAME, A, B, "--plies", "60"), "60 random plies end every game"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_a_sentence(
    arguments: tuple[str, ...], sentence: str
) -> None:
    done = call(*arguments)
    assert done.exit_code in (1, 2)
    assert sentence in done.output


def test_a_search_that_fails_ends_the_test_and_keeps_its_pairs(tmp_path: Path) -> None:
    file, log = tmp_path / "failing.py", tmp_path / "log.jsonl"
    file.write_text(FAILING)
    done = call(GAME, A, str(file), "--nodes", "50", "--threads", "1", "--log", str(log))
    assert isinstance(done.exception, ZeroDivisionError)
    assert 1 <= len(log.read_text().splitlines()) - 1 < 10
