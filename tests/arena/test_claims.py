"""The claims about events: their wording, and when they hold."""

from __future__ import annotations

import pytest

from kibitz_arena import claims
from kibitz_arena.claims import Claim
from kibitz_arena.config import build, load
from kibitz_arena.config_error import ConfigError
from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting
from kibitz_arena.report.html import render_html
from kibitz_arena.report.text import render_text as table
from kibitz_arena.results import Results
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from tests.arena.tournaments import by_name, event, play

TWO = """
name: two
game: number-merge
blocks: 2
entrants:
  - {name: Ada, bot: number-merge/greedy}
  - {name: Bob, bot: number-merge/random}
claims:
"""


def line(places: tuple[int, ...], scores: tuple[float, ...] = (), turned: bool = False) -> GameLine:
    """Return a game that Ada, Bob and others finish in this order or in reverse."""
    players = ["Ada", "Bob", "Cyd", "Dan"][: len(places)]
    step = -1 if turned else 1
    return GameLine(
        tag="b1.1",
        block="b1",
        match="m1",
        players=players[::step],
        places=[*places][::step],
        scores=[*(scores or (0.0,) * len(places))][::step],
        causes=[None] * len(places),
        cause=Cause.RULES,
        termination="normal",
        plies=9,
    )


def each_in_its_block(games: list[GameLine]) -> list[GameLine]:
    return [game.model_copy(update={"block": f"b{n}"}) for n, game in enumerate(games)]


WON, DRAWN, LOST = line((1, 2)), line((1, 1)), line((2, 1))


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Ada scores at least 95% against Bob", ("scores", "Ada", "Bob", 0.95)),
        ("Ada scores at least 52.5%", ("scores", "Ada", None, 0.525)),
        ("Ada L. is better than Bob the 2nd", ("better", "Ada L.", "Bob the 2nd", 0.0)),
        ("Ada never loses to Bob", ("never loses", "Ada", "Bob", 0.0)),
        ("Ada wins at least 95%", ("wins", "Ada", None, 0.95)),
        ("Ada wins at least 95% against Bob", ("wins", "Ada", "Bob", 0.95)),
        ("Ada has a mean score of at least 1850", ("mean score", "Ada", None, 1850.0)),
    ],
)
def test_claims_are_read(text: str, claim: tuple[str, str, str | None, float]) -> None:
    assert claims.parse(text) == Claim(text, *claim)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "Ada", "Ada beats Bob", "Ada scores at least 95 against Bob"])
def test_what_is_no_claim_is_refused_with_what_is_one(text: str) -> None:
    with pytest.raises(ValueError, match="'A is better than B'"):
        claims.parse(text)


@pytest.mark.parametrize(
    ("text", "games", "holds"),
    [
        ("Ada scores at least 75% against Bob", [WON, DRAWN], True),
        ("Ada scores at least 76% against Bob", [WON, DRAWN], False),
        ("Bob scores at least 25% against Ada", [WON, DRAWN], True),
        ("Ada is better than Bob", [WON] * 20 + [LOST] * 4, True),
        ("Ada is better than Bob", [WON] * 20 + [LOST] * 16, False),
        ("Ada never loses to Bob", [WON, DRAWN], True),
        ("Ada never loses to Bob", [WON] * 99 + [LOST], False),
        ("Ada wins at least 50%", [WON, DRAWN], True),
        ("Ada wins at least 51% against Bob", [WON, DRAWN], False),
        ("Ada never loses to Bob", [], None),
    ],
)
def test_a_claim_holds_or_not(text: str, games: list[GameLine], holds: bool | None) -> None:
    assert claims.check(claims.parse(text), each_in_its_block(games)).holds is holds


def test_a_block_is_one_piece_of_evidence() -> None:
    claim = claims.parse("Ada is better than Bob")
    games = [*[WON] * 12, *[LOST] * 3]
    apart = claims.check(claim, each_in_its_block(games))
    together = claims.check(
        claim, [game.model_copy(update={"block": f"b{n // 3}"}) for n, game in enumerate(games)]
    )
    assert (apart.measured, together.measured) == (0.8, 0.8)
    assert (apart.holds, together.holds) == (True, False)


def test_seats_do_not_matter() -> None:
    claim = claims.parse("Ada wins at least 100% against Bob")
    assert claims.check(claim, [WON, line((1, 2), turned=True)]).holds is True
    assert claims.check(claim, [WON, line((2, 1), turned=True)]).holds is False


def test_of_more_seats_only_the_best_alone_wins_and_one_rival_is_only_that() -> None:
    games = [line((1, 2, 3)), line((1, 2, 1)), line((2, 3, 1))]
    alone = claims.check(claims.parse("Ada wins at least 30%"), games)
    assert (alone.wins, alone.draws, alone.losses, alone.holds) == (1, 1, 1, True)
    assert alone.measured == pytest.approx(1 / 3)
    rival = claims.check(claims.parse("Ada wins at least 100% against Bob"), games)
    assert (rival.wins, rival.holds) == (3, True)
    share = claims.check(claims.parse("Ada scores at least 50%"), games)
    assert share.measured == pytest.approx((1 + 0.75 + 0.5) / 3)


def test_mean_scores_are_the_games_own() -> None:
    games = [line((1, 2), (10.0, 0.0)), line((1, 2), (14.0, 1.0)), line((2, 1), (3.0, 9.0))]
    games = each_in_its_block(games)
    held = claims.check(claims.parse("Ada has a mean score of at least 9"), games)
    assert (held.measured, held.share, held.holds) == (9.0, False, True)
    assert held.low is not None
    assert held.high is not None
    # The standard deviation of the three is 5.568: 9 +- 1.96 * 5.568 / sqrt(3).
    assert (held.low, held.high) == pytest.approx((2.70, 15.30), abs=0.01)
    assert not claims.check(claims.parse("Bob has a mean score of at least 4"), games).holds


def test_an_event_says_what_it_is_held_to_and_results_whether_it_does() -> None:
    form = event(2, blocks=5, claims=["Ada is better than Bob", "Bob scores at least 10%"])
    progress = TournamentState(form)
    play(progress, by_name)
    results = Results.of(form, progress)
    assert [held.holds for held in results.claims] == [True, False]
    assert formatting.claim_result(results.claims[0]) == (
        "holds: Ada is better than Bob: 100.0% (56.6% to 100.0%), 10-0-0"
    )
    assert "fails: Bob scores at least 10%: 0.0%" in table(results, 80)
    assert "fails: Bob scores at least 10%: 0.0%" in render_html(results, {})
    assert form.hash == event(2, blocks=5).hash


def test_a_claim_that_was_not_played_says_so() -> None:
    held = claims.check(claims.parse("Ada is better than Bob"), [])
    assert formatting.claim_result(held) == "not played: Ada is better than Bob"


def test_the_points_of_the_game_are_in_the_results() -> None:
    def outcome(due: DueGame) -> Result:
        first = SeatResult(rank=1, score=1.0, points=7.0)
        seats = [first, SeatResult(rank=2, score=0.0, points=-2.0)]
        return Result(seats=seats, cause=Cause.RULES, plies=3)

    form = event(2, blocks=1)
    progress = TournamentState(form)
    play(progress, outcome)
    results = Results.of(form, progress)
    assert [game.scores for game in results.games] == [[7.0, -2.0]] * 2
    assert [each.mean_score for each in results.standings] == [2.5, 2.5]


def test_claims_stand_in_the_events_file() -> None:
    form = load(TWO + "  - Ada is better than Bob\n", "two.yaml")
    assert form.claims == ["Ada is better than Bob"]
    assert build(form.dump(), "again").claims == form.claims


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Ada beats Bob", "two.yaml:9: claims.0: expected a claim: 'A scores at least"),
        ("Ada is better than Rob", "claims.0: unknown entrant 'Rob'; did you mean 'Bob'?"),
    ],
)
def test_a_wrong_claim_is_refused_with_its_line(claim: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(f"{TWO}  - {claim}\n", "two.yaml")
    assert sentence in str(caught.value)
