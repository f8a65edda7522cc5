"""Branches: matches that repeat the first plies of a finished match, and go on from there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl, full_clock
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import (
    Aborted,
    BranchStart,
    Entry,
    Forfeited,
    Moved,
    Origin,
    Resigned,
    Setup,
)
from kibitz_protocol.wire.values import Action
from kibitz_server.match.branch import CannotBranch, branch_start, opening_entry, replay_opening
from kibitz_server.match.commands import Play
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.record import read_entry
from kibitz_server.match.state import BrokenLog, MatchState, in_opening
from tests.server.match.toy_games import Veil, setup
from tests.tools.honest_records import honest_record

CLOCK = TimeControl.parse("60+2")
SEEDS = range(3)
NEW_SEED = "ab" * 32


def branch_setup(origin: Setup, start: BranchStart, ply: int) -> Setup:
    changes = {
        "match": "branch",
        "seed": NEW_SEED,
        "time_control": CLOCK,
        "branch": Origin(match=origin.match, ply=ply, seed=start.seed),
    }
    return origin.model_copy(update=changes)


def branched(game: Game, record: Record, ply: int) -> tuple[MatchEngine, list[Entry]]:
    """Return a match that continues from a ply of a record, and its log so far."""
    start = branch_start(game, record.setup, record.entries, ply)
    return replay_opening(game, branch_setup(record.setup, start, ply), start.moves)


def positions(game: Game, record: Record) -> Iterator[tuple[MatchState, Entry]]:
    """Yield the match before each entry up to the first that drops a seat or aborts the match."""
    match = MatchState(game, record.setup)
    for entry in record.entries:
        yield match, entry
        if isinstance(entry, Resigned | Forfeited | Aborted):
            return
        match.apply(entry)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("seed", SEEDS)
def test_a_branch_at_every_ply_has_the_position_of_its_origin(name: str, seed: int) -> None:
    game, record = registry.get(name), honest_record(name, seed)
    known = -1
    for origin, _ in positions(game, record):
        if origin.ply == known or origin.result is not None:
            continue
        known = origin.ply
        engine, log = branched(game, record, known)
        state = engine.state
        assert state.game_state.tobytes() == origin.game_state.tobytes()
        assert (state.ply, state.to_act, state.seq) == (known, origin.to_act, known)
        assert (state.at_ms, state.turn_at, len(log)) == (0, 0, known)
        assert state.clocks == [full_clock(CLOCK)] * len(state.players)
        assert not in_opening(state)
        read = [read_entry(encode(entry)) for entry in log]
        assert MatchEngine.restore(game, state.setup, read).state.save() == state.save()
    assert known >= 0


@pytest.mark.parametrize("name", registry.names())
def test_a_branch_goes_on_like_its_origin(name: str) -> None:
    """The moves that followed in the origin lead to the same positions in the branch."""
    game, record = registry.get(name), honest_record(name, 1)
    plies = [entry.ply for _, entry in positions(game, record) if isinstance(entry, Moved)]
    for ply in plies[:: max(1, len(plies) // 5)]:
        engine, _ = branched(game, record, ply)
        for origin, entry in positions(game, record):
            if origin.ply < ply or not isinstance(entry, Moved):
                continue
            if origin.ply > engine.state.ply:
                break  # the origin skipped a turn, because its clocks had run longer
            assert engine.state.game_state.tobytes() == origin.game_state.tobytes()
            engine.open_turn(0)
            engine.handle(Play(entry.seat, entry.ply + 1, entry.ply, {**entry.action}), 0)
        assert engine.state.ply > ply


def test_only_turns_after_the_opening_are_charged() -> None:
    game, record = registry.get("five-in-a-row"), honest_record("five-in-a-row", 2)
    engine, _ = branched(game, record, 3)
    state = engine.state
    seat, legal = state.to_act, game.legal(state.game_state)
    engine.open_turn(0)
    engine.handle(Play(seat, 1, 3, game.encode(state.game_state, legal[0]).to_wire()), 5_000)
    assert state.clocks is not None
    assert state.clocks[1 - seat] == full_clock(CLOCK)
    assert state.clocks[seat].main_ms == 60_000 - 5_000 + 2_000


def test_a_branch_of_a_branch_keeps_the_seed_of_the_first_match() -> None:
    game, record = registry.get("number-merge"), honest_record("number-merge", 3)
    engine, log = branched(game, record, 2)
    again = branch_start(game, engine.state.setup, log, 1)
    assert (again.seed, again.deal) == (record.setup.seed, record.setup.deal)
    assert again.moves == [entry.action for entry in log[:1] if isinstance(entry, Moved)]


def test_a_ply_after_the_end_is_refused() -> None:
    game = registry.get("number-merge")
    match = MatchState(game, honest_record("number-merge", 0).setup)
    log: list[Entry] = []
    while match.result is None:
        legal = game.legal(match.game_state)
        entry = opening_entry(match, game.encode(match.game_state, legal[0]).to_wire())
        log.append(entry.model_copy(update={"id": match.ply + 1}))
        match.apply(log[-1])
    last = match.ply - 1
    assert len(branch_start(game, match.setup, log, last).moves) == last
    for ply in (last + 1, last + 2, 1000):
        with pytest.raises(CannotBranch, match=f"at most {last}, the last turn .*, not {ply}"):
            branch_start(game, match.setup, log, ply)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Resigned(seq=3, at_ms=0, seat=1), "seat 2 dropped out"),
        (Aborted(seq=3, at_ms=0, detail="planted"), "the last turn of the match"),
    ],
)
def test_a_ply_after_a_drop_out_or_an_abort_is_refused(end: Entry, reason: str) -> None:
    game, record = registry.get("five-in-a-row"), honest_record("five-in-a-row", 2)
    _, log = branched(game, record, 2)
    unfinished = record.setup
    assert len(branch_start(game, unfinished, [*log, end], 2).moves) == 2
    with pytest.raises(CannotBranch, match=f"at most 2, .*{reason}.*, not 3"):
        branch_start(game, unfinished, [*log, end], 3)


def test_dealt_secrets_cannot_be_played_again() -> None:
    with pytest.raises(CannotBranch, match="Veil deals secrets"):
        branch_start(Veil(), setup(Veil()), [], 0)


@pytest.mark.parametrize("wrong", [{"x": -1}, None])
def test_an_illegal_move_or_flag_breaks_the_opening(wrong: Action | None) -> None:
    game, record = registry.get("five-in-a-row"), honest_record("five-in-a-row", 2)
    start = branch_start(game, record.setup, record.entries, 3)
    with pytest.raises(BrokenLog):
        replay_opening(game, branch_setup(record.setup, start, 3), [wrong])
