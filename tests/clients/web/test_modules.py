"""The browser client's pure modules, tested in Node, and its stages compared with Python's.

Node is a separate process, so these tests run in `make test-e2e`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_games.core.drawing import stage_of
from kibitz_protocol.client.session import TRANSITIONS
from tests.clients.web.node import FOLDER, needs_node, run_node
from tests.games.core.test_drawing import GOLDENS, golden_play, looks
from tests.tools.paints import paint_between

TESTS = sorted(path.name for path in FOLDER.glob("*.test.mjs"))


@pytest.mark.e2e
@needs_node
@pytest.mark.parametrize("name", TESTS)
def test_module(name: str) -> None:
    done = run_node("--test", name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# tests 0" not in done.stdout


def test_the_modules_have_tests() -> None:
    assert len(TESTS) >= 6


@pytest.mark.e2e
@needs_node
@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_a_stage_and_paints_are_in_javascript_what_they_are_in_python(path: Path) -> None:
    lines = [json.dumps(line) for line in _drawn(path)]
    done = run_node("stage_law.mjs", stdin="\n".join(lines))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == f"{sum('paint' in line for line in lines)} paints"


PRINT_TABLE = """
import { use } from "./use.mjs";
console.log(JSON.stringify((await use("wire/connection.js")).TRANSITIONS));
"""


@pytest.mark.e2e
@needs_node
def test_a_session_has_the_states_and_steps_of_the_python_client() -> None:
    done = run_node("--input-type=module", "--eval", PRINT_TABLE)
    assert done.returncode == 0, done.stderr
    table: dict[str, dict[str, str]] = {
        state.value: {step: target.value for step, target in steps.items()}
        for state, steps in TRANSITIONS.items()
    }
    # A page can reopen its session.
    table["ended"] = {"opened": "away"}
    assert json.loads(done.stdout) == table


def _drawn(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a stage for each viewer of a golden, then paints with digests of the results."""
    first, moves = golden_play(path)
    assert first.seats is not None
    for look in looks(first.game, first.seats):
        position, _ = golden_play(path)
        scene = look(position)
        yield {"stage": stage_of(scene)}
        for move in moves:
            position.push_move(move)
            after = look(position)
            yield {"paint": paint_between(scene, after), "digest": _digest(stage_of(after))}
            scene = after


def _digest(stage: Any) -> str:
    text = json.dumps(stage, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
