"""The gate: who sees what, and that nothing else gets through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.frames import text_frame
from kibitz_protocol.wire.messages import Done, Event
from kibitz_protocol.wire.records import (
    Cause,
    Comment,
    Conduct,
    Hidden,
    Moved,
    Player,
)
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE
from kibitz_server.match.commands import (
    Append,
    Command,
    Leave,
    MatchOver,
    Note,
    Play,
    Replace,
    Resign,
    Return,
)
from kibitz_server.match.visibility import EntryView, StateViews, done_frame, replay
from tests.server.match.toy_games import Grid, MatchDriver, Race, Veil, setup, variant


def test_where_nothing_is_hidden_all_share_one_frame_and_one_view() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.play(x=0, y=0)
    sight = shell.views[0]
    assert len({id(sight.frame(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)}) == 1
    assert len({id(sight.event(viewer).view) for viewer in (0, 1, PUBLIC, REFEREE)}) == 1
    assert shell.match.views.your_turn().view is sight.event(PUBLIC).view
    assert shell.match.views.snapshot(PUBLIC, "watching").view is sight.event(PUBLIC).view


def test_a_comment_is_the_only_difference_that_it_makes() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(text="the corner")))
    mine, theirs = (shell.views[0].event(seat) for seat in (0, 1))
    assert mine.view is theirs.view
    assert isinstance(mine.entry, Moved)
    assert mine.entry.comment == Comment(text="the corner")
    assert theirs.entry == mine.entry.model_copy(update={"comment": None})


def test_an_event_that_changes_nothing_seen_has_no_view() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.do(Leave(1, "disconnect"))
    shell.play(x=0, y=0)
    assert [sight.event(0).view is None for sight in shell.views] == [True, False]


@pytest.mark.parametrize("game", [Grid, Veil])
def test_a_sight_asked_late_shows_what_was_then(game: Any) -> None:
    """A delayed spectator's event is built long after, from the state as it was."""
    early, late = MatchDriver(game(), setup(game())), MatchDriver(game(), setup(game()))
    told = []
    for _ in range(4):
        early.play()
        told.append([encode(early.views[-1].event(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)])
        late.play()
    then = [[encode(s.event(viewer)) for viewer in (0, 1, PUBLIC, REFEREE)] for s in late.views]
    assert then == told


def test_views_are_computed_once() -> None:
    calls: list[int | None] = []

    class Counting(Grid):
        def view(self, state: Any, seat: int | None) -> Any:
            calls.append(seat)
            return super().view(state, seat)

    views = StateViews(Counting(), Grid().start(Grid.Options(), 2, {}))
    assert views.of(0) is views.of(PUBLIC) is views.of(REFEREE)
    assert calls == [None]


def test_views_that_nobody_will_ask_for_again_are_not_copied() -> None:
    shell = MatchDriver(Veil(), setup(Veil()))
    shell.play()
    told = shell.match.views.present()
    shell.match.views.release()
    shell.play()
    assert told.state is shell.match.state.game_state
    kept = shell.match.views.present()
    shell.play()
    assert kept.state is not shell.match.state.game_state


# --- frames --------------------------------------------------------------------------------------

RULED = variant(Grid, legal_rule='any "empty" cell')


@pytest.mark.parametrize("seq", [None, 0, 1, 2**53 - 1])
def test_an_answer_is_framed_as_the_codec_writes_it(seq: int | None) -> None:
    assert done_frame(7, seq) == text_frame(encode(Done(re=7, seq=seq)))


@pytest.mark.parametrize("clock", ["none", "10+1", "byo=5+3x2,bank=9"])
@pytest.mark.parametrize("game", [Grid(), Race(), Veil(), RULED], ids=lambda game: game.info.title)
def test_events_and_turns_are_framed_as_the_codec_writes_them(game: Game, clock: str) -> None:
    shell = MatchDriver(game, setup(game, 3, clock=clock))
    for _ in range(6):
        views = shell.match.views
        for left in (None, shell.match.left_ms(shell.now + 3)):
            assert views.turn_frame(left) == text_frame(encode(views.your_turn(left)))
        require_frames(shell.play(wait=5))


def test_entries_that_are_no_moves_are_framed_as_the_codec_writes_them() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2, clock="10+1"))
    for command in (Note(0, 'say "ä"'), Leave(1, "disconnect"), Leave(1, "left")):
        require_frames(shell.do(command))


def test_a_comment_is_framed_for_its_seat_only() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    play = Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.5, text='"'))
    require_frames(shell.do(play))


def require_frames(effects: Sequence[object]) -> None:
    shown = [each for each in effects if isinstance(each, Append)]
    assert shown
    for entry, view in shown:
        events = [view.event(viewer) for viewer in (0, 1, PUBLIC, REFEREE)]
        again = replace(view, _frames={})  # without what was framed before
        for viewer, event in zip((0, 1, PUBLIC, REFEREE), events, strict=True):
            assert view.frame(viewer, encode(entry)) == text_frame(encode(event))
            assert again.frame(viewer) == text_frame(encode(event))
        seats, spectators = view.frames(encode(entry), (1, 0), PUBLIC)
        assert seats == [view.frame(1), view.frame(0)]
        assert spectators == text_frame(encode(view.spectator_event(PUBLIC)))
        assert view.frames(None, (), None) == ([], b"")


def test_trusted_models_are_what_validation_would_have_made() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), clock="10+0"))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.25)), 40)
    event = shell.views[0].event(PUBLIC)
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert decode_server_message(encode(event)) == event
    assert set(event.__dict__) == set(Event.model_fields)
    assert set(event.entry.__dict__) == set(Moved.model_fields)
    turn, snapshot = shell.match.views.your_turn(), shell.match.views.snapshot(0, "started", 0)
    for made in (turn, snapshot):
        assert set(made.__dict__) == set(type(made).model_fields)
        assert decode_server_message(encode(made)) == made


def test_a_trusted_model_is_frozen_too() -> None:
    made = construct(Hidden, {"seq": 1, "at_ms": 2, "kind": "hidden"})
    assert made == Hidden(seq=1, at_ms=2)
    with pytest.raises(ValueError, match="frozen"):
        made.seq = 2  # type: ignore[misc]


# --- two worlds -----------------------------------------------------------------------------

HANDS = [[100_000_000_001, 100_000_000_002, 100_000_000_003]] * 3
SECRET = [777_000_000_001, 777_000_000_002, 777_000_000_003]
OTHER = [888_000_000_001, 888_000_000_002, 888_000_000_003]


def traffic(shell: MatchDriver, viewer: int) -> list[bytes]:
    return [encode(sight.event(viewer)) for sight in shell.views]


def world(
    hand: list[int], cards: list[int], said: str
) -> tuple[MatchDriver, dict[int, list[bytes]]]:
    """Play a match in which seat 1 holds `hand`, plays `cards` and says `said` of it."""
    veil = variant(Veil, on_flag="random")
    deal = {"hands": [HANDS[0], hand, HANDS[2]]}
    conduct = Conduct(on_leave="replace", stand_in="toy/house")
    shell = MatchDriver(veil, setup(veil, 3, clock="move=1", deal=deal, conduct=conduct))
    heard: dict[int, list[bytes]] = {0: [], 2: [], PUBLIC: []}
    own = iter(cards)

    def listen() -> None:
        for viewer, lines in heard.items():
            lines.append(encode(shell.match.views.snapshot(viewer, "lagged")))
            if viewer == shell.match.state.to_act:
                lines.append(encode(shell.match.views.your_turn(shell.match.left_ms(shell.now))))

    def do(command: Command) -> None:
        for effect in shell.do(command, 10):
            assert not isinstance(effect, MatchOver)
        listen()

    def turn(seat: int, request: int) -> None:
        card = next(own) if seat == 1 else request % 3
        comment = Comment(value=float(hand[0]), text=said) if seat == 1 else None
        do(Play(seat, request, shell.match.state.ply, {"card": card}, comment, 3))

    listen()
    for request in (1, 2):
        for seat in range(3):
            turn(seat, request)
            if seat == 1:
                do(Play(1, 90, shell.match.state.ply, {"card": hand[0] % 7}))
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
        seqs = [sight.event(viewer).entry.seq for sight in shell.views]
        assert seqs == list(range(1, shell.match.state.seq + 1))


def test_a_replay_of_a_live_match_hides_the_same() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    replayed: list[EntryView] = list(replay(shell.game, shell.setup, shell.log))
    for viewer in (0, 2, PUBLIC):
        assert [encode(s.event(viewer)) for s in replayed] == traffic(shell, viewer)


def test_the_end_reveals_all_to_all() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    shell.do(Resign(0))
    shell.do(Resign(2))
    for viewer in (0, 1, 2, PUBLIC):
        assert str(SECRET[2]).encode() in encode(shell.match.views.snapshot(viewer, "watching"))
