"""The gate: who sees what, and that nothing else gets through it."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_protocol.codec import decode_news, encode
from kibitz_protocol.messages import Event
from kibitz_protocol.records import (
    Cause,
    Comment,
    Conduct,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Player,
    Resigned,
    Spectating,
)
from kibitz_server.match import Command, Finished, Leave, Match, Note, Play, Replace, Resign, Return
from kibitz_server.trusted import trusted
from kibitz_server.view import PUBLIC, REFEREE, Sight, Views, eyes, seen
from tests.server.toys import Grid, Shell, Veil, setup, variant

MOVE = Moved(seq=3, at_ms=9, ply=2, seat=0, action={"card": 1}, id=4)
SAID = MOVE.model_copy(update={"comment": Comment(value=1.0, text="mine")})
NOTE = Noted(seq=3, at_ms=9, seat=1, text="psst")
FLAG = Flagged(seq=3, at_ms=9, ply=2, seat=0, elapsed_ms=5)
FORFEIT = Forfeited(seq=3, at_ms=9, seat=0, cause=Cause.CRASH, detail="KeyError: my hand")
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
    ],
)
def test_what_a_viewer_sees_of_an_entry(
    entry: Any, hidden: bool, viewer: int, expected: Any
) -> None:
    assert seen(entry, viewer, hidden) == (expected or entry)


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
    assert eyes(spectating) == viewer


def test_where_nothing_is_hidden_all_share_one_event_and_one_view() -> None:
    shell = Shell(Grid(), setup(Grid()))
    shell.play(x=0, y=0)
    sight = shell.sights[0]
    assert len({id(sight.event(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)}) == 1
    assert shell.match.your_turn().view is sight.event(PUBLIC).view
    assert shell.match.snapshot(PUBLIC, "watching").view is sight.event(PUBLIC).view


def test_a_comment_is_the_only_difference_that_it_makes() -> None:
    shell = Shell(Grid(), setup(Grid()))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(text="the corner")))
    mine, theirs = (shell.sights[0].event(seat) for seat in (0, 1))
    assert mine.view is theirs.view
    assert isinstance(mine.entry, Moved)
    assert mine.entry.comment == Comment(text="the corner")
    assert theirs.entry == mine.entry.model_copy(update={"comment": None})


def test_an_event_that_changes_nothing_seen_has_no_view() -> None:
    shell = Shell(Grid(), setup(Grid()))
    shell.do(Leave(1, "disconnect"))
    shell.play(x=0, y=0)
    assert [sight.event(0).view is None for sight in shell.sights] == [True, False]


@pytest.mark.parametrize("game", [Grid, Veil])
def test_a_sight_asked_late_shows_what_was_then(game: Any) -> None:
    """A delayed spectator's event is built long after, from the state as it was."""
    early, late = Shell(game(), setup(game())), Shell(game(), setup(game()))
    told = []
    for _ in range(4):
        early.play()
        told.append([encode(early.sights[-1].event(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)])
        late.play()
    then = [[encode(s.event(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)] for s in late.sights]
    assert then == told


def test_views_are_computed_once() -> None:
    calls: list[int | None] = []

    class Counting(Grid):
        def view(self, state: Any, seat: int | None) -> Any:
            calls.append(seat)
            return super().view(state, seat)

    views = Views(Counting(), Grid().start(Grid.Options(), 2, {}))
    assert views.of(0) is views.of(PUBLIC) is views.of(REFEREE)
    assert calls == [None]


def test_trusted_models_are_what_validation_would_have_made() -> None:
    shell = Shell(Grid(), setup(Grid(), clock="10+0"))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.25)), 40)
    event = shell.sights[0].event(PUBLIC)
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert decode_news(encode(event)) == event
    assert set(event.__dict__) == set(Event.model_fields)
    assert set(event.entry.__dict__) == set(Moved.model_fields)
    turn, snapshot = shell.match.your_turn(), shell.match.snapshot(0, "started", 0)
    for made in (turn, snapshot):
        assert set(made.__dict__) == set(type(made).model_fields)
        assert decode_news(encode(made)) == made


def test_a_trusted_model_is_frozen_too() -> None:
    made = trusted(Hidden, {"seq": 1, "at_ms": 2, "kind": "hidden"})
    assert made == Hidden(seq=1, at_ms=2)
    with pytest.raises(ValueError, match="frozen"):
        made.seq = 2  # type: ignore[misc]


# --- two worlds -----------------------------------------------------------------------------

HANDS = [[100_000_000_001, 100_000_000_002, 100_000_000_003]] * 3
SECRET = [777_000_000_001, 777_000_000_002, 777_000_000_003]
OTHER = [888_000_000_001, 888_000_000_002, 888_000_000_003]


def traffic(shell: Shell, viewer: int) -> list[bytes]:
    return [encode(sight.event(viewer)) for sight in shell.sights]


def world(hand: list[int], cards: list[int], said: str) -> tuple[Shell, dict[int, list[bytes]]]:
    """Play a match in which seat 1 holds `hand`, plays `cards` and says `said` of it."""
    veil = variant(Veil, on_flag="random")
    deal = {"hands": [HANDS[0], hand, HANDS[2]]}
    conduct = Conduct(on_leave="replace", stand_in="toy/house")
    shell = Shell(veil, setup(veil, 3, clock="move=1", deal=deal, conduct=conduct))
    heard: dict[int, list[bytes]] = {0: [], 2: [], PUBLIC: []}
    own = iter(cards)

    def listen() -> None:
        for viewer, lines in heard.items():
            lines.append(encode(shell.match.snapshot(viewer, "lagged")))
            if viewer == shell.match.to_act:
                lines.append(encode(shell.match.your_turn(shell.now)))

    def do(command: Command) -> None:
        for effect in shell.do(command, 10):
            assert not isinstance(effect, Finished)
        listen()

    def turn(seat: int, request: int) -> None:
        card = next(own) if seat == 1 else request % 3
        comment = Comment(value=float(hand[0]), text=said) if seat == 1 else None
        do(Play(seat, request, shell.match.ply, {"card": card}, comment, 3))

    listen()
    for request in (1, 2):
        for seat in range(3):
            turn(seat, request)
            if seat == 1:
                do(Play(1, 90, shell.match.ply, {"card": hand[0] % 7}))
                do(Note(1, said))
        do(Leave(1, "left"))
        do(Replace(1, Player(player=f"h{request}", name="House", kind="house"), Cause.CRASH))
        do(Return(1, "stranger"))
    turn(0, 3)
    shell.tick(5_000)  # the server moves for seat 1: a card that only its owner may know
    listen()
    for viewer, lines in heard.items():
        lines += traffic(shell, viewer)
    return shell, heard


def test_two_worlds_look_the_same_to_those_who_may_not_know() -> None:
    """Matches that differ in what seat 1 holds, plays and says send others the same bytes."""
    first, heard = world(SECRET, [0, 1], f"I hold {SECRET[0]}")
    second, also = world(OTHER, [2, 0], f"I hold {OTHER[2]}")
    assert heard == also
    assert traffic(first, 1) != traffic(second, 1)


def test_planted_secrets_reach_their_owner_and_nobody_else() -> None:
    shell, heard = world(SECRET, [0, 1], f"I hold {SECRET[0]}")
    secrets = [str(card).encode() for card in SECRET]
    assert all(any(secret in line for line in traffic(shell, 1)) for secret in secrets)
    for lines in heard.values():
        assert not any(secret in line for line in lines for secret in secrets)


def test_the_numbers_that_a_viewer_gets_have_no_hole() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    for viewer in (0, 1, 2, PUBLIC, REFEREE):
        seqs = [sight.event(viewer).entry.seq for sight in shell.sights]
        assert seqs == list(range(1, shell.match.seq + 1))


def test_a_replay_of_a_live_match_hides_the_same() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    replayed: list[Sight] = list(Match.replay(shell.game, shell.setup, shell.log))
    for viewer in (0, 2, PUBLIC):
        assert [encode(s.event(viewer)) for s in replayed] == traffic(shell, viewer)


def test_the_end_reveals_all_to_all() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    shell.do(Resign(0))
    shell.do(Resign(2))
    for viewer in (0, 1, 2, PUBLIC):
        assert str(SECRET[2]).encode() in encode(shell.match.snapshot(viewer, "watching"))
