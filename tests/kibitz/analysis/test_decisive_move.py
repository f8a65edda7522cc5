"""Blunders planted in solved games are found at their plies."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kibitz.analysis.decisive_move import decisive_move, strongest
from kibitz.analysis.regression_test import regression_test
from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.loading import load
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import Origin
from tests.tools.measurements import ReportFigure
from tests.tools.planted_blunders import Planted, planted_blunder

NIM: tuple[str, dict[str, Any], str, int] = ("line-nim", {"free": 12}, "line-nim/solver", 500)
MERGE: tuple[str, dict[str, Any], str, int] = ("number-merge", {}, "number-merge/solver", 500)
RHOMBUS: tuple[str, dict[str, Any], str, int] = (
    "chinese-checkers",
    {"board": "rhombus", "size": 4, "pegs": 2},
    "chinese-checkers/alphabeta:evaluation=race",
    2000,
)


def found_ply(planted: Planted, solver: str, ms: int) -> tuple[int, int] | None:
    game = registry.get(planted.record.setup.game)
    found = decisive_move(game, planted.record, planted.seat, load(solver), ms)
    return None if found is None else (found.turn.seat, found.turn.ply)


def test_moves_that_a_branch_repeats_are_not_tried(nim: Record, nim_rules: Game) -> None:
    origin = Origin(match="m", ply=22, seed=nim.setup.seed)
    branch = replace(nim, setup=nim.setup.model_copy(update={"branch": origin}))
    tried: list[int] = []
    decisive_move(
        nim_rules,
        branch,
        0,
        load("line-nim/random"),
        5,
        on_turn=lambda turn: tried.append(turn.ply),
    )
    assert tried == [24, 22]


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "seed"), [(NIM, 3), (NIM, 4), (MERGE, 2), (MERGE, 3)])
def test_a_planted_blunder_is_found(subject: Any, seed: int) -> None:
    name, options, solver, ms = subject
    planted = planted_blunder(name, options, solver, ms, seed)
    assert found_ply(planted, solver, ms) == (planted.seat, planted.ply)


@pytest.mark.slow
def test_fifty_of_fifty_planted_blunders_are_found(report: ReportFigure) -> None:
    counts = {}
    for subject, wanted in ((NIM, 20), (MERGE, 20), (RHOMBUS, 10)):
        name, options, solver, ms = subject
        seed = found = tried = 0
        while tried < wanted:
            seed += 1
            try:
                planted = planted_blunder(name, options, solver, ms, seed)
            except LookupError:
                continue
            tried += 1
            found += found_ply(planted, solver, ms) == (planted.seat, planted.ply)
        counts[name] = found, tried
    report(f"planted blunders found: {counts}")
    assert all(found == tried for found, tried in counts.values())


def test_the_winner_could_not_have_done_better(nim: Record, nim_rules: Game) -> None:
    assert decisive_move(nim_rules, nim, 0, load("line-nim/random"), 5) is None


def test_a_match_that_goes_on_has_no_decisive_move_yet(nim: Record, nim_rules: Game) -> None:
    running = Record(nim.setup, nim.entries[:5], None, "")
    with pytest.raises(ValueError, match="finished match"):
        decisive_move(nim_rules, running, 0, load("line-nim/random"), 5)


def test_every_game_has_a_bot_that_judges() -> None:
    judges = {name: strongest(registry.get(name)) for name in registry.names()}
    assert set(judges.values()) <= set(PERSONALITIES)
    assert judges["line-nim"] == "line-nim/solver"
    assert judges["five-in-a-row"] == "five-in-a-row/threat"
    assert judges["tanks"] == "tanks/hunter"
    assert strongest(registry.get("tanks"), valuing=True) == "tanks/mcts"


@pytest.mark.e2e
def test_the_written_test_fails_for_who_plays_it_again_and_passes_for_others(
    tmp_path: Path,
) -> None:
    name, options, solver, ms = NIM
    planted = planted_blunder(name, options, solver, ms, 3)
    record, footer = planted.record, planted.record.footer
    assert footer is not None
    path = tmp_path / "lost.jsonl"
    write_record(path, record.setup, record.entries, footer.result)
    game = registry.get(name)
    found = decisive_move(game, record, planted.seat, load(solver), ms)
    assert found is not None
    blunder, better = (
        "from kibitz import Bot\nclass B(Bot):\n"
        f"    def choose(self, turn):\n        return {move}\n"
        for move in (
            found.turn.played.action,
            f"turn.legal[turn.legal[0] == {found.turn.played.action}]",
        )
    )
    for text, status in ((blunder, 1), (better, 0)):
        (tmp_path / "mybot.py").write_text(text)
        (tmp_path / "test_it.py").write_text(
            regression_test(found, record.setup.match, path, "mybot.py")
        )
        pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
        done = subprocess.run(
            pytest_run, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ
        )
        assert done.returncode == status, done.stdout + done.stderr
