"""Who may see which entry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.tools.samples import ENTRIES
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
    Spectating,
)
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import (
    PUBLIC,
    REFEREE,
    WantedViews,
    apply_change,
    changes_view,
    comment_audience,
    depends_on_viewer,
    event_field,
    redact,
    spectator_viewer,
    spectators_see_as,
    view_change,
)

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


VIEWERS = (0, 1, 2, PUBLIC, REFEREE)


def test_an_entry_that_depends_on_no_viewer_is_the_same_object_for_all() -> None:
    """The server encodes such an event once, so this may not be wrong for any entry."""
    for entry in (*ENTRIES, MOVE, SAID, NOTE, FLAG, FORFEIT):
        for hidden in (False, True):
            seen = [redact(entry, viewer, hidden) for viewer in VIEWERS]
            if not depends_on_viewer(entry, hidden):
                assert all(one is entry for one in seen)
            assert {one.seq for one in seen} == {entry.seq}


def test_a_flag_changes_the_view_only_where_the_turn_is_skipped() -> None:
    changing = [entry.kind for entry in ENTRIES if changes_view(entry, flag_skips=False)]
    assert changing == ["move", "resign", "forfeit"]
    assert changes_view(FLAG, flag_skips=True)


@pytest.mark.parametrize(
    ("wanted", "in_open_games", "where_something_is_hidden"),
    [("turn", None, "change"), ("every", "view", "view"), ("none", None, None)],
)
def test_an_event_tells_of_the_view_what_was_asked_for(
    wanted: WantedViews, in_open_games: str | None, where_something_is_hidden: str | None
) -> None:
    assert event_field(wanted, hidden=False) == in_open_games
    assert event_field(wanted, hidden=True) == where_something_is_hidden


def test_a_change_has_what_is_new_and_what_is_gone() -> None:
    before: Fields = {"ply": 1, "board": [[0, 1]], "last": {"to": 3}, "turn": 0}
    after: Fields = {"ply": 2, "board": [[0, 1]], "turn": 0, "hand": [7]}
    assert view_change(before, after) == {"ply": 2, "hand": [7], "last": None}
    assert view_change(after, after) is None
    assert apply_change(before, None) is before


_VIEWS = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(st.integers(0, 2) | st.text(max_size=1), st.lists, max_leaves=3),
)


@given(before=_VIEWS, after=_VIEWS)
def test_a_change_that_is_applied_gives_the_view(before: Fields, after: Fields) -> None:
    assert apply_change(before, view_change(before, after)) == after


@pytest.mark.parametrize(
    ("comments", "seat", "hidden", "audience"),
    [
        ("none", None, False, None),
        ("none", 0, True, None),
        ("spectators", None, False, "spectators"),
        ("spectators", None, True, "spectators"),
        ("spectators", 0, False, "spectators"),
        ("spectators", 0, True, "referee"),
        ("everybody", None, True, "everybody"),
        ("everybody", 0, True, "everybody"),
    ],
)
def test_who_sees_a_comment_is_decided_by_the_host(
    comments: str, seat: int | None, hidden: bool, audience: str | None
) -> None:
    spectating = Spectating.model_validate({"comments": comments})
    assert comment_audience(spectating, seat, hidden) == audience


def test_spectators_at_a_seats_shoulder_see_what_spectators_say_and_no_notes() -> None:
    def shown(entry: Entry, viewer: int) -> Entry:
        return redact(entry, spectators_see_as(entry, viewer), True)

    assert shown(ASIDE, 0) == ASIDE
    assert shown(SHOUT, 0) == SHOUT
    assert shown(SECRET, 0) == BARE
    assert shown(SECRET, 1) == SECRET
    assert shown(SECRET, REFEREE) == SECRET
    assert shown(NOTE, 1) == BARE
