"""Waiting matches: the rest of a programme, and matches arranged by a host."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player
from kibitz_server.lobby import entries
from kibitz_server.lobby import waiting as waiting_module
from kibitz_server.lobby.schedule import MAX_OVERTAKE, PlannedMatch, Programme, next_matches
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.waiting import LOOKED_AT, ArrangedQueue, MatchQueue, ProgrammeQueue
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
    """Compared with a dict of all matches while matches are taken, put back and dropped."""
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
            assert dropped.count == len(lost)
            assert [each.number for each in dropped.arranged] in ([], lost)
            for number in lost:
                del expected[number]
        assert numbers(queue) == sorted(expected)
        assert len(queue) == len(expected)
        assert [each.players for each in queue] == [expected[n].players for n in sorted(expected)]
    assert queue.drop().count == len(expected)
    assert numbers(queue) == []


def _plays(player: str, planned: PlannedMatch) -> bool:
    return any(each.player == player for each in planned.players)


def plain_plan(
    waiting: list[PlannedMatch],
    running: list[PlannedMatch],
    at_once: int,
    capacity: dict[str, int],
) -> list[int]:
    """Return the matches that may start, by checking every match: the reference implementation."""
    free = {who: places for who, places in capacity.items() if places > 0}
    here = set(free)
    for each in running:
        for seat in each.players:
            if seat.player in free:
                free[seat.player] -= 1
    chosen: list[int] = []
    last = math.inf
    for planned in waiting:
        players = [seat.player for seat in planned.players]
        if not here.issuperset(players) or planned.number > last:
            continue
        if len(running) + len(chosen) < at_once and all(free[who] > 0 for who in players):
            chosen.append(planned.number)
            for who in players:
                free[who] -= 1
        elif any(free[who] <= 0 for who in players):
            last = min(last, planned.number + MAX_OVERTAKE)
    return chosen


@pytest.mark.parametrize("make", [lazy, arranged])
@pytest.mark.parametrize("looked_at", [1, 5, 500])
@given(data=st.data())
def test_the_plan_is_that_of_a_plain_look_at_every_match(
    make: Callable[[], MatchQueue], looked_at: int, data: st.DataObject
) -> None:
    """This holds regardless of how players join and leave and of the limit per command."""
    queue = make()
    waiting = {planned.number: planned for planned in matches_of(programme())}
    running: dict[int, PlannedMatch] = {}
    gone: set[str] = set()
    at_once = data.draw(st.integers(1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting_module, "LOOKED_AT", looked_at)
        for _ in range(data.draw(st.integers(1, 10))):
            step = data.draw(st.sampled_from(["plan", "plan", "end", "fail", "leave"]))
            if step in ("end", "fail") and running:
                planned = running.pop(data.draw(st.sampled_from(sorted(running))))
                if step == "fail" and gone.isdisjoint(each.player for each in planned.players):
                    queue.put_back(planned)
                    waiting[planned.number] = planned
            elif step == "leave":
                player = str(data.draw(st.integers(0, MEMBERS - 1)))
                gone.add(player)
                queue.drop(player)
                waiting = {n: each for n, each in waiting.items() if not _plays(player, each)}
            capacity = {
                str(each): data.draw(st.integers(0, 3))
                for each in range(MEMBERS)
                if str(each) not in gone
            }
            in_order = [waiting[number] for number in sorted(waiting)]
            expected = plain_plan(in_order, list(running.values()), at_once, capacity)
            chosen = _begin_all(queue, running, at_once, capacity)
            assert chosen == expected
            for number in chosen:
                del waiting[number]


def _begin_all(
    queue: MatchQueue,
    running: dict[int, PlannedMatch],
    at_once: int,
    capacity: dict[str, int],
) -> list[int]:
    """Start matches like a lobby: repeat while the scan was cut short."""
    begun: list[int] = []
    here = frozenset(who for who, places in capacity.items() if places)
    for _ in range(MATCHES + 1):
        chosen = next_matches(
            queue.playable(here),
            list(running.values()),
            at_once=at_once,
            capacity=capacity,
            fewest=2,
        )
        for each in list(chosen):
            running[each.number] = queue.take(each.number)
            begun.append(each.number)
        if not queue.cut_short:
            return begun
    raise AssertionError("a queue is cut short for as long as there are matches")


@pytest.mark.parametrize("make", [lazy, arranged])
def test_a_match_of_a_player_who_has_left_and_come_back_is_played_again_where_it_failed(
    make: Callable[[], MatchQueue],
) -> None:
    queue = make()
    first = queue.take(1)
    player = first.players[0].player
    queue.drop(player)
    queue.put_back(first)
    everybody = frozenset(str(each) for each in range(MEMBERS))
    assert 1 in [each.number for each in queue.playable(everybody)]
    left = len(queue)
    assert queue.drop(player).count == 1
    assert len(queue) == left - 1
    with pytest.raises(KeyError):
        queue.take(1)


# --- the work of one command ------------------------------------------------------------------


def long_queue(kind: str, games: int, members: int, seats: int) -> MatchQueue:
    planned = Programme.of_round(
        [item(seats, games // 2)] * 2, candidates(members), round=1, base_seed=3, hidden=()
    )
    if kind == "programme":
        return ProgrammeQueue(planned)
    queue = ArrangedQueue()
    for each in matches_of(planned):
        queue.add(each)
    return queue


def looks_of_commands(queue: MatchQueue, presences: list[frozenset[str]]) -> list[int]:
    """Return how many matches the plan inspects after each of many commands."""
    looks: list[int] = []
    real = waiting_module._Searches.playable

    def counted(
        self: Any, here: frozenset[str], spans: Any, waiting: Callable[[int], Any]
    ) -> Iterator[Any]:
        def look(number: int) -> Any:
            looks[-1] += 1
            return waiting(number)

        return real(self, here, spans, look)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting_module._Searches, "playable", counted)
        for here in presences:
            looks.append(0)
            chosen = next_matches(
                queue.playable(here), [], at_once=4, capacity=dict.fromkeys(here, 1), fewest=2
            )
            for each in list(chosen):
                queue.take(each.number)
    return looks


@pytest.mark.parametrize("kind", ["programme", "arranged"])
@pytest.mark.parametrize(("members", "seats"), [(3, 3), (4, 3), (6, 4)])
def test_the_work_of_a_command_does_not_grow_with_the_programme(
    kind: str, members: int, seats: int
) -> None:
    """One member is absent, then members leave and return: few or no matches may start."""
    everybody = frozenset(str(each) for each in range(members))
    absent = [everybody - {str(each)} for each in range(seats - 1)]
    few = frozenset(str(each) for each in range(seats - 1))
    commands = [few] * 200 + [few, *absent] * 60
    most: dict[int, int] = {}
    total: dict[int, int] = {}
    for games in (100, 20_000):
        looks = looks_of_commands(long_queue(kind, games, members, seats), commands)
        most[games], total[games] = max(looks), sum(looks[:200])
    assert most[20_000] <= LOOKED_AT + MAX_OVERTAKE
    if kind == "programme":
        assert total == {100: 0, 20_000: 0}
    else:
        assert total == {100: 100, 20_000: 20_000}, "each match once, and never again"


def test_a_player_who_leaves_again_and_again_is_looked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = long_queue("programme", 20_000, 4, 3)
    looks = 0
    real = Programme.players

    def players(self: Programme, number: int) -> tuple[Player, ...]:
        nonlocal looks
        looks += 1
        return real(self, number)

    monkeypatch.setattr(Programme, "players", players)
    assert queue.drop("3").count == 15_000
    assert looks == 20_000
    assert queue.drop("3").count == 0
    assert queue.drop("nobody").count == 0
    assert queue.drop().count == 5_000
    assert looks == 20_000


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
    """Not after the start of the round, nor after a restart."""
    for games in (1, 10_000):  # the first ones create the objects shared by equal settings
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
        assert (state.round.planned, len(state.round.waiting)) == (2 * games, 2 * games)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
