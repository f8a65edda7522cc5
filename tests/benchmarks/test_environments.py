"""The benchmark of environments: columns count plies, and the page describes the measurement."""

from __future__ import annotations

import argparse
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks import environments

FOUND = {
    "tanks": {"batch": [1.6e6, 1.4e6, 1.5e6], "PettingZoo": [30_000.0, 10_000.0, 20_000.0]},
    "connect-four": {"batch": [3e6], "PettingZoo": [40_000.0], "OpenSpiel": [90_000.0]},
}


class _Nim:
    """A fake of an OpenSpiel game and its states: take one or two of five."""

    def __init__(self) -> None:
        self.left, self.taken = 5, list[int]()

    def new_initial_state(self) -> _Nim:
        return _Nim()

    def is_terminal(self) -> bool:
        return self.left == 0

    def current_player(self) -> int:
        return len(self.taken) % 2

    def legal_actions_mask(self) -> list[int]:
        return [1, int(self.left > 1)]

    def apply_action(self, action: int) -> None:
        assert self.legal_actions_mask()[action]
        self.left -= action + 1
        self.taken.append(action)


class _Observation:
    def __init__(self, game: _Nim) -> None:
        self.tensor = np.zeros(1, np.float32)

    def set_from(self, state: _Nim, player: int) -> None:
        assert player == state.current_player()
        self.tensor[0] = state.left


def _install(monkeypatch: pytest.MonkeyPatch) -> None:
    modules: dict[str, Any] = {
        name: ModuleType(name)
        for name in ("pyspiel", "open_spiel", "open_spiel.python", "open_spiel.python.observation")
    }
    modules["pyspiel"].load_game = lambda spec: _Nim()
    modules["open_spiel.python.observation"].make_observation = _Observation
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


def test_every_column_counts_plies(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch)
    monkeypatch.setattr(environments, "has_open_spiel", lambda: True)
    found = environments.measure("connect-four", count=8, rounds=2, seconds=0.01)
    assert list(found) == ["batch", "PettingZoo", "OpenSpiel"]
    assert all(len(figures) == 2 and min(figures) > 0 for figures in found.values())


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert list(environments.columns("connect-four", 8)) == ["batch", "PettingZoo"]
    text = environments.page("the command", {}, environments.has_open_spiel())
    assert "OpenSpiel was not installed (`pip install open_spiel`)." in text


def test_the_page_has_medians_with_their_range() -> None:
    text = environments.page("the command", FOUND, True)
    assert "Written by `the command` on " in text
    assert "| game | batch | PettingZoo | OpenSpiel |" in text
    assert "| tanks | 1,500,000 (1,400,000 to 1,600,000) | 20,000 (10,000 to 30,000) |  |" in text
    assert "`mnk(m=10,n=10,k=5)`" in text


def test_the_command_has_what_was_chosen_and_no_place() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--page")
    chosen = parser.parse_args(["--threads", "1", "--page", "somewhere"])
    told = environments.invocation(parser, chosen)
    assert told == "python -m benchmarks.environments --threads 1"


def test_a_figure_that_is_too_low_is_a_sentence() -> None:
    assert environments.missed(FOUND) == ["tanks, PettingZoo: 20,000, below the target of 25,000"]
