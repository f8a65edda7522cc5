from __future__ import annotations

import pytest

from kibitz_clients.tui import wall_slots
from kibitz_clients.tui.wall_slots import LINGER_MS, WallSlots
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Cause, Result

RESULT = Result(seats=[], cause=Cause.RULES, reason="goal", plies=4)


def running(match: str, game: str) -> MatchBrief:
    return MatchBrief(match=match, lobby="L1", game=game, seats=[])


def over(brief: MatchBrief) -> MatchBrief:
    return brief.model_copy(update={"result": RESULT})


def shown(wall: WallSlots) -> list[tuple[str | None, str | None]]:
    return [(slot.game, slot.match) for slot in wall.slots]


def test_a_match_takes_the_board_that_is_kept_for_its_game() -> None:
    wall = WallSlots.for_games(["star", "nim"])
    assert wall.update([running("M1", "nim"), running("M2", "go")], 0) == ["M1", "M2"]
    assert shown(wall) == [("star", None), ("nim", "M1"), ("go", "M2")]


def test_the_end_of_a_match_is_shown_for_a_while() -> None:
    wall = WallSlots.for_games(["nim"])
    first, second = running("M1", "nim"), running("M2", "nim")
    wall.update([first], 0)
    assert wall.update([over(first), second], 1_000) == []
    assert wall.update([over(first), second], 999 + LINGER_MS) == []
    assert shown(wall) == [("nim", "M1")]
    assert wall.update([over(first), second], 1_000 + LINGER_MS) == ["M2"]
    assert shown(wall) == [("nim", "M2")]
    assert [brief.match for brief in wall.finished] == ["M1"]


def test_what_is_kept_of_matches_that_ended_is_bounded() -> None:
    wall = WallSlots.for_games(["nim"])
    ended = [over(running(f"M{number}", "nim")) for number in range(3_000)]
    for at in range(0, len(ended), 50):
        wall.update(ended[max(0, at - 50) : at + 50], 0)  # the server repeats the newest ones
    assert wall.played == 3_000
    assert [brief.match for brief in wall.finished] == [f"M{at}" for at in range(2_988, 3_000)]
    assert len(wall._counted) == 1_000


def test_a_match_is_past_when_it_is_over_and_its_board_has_gone_on() -> None:
    wall = WallSlots.for_games(["nim"])
    first, second = running("M1", "nim"), running("M2", "nim")
    wall.update([first], 0)
    assert wall.past([first]) == []
    wall.update([over(first), second], 0)
    assert wall.past([over(first), second]) == []
    wall.update([over(first), second], LINGER_MS)
    assert wall.past([over(first), second]) == ["M1"]


def test_a_board_that_is_kept_for_no_game_goes_on_to_any() -> None:
    wall = WallSlots()
    first, second = running("M1", "nim"), running("M2", "star")
    wall.update([first], 0)
    wall.update([over(first)], 0)
    assert wall.update([over(first), second], LINGER_MS) == ["M2"]
    assert shown(wall) == [("star", "M2")]


def test_what_may_not_be_watched_or_is_not_played_gets_no_board() -> None:
    hidden = running("M1", "nim").model_copy(update={"watchable": False})
    void = running("M2", "nim").model_copy(update={"void": True})
    wall = WallSlots()
    assert wall.update([hidden, void, over(running("M3", "nim"))], 0) == []
    assert wall.slots == []
    assert [brief.match for brief in wall.finished] == ["M3"]


@pytest.mark.parametrize(
    ("count", "size", "shape"),
    [
        (1, (80, 22), (1, 1)),
        (6, (80, 22), (3, 2)),
        (6, (200, 58), (3, 2)),
        (6, (40, 60), (1, 6)),
        (5, (80, 22), (3, 2)),
    ],
)
def test_tiles_are_as_large_as_they_can_be(
    count: int, size: tuple[int, int], shape: tuple[int, int]
) -> None:
    assert wall_slots.grid_shape(count, *size) == shape


def test_there_is_room_for_one_tile_always() -> None:
    assert wall_slots.capacity(10, 3) == 1
    assert wall_slots.capacity(80, 22) == 6
