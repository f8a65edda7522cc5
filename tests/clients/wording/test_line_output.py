"""A match as lines of text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz_clients.matches import recorded_match
from kibitz_clients.wording import line_output
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.client.errors import RefusedError, UnreachableError
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.messages import Finished, LobbyClosed, MatchEnded, MatchStarted
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import Cause, Commented, Player
from kibitz_protocol.wire.refusals import Code
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection

Golden = Callable[[str, str], None]


def tell_all(
    link: FakeServerConnection, game: Game, record: Record, cause: Cause = Cause.RULES
) -> None:
    """Print a match from start to end."""
    assert record.footer is not None
    link.push(testing.snapshot(game, record, 0), *testing.events(game, record))
    last = recorded_match.build_timeline(game, record).newest
    assert last.view is not None
    link.push(
        Finished(
            match=record.setup.match,
            lobby="L1",
            seq=last.seq,
            result=record.footer.result.model_copy(update={"cause": cause}),
            view=last.view,
            seed=record.setup.seed,
            record="/records/M2.jsonl",
        )
    )


async def course(
    link: FakeServerConnection, games: dict[str, Game], **what: str | bool
) -> tuple[list[str], bool]:
    lines: list[str] = []
    well = await line_output.follow_lines(link.connect(), games, lines.append, **what)  # type: ignore[arg-type]
    return lines, well


async def test_a_match_reads_as_its_moves_and_a_table(
    game: Game, games: dict[str, Game], finished: Record, golden: Golden
) -> None:
    link = FakeServerConnection()
    tell_all(link, game, finished)
    lines, well = await course(link, games, match="M2")
    assert well
    golden("course.txt", "\n".join(lines))


async def test_a_lobby_is_followed_until_its_programme_is_over(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    brief = testing.brief(finished).model_copy(update={"result": None})
    link.push(testing.lobby_news(), MatchStarted(lobby="L1", match=brief))
    tell_all(link, game, finished)
    link.push(testing.lobby_news(state="finished"))
    lines, well = await course(link, games, lobby="L1")
    assert well
    assert link.requests == [("join", "L1", None, "spectator"), ("watch", "M2")]
    assert lines[0] == "[evening] match 2 chinese-checkers  begins: ● ada  ▲ bo  (clock 60+1)"


async def test_a_lobby_that_is_over_is_its_results(
    games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    link.hall.match_list = [testing.brief(finished)]
    link.push(testing.lobby_news(state="finished"))
    lines, well = await course(link, games, lobby="L1")
    assert well
    assert lines == [
        "[L1] match 2 chinese-checkers  ▲ bo wins by filling the goal, 27 plies",
        "",
        "match  game              plies  end   places",
        "2      chinese-checkers  27     goal  1. bo  2. ada",
    ]


async def test_a_match_that_may_not_be_watched_still_has_a_result(
    games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    brief = testing.brief(finished)
    started = brief.model_copy(update={"result": None, "watchable": False})
    link.push(MatchStarted(lobby="L1", match=started), MatchEnded(lobby="L1", match=brief))
    link.push(testing.lobby_news(state="finished"))
    lines, well = await course(link, games, lobby="L1", as_json=True)
    assert well
    assert [json.loads(line)["kind"] for line in lines] == ["result"]


async def test_a_match_that_is_over_is_read_from_its_record(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    early = FakeServerConnection()
    tell_all(early, game, finished)
    whole, _ = await course(early, games, match="M2")
    link = FakeServerConnection()
    link.refusals["watch"] = RefusedError(Code.OVER, "the match is over")

    async def fetch(url: str, match: str) -> Record:
        assert (url, match) == (link.url, "M2")
        return finished

    lines: list[str] = []
    assert await line_output.follow_lines(
        link.connect(), games, lines.append, match="M2", fetch=fetch
    )
    assert lines == whole
    with pytest.raises(GameError, match="unknown game 'chinese-checkers'"):
        await line_output.follow_lines(link.connect(), {}, lines.append, match="M2", fetch=fetch)


@pytest.mark.parametrize("kept", [True, False])
async def test_a_match_that_is_over_before_it_can_be_watched_is_read_from_its_record(
    game: Game, games: dict[str, Game], finished: Record, kept: bool
) -> None:
    link = FakeServerConnection()
    brief = testing.brief(finished)
    started = brief.model_copy(update={"result": None, "watchable": True})
    link.push(MatchStarted(lobby="L1", match=started), MatchEnded(lobby="L1", match=brief))
    link.push(testing.lobby_news(state="finished"))
    link.refusals["watch"] = RefusedError(Code.OVER, "the match is over")

    async def fetch(url: str, match: str) -> Record:
        if not kept:
            raise OSError("no record")
        return finished

    lines: list[str] = []
    await line_output.follow_lines(link.connect(), games, lines.append, lobby="L1", fetch=fetch)
    assert sum("begins" in line for line in lines) == kept
    assert sum("the match is over" in line for line in lines) == (not kept)


async def test_json_lines_carry_the_same_course(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    tell_all(link, game, finished)
    lines, _ = await course(link, games, match="M2", as_json=True)
    facts = [json.loads(line) for line in lines]
    kinds = [fact["kind"] for fact in facts]
    assert kinds == ["start", *["move"] * len(finished.entries), "result"]
    assert [fact["action"] for fact in facts[1:-1]] == [
        entry.action for entry in finished.entries if entry.kind == "move"
    ]
    assert facts[1]["clocks_ms"] == [60_500, 60_000]
    assert facts[-1]["record"] == "/records/M2.jsonl"


async def test_who_comes_late_reads_from_the_beginning(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    early = FakeServerConnection()
    tell_all(early, game, finished)
    whole, _ = await course(early, games, match="M2")
    link = FakeServerConnection()
    events = testing.events(game, finished)
    link.events["M2"] = events
    assert finished.footer is not None
    late = testing.snapshot(game, finished, len(events))
    link.push(late.model_copy(update={"result": finished.footer.result}))
    lines, _ = await course(link, games, match="M2")
    assert lines == whole


async def test_a_past_that_is_refused_is_left_out(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    link.refusals["history"] = RefusedError(Code.NOT_WATCHABLE, "no")
    assert finished.footer is not None
    late = testing.snapshot(game, finished, len(finished.entries))
    link.push(late.model_copy(update={"result": finished.footer.result}))
    lines, well = await course(link, games, match="M2")
    assert well
    assert len(lines) == 5


async def test_a_match_that_may_not_be_watched_is_named_and_not_well(
    games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    link.refusals["watch"] = RefusedError(Code.NOT_WATCHABLE, "match M2 is closed", "ask the host")
    brief = testing.brief(finished).model_copy(update={"result": None})
    link.push(MatchStarted(lobby="L1", match=brief), LobbyClosed(lobby="L1", reason="closed"))
    lines, well = await course(link, games, lobby="L1")
    assert lines == ["match M2 is no longer available: match M2 is closed; ask the host"]
    assert not well


async def test_a_match_that_is_gone_ends_the_course(games: dict[str, Game]) -> None:
    link = FakeServerConnection()
    link.push(MatchLost("M2", Code.NO_SUCH_MATCH, "it ended meanwhile"))
    lines, well = await course(link, games, match="M2", as_json=True)
    assert [json.loads(line) for line in lines] == [
        {"kind": "gone", "match": "M2", "why": "it ended meanwhile"}
    ]
    assert not well


async def test_an_end_that_the_server_caused_is_not_well(
    game: Game, games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    tell_all(link, game, finished, Cause.INFRASTRUCTURE)
    _, well = await course(link, games, match="M2")
    assert not well


async def test_a_lost_server_and_a_wrong_question_raise(games: dict[str, Game]) -> None:
    link = FakeServerConnection()
    link.push(UnreachableError("nobody listens"))
    with pytest.raises(UnreachableError, match="nobody listens"):
        await course(link, games, match="M2")
    with pytest.raises(ValueError, match="either a match or a lobby"):
        await course(FakeServerConnection(), games)


def test_a_record_reads_like_the_live_match(
    games: dict[str, Game], finished: Record, tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    assert finished.footer is not None
    write_record(path, finished.setup, finished.entries, finished.footer.result)
    lines: list[str] = []
    line_output.write_record_lines(path, games, lines.append)
    assert lines[0].startswith("[L1] match 2 chinese-checkers  begins: ● ada  ▲ bo")
    assert lines[-2:] == ["  1st ▲ bo 1", "  2nd ● ada 0"]
    objects: list[str] = []
    line_output.write_record_lines(path, games, objects.append, as_json=True)
    assert len(objects) == len(finished.entries) + 2


def test_a_house_bot_that_failed_is_told_once() -> None:
    trouble = {
        "seat": 1,
        "personality": "tanks/seer",
        "failures": 3,
        "reason": "it did not come",
        "given_up": True,
    }
    view = testing.lobby_news(house_trouble=[trouble]).lobby
    teller = line_output.LineWriter({})
    assert teller.lobby_trouble(view) == [
        "[evening] tanks/seer in seat 2 failed: it did not come; it will not be restarted, and the"
        " seat is open to anyone"
    ]
    assert teller.lobby_trouble(view) == []
    [line] = line_output.LineWriter({}, as_json=True).lobby_trouble(view)
    assert json.loads(line) == {"kind": "house_trouble", "lobby": "L1", **trouble}


def test_a_programme_that_was_stopped_is_told_once() -> None:
    view = testing.lobby_news(stopped="6 matches in a row could not be played").lobby
    teller = line_output.LineWriter({})
    said = "the rest of the programme will not be played: 6 matches in a row could not be played"
    assert teller.lobby_trouble(view) == [f"[evening] {said}"]
    assert teller.lobby_trouble(view) == []
    [line] = line_output.LineWriter({}, as_json=True).lobby_trouble(view)
    assert json.loads(line) == {"kind": "stopped", "lobby": "L1", "reason": view.stopped}


def test_a_record_is_written_from_a_ply_on(
    games: dict[str, Game], finished: Record, tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    assert finished.footer is not None
    write_record(path, finished.setup, finished.entries, finished.footer.result)
    whole: list[str] = []
    later: list[str] = []
    line_output.write_record_lines(path, games, whole.append)
    line_output.write_record_lines(path, games, later.append, ply=20)
    assert later == whole[-len(later) :]
    assert "  21 " in later[0]


def test_a_replay_lists_comments(games: dict[str, Game], finished: Record, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    assert finished.footer is not None
    said = Commented(
        seq=2,
        at_ms=finished.entries[0].at_ms,
        ply=1,
        author=Player(player="e", name="eve", kind="human"),
        audience="spectators",
        text="close\x1b[2J",
    )
    later = [each.model_copy(update={"seq": each.seq + 1}) for each in finished.entries[1:]]
    write_record(path, finished.setup, [finished.entries[0], said, *later], finished.footer.result)
    lines: list[str] = []
    line_output.write_record_lines(path, games, lines.append)
    assert lines[2].endswith("comment eve: close\\x1b[2J")
    objects: list[str] = []
    line_output.write_record_lines(path, games, objects.append, as_json=True)
    told = json.loads(objects[2])
    assert (told["kind"], told["author"], told["text"]) == ("comment", "eve", "close\x1b[2J")
