import re
from collections.abc import Callable
from typing import TypeAlias

import pytest
from rich.cells import cell_len

from kibitz_arena.report import formatting
from kibitz_arena.report import text as report_text
from kibitz_arena.report.text import TableColumn
from kibitz_arena.results import Results
from tests.arena import samples

Golden: TypeAlias = Callable[[str, str], None]
SAMPLES = {
    each.__name__: each
    for each in (
        samples.league,
        samples.melee,
        samples.swiss,
        samples.crowd,
        samples.untouched,
        samples.hostile,
    )
}


@pytest.mark.parametrize("width", [80, 110])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_reads_as_its_golden_text(name: str, width: int, golden: Golden) -> None:
    text = report_text.render_text(SAMPLES[name](), width)
    golden(f"{name}-{width}.txt", text.removesuffix("\n"))


@pytest.mark.parametrize("width", [80, 93, 110, 200])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_line_is_wider_than_it_may_be(name: str, width: int) -> None:
    text = report_text.render_text(SAMPLES[name](), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("name", ["league", "melee", "swiss"])
def test_all_entrants_and_their_numbers_are_there(name: str) -> None:
    results = SAMPLES[name]()
    text = report_text.render_text(results, 110)
    for rank, (standing, row) in enumerate(
        zip(results.standings, results.crosstable, strict=True), 1
    ):
        line = next(line for line in text.splitlines() if f"{rank}  {standing.name} " in line)
        numbers = line.split(standing.name)[1].split()
        assert formatting.elo(standing.rating) == numbers[0]
        assert str(standing.games) in numbers
        assert formatting.percent(formatting.score(row), 1) in numbers


def test_columns_end_together_whatever_the_width_of_characters() -> None:
    text = report_text.render_text(samples.league())
    rows = [line for line in text.splitlines() if re.match(r"\d  ", line)][:8]
    assert len({cell_len(row) for row in rows}) == 1


def test_a_long_cross_table_falls_back_to_points_and_then_to_a_line() -> None:
    results = samples.league()
    assert "wins-draws-losses" in report_text.render_text(results, 80)
    many = _with_more_games(results)
    assert "points of the row against the column" in report_text.render_text(many, 80)
    assert "too wide for 80 columns with 20 entrants" in report_text.render_text(
        samples.crowd(), 80
    )


def _with_more_games(results: Results) -> Results:
    """Return `results` with a thousand times as many games per pairing."""
    rows = [
        [
            pair
            and pair.model_copy(
                update={
                    "games": 1000 * pair.games,
                    "wins": 1000 * pair.wins,
                    "draws": 1000 * pair.draws,
                    "losses": 1000 * pair.losses,
                }
            )
            for pair in row
        ]
        for row in results.crosstable
    ]
    entrants = [each.model_copy(update={"name": each.name[:6]}) for each in results.standings]
    return results.model_copy(update={"crosstable": rows, "standings": entrants})


def test_only_those_to_whom_something_happened_are_in_the_table_of_ends() -> None:
    text = report_text.render_text(samples.melee())
    assert "ended for" in text
    after = text[text.index("ended for") :]
    assert "team_rocket" in after
    assert "all 6 entrants" in after
    assert "Ada Lovelace" not in after
    assert "ended for" not in report_text.render_text(samples.swiss())


def test_a_decided_test_says_which_hypothesis_it_accepted() -> None:
    results = samples.league()
    assert results.sequential is not None
    for state, words in (
        ("accepted H1", "greedy-hand is better than minimax-4"),
        ("accepted H0", "greedy-hand is not better than minimax-4"),
    ):
        decided = results.sequential.model_copy(update={"state": state})
        text = report_text.render_text(results.model_copy(update={"sequential": decided}))
        assert f"{words} ({state[9:]} accepted)" in text


def test_a_test_with_two_seats_shows_its_pairs_by_points() -> None:
    results = samples.league()
    assert results.sequential is not None
    assert "pairs with 0" not in report_text.render_text(results)
    paired = results.sequential.model_copy(update={"pairs": (0, 1, 2, 1, 1), "blocks": 5})
    text = report_text.render_text(results.model_copy(update={"sequential": paired}))
    words = " ".join(text.split())
    assert "pairs with 0, 1/2, 1, 3/2 and 2 points: 0, 1, 2, 1, 1; Elo +70.4 [" in words
    assert "normalized Elo +" in words


@pytest.mark.parametrize(("llr", "at"), [(-99.0, 0), (0.0, 20), (99.0, 40)])
def test_the_gauge_stays_between_its_bounds(llr: float, at: int) -> None:
    results = samples.league()
    assert results.sequential is not None
    far = results.sequential.model_copy(update={"llr": llr})
    text = report_text.render_text(results.model_copy(update={"sequential": far}))
    inside = text[text.index("[") + 1 : text.index("]")]
    assert len(inside) == report_text.SPRT_WIDTH
    assert inside.index("#") == at


def test_nothing_moves_the_cursor() -> None:
    results = samples.swiss()
    first = results.standings[0].model_copy(update={"name": "a\x1b[2Jb\nc"})
    text = report_text.render_text(
        results.model_copy(update={"standings": [first, *results.standings[1:]]})
    )
    assert "\x1b" not in text
    assert "a\\x1b[2Jb\\nc" in text


def test_spare_columns_go_first_and_names_are_cut_next() -> None:
    name = TableColumn("name", ["abcdefghijkl"], left=True, elastic=True)
    spare, kept = TableColumn("spare", ["1"], spare=True), TableColumn("kept", ["2"])
    assert report_text._grid([name, spare, kept], 25) == [
        "name          spare  kept",
        "abcdefghijkl      1     2",
    ]
    assert report_text._grid([name, spare, kept], 24) == [
        "name          kept",
        "abcdefghijkl     2",
    ]
    assert report_text._grid([name, spare, kept], 15) == ["name       kept", "abcdefgh…     2"]
    assert report_text._grid([name, spare, kept], 13) == []
