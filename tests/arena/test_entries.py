from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_arena.entries import (
    FORMAT,
    Entry,
    GameEnded,
    GameRequeued,
    GamesRequested,
    RunStarted,
    RunStopped,
    make_header,
)
from kibitz_arena.journal import Header, JournalError, JournalMismatchError, encode_line
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import DueGame, TournamentState, original_tag
from kibitz_protocol.wire.records import Cause, Result
from tests.arena.tournaments import by_name, event, failed, play, result
from tests.tools import profiles

FORMATS: list[tuple[int, dict[str, Any]]] = [
    (4, {"blocks": 2}),
    (5, {"games": 3, "balanced": False}),
    (5, {"format": "gauntlet", "challengers": 2}),
    (5, {"format": "swiss", "rounds": 4}),
    (6, {"format": "swiss", "rounds": 3, "blocks": 2}),
    (4, {"format": "free-for-all", "seats": 3}),
]
formats = st.sampled_from(FORMATS).map(lambda each: event(each[0], **each[1]))


class Server:
    """A server that remembers tags and never plays one twice."""

    def __init__(self, failures: int = 0) -> None:
        self.played: Counter[str] = Counter()
        self._failures = failures
        self._results: dict[str, Result] = {}

    def __call__(self, due: DueGame) -> Result:
        if due.tag not in self._results:
            self.played[due.tag] += 1
            fails = (len(self._results) * 7) % 5 == 1 and self._failures > 0
            self._failures -= fails
            self._results[due.tag] = failed() if fails else by_name(due)
        return self._results[due.tag]


def counts(progress: TournamentState) -> Counter[tuple[str, ...]]:
    return Counter(tuple(ended.players) for ended in progress.ended.values())


def bytes_of(form: Tournament, server: Server, most: int = 10**9) -> bytes:
    """Play a tournament, or its first `most` games, and return its journal."""
    progress = TournamentState(form)
    data = bytearray(encode_line(make_header(form)))

    def write(entry: Entry) -> None:
        progress.apply(entry)
        data.extend(encode_line(entry))

    play(progress, server, write=write, most=most)
    return bytes(data)


@given(formats)
@settings(max_examples=profiles.examples(30), deadline=None)
def test_what_is_played_is_the_schedule_once(form: Tournament) -> None:
    progress = TournamentState(form)
    play(progress)
    assert progress.finished
    assert progress.played == progress.planned == len(progress.ended)
    assert progress.due(9) == [] == progress.outstanding
    tags = [game.tag for block in progress.schedule.blocks for game in block.games]
    assert sorted(progress.ended) == sorted(tags)


@given(formats, st.data())
@settings(max_examples=profiles.examples(80), deadline=None)
def test_an_event_cut_off_at_any_byte_goes_on_as_if_nothing_had_been(
    form: Tournament, data: st.DataObject
) -> None:
    whole = TournamentState(form)
    play(whole)
    server = Server(failures=data.draw(st.integers(0, 3)))
    journal = b""
    for _ in range(data.draw(st.integers(1, 3))):
        reading = FORMAT.parse(journal)
        progress = TournamentState.fold(form, reading.entries)
        lines = bytearray(journal[: reading.length] or encode_line(make_header(form)))

        def write(
            entry: Entry, progress: TournamentState = progress, lines: bytearray = lines
        ) -> None:
            progress.apply(entry)
            lines.extend(encode_line(entry))

        play(progress, server, write=write, most=data.draw(st.integers(0, 12)))
        # More is truncated than can be lost in reality, since synced lines survive; tags compensate
        # for it.
        cut = data.draw(st.integers(reading.length, len(lines)))
        journal = bytes(lines[:cut])
    progress = TournamentState.fold(form, FORMAT.parse(journal).entries)
    play(progress, server)
    assert progress.finished
    assert counts(progress) == counts(whole)
    assert {tag: ended.result for tag, ended in progress.ended.items()} == {
        tag: ended.result for tag, ended in whole.ended.items()
    }
    assert set(server.played.values()) <= {1}
    attempts = Counter(original_tag(tag) for tag in server.played)
    assert set(attempts) == set(whole.ended)
    assert all(ended.result.cause is not Cause.INFRASTRUCTURE for ended in progress.ended.values())


@given(formats, st.integers(0, 40))
@settings(max_examples=profiles.examples(40), deadline=None)
def test_the_fold_of_the_lines_is_the_live_progress(form: Tournament, most: int) -> None:
    live = TournamentState(form)
    entries: list[Entry] = []

    def write(entry: Entry) -> None:
        live.apply(entry)
        entries.append(entry)

    play(live, Server(failures=2), write=write, most=most)
    again = TournamentState.fold(
        form,
        FORMAT.parse(encode_line(make_header(form)) + b"".join(map(encode_line, entries))).entries,
    )
    assert again.due(7) == live.due(7)
    assert again.outstanding == live.outstanding
    assert (again.ended, again.points, again.requeued) == (live.ended, live.points, live.requeued)
    assert again.schedule.blocks == live.schedule.blocks


def test_no_more_games_are_due_than_there_is_room_for() -> None:
    progress = TournamentState(event(4))
    first = progress.due(3)
    assert [due.tag for due in first] == ["b1.1", "b1.2", "b2.1"]
    progress.apply(GamesRequested(at_ms=0, tags=[due.tag for due in first]))
    assert progress.due(3) == []
    assert [due.tag for due in progress.due(4)] == ["b2.2"]
    assert progress.outstanding == first


def test_a_swiss_round_waits_for_the_last_result() -> None:
    progress = TournamentState(event(4, format="swiss", rounds=2))
    due = progress.due(100)
    assert {each.game.round for each in due} == {1}
    progress.apply(GamesRequested(at_ms=0, tags=[each.tag for each in due]))
    for each in due:
        assert progress.due(100) == []
        progress.apply(progress.entry_for(0, each.tag, "m", by_name(each)))
    assert {each.game.round for each in progress.due(100)} == {2}
    assert progress.planned == 8


def test_a_failed_game_is_played_again_under_a_new_tag_and_never_counts() -> None:
    progress = TournamentState(event(2))
    play(progress, lambda due: failed() if due.tag == "b1.2" else by_name(due))
    assert progress.requeued == 1
    assert [ended.tag for ended in progress.ended.values()] == ["b1.1", "b1.2~1"]
    assert progress.finished


def test_an_infrastructure_result_cannot_be_written_as_a_result() -> None:
    progress = TournamentState(event(2))
    progress.apply(GamesRequested(at_ms=0, tags=["b1.1"]))
    entry = progress.entry_for(5, "b1.1", "m", failed())
    assert isinstance(entry, GameRequeued)
    bad = GameEnded(at_ms=5, tag="b1.1", match="m", players=["Ada", "Bob"], result=failed())
    with pytest.raises(JournalError, match="cannot count"):
        progress.apply(bad)


def test_a_game_that_always_fails_is_stuck_and_does_not_go_on_for_ever() -> None:
    form = event(2, retries=2)
    progress = TournamentState(form)
    play(progress, lambda due: failed() if due.game.tag == "b1.1" else by_name(due), most=50)
    assert progress.stuck == ["b1.1"]
    assert progress.requeued == 3
    assert not progress.finished
    assert progress.due(5) == []
    assert progress.played == 1


def test_what_cannot_be_is_refused_with_its_line() -> None:
    form = event(2)
    progress = TournamentState(form)
    progress.apply(GamesRequested(at_ms=0, tags=["b1.1"]))
    ended = progress.entry_for(0, "b1.1", "m", result(1, 2))
    unknown = GamesRequested(at_ms=0, tags=["b9.1"])
    for entries, sentence in (
        ([ended], "line 2: the game 'b1.1' is not outstanding"),
        ([unknown], "line 2: unknown game 'b9.1'"),
        (
            [GamesRequested(at_ms=0, tags=["b1.1~1"])],
            "line 2: the game 'b1.1~1' cannot be requested",
        ),
        ([GamesRequested(at_ms=0, tags=["b1.1"] * 2)], "line 2: expected different games"),
        (
            [GamesRequested(at_ms=0, tags=["b1.1"])] * 2,
            "line 3: the game 'b1.1' cannot be requested",
        ),
        ([GamesRequested(at_ms=0, tags=["b1.1"]), ended, ended], "line 4: the game 'b1.1' is not"),
        (
            [GamesRequested(at_ms=0, tags=["b1.2"]), ended.model_copy(update={"tag": "b1.2"})],
            r"line 3: expected the players \['Bob', 'Ada'\], got \['Ada', 'Bob'\]",
        ),
    ):
        with pytest.raises(JournalError, match=sentence):
            TournamentState.fold(form, entries)


def test_a_stop_holds_until_the_event_is_begun_again() -> None:
    progress = TournamentState(event(2))
    progress.apply(RunStopped(at_ms=0, reason="deadline", detail="at noon"))
    assert progress.over
    assert progress.due(1) == []
    progress.apply(RunStarted(at_ms=0))
    assert not progress.over
    progress.apply(RunStopped(at_ms=0, reason="decided"))
    progress.apply(RunStarted(at_ms=0))
    assert progress.due(1) == []
    assert progress.finished


def test_the_sequential_test_ends_the_event() -> None:
    form = event(3, blocks=50, stop={"better": ["Ada", "Cyd"], "elo1": 200})
    progress = TournamentState(form)
    play(progress)
    verdict = progress.sprt_result
    assert verdict is not None
    assert verdict.state == "accepted H1"
    assert verdict.blocks < 30
    assert progress.finished
    assert progress.played < progress.planned


def test_the_sequential_test_of_more_seats_sees_only_the_two() -> None:
    stop = {"better": ["Dan", "Bob"], "elo1": 200}
    progress = TournamentState(event(4, format="free-for-all", seats=3, blocks=50, stop=stop))
    play(progress)
    assert progress.sprt_result is not None
    assert progress.sprt_result.state == "accepted H0"
    assert progress.sprt_result.score == 0


def test_breaks_do_not_count_as_running_time() -> None:
    progress = TournamentState(event(2))
    progress.apply(RunStarted(at_ms=1000))
    progress.apply(GamesRequested(at_ms=1500, tags=["b1.1"]))
    progress.apply(RunStarted(at_ms=90_000))
    progress.apply(progress.entry_for(90_250, "b1.1", "m", result(1, 2)))
    assert progress.running_ms == 750
    assert progress.sessions == 2


def test_a_game_gives_each_player_the_share_of_the_others_beaten() -> None:
    progress = TournamentState(event(4, format="free-for-all", seats=3))
    progress.apply(RunStarted(at_ms=0))
    progress.apply(GamesRequested(at_ms=0, tags=["b1.1"]))
    progress.apply(progress.entry_for(0, "b1.1", "m", result(2, 1, 2)))
    assert [progress.points[name] for name in progress.game("b1.1").players] == [0.25, 1, 0.25]


def test_a_bad_line_in_the_middle_is_an_error_with_its_number() -> None:
    lines = bytes_of(event(2), Server()).splitlines(keepends=True)
    with pytest.raises(JournalError, match="line 3: expected an entry"):
        FORMAT.parse(b"".join([*lines[:2], b'{"kind": "x"}\n', *lines[2:]]))
    with pytest.raises(JournalError, match="line 1: expected the header"):
        FORMAT.parse(b"[]\n")


def test_another_event_is_refused_with_what_differs() -> None:
    old, new = event(4, seed=1), event(4, seed=2, blocks=3)
    with pytest.raises(JournalMismatchError) as caught:
        FORMAT.require_same(make_header(old), make_header(new))
    assert caught.value.differences == ("blocks is 3 and was not given", "seed is 2 and was 1")
    renamed = event(4, seed=1).dump()
    renamed["entrants"][2]["name"] = "Zoe"
    with pytest.raises(JournalMismatchError, match=r'entrants\.2\.name is "Zoe" and was "Cyd"'):
        FORMAT.require_same(make_header(old), make_header(Tournament.model_validate(renamed)))


def test_what_says_nothing_of_the_games_may_change() -> None:
    FORMAT.require_same(make_header(event(4)), make_header(event(4, concurrency=3, retries=9)))


# The file


def test_a_file_is_begun_gone_on_with_and_finished(tmp_path: Path) -> None:
    form, path = event(4, blocks=2), tmp_path / "journal.jsonl"
    with TournamentJournal(path, form) as journal:
        play(journal.state, write=journal.append, most=5)
        assert isinstance(Header.model_validate_json(path.read_bytes().splitlines()[0]), Header)
    path.write_bytes(path.read_bytes() + b'{"kind": "arran')
    with TournamentJournal(path, form) as journal:
        assert journal.torn == b'{"kind": "arran'
        assert journal.state.played == 5
        assert path.read_bytes().endswith(b"}\n")
        play(journal.state, write=journal.append)
    with TournamentJournal(path, form) as journal:
        assert journal.torn == b""
        assert journal.state.finished
        assert journal.state.sessions == 2


def test_what_was_appended_is_on_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with TournamentJournal(path, event(2)) as journal:
        journal.append(RunStarted(at_ms=7), GamesRequested(at_ms=8, tags=["b1.1"]))
        assert [entry.kind for entry in FORMAT.parse(path.read_bytes()).entries] == [
            "began",
            "arranged",
        ]


def test_what_cannot_be_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with TournamentJournal(path, event(2)) as journal:
        with pytest.raises(JournalError, match="unknown game"):
            journal.append(
                RunStarted(at_ms=7), GamesRequested(at_ms=8, tags=["x"]), RunStarted(at_ms=9)
            )
        assert [entry.kind for entry in FORMAT.parse(path.read_bytes()).entries] == ["began"]
        assert journal.state.sessions == 1


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    path, form = tmp_path / "journal.jsonl", event(2)
    with (
        TournamentJournal(path, form),
        pytest.raises(JournalError, match="another process is running this tournament"),
    ):
        TournamentJournal(path, form)
    with TournamentJournal(path, form) as journal:
        assert journal.state.played == 0


def test_a_file_of_another_event_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with TournamentJournal(path, event(2)):
        pass
    before = path.read_bytes() + b"half a li"
    path.write_bytes(before)
    with pytest.raises(JournalMismatchError, match="seed is 3"):
        TournamentJournal(path, event(2, seed=3))
    assert path.read_bytes() == before


def test_a_header_cut_in_two_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode_line(make_header(event(2)))[:20])
    with TournamentJournal(path, event(2)) as journal:
        assert journal.state.due(1)
    assert FORMAT.parse(path.read_bytes()).header == make_header(event(2))
