"""The event files: that all are sound and say what they have to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import targets
from kibitz_bots.personalities import find
from tests.clients.arena.events import event


@pytest.mark.parametrize("name", targets.names())
def test_a_target_is_sound(name: str) -> None:
    (target,) = targets.chosen([name])
    assert target.event.name == target.name
    for entrant in target.event.entrants:
        if entrant.bot is not None and not entrant.bot.endswith(".py"):
            find(entrant.bot)


def test_targets_are_chosen_by_name() -> None:
    names = targets.names()
    assert names == sorted(names)
    assert [target.name for target in targets.chosen(names[1:2])] == names[1:2]
    assert [target.name for target in targets.chosen([])] == names


def test_an_unknown_name_is_refused_with_what_is_meant() -> None:
    with pytest.raises(targets.UnknownTarget, match="did you mean tanks-greedy"):
        targets.chosen(["tank-greedy"])
    with pytest.raises(targets.UnknownTarget, match="known are chinese-checkers-"):
        targets.chosen(["xyzzy"])


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    source = targets.HERE / "tanks-greedy.yaml"
    (tmp_path / "mine.yaml").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (mine,) = targets.every(tmp_path)
    assert (mine.name, mine.kept) == ("mine", tmp_path / "mine.json")


@pytest.mark.parametrize(("blocks", "left"), [(100, 10), (25, 2), (3, 1), (1, 1)])
def test_a_quick_run_plays_a_tenth(blocks: int, left: int) -> None:
    short = targets.shortened(event(2, blocks=blocks))
    assert (short.blocks_each, short.games_each) == (left, 2 * left)


def test_a_quick_run_of_games_plays_whole_blocks() -> None:
    assert targets.shortened(event(2, games=45, balanced=False)).games_each == 4
