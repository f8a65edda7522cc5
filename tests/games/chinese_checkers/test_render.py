from __future__ import annotations

from kibitz_games.chinese_checkers import GAME
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Mark


def test_the_star_at_the_start() -> None:
    scene = Position(GAME, seats=3).scene()
    assert scene.lattice == "hex"
    assert len(scene.cells) == 121
    owners = [cell.owner for cell in scene.cells]
    assert [owners.count(seat) for seat in (0, 1, 2, None)] == [10, 10, 10, 91]
    for cell in scene.cells:
        assert (cell.tint is None) == (cell.kind == "hole")
        assert cell.owner == cell.tint
    assert not scene.marks
    assert scene.text[0] == "seat 1 N: 120 to go, to move"


def test_the_last_move_and_its_way_are_marked() -> None:
    play = Position(GAME)
    for move in ("3-14", "116-105", "0-16"):
        play.push_move(move)
    path, source, target = play.scene().marks
    assert source == Mark("from", ("0",), 0)
    assert target == Mark("to", ("16",), 0)
    assert path == Mark("path", ("0", "3", "16"), 0)


def test_ranks_are_told_in_words() -> None:
    play = Position(GAME, seats=3)
    play.forfeit(1)
    assert play.scene().text[1] == "seat 2 SE: 120 to go, out, rank 3"


def test_who_is_first_thanks_to_parked_pegs_has_no_way_left_to_go() -> None:
    play = Position(GAME, GAME.Options(size=2))
    start = GAME.view(play.state, None)
    north, south = start.pegs
    view = start.model_copy(update={"pegs": [[south[0], *north[1:]], south[1:]], "ranks": [1, 0]})
    assert GAME.scene(view).text[0] == "seat 1 N: 0 to go, finished, rank 1"
    assert GAME.scene(view.model_copy(update={"ranks": [0, 0]})).text[0] != "seat 1 N: 0 to go"


def test_who_is_ranked_without_a_full_goal_has_not_finished() -> None:
    play = Position(GAME, GAME.Options(size=2))
    view = GAME.view(play.state, None).model_copy(update={"ranks": [1, 2], "to_act": -1})
    assert GAME.scene(view).text[0].endswith("to go, rank 1")


def test_a_pass_marks_nothing() -> None:
    play = Position(GAME)
    view = GAME.view(play.state, None).model_copy(update={"last": None})
    assert GAME.scene(view).marks == ()
