"""The rolls of a lobby, which are not logged, and its JSON lines."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.records import Player
from kibitz_server.lobby.entries import (
    ENTRY,
    Arranged,
    ArrangedMatch,
    Closed,
    Entry,
    Left,
    Opened,
    Rematched,
)
from kibitz_server.lobby.state import MAX_REQUESTS, LobbyState

OPENED = Opened(
    lobby="l1",
    host=Player(player="host", name="host", kind="human"),
    settings=LobbySettings(seats=[OpenSeat()], programme=[ProgrammeItem(game="toy", seats=1)]),
    invite="code",
    created="2026-01-01T00:00:00Z",
    seed=2**64 - 1,
    hidden=[],
)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], "begins with an entry 'opened'"),
        ([Closed(seq=1, reason="closed")], "begins with an entry 'opened'"),
        ([OPENED, Closed(seq=2, reason="closed")], "entry 2 of a lobby follows 0"),
        ([OPENED, OPENED], "entry 0 of a lobby follows 0"),
    ],
)
def test_what_is_not_a_log(entries: list[Entry], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LobbyState.restore(entries)


def test_a_lobby_is_opened_once() -> None:
    second = OPENED.model_copy(update={"seq": 1})
    with pytest.raises(ValueError, match="opened once"):
        LobbyState(OPENED).apply(second)


def test_entries_travel_as_lines() -> None:
    item = ProgrammeItem(game="toy", seats=1, options={"size": 5}, seed=3)
    allotted = ArrangedMatch(tag="b1.1~2", item=item, players=["ada"], seed=2**53 - 1)
    for entry in (
        OPENED,
        Left(seq=4, player="ada", reason="away"),
        Arranged(seq=5, matches=[allotted]),
    ):
        line = entry.model_dump_json()
        assert "\n" not in line
        assert json.loads(line)["kind"] == entry.kind
        assert ENTRY.validate_json(line) == entry


def test_a_lobby_s_key_is_short() -> None:
    with pytest.raises(ValidationError, match="at most 16"):
        Opened.model_validate(OPENED.model_dump() | {"lobby": "l" * 17})


def test_rounds_have_seeds_of_their_own() -> None:
    state = LobbyState(OPENED)
    seeds = {state.round.seed}
    for seq in range(1, 99):
        state.apply(Rematched(seq=seq, round=seq + 1))
        seeds.add(state.round.seed)
    assert len(seeds) == state.round.number == 99


def test_it_remembers_the_last_requests_and_a_log_without_any_loads() -> None:
    old = json.loads(OPENED.model_dump_json())
    del old["request"]
    state = LobbyState.restore([ENTRY.validate_json(json.dumps(old))])
    keys = [f"{number:032x}" for number in range(MAX_REQUESTS + 1)]
    for key in keys:
        state.apply(Rematched(seq=state.seq + 1, round=state.round.number + 1, request=key))
    state.apply(Rematched(seq=state.seq + 1, round=state.round.number + 1))
    assert [*state.requests] == keys[1:]
