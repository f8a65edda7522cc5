"""The visibility gate: it passes only what each viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import pytest

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.frames import done_frame, text_frame
from kibitz_protocol.wire.messages import Done, Event
from kibitz_protocol.wire.records import (
    Audience,
    Cause,
    Comment,
    Conduct,
    Hidden,
    Moved,
    Player,
    PlayerKind,
)
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, WantedViews, redact
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
from kibitz_server.match.visibility import EntryView, StateViews, depends_on_viewer, replay
from tests.server.match.toy_games import Grid, MatchDriver, Race, Veil, setup, variant
from tests.tools.sample_messages import ENTRIES

VIEWERS = (0, 1, PUBLIC, REFEREE)


def test_an_entry_that_depends_on_no_viewer_is_the_same_object_for_all() -> None:
    """The server encodes such an event once, so this must be correct for every entry."""
    silent = [e.model_copy(update={"comment": None}) for e in ENTRIES if e.kind == "move"]
    said = [e for e in ENTRIES if e.kind == "comment"]
    heard = [e.model_copy(update={"audience": a}) for e in said for a in get_args(Audience)]
    for entry in (*ENTRIES, *silent, *heard):
        for hidden in (False, True):
            seen = [redact(entry, viewer, hidden) for viewer in (*VIEWERS, 2)]
            if not depends_on_viewer(entry, hidden):
                assert all(one is entry for one in seen)
            assert {one.seq for one in seen} == {entry.seq}


def test_where_nothing_is_hidden_all_share_one_frame_and_one_view() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.play(x=0, y=0)
    sight = shell.views[0]
    for wanted in ("turn", "none", "every"):
        assert len({id(sight.frame(viewer, wanted)) for viewer in VIEWERS}) == 1
    assert len({id(sight.event(viewer, "every").view) for viewer in VIEWERS}) == 1
    assert shell.match.views.snapshot(PUBLIC, "watching").view is sight.event(PUBLIC, "every").view


def test_a_comment_is_the_only_difference_that_it_makes() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(text="the corner")))
    mine, theirs = (shell.views[0].event(seat, "every") for seat in (0, 1))
    assert mine.view is theirs.view
    assert isinstance(mine.entry, Moved)
    assert mine.entry.comment == Comment(text="the corner")
    assert theirs.entry == mine.entry.model_copy(update={"comment": None})


@pytest.mark.parametrize("kind", get_args(PlayerKind))
@pytest.mark.parametrize("viewer", [PUBLIC, 0, 1])
def test_spectators_see_at_once_what_house_bots_say_of_their_moves(
    viewer: int, kind: PlayerKind
) -> None:
    """If any seat is not a house bot, comments are shown only after the match."""
    start = setup(Grid())
    house = [player.model_copy(update={"kind": "house"}) for player in start.seats]
    seats = [house[0], house[1].model_copy(update={"kind": kind})]
    shell = MatchDriver(Grid(), start.model_copy(update={"seats": seats}))
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(text="the corner")))
    sight, shown = shell.views[0], kind == "house" and viewer != 1
    told = [sight.spectator_event(viewer).model_dump_json().encode()]
    told += sight.spectator_frames(viewer, ["turn", "every"], b"").values()
    assert {b"the corner" in each for each in told} == {shown}
    assert b"the corner" in sight.frame(0)
    assert b"the corner" in sight.spectator_frames(REFEREE, ["turn"])["turn"]


def test_an_event_that_changes_nothing_seen_has_no_view() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.do(Leave(1, "disconnect"))
    shell.play(x=0, y=0)
    assert [sight.event(0, "every").view is None for sight in shell.views] == [True, False]


@pytest.mark.parametrize(
    ("game", "wanted", "told"),
    [
        (Grid, "turn", set()),
        (Grid, "every", {"view"}),
        (Grid, "none", set()),
        (Veil, "turn", {"patch"}),
        (Veil, "every", {"view"}),
        (Veil, "none", set()),
    ],
)
def test_an_event_tells_of_the_view_what_was_asked_for(
    game: Any, wanted: WantedViews, told: set[str]
) -> None:
    shell = MatchDriver(game(), setup(game()))
    shell.play()
    for viewer in VIEWERS:
        sent = decode_server_message(encode(shell.views[0].event(viewer, wanted)))
        assert {"view", "patch"} & sent.model_fields_set == told
    turn = shell.match.views.your_turn(wanted=wanted)
    assert (turn.view is None) is (wanted == "none")


def test_a_change_is_of_the_viewers_own_view() -> None:
    shell = MatchDriver(Veil(), setup(Veil(), 3))
    shell.play(card=2)
    [sight] = shell.views
    everybody = {"turn": 1, "played": [1, 0, 0]}
    assert sight.event(PUBLIC).patch == sight.event(1).patch == everybody
    assert sight.event(0).patch == {**everybody, "mine": [2, -1, -1]}
    assert set(sight.event(REFEREE).patch or ()) == {*everybody, "order"}
    shell.do(Leave(1, "disconnect"))
    assert {shell.views[1].event(viewer).patch is None for viewer in VIEWERS} == {True}


@pytest.mark.parametrize("game", [Grid, Veil])
def test_a_sight_asked_late_shows_what_was_then(game: Any) -> None:
    """A delayed spectator's event is built later, from the earlier state."""
    early, late = (MatchDriver(game(), setup(game()), drawn=True) for _ in range(2))
    told = []
    for _ in range(4):
        early.play()
        told.append(every_event(early.views[-1]))
        late.play()
    assert [every_event(sight) for sight in late.views] == told


def every_event(sight: EntryView) -> list[bytes]:
    """Return an entry's events for every viewer and every view setting."""
    wanted = get_args(WantedViews)
    return [encode(sight.event(viewer, each)) for viewer in VIEWERS for each in wanted]


def test_views_are_computed_once() -> None:
    calls: list[int | None] = []

    class Counting(Grid):
        def view(self, state: Any, seat: int | None) -> Any:
            calls.append(seat)
            return super().view(state, seat)

    views = StateViews(Counting(), Grid().start(Grid.Options(), 2, {}))
    assert views.of(0) is views.of(PUBLIC) is views.of(REFEREE)
    assert calls == [None]


def test_what_nobody_is_told_is_not_computed() -> None:
    """In a game without hidden information a move needs one view, for the next turn."""
    calls: list[int | None] = []

    class Counting(Grid):
        def view(self, state: Any, seat: int | None) -> Any:
            calls.append(seat)
            return super().view(state, seat)

    shell = MatchDriver(Counting(), setup(Counting()))
    shell.play()
    for viewer in VIEWERS:
        shell.views[-1].frame(viewer, "turn")
        shell.views[-1].frame(viewer, "none")
    shell.match.views.turn_frame(wanted="none")
    assert calls == []
    shell.match.views.turn_frame()
    shell.views[-1].frame(0, "every")
    assert calls == [None]


def test_a_change_is_compared_with_the_view_that_was_told_before() -> None:
    """With hidden information each view is computed once, although two changes need it."""
    calls: list[int | None] = []

    class Counting(Veil):
        def view(self, state: Any, seat: int | None) -> Any:
            calls.append(seat)
            return super().view(state, seat)

    shell = MatchDriver(Counting(), setup(Counting()))
    shell.match.views.snapshot(0, "started", 0)
    assert calls == [0]
    assert len(shell.state.players) == 2
    for plies in range(1, 4):
        shell.play()
        shell.views[-1].frame(0)
        shell.match.views.release()
        # Those of the others too, because the messages to each seat are part of a digest.
        assert [calls.count(seat) for seat in range(2)] == [plies + 1] * 2


def test_views_that_nobody_will_ask_for_again_are_not_copied() -> None:
    shell = MatchDriver(Grid(), setup(Grid()))
    state, views = shell.state.game_state, shell.match.views
    shell.play()
    released = views.present()
    views.release()
    shell.play()
    assert released.state is state
    unread = views.present()
    shell.play()
    assert unread.state is not state
    read = views.present()
    read.scene(PUBLIC)
    shell.play()
    assert read.state is state


# --- frames --------------------------------------------------------------------------------------

RULED = variant(Grid, legal_rule='any "empty" cell')


@pytest.mark.parametrize("seq", [None, 0, 1, 2**53 - 1])
def test_an_answer_is_framed_as_the_codec_writes_it(seq: int | None) -> None:
    assert done_frame(7, seq) == text_frame(encode(Done(re=7, seq=seq)))
    named = Done(re=7, seq=seq, ignored=["a", "b"])
    assert done_frame(7, seq, ("a", "b")) == text_frame(encode(named))


@pytest.mark.parametrize("clock", ["none", "10+1", "byo=5+3x2,bank=9"])
@pytest.mark.parametrize("game", [Grid(), Race(), Veil(), RULED], ids=lambda game: game.info.title)
def test_events_and_turns_are_framed_as_the_codec_writes_them(game: Game, clock: str) -> None:
    shell = MatchDriver(game, setup(game, 3, clock=clock), drawn=True)
    for _ in range(6):
        views = shell.match.views
        lefts = (None, shell.match.left_ms(shell.now + 3))
        for asked in product(lefts, get_args(WantedViews)):
            assert views.turn_frame(*asked) == text_frame(encode(views.your_turn(*asked)))
        for viewer, wanted in product(VIEWERS, get_args(WantedViews)):
            plain, whole = (views.snapshot(viewer, "lagged", None, 7, w) for w in ("turn", wanted))
            assert views.snapshot_frame(plain, viewer, wanted) == text_frame(encode(whole))
        require_frames(shell.play(wait=5))


@pytest.mark.parametrize("game", [Grid(), Veil()], ids=lambda game: game.info.title)
def test_the_end_is_framed_as_the_codec_writes_it(game: Game) -> None:
    shell = MatchDriver(game, setup(game, 2, clock="10+1"), drawn=True)
    shell.do(Resign(0))
    views = shell.match.views
    for wanted in get_args(WantedViews):
        written = views.finished_frame("/records/a.jsonl", wanted)
        assert written == text_frame(encode(views.finished("/records/a.jsonl", wanted)))


def test_entries_that_are_no_moves_are_framed_as_the_codec_writes_them() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2, clock="10+1"), drawn=True)
    for command in (Note(0, 'say "ä"'), Leave(1, "disconnect"), Leave(1, "left")):
        require_frames(shell.do(command))


def test_a_comment_is_framed_for_its_seat_only() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2), drawn=True)
    play = Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.5, text='"'))
    require_frames(shell.do(play))


def require_frames(effects: Sequence[object]) -> None:
    shown = [each for each in effects if isinstance(each, Append)]
    assert shown
    for entry, view, _ in shown:
        for viewer, wanted in product(VIEWERS, get_args(WantedViews)):
            framed = text_frame(encode(view.event(viewer, wanted)))
            again = replace(view, _frames={})  # without the earlier frames
            assert view.frame(viewer, wanted, encode(entry)) == framed
            assert again.frame(viewer, wanted) == framed
            watched = text_frame(encode(view.spectator_event(viewer, wanted)))
            told = view.spectator_frames(viewer, [wanted] * 2, encode(entry))
            assert told == {wanted: watched}
            assert view.spectator_frames(None, [wanted]) == {}
            assert view.spectator_frames(viewer, ()) == {}


@pytest.mark.parametrize("wanted", get_args(WantedViews))
def test_trusted_models_are_what_validation_would_have_made(wanted: WantedViews) -> None:
    shell = MatchDriver(Grid(), setup(Grid(), clock="10+0"), drawn=True)
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.25)), 40)
    event = shell.views[0].event(PUBLIC, wanted)
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert decode_server_message(encode(event)) == event
    assert set(event.__dict__) == set(Event.model_fields)
    assert set(event.entry.__dict__) == set(Moved.model_fields)
    views = shell.match.views
    turn, snapshot = views.your_turn(None, wanted), views.snapshot(0, "started", 0, None, wanted)
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
    wanted = get_args(WantedViews)
    return [encode(sight.event(viewer, each)) for sight in shell.views for each in wanted]


def world(
    hand: list[int], cards: list[int], said: str
) -> tuple[MatchDriver, dict[int, list[bytes]]]:
    """Play a match in which seat 1 has `hand`, plays `cards` and comments `said`."""
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
    shell.tick(5_000)  # the server moves for seat 1 with a card that only its owner may know
    listen()
    for viewer, lines in heard.items():
        lines += traffic(shell, viewer)
    return shell, heard


def test_two_worlds_look_the_same_to_those_who_may_not_know() -> None:
    """Matches that differ in seat 1's cards, plays and comments send others the same bytes."""
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
        again = [encode(s.event(viewer, w)) for s in replayed for w in get_args(WantedViews)]
        assert again == traffic(shell, viewer)


def test_the_end_reveals_all_to_all() -> None:
    shell, _ = world(SECRET, [0, 1], "mine")
    shell.do(Resign(0))
    shell.do(Resign(2))
    for viewer in (0, 1, 2, PUBLIC):
        assert str(SECRET[2]).encode() in encode(shell.match.views.snapshot(viewer, "watching"))
