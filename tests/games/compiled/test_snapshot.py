"""States declared with `state_type`: key and undo by copying, compiled and plain."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import calls, snapshot
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.records import plain_proxy
from kibitz_games.conformance.perft import perft
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position

GAME = registry.get("connect-four")


def _start() -> Any:
    return GAME.start(GAME.Options(), 2, {})


def test_the_position_comes_first_and_the_past_last() -> None:
    names = list(GAME.state_type.names or ())
    assert names[:3] == ["key", "board", "side"]
    assert names[-2] == "past"
    state = _start()
    assert int(state["hashed"]) * 8 == GAME.state_type.fields["ply"][1]  # type: ignore[index]
    assert int(state["saved"]) * 8 == GAME.state_type.fields["past"][1]  # type: ignore[index]


def test_undo_restores_every_byte_of_a_whole_play() -> None:
    position, source = Position(GAME), random.Random(3)
    before = []
    while position.to_act != TERMINAL:
        before.append(position.state.tobytes())
        position.push(source.choice(position.legal))
    while before:
        position.pop()
        assert position.state.tobytes() == before.pop()


def test_the_key_depends_on_the_position_and_not_on_the_way_to_it() -> None:
    one, other = Position(GAME), Position(GAME)
    for move in ("a", "b", "c"):
        one.push_move(move)
    for move in ("c", "b", "a"):
        other.push_move(move)
    assert one.key == other.key
    assert one.state.tobytes() != other.state.tobytes()
    other.pop()
    assert one.key != other.key


@pytest.mark.parametrize("field", ["board", "side"])
def test_every_part_of_the_position_changes_the_key(field: str) -> None:
    state = _start()
    before = op.compute_key(state)
    keys = {int(before)}
    flat: Any = state[field].reshape(-1) if field == "board" else [0]
    for i in range(len(flat)):
        changed = state.copy()
        if field == "board":
            changed["board"].reshape(-1)[i] = 1
        else:
            changed["side"] = 1
        keys.add(int(op.compute_key(changed)))
    assert len(keys) == len(flat) + 1


@pytest.mark.parametrize("field", ["ply", "winner", "past"])
def test_nothing_else_does(field: str) -> None:
    state = _start()
    before = int(op.compute_key(state))
    state[field] = 1
    assert int(op.compute_key(state)) == before


def test_the_words_of_a_record_are_its_memory() -> None:
    state = _start()
    state["key"] = 7
    words = snapshot.words(plain_proxy(state), 2) if not _compiled() else None
    if words is not None:
        assert words[0] == 7
        words[0] = 9
        assert int(state["key"]) == 9


def test_a_record_in_a_larger_array_has_its_own_words() -> None:
    state = _start()
    many = np.zeros(3, state.dtype)
    many[1] = state
    words = snapshot.words(many[1], 2)
    words[0] = 9
    assert many["key"].tolist() == [0, 9, 0]
    assert (many[0].tobytes(), many[2].tobytes()) == (bytes(state.nbytes),) * 2


def _compiled() -> bool:
    from kibitz_games.compiled import kernels

    return kernels.compiled()


def test_the_hash_spreads_over_all_bits() -> None:
    data = np.zeros(3, np.uint64)
    found = []
    for i in range(64):
        data[1] = np.uint64(1) << np.uint64(i)
        found.append(int(snapshot.hash_words(data, 1, 3)))
    assert len(set(found)) == 64
    for bit in range(64):
        assert 8 < sum(each >> bit & 1 for each in found) < 56


def test_leaving_ends_a_play_of_two_for_the_other() -> None:
    state = _start()
    calls.forfeit(state, 0)
    assert (int(state["side"]), int(state["winner"]), int(state["forfeited"])) == (-1, 1, 0)
    assert calls.returns(state) == (0.0, 1.0)
    assert int(state["key"]) == calls.compute_key(state)


def test_positions_are_told_apart_as_often_as_they_are_different() -> None:
    """The legal positions after 0 to 6 plies, as Tromp counted them (OEIS A212693)."""
    keys, states = {int(_start()["key"])}, [_start()]
    counted = [len(keys)]
    for _ in range(6):
        after = {}
        for state in states:
            for action in calls.legal(state):
                calls.play(state, action)
                after[int(state["key"])] = state.copy()
                calls.undo(state, action)
        counted.append(len(after))
        states = list(after.values())
    assert counted == [1, 7, 49, 238, 1120, 4263, 16422]


def test_perft_leaves_the_state_as_it_was() -> None:
    state = _start()
    before = state.tobytes()
    assert perft(state, 4) == 2401
    assert state.tobytes() == before
