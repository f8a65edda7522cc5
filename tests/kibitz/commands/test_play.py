from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner
from click.testing import Result as CommandResult

from kibitz.analysis import fault_report
from kibitz.commands import play as commands_play
from kibitz.commands.play import play
from kibitz.local.match_series import (
    MatchSeries,
    SeriesOutcome,
    climbing_plans,
    distinct_names,
    failed_to_start,
    has_strangers,
    with_opponents,
)
from kibitz.options import match as options_match
from kibitz.options.notation import GameChoice
from kibitz.output import tell
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_bots.levels import levels
from kibitz_protocol.wire.lobbies import MatchBrief, ReservedSeat, Standing
from kibitz_protocol.wire.records import Cause, Conduct, Player, Result, SeatResult
from kibitz_server.accounts.names import RESERVED_WORDS, claim, skeleton


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*words: str) -> CommandResult:
    return CliRunner().invoke(play, words)


@pytest.mark.parametrize(
    ("bots", "names"),
    [
        (["bots/my bot.py", "star/random:seed=1"], ["my-bot", "random"]),
        (["star/random", "star/Random", "star/random"], ["random", "Random-2", "random-3"]),
        (["house.py", "....py"], ["my-house", "bot"]),
        (["planner.py", "p1anner.py", "p1anner-2.py"], ["planner", "p1anner-2", "p1anner-2-2"]),
        *[([f"{word}.py"], [f"my-{word}"]) for word in ("kibitz", "r00t", "admin-7", "h0use")],
        *[([f"{word}.py"], [f"my-{word}"]) for word in RESERVED_WORDS],
    ],
)
def test_every_bot_has_a_name_of_its_own(bots: list[str], names: list[str]) -> None:
    given = MatchSeries(game=GameChoice("star"), bots=bots).names
    assert given == names
    assert [claim(name) for name in given] == given  # equal file names are allowed
    assert len({skeleton(name) for name in given}) == len(given)


def test_names_that_are_taken_get_a_number() -> None:
    assert distinct_names(["a", "b", "A"]) == ["a", "b", "A-2"]


def test_the_lobby_has_a_seat_for_each_bot_and_for_nobody_else() -> None:
    plan = MatchSeries(game=GameChoice("star", {"size": 3}), bots=["a.py", "b.py"], games=4, seed=7)
    settings = plan.settings(["g1", "g2"])
    assert settings.joinable == "closed"
    assert settings.seats == [
        ReservedSeat(name="a", player="g1"),
        ReservedSeat(name="b", player="g2"),
    ]
    item = settings.programme[0]
    assert (item.options, item.seats, item.games, item.seed) == ({"size": 3}, 2, 4, 7)
    assert item.rotate
    assert settings.conduct.max_illegal == Conduct().max_illegal > 1


@pytest.mark.parametrize(
    ("game", "bots", "games", "expected"),
    [
        ("connect-four", ["a.py"], None, (["a.py", "connect-four/random"], 10)),
        ("connect-four", ["a.py"], 3, (["a.py", "connect-four/random"], 3)),
        ("connect-four", ["a.py", "b.py"], None, (["a.py", "b.py"], None)),
        ("go", ["a.py"], None, (["a.py"], None)),
    ],
)
def test_a_bot_alone_plays_against_random_ones(
    game: str, bots: list[str], games: int | None, expected: tuple[list[str], int | None]
) -> None:
    plan = with_opponents(MatchSeries(game=GameChoice(game), bots=bots, games=games))
    assert (plan.bots, plan.games) == expected


def test_the_progress_is_gone_before_the_result_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    standing = Standing(player="p", name="a", played=9, wins=9, draws=0, losses=0, points=9)
    course = SimpleNamespace(standing_of=lambda name: standing)

    async def played(*given: Any, advanced: Any, ended: Any, **rest: Any) -> SeriesOutcome:
        advanced(course)
        await ended(SeriesOutcome(cast(LobbyProgress, course)))
        return SeriesOutcome(cast(LobbyProgress, course))

    async def ended(outcome: SeriesOutcome) -> None:
        assert "9/10" in terminal.getvalue()
        assert terminal.getvalue().endswith("\x1b[2K")  # the bar's line is empty
        sys.stdout.write("the result\n")

    monkeypatch.setattr(commands_play, "play_series", played)
    monkeypatch.setattr(sys, "stdout", out := io.StringIO())
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    plan = MatchSeries(game=GameChoice("star"), bots=["a.py"], games=10)
    commands_play._play_series(plan, tmp_path, None, tell, ended)
    assert out.getvalue() == "the result\n"
    assert "a scores 100%" in terminal.getvalue()


def test_a_climb_has_a_series_for_each_level_weakest_first() -> None:
    plans = climbing_plans(MatchSeries(game=GameChoice("connect-four"), bots=["a.py"], games=4))
    ladder = levels("connect-four", 2)
    assert [[*plan.bots] for plan in plans] == [["a.py", level.bot] for level in ladder]
    assert {plan.games for plan in plans} == {4}
    [first, *_] = climbing_plans(MatchSeries(game=GameChoice("tanks"), bots=["a.py"]))
    assert (len(first.bots), first.games) == (4, 10)


@pytest.mark.parametrize(
    ("game", "bots", "found"),
    [("connect-four", ["a.py", "b.py"], "not 2 bots"), ("go", ["a.py"], "not go, which has none")],
)
def test_a_climb_needs_one_bot_and_levels(game: str, bots: list[str], found: str) -> None:
    with pytest.raises(click.UsageError, match=found):
        climbing_plans(MatchSeries(game=GameChoice(game), bots=bots))


def test_without_a_number_of_games_the_server_makes_of_it_what_the_game_asks_for() -> None:
    plan = MatchSeries(game=GameChoice("star"), bots=["a.py", "b.py"])
    assert plan.settings(["g1", "g2"]).programme[0].games is None


def test_seats_stay_and_an_illegal_move_loses_at_once_where_that_is_asked_for() -> None:
    plan = MatchSeries(game=GameChoice("star"), bots=["a.py", "b.py"], rotate=False, strict=True)
    settings = plan.settings(["g1", "g2"])
    assert not settings.programme[0].rotate
    assert settings.conduct.max_illegal == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["chinese-checkers", "nosuch.py", "chinese-checkers/random"], "nosuch.py: file not found"),
        (["chinese-checkers", "chinese-checkers/randon"], "did you mean chinese-checkers/random"),
        (["go", "chinese-checkers/random"], "unknown game 'go'"),
        (["chinese-checkers", *["chinese-checkers/random"] * 7], "2, 3, 4, 5, 6 players, not 7"),
        (["chinese-checkers", "a.py", "--tc", "fast"], "expected a time control like"),
        (["chinese-checkers", "a.py", "--option", "size"], "expected an option like size=3"),
        (["chinese-checkers", "a.py", "--games", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_starts(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2
    assert expected in " ".join(result.output.split())
    assert list(tmp_path.iterdir()) == []


def brief(plies: int, *causes: Cause | None) -> MatchBrief:
    seats = [SeatResult(rank=1, score=0, cause=cause) for cause in causes]
    players = [Player(player=f"p{at}", name=f"bot-{at}", kind="bot") for at in range(len(causes))]
    result = Result(seats=seats, cause=Cause.CRASH, plies=plies)
    return MatchBrief(match="M1", game="star", seats=players, result=result)


def test_who_crashes_before_its_first_move_could_not_start() -> None:
    assert failed_to_start(brief(1, None, Cause.CRASH)) == "bot-1"
    assert failed_to_start(brief(0, Cause.CRASH, None)) == "bot-0"
    assert failed_to_start(brief(2, None, Cause.CRASH)) is None
    assert failed_to_start(brief(1, None, Cause.TIME)) is None
    assert failed_to_start(brief(1, None, None).model_copy(update={"result": None})) is None


def test_only_the_records_of_abnormal_matches_are_read_for_reports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(fault_report, "write_beside", read.append)
    played = SeriesOutcome(LobbyProgress("L"))
    causes = [None, *Cause]
    for number, cause in enumerate(causes):
        ended = brief(9, None, cause).model_copy(update={"match": str(number), "number": number})
        played.course.add(ended)
        played.course.records[ended.match] = f"{ended.match}.jsonl"
    played.leave_reports()
    normal = (None, Cause.RULES, Cause.RESIGNATION)
    faulty = [number for number, cause in enumerate(causes) if cause not in normal]
    assert read == [Path(f"{number}.jsonl") for number in faulty]
    assert len(played.trouble) == len(faulty)


@pytest.mark.parametrize(
    ("bots", "strangers"),
    [
        (["line-nim/random", "line-nim/random"], False),
        (["mine.py", "line-nim/random"], False),
        (["mine.py", "mine.py"], False),
        (["mine.py", "theirs.py"], True),
    ],
)
def test_isolation_is_told_where_a_bot_may_be_somebody_elses(
    bots: list[str], strangers: bool
) -> None:
    assert has_strangers(MatchSeries(game=GameChoice("line-nim"), bots=bots)) is strangers


def test_a_single_match_is_played_where_they_come_in_pairs() -> None:
    plan = MatchSeries(
        game=GameChoice("line-nim"),
        bots=["a.py", "b.py"],
        games=1,
        rotate=options_match.rotates("line-nim", 1, rotate=True),
    )
    assert not plan.settings(["g1", "g2"]).programme[0].rotate
    assert options_match.rotates("line-nim", 2, rotate=True)
    assert options_match.rotates("chinese-checkers", 1, rotate=True)


@pytest.mark.slow
def test_importing_the_command_leaves_open_whether_rules_are_compiled() -> None:
    code = "import kibitz.commands.play; from kibitz_games.compiled import mode"
    code += "; mode.set_mode('plain'); print(mode.get_mode())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "plain"
