"""Following a match: nothing is lost, with any delay and fragmentation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.client_state import ClientState, initial_view
from kibitz_clients.matches.clock_format import read_clock
from kibitz_clients.matches.timeline import MatchInfo, Timeline, TimelineCursor
from kibitz_games.core.game import Game
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.messages import Event, Finished, LobbyClosed, MatchEnded, MatchStarted
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import (
    EntryBase,
    Forfeited,
    Hidden,
    Left,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
    SeatResult,
)
from kibitz_protocol.wire.refusals import Code
from tests.tools import fake_connection as testing
from tests.tools import profiles


def client_state_at(game: Game, record: Record, seq: int) -> ClientState:
    """Return the state of a viewer who joined after entry `seq`."""
    state = ClientState({game.info.name: game})
    state.apply(testing.snapshot(game, record, seq), 1_000)
    return state


def extra(record: Record, entry: EntryBase, **changes: object) -> Event:
    """Return an event without visible effect on the game."""
    fields = {"match": record.setup.match, "ply": 30, "to_act": 0, "entry": entry}
    return Event.model_validate(fields | changes)


# --------------------------------------------------------------------------- the whole match


@settings(deadline=None, max_examples=profiles.examples(40))
@given(st.data())
def test_whoever_comes_when_sees_every_frame_of_the_record(
    game: Game, running: Record, data: st.DataObject
) -> None:
    """With late joining, gaps and intermediate snapshots, the final frames equal the record's."""
    whole = recorded_match.build_timeline(game, running)
    events = testing.events(game, running)
    state = client_state_at(game, running, data.draw(st.integers(0, len(events)), label="came"))
    timeline = state.matches[running.setup.match]
    for event in events[timeline.newest.seq :]:
        if data.draw(st.booleans(), label="lost"):
            continue
        if event.entry.seq == timeline.newest.seq + 1:
            state.apply(event, 0)
        else:
            state.apply(testing.snapshot(game, running, event.entry.seq), 0)
    state.apply(testing.snapshot(game, running, len(events)), 0)
    while (wanted := timeline.missing()) is not None:
        first, count = wanted
        given = [event for event in events if first <= event.entry.seq < first + count]
        state.fill_missing(running.setup.match, given, wanted)
    assert timeline.frames == whole.frames


@settings(deadline=None, max_examples=profiles.examples(40))
@given(
    st.lists(st.sampled_from(["step_back", "step_forward", "go_to_first", "event"]), max_size=60)
)
def test_stepping_never_loses_a_frame(game: Game, running: Record, acts: list[str]) -> None:
    """All steps remain reachable in order, wherever the viewer is during the match."""
    state = client_state_at(game, running, 0)
    timeline = state.matches[running.setup.match]
    playhead = TimelineCursor(timeline)
    coming = iter(testing.events(game, running))
    for act in acts:
        before = playhead.frame
        was_live = playhead.is_live
        if act == "event":
            event = next(coming, None)
            if event is not None:
                state.apply(event, 0)
            assert playhead.frame == (timeline.newest if was_live else before)
        else:
            getattr(playhead, act)()
    playhead.go_to_first()
    walked = [playhead.frame]
    while not playhead.is_live:
        playhead.step_forward()
        walked.append(playhead.frame)
    assert walked == timeline.steps == timeline.frames


def test_replaying_a_record_gives_the_live_frames(game: Game, finished: Record) -> None:
    state = client_state_at(game, finished, 0)
    for event in testing.events(game, finished):
        state.apply(event, 0)
    live = state.matches[finished.setup.match]
    assert live.frames == recorded_match.build_timeline(game, finished).frames


# ----------------------------------------------------------------------------- coming late


def test_a_late_viewer_stands_at_a_frame_without_entry_and_wants_all_before_it(
    game: Game, running: Record
) -> None:
    timeline = client_state_at(game, running, 12).matches[running.setup.match]
    assert [frame.seq for frame in timeline.frames] == [12]
    assert timeline.newest.entry is None
    assert timeline.missing() == (1, 12)


def test_the_start_comes_from_the_rules_where_nothing_is_dealt(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 3)
    events = testing.events(game, running)[:3]
    state.fill_missing(running.setup.match, events, (1, 3))
    timeline = state.matches[running.setup.match]
    start = timeline.frame(0)
    assert start is not None
    assert start == recorded_match.build_timeline(game, running).frame(0)


def test_a_past_that_is_not_given_is_not_asked_for_again(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 12)
    state.fill_missing(running.setup.match, (), (1, 12))
    timeline = state.matches[running.setup.match]
    assert timeline.missing() is None
    assert [frame.seq for frame in timeline.frames] == [12]


def test_a_long_past_is_asked_for_in_parts() -> None:
    record = MatchInfo(
        match="M1",
        lobby=None,
        number=1,
        game="g",
        options={},
        seats=(Player(player="p", name="n", kind="bot"),),
        time_control=TimeControl(),
    )
    timeline = Timeline(record)
    timeline.event(Event(match="M1", ply=0, to_act=0, entry=Hidden(seq=501, at_ms=0), view={}), 0)
    assert timeline.missing() == (1, 200)
    timeline.fill_missing((), (1, 200))
    timeline.fill_missing((), (201, 200))
    assert timeline.missing() == (401, 100)


def test_options_that_no_game_knows_have_no_start(game: Game, running: Record) -> None:
    facts = MatchInfo.of(running.setup.model_copy(update={"options": {"size": 99}}))
    assert initial_view(game, facts) is None


# ------------------------------------------------------------------------- steps and notes


def test_hidden_entries_and_notes_are_frames_but_no_steps(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    state.apply(extra(running, Hidden(seq=31, at_ms=0)), 0)
    state.apply(extra(running, Noted(seq=32, at_ms=0, seat=0, text="hm")), 0)
    timeline = state.matches[running.setup.match]
    assert [frame.seq for frame in timeline.frames] == [30, 31, 32]
    assert [frame.seq for frame in timeline.steps] == [30]
    assert timeline.newest.view == timeline.frames[0].view
    assert TimelineCursor(timeline).frame.seq == 30


def test_going_to_the_newest_frame_is_going_live(game: Game, running: Record) -> None:
    timeline = recorded_match.build_timeline(game, running)
    playhead = TimelineCursor(timeline)
    playhead.go_to(7)
    assert (playhead.is_live, playhead.position) == (False, (7, 30))
    playhead.go_to(30)
    assert (playhead.is_live, playhead.position) == (True, (30, 30))


# ---------------------------------------------------------------------------- who is there


def test_away_seats_count_down_until_they_return(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    timeline = state.matches[running.setup.match]
    left = Left(seq=31, at_ms=0, seat=1, reason="disconnect", grace_ms=60_000)
    state.apply(extra(running, left), 5_000)
    assert timeline.away == {1: 65_000}
    state.apply(extra(running, Returned(seq=32, at_ms=0, seat=1)), 9_000)
    assert timeline.away == {}


@pytest.mark.parametrize("kind", ["forfeit", "resign"])
def test_who_drops_out_is_not_away(game: Game, running: Record, kind: str) -> None:
    state = client_state_at(game, running, 30)
    left = Left(seq=31, at_ms=0, seat=1, reason="crash", grace_ms=60_000)
    state.apply(extra(running, left), 0)
    out = (
        Forfeited(seq=32, at_ms=0, seat=1, cause="crash")
        if kind == "forfeit"
        else Resigned(seq=32, at_ms=0, seat=1)
    )
    state.apply(extra(running, out), 0)
    assert state.matches[running.setup.match].away == {}


def test_a_replaced_player_is_shown_by_the_new_name(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    stand_in = Player(player="h1", name="house", kind="house")
    replaced = Replaced(seq=31, at_ms=0, seat=2, player=stand_in, cause="crash")
    state.apply(extra(running, replaced), 0)
    names = [who.name for who in state.matches[running.setup.match].info.seats]
    assert names == ["ada", "bo", "house"]


# ----------------------------------------------------------------------------------- clocks


def test_only_the_clock_of_the_seat_to_act_runs(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    timeline = state.matches[running.setup.match]
    acting = timeline.newest.to_act
    begun, later = timeline.clock_readings(1_000), timeline.clock_readings(4_000)
    clocks = timeline.newest.clocks or ()
    for seat, (before, after) in enumerate(zip(begun, later, strict=True)):
        assert before is not None
        assert after is not None
        assert before.left_ms - after.left_ms == (3_000 if seat == acting else 0)
        assert seat == acting or after == read_clock(timeline.info.time_control, clocks[seat])


def test_clocks_of_earlier_frames_and_of_finished_matches_stand(
    game: Game, running: Record, finished: Record
) -> None:
    timeline = client_state_at(game, running, 30).matches[running.setup.match]
    timeline.fill_missing(testing.events(game, running), (1, 30))
    early = timeline.frame(3)
    assert timeline.clock_readings(1_000, early) == timeline.clock_readings(90_000, early)
    over = recorded_match.build_timeline(game, finished)
    assert over.clock_readings(0) == over.clock_readings(90_000)


def test_your_turn_sets_the_own_clock_by_the_servers_word(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    timeline = state.matches[running.setup.match]
    turn = testing.your_turn(game, running)
    clocks = list(timeline.newest.clocks or ())
    told = turn.model_copy(update={"clocks": clocks, "left_ms": 12_000})
    state.apply(told, 50_000)
    reading = timeline.clock_readings(50_000)[turn.seat]
    assert reading is not None
    assert reading.left_ms == 12_000


def test_who_comes_in_the_middle_of_a_turn_sees_what_is_left_of_it(
    game: Game, running: Record
) -> None:
    snapshot = testing.snapshot(game, running, 30)
    state = ClientState({game.info.name: game})
    state.apply(snapshot.model_copy(update={"left_ms": 7_000}), 90_000)
    reading = state.matches[running.setup.match].clock_readings(90_000)[snapshot.to_act]
    assert reading is not None
    assert reading.left_ms == 7_000


# ------------------------------------------------------------------------------ the state


def test_a_turn_goes_when_the_match_moves_on(game: Game, running: Record) -> None:
    shorter = Record(running.setup, running.entries[:29], None, "")
    state = client_state_at(game, running, 29)
    state.apply(testing.your_turn(game, shorter), 0)
    assert running.setup.match in state.turns
    state.apply(testing.events(game, running)[29], 0)
    assert state.turns == {}


def test_the_end_brings_the_result_and_reveals_what_was_hidden(game: Game, running: Record) -> None:
    state = client_state_at(game, running, 30)
    timeline = state.matches[running.setup.match]
    seats = [SeatResult(rank=seat + 1, score=0) for seat in range(3)]
    result = Result(seats=seats, cause="abandoned", plies=30)
    finished = Finished(
        match="M1", seq=30, result=result, view={"all": 1}, seed="s", record="/records/M1.jsonl"
    )
    state.apply(finished, 0)
    assert timeline.over
    assert (timeline.newest.view, timeline.newest.to_act) == ({"all": 1}, -1)
    assert timeline.record == "/records/M1.jsonl"


def test_an_end_that_the_server_cannot_show_leaves_the_last_position(
    game: Game, running: Record
) -> None:
    state = client_state_at(game, running, 30)
    timeline = state.matches[running.setup.match]
    before = timeline.newest.view
    seats = [SeatResult(rank=seat + 1, score=0) for seat in range(3)]
    result = Result(seats=seats, cause="abandoned", plies=30)
    state.apply(Finished(match="M1", seq=30, result=result, view={}, seed="s", record="/r"), 0)
    assert timeline.over
    assert timeline.newest.view == before


def test_the_next_match_follows_by_number_and_goes_round(game: Game, running: Record) -> None:
    state = ClientState({game.info.name: game})
    brief = testing.brief(running)
    for number in (1, 2, 3):
        made = brief.model_copy(update={"match": f"M{number}", "number": number})
        state.apply(MatchStarted(lobby="L1", match=made), 0)
    found = [state.next_match("L1", after) for after in (1, 2, 3)]
    assert [brief.number if brief else None for brief in found] == [2, 3, 1]
    result = Result(seats=[SeatResult(rank=1, score=0)], cause="rules", plies=1)
    over = brief.model_copy(update={"match": "M2", "number": 2, "result": result})
    state.apply(MatchEnded(lobby="L1", match=over), 0)
    following = state.next_match("L1", 1)
    assert following is not None
    assert following.number == 3
    assert state.next_match("L2", 1) is None


def test_lobbies_come_and_go_and_lost_matches_are_named(running: Record) -> None:
    state = ClientState({})
    state.apply(testing.lobby_news(testing.brief(running)), 0)
    assert list(state.lobbies) == ["L1"]
    state.apply(LobbyClosed(lobby="L1", reason="closed"), 0)
    assert state.lobbies == {}
    state.apply(MatchLost("M1", Code.NO_SUCH_MATCH, "no match M1"), 0)
    assert state.lost == {"M1": "no match M1"}
