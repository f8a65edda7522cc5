"""The visibility of entries."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from kibitz_protocol.wire.records import (
    Cause,
    Comment,
    Commented,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Player,
    Resigned,
    Setup,
    Spectating,
)
from kibitz_protocol.wire.visibility import (
    EVENT_FIELDS,
    PUBLIC,
    REFEREE,
    WantedViews,
    comment_audience,
    comments_are_live,
    redact,
    spectator_viewer,
    spectators_entry,
    spectators_see_as,
    view_changing,
)
from tests.tools.sample_messages import ENTRIES, SETUP

MOVE = Moved(seq=3, at_ms=9, ply=2, seat=0, action={"card": 1}, id=4)
SAID = MOVE.model_copy(update={"comment": Comment(value=1.0, text="mine")})
NOTE = Noted(seq=3, at_ms=9, seat=1, text="psst")
FLAG = Flagged(seq=3, at_ms=9, ply=2, seat=0, elapsed_ms=5)
FORFEIT = Forfeited(seq=3, at_ms=9, seat=0, cause=Cause.CRASH, detail="KeyError: my hand")
EVA = Player(player="g1", name="eva", kind="human")
SHOUT = Commented(seq=3, at_ms=9, ply=2, author=EVA, audience="everybody", text="look at b2")
ASIDE = SHOUT.model_copy(update={"audience": "spectators"})
OWN_ASIDE = ASIDE.model_copy(update={"seat": 1})
SECRET = OWN_ASIDE.model_copy(update={"audience": "referee"})
BARE = Hidden(seq=3, at_ms=9)


@pytest.mark.parametrize(
    ("entry", "hidden", "viewer", "expected"),
    [
        (MOVE, False, 1, MOVE),
        (MOVE, False, PUBLIC, MOVE),
        (SAID, False, 0, SAID),
        (SAID, False, PUBLIC, SAID),
        (SAID, False, REFEREE, SAID),
        (SAID, False, 1, MOVE),
        (MOVE, True, 0, MOVE),
        (SAID, True, 0, SAID),
        (SAID, True, 1, BARE),
        (SAID, True, PUBLIC, BARE),
        (SAID, True, REFEREE, SAID),
        (NOTE, False, 0, BARE),
        (NOTE, False, 1, NOTE),
        (NOTE, False, PUBLIC, BARE),
        (NOTE, False, REFEREE, BARE),
        (NOTE, True, REFEREE, BARE),
        (FLAG, False, 1, FLAG),
        (FLAG, False, PUBLIC, FLAG),
        (FLAG, True, 0, FLAG),
        (FLAG, True, 1, BARE),
        (FLAG, True, PUBLIC, BARE),
        (FLAG, True, REFEREE, FLAG),
        (FORFEIT, False, 1, FORFEIT),
        (FORFEIT, True, 0, FORFEIT),
        (FORFEIT, True, 1, FORFEIT.model_copy(update={"detail": ""})),
        (FORFEIT, True, PUBLIC, FORFEIT.model_copy(update={"detail": ""})),
        (FORFEIT, True, REFEREE, FORFEIT),
        (Resigned(seq=3, at_ms=9, seat=0), True, PUBLIC, None),
        *[
            (comment, hidden, viewer, comment if seen else BARE)
            for hidden in (False, True)
            for comment, viewer, seen in [
                (SHOUT, 0, True),
                (SHOUT, PUBLIC, True),
                (SHOUT, REFEREE, True),
                (ASIDE, 0, False),
                (ASIDE, PUBLIC, True),
                (ASIDE, REFEREE, True),
                (OWN_ASIDE, 0, False),
                (OWN_ASIDE, 1, True),
                (OWN_ASIDE, PUBLIC, True),
                (SECRET, 0, False),
                (SECRET, 1, True),
                (SECRET, PUBLIC, False),
                (SECRET, REFEREE, True),
            ]
        ],
    ],
)
def test_what_a_viewer_sees_of_an_entry(
    entry: Entry, hidden: bool, viewer: int, expected: Entry | None
) -> None:
    assert redact(entry, viewer, hidden) == (expected or entry)


@pytest.mark.parametrize(
    ("spectating", "viewer"),
    [
        (Spectating(mode="off"), None),
        (Spectating(mode="public"), PUBLIC),
        (Spectating(mode="shoulder", seat=2), 2),
        (Spectating(mode="shoulder"), PUBLIC),
        (Spectating(mode="referee"), REFEREE),
    ],
)
def test_spectators_have_the_eyes_that_the_host_gave_them(
    spectating: Spectating, viewer: int | None
) -> None:
    assert spectator_viewer(spectating) == viewer


def test_a_flag_changes_the_view_only_where_the_turn_is_skipped() -> None:
    changing = [e.kind for e in ENTRIES if type(e) in view_changing(flag_skips=False)]
    assert changing == ["move", "resign", "forfeit"]
    assert type(FLAG) in view_changing(flag_skips=True)


@pytest.mark.parametrize(
    ("wanted", "in_open_games", "where_something_is_hidden"),
    [
        ("turn", None, "patch"),
        ("every", "view", "view"),
        ("none", None, None),
        ("drawn", "patch", "patch"),
    ],
)
def test_an_event_tells_of_the_view_what_was_asked_for(
    wanted: WantedViews, in_open_games: str | None, where_something_is_hidden: str | None
) -> None:
    assert EVENT_FIELDS[False][wanted] == in_open_games
    assert EVENT_FIELDS[True][wanted] == where_something_is_hidden


HOUSE, PERSON = (Player(player=kind, name=kind, kind=kind) for kind in ("house", "human"))
LIVE = {
    # seats, rated, comments: whether spectators see comments immediately
    ("house", False, "none"): True,
    ("house", False, "after"): True,
    ("house", False, "spectators"): True,
    ("house", False, "everybody"): True,
    ("house", True, "none"): True,
    ("house", True, "after"): True,
    ("house", True, "spectators"): True,
    ("house", True, "everybody"): True,
    ("mixed", False, "none"): False,
    ("mixed", False, "after"): False,
    ("mixed", False, "spectators"): True,
    ("mixed", False, "everybody"): True,
    ("mixed", True, "none"): False,
    ("mixed", True, "after"): False,
    ("mixed", True, "spectators"): False,
    ("mixed", True, "everybody"): False,
    ("people", False, "none"): False,
    ("people", False, "after"): False,
    ("people", False, "spectators"): True,
    ("people", False, "everybody"): True,
    ("people", True, "none"): False,
    ("people", True, "after"): False,
    ("people", True, "spectators"): False,
    ("people", True, "everybody"): False,
}
SEATS = {"house": [HOUSE, HOUSE], "mixed": [HOUSE, PERSON], "people": [PERSON, PERSON]}
AUDIENCES = {
    # comments: of a spectator, of a seat, of a seat in a game with hidden information
    "none": (None, None, None),
    "after": ("spectators", "spectators", "referee"),
    "spectators": ("spectators", "spectators", "referee"),
    "everybody": ("everybody", "everybody", "everybody"),
}
"""The viewers who see comments immediately, by setting."""


def setup_of(seats: str, rated: bool, comments: str) -> Setup:
    spectating = Spectating.model_validate({"comments": comments})
    update = {"seats": SEATS[seats], "rated": ["a", "b"] if rated else None}
    return SETUP.model_copy(update={**update, "spectating": spectating})


def test_every_kind_of_match_is_decided() -> None:
    comments = get_args(Spectating.model_fields["comments"].annotation)
    assert set(LIVE) == set(product(SEATS, (False, True), comments))
    assert set(AUDIENCES) == set(comments)


@pytest.mark.parametrize(("kind", "live"), LIVE.items(), ids=str)
def test_comments_are_live_only_where_no_player_can_profit(
    kind: tuple[str, bool, str], live: bool
) -> None:
    setup = setup_of(*kind)
    assert comments_are_live(setup) is live
    audiences = tuple(
        comment_audience(setup, seat, hidden)
        for seat, hidden in ((None, False), (0, False), (0, True))
    )
    shown = AUDIENCES[kind[2]]
    assert audiences == (shown if live or kind[2] == "none" else ("referee",) * 3)
    assert comment_audience(setup, None, True) == audiences[0]


REMARKS: dict[str, Entry] = {
    "remark": SAID,
    "seat's comment": SECRET.model_copy(update={"seat": 0}),
}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("viewer", [PUBLIC, REFEREE, 0, 1])
@pytest.mark.parametrize("name", REMARKS)
def test_spectators_lose_comments_that_are_not_live(
    name: str, viewer: int, live: bool, hidden: bool
) -> None:
    """Spectators with the public, the referee's, the author's and the opponent's view."""
    told = spectators_entry(REMARKS[name], viewer, live)
    shown = redact(told, spectators_see_as(told, viewer), hidden)
    text = "mine" if name == "remark" else "look at b2"
    if not live:
        assert (text in str(shown)) is (viewer == REFEREE)
    elif viewer in (REFEREE, 0):
        assert text in str(shown)
    seq = [each.seq for each in (REMARKS[name], told, shown)]
    assert len(set(seq)) == 1, "numbers have no hole"


def test_spectators_keep_what_is_no_comment() -> None:
    for entry in (MOVE, FLAG, FORFEIT, SHOUT, ASIDE, BARE):
        assert spectators_entry(entry, PUBLIC, live=False) is entry


def test_spectators_at_a_seats_shoulder_see_what_spectators_say_and_no_notes() -> None:
    def shown(entry: Entry, viewer: int) -> Entry:
        return redact(entry, spectators_see_as(entry, viewer), True)

    assert shown(ASIDE, 0) == ASIDE
    assert shown(SHOUT, 0) == SHOUT
    assert shown(SECRET, 0) == BARE
    assert shown(SECRET, 1) == SECRET
    assert shown(SECRET, REFEREE) == SECRET
    assert shown(NOTE, 1) == BARE
