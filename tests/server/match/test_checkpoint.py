"""Checkpoints: a match resumed from a checkpoint equals one replayed from its full log."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.records import Cause, Conduct, Player
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE
from kibitz_server.match import checkpoint
from kibitz_server.match.answered_moves import unpacked
from kibitz_server.match.checkpoint import (
    CHECKPOINT_INTERVAL,
    FOLDED_AT_START,
    Checkpoint,
    Checkpoints,
    checkpoint_interval,
    next_checkpoint,
)
from kibitz_server.match.commands import (
    Command,
    Forfeit,
    Leave,
    Note,
    Play,
    Replace,
    Resign,
    Return,
)
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.state import MatchState, SavedState
from kibitz_server.match.visibility import MatchViews
from tests.server.match.toy_games import Grid, MatchDriver, Race, Veil, setup, state_values, variant

CODE = "these sources"
TOYS: dict[str, Game] = {
    "toy-grid": Grid(),
    "toy-race": Race(),
    "toy-veil": Veil(),
    "toy-random": variant(Race, on_flag="random"),
    "toy-skip": variant(Race, on_flag="skip"),
    "toy-ends": variant(Race, drops=False),
}
NAMES = (*TOYS, *registry.names())
STEPS = 40


def game_of(name: str) -> Game:
    return TOYS.get(name) or registry.get(name)


def played(name: str, number: int) -> MatchDriver:
    """Play a random match with all kinds of events."""
    source = random.Random(f"{name} {number}")
    game = game_of(name)
    clock = source.choice(["none", "10+1", "move=1", "byo=2+2x1"])
    seats = source.choice(game.info.seats)
    conduct = Conduct(grace_ms=3_000, max_illegal=source.choice([2, 10]))
    shell = MatchDriver(game, setup(game, seats, clock=clock, conduct=conduct))
    for _ in range(STEPS):
        if shell.match.state.result is not None:
            break
        _step(shell, source)
    return shell


def _step(shell: MatchDriver, source: random.Random) -> None:
    match = shell.match
    seat = source.randrange(len(match.state.players))
    wait = source.choice([0, 5, 200, 900])
    chance = source.random()
    if chance < 0.75 and match.state.to_act != TERMINAL:
        legal = match.state.game.legal(match.state.game_state)
        shell.play(wait, **shell.wire(source.choice(legal)))
    elif chance < 0.80:
        shell.do(Leave(seat, source.choice(["disconnect", "crash"])), wait)
    elif chance < 0.86:
        shell.do(Return(seat), wait)
    elif chance < 0.90:
        player = Player(player=f"x{source.randrange(9)}", name="Another", kind="house")
        shell.do(Replace(seat, player, Cause.DISCONNECT), wait)
    elif chance < 0.94:
        shell.do(Note(seat, "thinking"), wait, request=f"{len(shell.log):032x}")
    elif chance < 0.96:
        shell.do(Play(match.state.to_act, 900, match.state.ply, {"no": "move"}), wait)
    elif chance < 0.98:
        shell.tick(source.choice([1_000, 4_000]))
    else:
        quits: list[Command] = [Resign(seat), Forfeit(seat, Cause.CRASH, "it broke")]
        shell.do(source.choice(quits), wait)


def told(state: MatchState) -> list[bytes]:
    """Return the messages that all viewers would receive about a match now."""
    views = MatchViews(state)
    seats = range(len(state.players))
    shown = [encode(views.snapshot(each, "rejoined")) for each in (PUBLIC, REFEREE, *seats)]
    if state.result is None:
        return [*shown, encode(views.your_turn())]
    return [*shown, encode(views.finished("/records/m.jsonl"))]


def made(shell: MatchDriver, seq: int) -> bytes:
    state = MatchState.restore(shell.game, shell.setup, shell.log[:seq])
    return Checkpoints(CODE).write(state, "link")


def found(shell: MatchDriver, data: bytes) -> Checkpoint | None:
    return Checkpoints(CODE).read(data, shell.game, shell.setup)


# --- the law ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TOYS, "five-in-a-row", "tanks"])
@pytest.mark.parametrize("number", range(2))
def test_a_checkpoint_and_the_rest_give_what_the_whole_log_gives(name: str, number: int) -> None:
    _require_the_law(played(name, number), every=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_law_holds_for_every_entry_of_many_matches(name: str) -> None:
    for number in range(30):
        _require_the_law(played(name, number), every=1)


def _require_the_law(shell: MatchDriver, every: int) -> None:
    whole = MatchState.restore(shell.game, shell.setup, shell.log)
    ending = told(whole)
    for seq in {*range(0, len(shell.log) + 1, every), len(shell.log)}:
        kept = found(shell, made(shell, seq))
        assert kept is not None
        assert (kept.seq, kept.link) == (seq, "link")
        again = checkpoint.resume(shell.game, shell.setup, kept, shell.log[seq:])
        assert state_values(again) == state_values(whole), seq
        assert told(again) == ending, seq
        assert type(again.game_state) is type(whole.game_state)


def test_the_matches_of_the_law_have_seen_everything() -> None:
    logs = [entry for name in NAMES for n in range(2) for entry in played(name, n).log]
    seen = {entry.kind for entry in logs}
    assert {"move", "flag", "resign", "leave", "return", "forfeit", "replace", "note"} <= seen


def test_a_match_goes_on_from_a_checkpoint_as_it_would_have() -> None:
    """Pending events are also handled equally: a flag, a repeated request, a reconnect."""
    game = variant(Grid, on_flag="forfeit")
    whole = MatchDriver(game, setup(game, clock="move=1", columns=5, rows=5, row=5))
    for _ in range(3):
        whole.play(100)
    whole.do(Leave(0, "disconnect"), 10)
    kept = found(whole, made(whole, len(whole.log)))
    assert kept is not None
    rest = MatchDriver(game, whole.setup)
    rest.log, rest._request = whole.log.copy(), whole._request
    rest.match = MatchEngine(checkpoint.resume(game, whole.setup, kept, []))
    rest.now = 7_000_000
    whole.restart(7_000_000)
    rest.tick()
    ply, seat, request, _ = unpacked(whole.match.state.answered)[0]
    assert seat == 0
    for shell in (whole, rest):
        again = shell.do(Play(0, request, ply, {"x": 0, "y": 0}))
        assert [type(effect).__name__ for effect in again] == ["Accepted"]
        shell.play(200)
        shell.tick(500)
        shell.do(Return(0, "p0"))
        shell.tick(60_000)
    assert rest.match.state.result == whole.match.state.result
    assert state_values(rest.match.state) == state_values(whole.match.state)


def test_everything_that_a_fold_keeps_is_in_its_checkpoint() -> None:
    apart = {"game", "setup", "control", "game_state"}  # from the setup, and the state itself
    kept = {field.name for field in fields(SavedState)}
    match = played("toy-grid", 0).match.state
    names = {name for name in dir(match) if _is_attribute(match, name)}
    assert names - apart == kept


def _is_attribute(match: MatchState, name: str) -> bool:
    """Return whether a match has a settable attribute with this name."""
    try:
        setattr(match, name, getattr(match, name))
    except (AttributeError, TypeError):
        return False
    return name != "__class__"


# --- checkpoints are only a cache -------------------------------------------------------------


def test_every_changed_byte_is_found() -> None:
    shell = played("toy-grid", 1)
    data = made(shell, 3)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        assert found(shell, bytes(changed)) is None, place
    for length in range(0, len(data), 7):
        assert found(shell, data[:length]) is None


def _other_rules(shell: MatchDriver) -> tuple[Game, Any, str]:
    game = variant(Grid, rules_version=2)
    return game, shell.setup, CODE


def _other_code(shell: MatchDriver) -> tuple[Game, Any, str]:
    return shell.game, shell.setup, "other sources"


def _other_match(shell: MatchDriver) -> tuple[Game, Any, str]:
    return shell.game, shell.setup.model_copy(update={"match": "m2"}), CODE


def _other_game(shell: MatchDriver) -> tuple[Game, Any, str]:
    game = variant(Grid, name="toy-other")
    return game, shell.setup, CODE


def _other_state(shell: MatchDriver) -> tuple[Game, Any, str]:
    game = Race()
    game.info = shell.game.info  # type: ignore[misc]
    return game, shell.setup.model_copy(update={"options": {}}), CODE


@pytest.mark.parametrize(
    "other", [_other_rules, _other_code, _other_match, _other_game, _other_state]
)
def test_a_checkpoint_of_something_else_is_not_used(
    other: Callable[[MatchDriver], tuple[Game, Any, str]],
) -> None:
    shell = played("toy-grid", 1)
    game, setup, code = other(shell)
    assert Checkpoints(code).read(made(shell, 3), game, setup) is None


def test_a_state_changes_without_changing_its_checkpoint() -> None:
    shell = played("toy-grid", 2)
    data = made(shell, 1)
    kept = found(shell, data)
    assert kept is not None
    checkpoint.resume(shell.game, shell.setup, kept, shell.log[1:])
    again = found(shell, data)
    assert again is not None
    whole = MatchState.restore(shell.game, shell.setup, shell.log[:1])
    assert again.state.tobytes() == whole.game_state.tobytes()
    assert again.saved == whole.save()


def test_one_state_of_a_game_serves_to_read_all_its_checkpoints() -> None:
    shells = [played("toy-race", number) for number in range(3)]
    starts: list[int] = []

    class Counted(Race):
        def start(self, *args: Any) -> Any:
            starts.append(1)
            return super().start(*args)

    reader = Checkpoints(CODE)
    for shell in shells:
        kept = reader.read(made(shell, 2), Counted(), shell.setup)
        assert kept is not None
        whole = MatchState.restore(shell.game, shell.setup, shell.log[:2])
        assert kept.state.tobytes() == whole.game_state.tobytes()
    assert len(starts) == 1


def test_all_running_matches_together_are_soon_folded() -> None:
    assert checkpoint_interval(0) == checkpoint_interval(1) == FOLDED_AT_START
    for matches in (1, 7, 200, 625):
        assert matches * checkpoint_interval(matches) <= FOLDED_AT_START
    assert checkpoint_interval(626) == checkpoint_interval(100_000) == CHECKPOINT_INTERVAL


def test_the_checkpoints_of_matches_are_due_at_different_entries() -> None:
    dues = {next_checkpoint(f"m{number}", 100) for number in range(400)}
    assert dues == set(range(101, 101 + CHECKPOINT_INTERVAL))
    for match in ("a", "b", "L-1-7"):
        first = next_checkpoint(match, 0)
        assert 1 <= first <= CHECKPOINT_INTERVAL
        assert [next_checkpoint(match, first - 1), next_checkpoint(match, first)] == [
            first,
            first + CHECKPOINT_INTERVAL,
        ]
