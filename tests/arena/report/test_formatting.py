import pytest

from kibitz_arena.claims import CheckedClaim
from kibitz_arena.report import formatting
from kibitz_arena.results import HeadToHead
from kibitz_protocol.wire.records import Cause
from tests.arena import samples


@pytest.mark.parametrize(
    ("value", "text"), [(211.6, "+212"), (-12.4, "−12"), (0.3, "0"), (-0.4, "0"), (None, "–")]
)
def test_ratings_are_whole_and_signed(value: float | None, text: str) -> None:
    assert formatting.elo(value) == text


@pytest.mark.parametrize(
    ("share", "places", "text"),
    [
        (0.5, 0, "50%"),
        (0.8333, 1, "83.3%"),
        (0.0, 0, "0%"),
        (1.0, 0, "100%"),
        (0.001, 0, "<1%"),
        (0.005, 0, "<1%"),
        (0.995, 0, ">99%"),
        (0.9995, 1, ">99.9%"),
        (0.9999, 0, ">99%"),
        (0.9999, 1, ">99.9%"),
        (0.994, 0, "99%"),
        (None, 1, "–"),
    ],
)
def test_what_is_nearly_sure_is_not_called_sure(
    share: float | None, places: int, text: str
) -> None:
    assert formatting.percent(share, places) == text


def test_a_score_is_the_share_of_those_who_were_beaten() -> None:
    row = [
        None,
        HeadToHead(games=4, wins=3, draws=1),
        HeadToHead(games=4, wins=1, losses=3),
        HeadToHead(),
    ]
    assert formatting.score(row) == pytest.approx(4.5 / 8)
    assert formatting.score([None, HeadToHead()]) is None


def test_the_games_of_a_pairing_are_a_number_only_if_all_have_as_many() -> None:
    assert formatting.games_per_pairing(samples.melee()) == 30
    assert formatting.games_per_pairing(samples.league()) is None


def test_points_below_each_other_have_the_same_decimals() -> None:
    assert formatting.points_column([3.0, 12.0]) == ["3", "12"]
    assert formatting.points_column([3.0, 12.5]) == ["3.0", "12.5"]


def test_progress_says_what_is_left_and_why_it_stopped() -> None:
    league = samples.league()
    assert formatting.progress(league) == "252 of 280 games, 28 left"
    assert formatting.progress(samples.melee()) == "30 of 30 games, finished"


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        ("deadline", "stopped at the deadline"),
        ("decided", "decided by the sequential test"),
        ("failed: b3.1 failed 6 times", "stopped because of a failure (b3.1 failed 6 times)"),
        ("out of power", "stopped: out of power"),
    ],
)
def test_an_event_that_stopped_says_why(stopped: str, said: str) -> None:
    league = samples.league().model_copy(update={"stopped": stopped})
    assert formatting.progress(league) == f"252 of 280 games, 28 left, {said}"


def test_notes_tell_of_anchors_byes_repeats_and_breaks() -> None:
    league = [*formatting.notes(samples.league())]
    assert [note.split()[0] for note in league] == ["3", "The"]
    assert "interrupted 2 times" in league[1]
    one = samples.league().model_copy(update={"requeued": 1, "interruptions": 1})
    assert "1 game was replayed" in next(formatting.notes(one))
    assert "random-walk (anchor)" in next(formatting.notes(samples.melee()))
    assert "bye" in next(formatting.notes(samples.swiss()))


def test_the_ends_of_all_add_up_to_their_games() -> None:
    rows = formatting.termination_rows(samples.league())
    for row in rows:
        assert sum(row.counts.values()) == row.games
    assert rows[-1].games == 2 * 252
    assert formatting.termination_columns(rows) == [
        "normal",
        "time forfeit",
        "illegal move",
        "crashed",
        "disconnected",
    ]


def test_what_was_abandoned_for_no_known_cause_keeps_its_name() -> None:
    results = samples.melee()
    odd = results.standings[0].model_copy(
        update={"terminations": {"normal": 27, "abandoned": 3}, "causes": {Cause.CRASH: 1}}
    )
    rows = formatting.termination_rows(results.model_copy(update={"standings": [odd]}))
    assert rows[0].counts == {"normal": 27, "abandoned": 2, "crashed": 1}
    assert "abandoned" in formatting.termination_columns(rows)


def test_games_are_counted_by_the_words_of_pgn() -> None:
    assert formatting.terminations(samples.league().games) == (
        "246 normal, 3 time forfeit, 1 illegal move, 2 abandoned (1 crashed, 1 disconnected)"
    )


@pytest.mark.parametrize(
    ("low", "high", "share", "text"),
    [
        (0.25, 0.5, True, "25.0% to 50.0%"),
        (1.0, 2.5, False, "1.0 to 2.5"),
        (None, 0.5, True, "–"),
        (0.25, None, True, "–"),
    ],
)
def test_the_bounds_of_a_claim_are_shown_if_both_are_known(
    low: float | None, high: float | None, share: bool, text: str
) -> None:
    claim = CheckedClaim(
        claim="Ada beats Bob",
        games=4,
        wins=2,
        draws=0,
        losses=2,
        share=share,
        measured=0.4,
        low=low,
        high=high,
        holds=None,
    )
    assert formatting.claim_bounds(claim) == text
