"""The wording of the clients."""

from __future__ import annotations

from typing import get_args

import pytest

from kibitz_clients.matches.timeline import MatchInfo
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_protocol.client.errors import RefusedError, UnansweredError, UnreachableError
from kibitz_protocol.wire.messages import LobbyClosed
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import (
    Aborted,
    Cause,
    Comment,
    Commented,
    Engine,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
    SeatResult,
)
from kibitz_protocol.wire.refusals import Code

AT = {"seq": 1, "at_ms": 0}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (Moved(**AT, ply=0, seat=0, action={"from": 3, "to": 14}), "3-14"),
        (Moved(**AT, ply=0, seat=0, action={"odd": True}), "odd=True"),
        (Flagged(**AT, ply=0, seat=0, elapsed_ms=1), "time is up"),
        (Resigned(**AT, seat=0), "resigns"),
        (Left(**AT, seat=0, reason="left", grace_ms=0), "leaves"),
        (
            Left(**AT, seat=0, reason="disconnect", grace_ms=60_000),
            "away (disconnect), 60 s to return",
        ),
        (Returned(**AT, seat=0), "returns"),
        (Forfeited(**AT, seat=0, cause=Cause.CRASH, detail="exit 1"), "out: crashed (exit 1)"),
        (
            Replaced(
                **AT, seat=0, player=Player(player="h", name="hal", kind="house"), cause=Cause.CRASH
            ),
            "replaced by hal",
        ),
        (Aborted(**AT, detail="no disk"), "aborted: no disk"),
        (Noted(**AT, seat=0, text="hm"), "notes: hm"),
        (
            Commented(
                **AT,
                ply=3,
                author=Player(player="e", name="eve", kind="human"),
                seat=1,
                audience="everybody",
                text="close",
            ),
            "eve: close",
        ),
        (Hidden(**AT), "hidden"),
    ],
)
def test_every_entry_has_words(game: Game, entry: Entry, said: str) -> None:
    assert descriptions.entry_text(game, entry) == said


def test_a_move_of_an_unknown_game_is_its_fields() -> None:
    assert descriptions.move_text(None, {"from": 3, "to": 14}) == "from=3 to=14"


def test_comments_say_value_depth_nodes_line_and_text() -> None:
    said = Comment(value=1.5, depth=6, nodes=1_234_567, line=["3-14", "8-16"], text="hop")
    assert descriptions.comment_text(said) == "+1.50 d6 1.2Mn 3-14 8-16 hop"
    assert descriptions.comment_text(Comment(nodes=12_345_678)) == "12.3Mn"
    assert descriptions.comment_text(Comment(nodes=12)) == "12n"
    assert descriptions.comment_text(Comment(nodes=9_999)) == "9999n"
    assert descriptions.comment_text(Comment(nodes=10_000)) == "10kn"
    assert descriptions.comment_text(Comment(value=250_000)) == "+2.5e+05"
    assert descriptions.comment_text(Comment(value=-0.001)) == "+0.00", "zero has no minus"
    assert descriptions.comment_text(Comment(value=1e6, depth=3)) == "won d3"
    assert descriptions.comment_text(Comment(value=1e6 - 7)) == "won in 7"
    assert descriptions.comment_text(Comment(value=12 - 1e6)) == "lost in 12"
    assert descriptions.comment_text(Comment(value=-1.2e6)) == "lost"
    assert descriptions.comment_text(Comment()) == ""


def result(*ranks: int, cause: Cause = Cause.RULES, reason: str = "goal") -> Result:
    seats = [SeatResult(rank=rank, score=1.0) for rank in ranks]
    return Result(seats=seats, cause=cause, reason=reason, plies=88)


def test_winners_draws_and_shared_wins_are_told_apart(running: Record) -> None:
    facts = MatchInfo.of(running.setup)
    assert descriptions.result_summary(facts, result(2, 1, 3)) == "▲ bo wins, goal, 88 plies"
    assert descriptions.result_summary(facts, result(1, 1, 3)) == "● ada, ▲ bo win, goal, 88 plies"
    assert (
        descriptions.result_summary(facts, result(1, 1, 1, reason="stall"))
        == "drawn, stall, 88 plies"
    )


def test_a_match_that_the_server_ended_is_no_draw(running: Record) -> None:
    facts = MatchInfo.of(running.setup)
    ended = result(1, 1, 1, cause=Cause.INFRASTRUCTURE, reason="it could not begin")
    said = "not finished, the server could not continue (it could not begin), 88 plies"
    assert descriptions.result_summary(facts, ended) == said


def test_endings_against_the_rules_name_their_cause() -> None:
    assert descriptions.end_reason(result(1, cause=Cause.TIME)) == "lost on time (goal)"
    assert descriptions.end_reason(result(1, cause=Cause.INFRASTRUCTURE, reason="")) == (
        "the server could not continue"
    )
    assert set(descriptions.CAUSE_TEXTS) == set(Cause)


def test_a_verdict_lists_ranks_and_why_seats_dropped_out(running: Record) -> None:
    ended = result(2, 1, 3).model_copy(
        update={
            "seats": [
                SeatResult(rank=2, score=0.5),
                SeatResult(rank=1, score=1),
                SeatResult(rank=3, score=0, cause=Cause.ILLEGAL, detail="10 illegal moves"),
            ]
        }
    )
    assert descriptions.result_lines(MatchInfo.of(running.setup), ended) == [
        "1st ▲ bo 1",
        "2nd ● ada 0.5",
        "3rd ■ cy 0  sent illegal moves (10 illegal moves)",
    ]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RefusedError(Code.FULL, "lobby L1 is full", "wait"), "lobby L1 is full; wait"),
        (RefusedError(Code.FULL, "lobby L1 is full"), "lobby L1 is full"),
        (
            UnreachableError("nobody listens"),
            "the connection to the server ws://x has ended: nobody listens",
        ),
        (
            UnansweredError("the connection broke"),
            "the server did not answer (the connection broke);"
            " before you repeat the request, check whether it took effect",
        ),
        (FileNotFoundError(2, "No such file", "m.jsonl"), "[Errno 2] No such file: 'm.jsonl'"),
        (RuntimeError("odd"), "RuntimeError: odd"),
    ],
)
def test_errors_are_sentences(error: Exception, sentence: str) -> None:
    assert descriptions.explain_error(error, "ws://x") == sentence


@pytest.mark.parametrize("reason", get_args(LobbyClosed.model_fields["reason"].annotation))
def test_every_reason_why_a_lobby_is_lost_has_words(reason: str) -> None:
    sentence = descriptions.lost_lobby("L1", reason)
    assert sentence.startswith("lobby L1: ")
    assert sentence.count(" ") > 3


def test_ranks_read_as_ordinals() -> None:
    assert [descriptions.ordinal(rank) for rank in (1, 2, 3, 4)] == ["1st", "2nd", "3rd", "4th"]


def test_points_of_the_game_and_its_own_words_stand_in_a_result(
    game: Game, running: Record
) -> None:
    facts = MatchInfo.of(running.setup)
    seats = [SeatResult(rank=1, score=1, points=2100), SeatResult(rank=2, score=0, points=-3)]
    ended = Result(seats=seats, cause=Cause.RULES, reason="goal", plies=88)
    said = descriptions.result_summary(facts, ended, game)
    assert said == "● ada wins by filling the goal, 2,100 points, 88 plies"
    assert descriptions.result_lines(facts, ended) == ["1st ● ada 2,100", "2nd ▲ bo -3"]


def test_one_point_is_no_plural(game: Game, running: Record) -> None:
    seats = [SeatResult(rank=1, score=1, points=1), SeatResult(rank=2, score=0, points=0)]
    ended = Result(seats=seats, cause=Cause.RULES, reason="goal", plies=7)
    said = descriptions.result_summary(MatchInfo.of(running.setup), ended, game)
    assert said == "● ada wins by filling the goal, 1 point, 7 plies"


def test_who_wins_because_others_left_wins_over_them(game: Game, running: Record) -> None:
    facts = MatchInfo.of(running.setup)
    seats = [SeatResult(rank=1, score=1), SeatResult(rank=2, score=0, cause=Cause.TIME)]
    ended = Result(seats=seats, cause=Cause.TIME, reason="dropped", plies=8)
    said = descriptions.result_summary(facts, ended, game)
    assert said == "● ada wins: ▲ bo lost on time, 8 plies"


def test_an_engine_is_said_with_all_that_tells_it_from_others() -> None:
    assert descriptions.engine_text(None) == ""
    assert descriptions.engine_text(Engine(name="mine")) == "mine"
    said = descriptions.engine_text(
        Engine(
            name="game/bot",
            version="kibitz 1",
            parameters={"time": 0.5, "depth": 3},
            weights={"best.json": "ab" * 32},
        )
    )
    assert said == "game/bot (kibitz 1; time=0.5, depth=3; best.json abababab)"
    assert "\x1b" not in descriptions.engine_text(Engine(name="\x1b[2J"))
