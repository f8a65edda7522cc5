"""The matches that wait: what is left of a programme, and what a host has arranged."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player
from kibitz_server.lobby import entries
from kibitz_server.lobby.schedule import PlannedMatch, Programme
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.waiting import ArrangedQueue, MatchQueue, ProgrammeQueue
from tests.server.lobby.test_schedule import candidates, item, matches_of

MEMBERS, MATCHES = 4, 24


def programme() -> Programme:
    return Programme.of_round(
        [item(games=MATCHES // 2), item(3, MATCHES // 2)],
        candidates(MEMBERS),
        round=1,
        base_seed=3,
        hidden=(),
    )


def lazy() -> MatchQueue:
    return ProgrammeQueue(programme())


def arranged() -> MatchQueue:
    queue = ArrangedQueue()
    for planned in matches_of(programme()):
        queue.add(planned)
    return queue


def numbers(queue: MatchQueue) -> list[int]:
    return [each.number for each in queue]


@pytest.mark.parametrize("make", [lazy, arranged])
@given(data=st.data())
def test_a_queue_is_what_was_not_taken_or_dropped_in_order(
    make: Callable[[], MatchQueue], data: st.DataObject
) -> None:
    """Against a dict of all matches, whatever is taken, put back and dropped."""
    queue = make()
    expected = {planned.number: planned for planned in matches_of(programme())}
    taken: list[PlannedMatch] = []
    gone: set[str] = set()
    for _ in range(data.draw(st.integers(0, 12))):
        step = data.draw(st.sampled_from(["take", "take", "back", "drop"]))
        if step == "take" and expected:
            number = data.draw(st.sampled_from(sorted(expected)))
            taken.append(queue.take(number))
            assert taken[-1] == expected.pop(number)
        elif step == "back" and taken:
            planned = taken.pop(data.draw(st.integers(0, len(taken) - 1)))
            if gone.isdisjoint(each.player for each in planned.players):
                queue.put_back(planned)
                expected[planned.number] = planned
        elif step == "drop":
            player = str(data.draw(st.integers(0, MEMBERS - 1)))
            gone.add(player)
            dropped = queue.drop(player)
            lost = [n for n in sorted(expected) if _plays(player, expected[n])]
            assert [each.number for each in dropped] == lost
            for number in lost:
                del expected[number]
        assert numbers(queue) == sorted(expected)
        assert len(queue) == len(expected)
        assert [each.players for each in queue] == [expected[n].players for n in sorted(expected)]
    assert [each.number for each in queue.drop()] == sorted(expected)
    assert numbers(queue) == []


def _plays(player: str, planned: PlannedMatch) -> bool:
    return any(each.player == player for each in planned.players)


@pytest.mark.parametrize("make", [lazy, arranged])
def test_what_does_not_wait_cannot_be_taken(make: Callable[[], MatchQueue]) -> None:
    queue = make()
    queue.take(2)
    queue.drop("3")
    void = next(each.number for each in matches_of(programme()) if _plays("3", each))
    for number in (0, 2, void, MATCHES + 1):
        with pytest.raises(KeyError):
            queue.take(number)


def test_a_programme_that_waits_takes_no_memory_for_its_matches() -> None:
    """Neither after the start of the round nor after a restart."""
    for games in (1, 10_000):  # the first ones make what equal settings share
        _bytes_of_lobby(games)
    assert _bytes_of_lobby(10_000) < _bytes_of_lobby(1) + 256


def _bytes_of_lobby(games: int) -> int:
    opened = entries.Opened(
        lobby="L",
        host=Player(player="h", name="Host", kind="human"),
        settings=LobbySettings(
            seats=[OpenSeat(), OpenSeat()],
            programme=[
                ProgrammeItem(game="toy", games=games),
                ProgrammeItem(game="hex", games=games),
            ],
        ),
        invite="x",
        created="2026-01-02T03:04:05Z",
        seed=1,
        hidden=[],
    )
    joined = [
        entries.Joined(
            seq=seat + 1,
            player=Player(player=f"p{seat}", name=f"P{seat}", kind="bot"),
            seat=seat,
            capabilities=Capabilities(),
        )
        for seat in (0, 1)
    ]
    log: list[entries.Entry] = [opened, *joined, entries.Started(seq=3, round=1, base_seed=0)]
    gc.collect()
    tracemalloc.start()
    try:
        state = LobbyState.restore(log)
        assert (state.planned, len(state.waiting)) == (2 * games, 2 * games)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
