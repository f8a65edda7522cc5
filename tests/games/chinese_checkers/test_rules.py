"""The rules beyond move counts: ends, ranks, passes, drop-outs, and bugs of other programs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.chinese_checkers import GAME, rules
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import models as chinese_checkers_models
from kibitz_games.compiled import operations as op
from kibitz_games.core.game import TERMINAL, State

STAR = geo.geometry("star", 4)
N_HOME, S_HOME = STAR.home(0, 10), STAR.home(3, 10)


def _start(seats: int = 2, **options: Any) -> State:
    return GAME.start(chinese_checkers_models.Options.model_validate(options), seats, {})


def _place(
    *pegs: tuple[int, ...], turn: int = 0, corners: tuple[int, ...] | None = None, **settings: Any
) -> State:
    """Return a position on the default star."""
    usual = {"stop": 0, "through": True, "sticky": False, "long_jumps": False, "table": 3}
    return rules.make_state(
        pegs=pegs, turn=turn, corners=corners or geo.LAYOUTS[len(pegs)], **(usual | settings)
    )


def _do(state: State, *moves: str) -> None:
    for move in moves:
        GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))


def _texts(state: State) -> list[str]:
    return [GAME.notation.format(GAME.encode(state, action)) for action in GAME.legal(state)]


def _targets(state: State, source: int) -> set[int]:
    return {a % 121 for a in GAME.legal(state) if a // 121 == source}


def test_first_moves_of_the_north() -> None:
    expected = "3-14 3-16 4-15 4-17 5-16 5-18 6-14 6-15 7-15 7-16 8-16 8-17 9-17 9-18"
    assert _texts(_start()) == expected.split()


def test_a_state_is_small() -> None:
    assert rules.STATE.itemsize <= 6 * 1024


@given(st.randoms(use_true_random=False))
def test_parity_theorem(source: random.Random) -> None:
    """Jumps preserve the hole's class and steps change it, so no destination is both."""
    holes = source.sample(range(121), 30)
    state = _place(tuple(holes[:10]), tuple(holes[10:20]), tuple(holes[20:]))
    before = state.tobytes()
    for action in GAME.legal(state):
        origin, target = divmod(action, 121)
        jump = STAR.steps(origin, target) > 1
        assert jump == (STAR.parity(origin) == STAR.parity(target))
    assert state.tobytes() == before


@given(st.randoms(use_true_random=False))
def test_moves_are_what_a_plain_search_over_the_geometry_finds(source: random.Random) -> None:
    """An independent generator, following the text of the rules, for both kinds of jumps."""
    holes = source.sample(range(121), 30)
    far = source.random() < 0.5
    state = _place(tuple(holes[:10]), tuple(holes[10:20]), tuple(holes[20:]), long_jumps=far)
    expected = {
        origin * 121 + target
        for origin in holes[:10]
        for target in _destinations(set(holes) - {origin}, origin, far)
    }
    assert set(GAME.legal(state)) == expected


@given(st.randoms(use_true_random=False))
@settings(deadline=None)
def test_what_stands_around_a_hole_is_kept_up_to_date(source: random.Random) -> None:
    """This holds after any moves and undos, and after pegs were placed manually."""
    state = GAME.start(chinese_checkers_models.Options(size=3), 3, {})
    for _ in range(20):
        action = source.choice(GAME.legal(state))
        GAME.play(state, action)
        if source.random() < 0.3:
            GAME.undo(state, action)
    _assert_surrounded(state)
    rules.clear_board(state)
    _assert_surrounded(state)
    assert not state.board[: int(state.holes)].any()
    rules.put_peg(state, 1, 0, source.randrange(int(state.holes)))
    _assert_surrounded(state)


def _assert_surrounded(state: Any) -> None:
    shape = geo.geometry(*geo.ALL[int(state.geometry)])
    for hole in range(shape.holes):
        for noted, steps in ((state.beside, 1), (state.behind, 2)):
            ways = [shape.away(hole, d, steps) for d in range(6)]
            taken = [way is None or bool(state.board[way]) for way in ways]
            assert [bool(noted[hole] >> d & 1) for d in range(6)] == taken


def _destinations(occupied: set[int], origin: int, far: bool) -> set[int]:
    near = {STAR.away(origin, d, 1) for d in range(6)} - {None} - occupied
    reached, frontier = {origin}, [origin]
    while frontier:
        here = frontier.pop()
        for d in range(6):
            landing = _landing(occupied, here, d, far)
            if landing is not None and landing not in reached:
                reached.add(landing)
                frontier.append(landing)
    return {hole for hole in near | reached - {origin} if hole is not None}


def _landing(occupied: set[int], here: int, direction: int, far: bool) -> int | None:
    distances = range(1, 17) if far else (1,)
    first = next((k for k in distances if STAR.away(here, direction, k) in occupied), None)
    if first is None:
        return None
    way = [STAR.away(here, direction, k) for k in range(1, 2 * first + 1) if k != first]
    clear = all(hole is not None and hole not in occupied for hole in way)
    return way[-1] if clear else None


def test_long_jumps_are_symmetric_and_between_empty_holes() -> None:
    others = (0, 1, 2, 3, 4, 5, 6, 7)
    state = _place((56, 58, *others), S_HOME, long_jumps=True)
    assert 60 in _targets(state, 56)
    blocked = _place((56, 58, *others), (59, *S_HOME[1:]), long_jumps=True)
    assert 60 not in _targets(blocked, 56)
    assert 60 not in _targets(_place((56, 58, *others), S_HOME), 56)


def test_the_key_tells_whose_turn_it_is() -> None:
    """A position table without the side to move confuses different positions."""
    keys = {int(_place(N_HOME, S_HOME, turn=turn)["key"]) for turn in (0, 1)}
    assert len(keys) == 2


def test_nobody_has_won_with_a_goal_full_of_foreign_pegs() -> None:
    """At the start each goal is full, and a peg that leaves and returns fills it again."""
    state = _start()
    _do(state, "3-14", "116-105", "14-3", "105-116")
    assert GAME.to_act(state) == 0
    assert GAME.outcome(state) is None


def test_a_parked_foreign_peg_cannot_stop_a_finish() -> None:
    parked, rest = 120, (60, 61, 62, 63, 50, 51, 52, 53, 40)
    inside = tuple(hole for hole in S_HOME if hole not in (parked, 111))
    entering = _beside(111)
    state = _place((entering, 0, *inside), (parked, *rest))
    _do(state, f"{entering}-111")
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.ranks, outcome.reason) == ((1, 2), "goal")


def test_who_fills_the_goal_of_another_ends_it_for_that_one() -> None:
    inside = tuple(hole for hole in S_HOME if hole not in (120, 111))
    entering = _beside(111)
    rest = (60, 61, 62, 63, 50, 51, 52, 53)
    state = _place((0, 1, *inside), (120, entering, *rest), turn=1)
    before = state.tobytes()
    action = GAME.decode(state, GAME.notation.parse(f"{entering}-111"))
    GAME.play(state, action)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.ranks == (1, 2)
    GAME.undo(state, action)
    assert state.tobytes() == before


def _beside(hole: int) -> int:
    """Return a hole above the first row of the southern home."""
    return next(h for d in (4, 5) if (h := STAR.away(hole, d, 1)) is not None)


OWN, NEXT, HOME = 0, 1, 3
"""Three of six seats: the one whose goal is in the south, an unrelated one, and the one whose home
it is."""


def _filling(standing: dict[int, int], entering: int, win: str) -> tuple[State, int]:
    """Return a six-player position and the action with which `entering` fills the southern home.

    The home is full of pegs of seat 0 except for the given `standing` ones.
    """
    goal = {hole: standing.get(hole, OWN) for hole in S_HOME if hole != 111}
    outer = _beside(111)
    middle = (h for h in range(121) if STAR.rows[4][0] <= h <= STAR.rows[12][-1])
    zone = _start(6)["zone"]
    free = (h for h in middle if int(zone[h]) == rules.NO_ZONE and h != outer)
    pegs = []
    for seat in range(6):
        own = [hole for hole, owner in goal.items() if owner == seat]
        own += [outer] if seat == entering else []
        pegs.append((*own, *(next(free) for _ in range(10 - len(own)))))
    return _place(*pegs, turn=entering, win=rules.WINS.index(win)), outer * 121 + 111


@pytest.mark.parametrize(
    ("win", "standing", "entering", "finished"),
    [
        ("own-or-parked", {}, OWN, True),
        ("own-or-parked", {120: HOME}, OWN, True),
        ("own-or-parked", {120: HOME, 119: HOME}, HOME, True),
        ("own-or-parked", {120: NEXT}, OWN, False),
        ("own-or-parked", {120: NEXT, 119: 2}, OWN, False),
        ("own-or-parked", {120: HOME, 119: NEXT}, HOME, False),
        ("own-or-parked", {}, NEXT, False),
        ("own-or-parked", dict.fromkeys(S_HOME, HOME), HOME, False),
        ("full", {}, OWN, True),
        ("full", {120: HOME}, OWN, False),
        ("full", {}, HOME, False),
        ("full", {}, NEXT, False),
        ("any", {120: NEXT}, OWN, True),
        ("any", {120: NEXT, 119: 2}, OWN, True),
        ("any", {}, NEXT, True),
        ("any", dict.fromkeys(S_HOME, HOME), NEXT, False),
    ],
)
def test_whose_pegs_fill_a_goal(
    win: str, standing: dict[int, int], entering: int, finished: bool
) -> None:
    state, action = _filling(standing, entering, win)
    assert action in GAME.legal(state)
    assert rules.may_end(state, action) or not finished
    before = state.tobytes()
    GAME.play(state, action)
    assert GAME.view(state, None).ranks == [int(finished), 0, 0, 0, 0, 0]
    assert int(state["key"]) == op.compute_key(state)
    GAME.undo(state, action)
    assert state.tobytes() == before


@pytest.mark.parametrize("win", rules.WINS)
def test_what_fills_the_zones_is_counted_right(win: str) -> None:
    source = random.Random(3)
    for seats in (2, 3, 6):
        state: Any = _start(seats, size=2, win=win)
        for _ in range(60):
            if GAME.to_act(state) != TERMINAL:
                GAME.play(state, source.choice(GAME.legal(state)))
        expected = [0] * rules.NO_ZONE
        for seat in range(seats):
            for hole in state.pegs[seat, :3].tolist():
                zone = int(state.zone[hole])
                counts = {"full": {int(state.goal[seat])}, "any": {*range(6)}}.get(
                    win, {int(state.goal[seat]), int(state.corner[seat])}
                )
                if zone in counts:
                    expected[zone] += 1
        assert state.filled[: rules.NO_ZONE].tolist() == expected


def _one_step_from_the_end(seat: int, seats: int) -> tuple[tuple[int, ...], str]:
    """Return pegs of a seat that finishes with one step, and that step."""
    goal = STAR.home((geo.LAYOUTS[seats][seat] + 3) % 6, 10)
    edge, outer = next(
        (h, o)
        for h in goal
        for d in range(6)
        if (o := STAR.away(h, d, 1)) is not None and o not in goal
    )
    return (*(h for h in goal if h != edge), outer), f"{outer}-{edge}"


def test_finishers_take_ranks_and_drop_out_of_the_order() -> None:
    ready = [_one_step_from_the_end(seat, 3) for seat in range(3)]
    state = _place(*(pegs for pegs, _ in ready))
    _do(state, ready[0][1])
    assert GAME.to_act(state) == 1
    assert GAME.view(state, None).ranks == [1, 0, 0]
    aside = next(t for t in _texts(state) if t != ready[1][1])
    _do(state, aside)
    assert GAME.to_act(state) == 2
    _do(state, ready[2][1])
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.ranks, outcome.scores) == ((1, 3, 2), (1.0, 0.0, 0.5))
    assert GAME.to_act(state) == TERMINAL
    assert not GAME.legal(state)


@pytest.mark.parametrize("seat", range(6))
def test_distance_is_nothing_exactly_at_the_goal(seat: int) -> None:
    """A row-based measure would leave the corners of a goal empty; this one does not."""
    pegs, move = _one_step_from_the_end(seat, 6)
    others = [STAR.home(c, 10) for c in range(6)]
    goal = (seat + 3) % 6
    free = [h for h in range(121) if h not in pegs and int(_start(6)["zone"][h]) == rules.NO_ZONE]
    others[goal] = tuple(free[:10])
    others[seat] = pegs
    state = _place(*others, turn=seat)
    assert state["distance"][seat] == 1
    _do(state, move)
    assert state["distance"][seat] == 0
    assert state["rank"][seat] == 1


def _blocked() -> State:
    """Return a star of size 1 where the peg at the top can neither step nor jump."""
    return rules.make_state(
        table=0,
        stop=0,
        through=True,
        sticky=False,
        long_jumps=False,
        corners=(0, 1, 2, 3, 4),
        pegs=((0,), (2,), (3,), (5,), (7,)),
    )


def test_without_a_move_the_pass_is_the_only_action() -> None:
    state = _blocked()
    assert _texts(state) == ["pass"]
    before = state.tobytes()
    GAME.play(state, 169)
    assert GAME.to_act(state) == 1
    assert GAME.view(state, None).last == chinese_checkers_models.Last(passing=True)
    GAME.undo(state, 169)
    assert state.tobytes() == before


def test_third_occurrence_of_a_position_ends_it() -> None:
    state = _start()
    dance = ("3-14", "116-105", "14-3", "105-116")
    _do(state, *dance)
    assert GAME.view(state, None).repeats == 2
    _do(state, *dance[:3])
    assert GAME.to_act(state) == 1
    before, last = state.tobytes(), GAME.decode(state, GAME.notation.parse(dance[3]))
    GAME.play(state, last)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.ranks, outcome.scores) == ("repetition", (1, 1), (0.5, 0.5))
    GAME.undo(state, last)
    assert state.tobytes() == before


TO_AND_FRO = {1: ("74-73", "73-74"), 2: ("65-66", "66-65")}
LEAD = ("3-14", "114-106")
SHUFFLE = ("7-16", "116-105", "16-7", "105-116")
"""The north is a step ahead, then both only move back and forth."""


@pytest.mark.parametrize(("repetition", "ranks"), [("draw", (1, 1)), ("adjudicate", (1, 2))])
def test_who_is_ahead_wins_nothing_by_shuffling(repetition: str, ranks: tuple[int, ...]) -> None:
    state = _start(repetition=repetition)
    _do(state, *LEAD, *SHUFFLE)
    assert state["distance"][0] < state["distance"][1]
    _do(state, *SHUFFLE)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.ranks) == ("repetition", ranks)


def test_a_draw_by_repetition_is_one_of_those_who_have_not_finished() -> None:
    ready = [_one_step_from_the_end(seat, 3) for seat in range(3)]
    state = _place(ready[0][0], STAR.home(2, 10), STAR.home(4, 10))
    _do(state, ready[0][1])
    for back in (False, True) * 4:
        for seat in (1, 2):
            if GAME.to_act(state) != TERMINAL:
                _do(state, TO_AND_FRO[seat][back])
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.ranks) == ("repetition", (1, 2, 2))
    assert outcome.scores == (1.0, 0.25, 0.25)


def test_pegs_of_one_colour_are_alike_to_repetition() -> None:
    """Two pegs that swap holes give the same position."""
    state = _place((3, 56, 57, 58, 59, 60, 61, 62, 63, 64), S_HOME)
    other = _place((56, 3, 57, 58, 59, 60, 61, 62, 63, 64), S_HOME)
    assert state["key"] == other["key"]


def _later(state: State, **changes: int) -> State:
    """Return the state with another ply or another number of idle plies."""
    return GAME.sample(GAME.view(state, None).model_copy(update=changes), 0)


def test_fifty_rounds_without_progress_end_it() -> None:
    start = _start()
    _do(start, "3-14", "116-105")
    state = _later(start, ply=120, idle=98)
    _do(state, "14-3")
    assert GAME.to_act(state) == 1
    _do(state, "105-116")
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.reason == "stall"


def test_progress_starts_the_count_again() -> None:
    state = _later(_start(), ply=120, idle=99)
    _do(state, "3-14")
    assert GAME.view(state, None).idle == 0
    assert GAME.outcome(state) is None


def test_the_thousandth_ply_is_the_last_and_distance_ranks() -> None:
    state = _later(_start(), ply=999, idle=3)
    _do(state, "3-14")
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.ranks) == ("length", (1, 2))


def test_equal_distances_share_a_rank() -> None:
    state = _later(_start(4), ply=999, idle=3)
    _do(state, _texts(state)[0])
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.ranks == (1, 2, 2, 2)
    assert outcome.scores == (1.0, *[pytest.approx(1 / 3)] * 3)


def test_who_drops_out_ranks_last_and_leaves_the_pegs() -> None:
    state = _start(4)
    GAME.forfeit(state, 0)
    assert GAME.to_act(state) == 1
    assert GAME.view(state, None).pegs[0] == list(STAR.home(1, 10))
    GAME.forfeit(state, 2)
    GAME.forfeit(state, 2)
    assert GAME.outcome(state) is None
    GAME.forfeit(state, 1)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.ranks, outcome.reason) == ((4, 2, 3, 1), "dropped")


def test_a_finisher_who_leaves_keeps_the_rank() -> None:
    ready = [_one_step_from_the_end(seat, 3) for seat in range(3)]
    state = _place(*(pegs for pegs, _ in ready))
    _do(state, ready[0][1])
    GAME.forfeit(state, 0)
    GAME.forfeit(state, 2)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.ranks == (1, 2, 3)


def test_the_home_of_one_who_dropped_out_is_open_again() -> None:
    state = _place((9, *range(56, 65)), STAR.home(2, 10), STAR.home(4, 10), stop=2, through=False)
    fence = rules.allowed_zones(state, 0)
    GAME.forfeit(state, 1)
    opened = rules.allowed_zones(state, 0)
    assert opened & ~fence == 1 << 2 | 1 << 5


def test_a_sticky_peg_stays_in_its_goal() -> None:
    pegs = (111, 112, 60, 61, 62, 63, 50, 51, 52, 53)
    rest = tuple(h for h in range(65, 75))
    for sticky in (False, True):
        state = _place(pegs, rest, sticky=sticky)
        leaving = _targets(state, 111) - set(S_HOME)
        assert bool(leaving) != sticky
        assert _targets(state, 111) & set(S_HOME)


def test_holding_the_turn_is_reversible() -> None:
    state = _start(3)
    before = state.tobytes()
    GAME.play(state, GAME.legal(state)[0])
    held = op.set_side_to_move(state, 0)
    assert GAME.to_act(state) == 0
    assert state["key"] == op.compute_key(state)
    op.set_side_to_move(state, held)
    GAME.undo(state, int(state["history"][0]))
    assert state.tobytes() == before


def test_order_prefers_long_ways_forward() -> None:
    state = _start()
    forward, back = 0 * 121 + 14, 14 * 121 + 0
    assert (
        op.move_score(state, forward)
        > op.move_score(state, 3 * 121 + 14)
        > op.move_score(state, back)
    )
    assert op.move_score(state, 121 * 121) == 0


def test_repetition_is_found_as_a_full_list_of_positions_finds_it() -> None:
    """Compared with a model that stores every position of the play."""
    source, found = random.Random(2), 0
    for _ in range(40):
        state = _start(2, size=1)
        seen = [_placement(state)]
        while GAME.to_act(state) != TERMINAL:
            GAME.play(state, source.choice(GAME.legal(state)))
            seen.append(_placement(state))
            if GAME.outcome(state) is None or state["end"] == rules.END_REPETITION:
                assert GAME.view(state, None).repeats == seen.count(seen[-1])
        found += int(state["end"]) == rules.END_REPETITION
    assert found > 5


def _placement(state: State) -> tuple[bytes, int]:
    pegs: np.ndarray[Any, Any] = state["pegs"]
    return np.sort(pegs[:2, : int(state["each"])], axis=1).tobytes(), int(state["turn"])
