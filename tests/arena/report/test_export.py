import csv
import io
import json

import pytest

from kibitz_arena.report import export, formatting
from kibitz_arena.results import SCHEMA, Results
from kibitz_protocol.wire.records import Cause
from tests.arena import samples

SAMPLES = [samples.league, samples.melee, samples.swiss, samples.untouched, samples.hostile]
results_of = pytest.mark.parametrize(
    "results", [each() for each in SAMPLES], ids=lambda r: r.event.name
)


def read(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text, newline=""))]


@results_of
def test_json_reads_back_as_the_same_results(results: Results) -> None:
    text = export.results_json(results)
    assert Results.model_validate_json(text) == results
    assert text.endswith("}\n")
    document = json.loads(text)
    assert next(iter(document.items())) == ("schema", SCHEMA)
    assert [each["name"] for each in document["standings"]] == [e.name for e in results.standings]


def test_equal_results_are_equal_files() -> None:
    results = samples.league()
    turned = [
        each.model_copy(
            update={
                "causes": dict(reversed(each.causes.items())),
                "terminations": dict(reversed(each.terminations.items())),
            }
        )
        for each in results.standings
    ]
    other = results.model_copy(update={"standings": turned})
    assert any([*a.causes] != [*b.causes] for a, b in zip(turned, results.standings, strict=True))
    assert export.results_json(other) == export.results_json(results)


@results_of
def test_ratings_are_a_row_an_entrant(results: Results) -> None:
    rows = read(export.ratings_csv(results))
    assert [row["name"] for row in rows] == [each.name for each in results.standings]
    for row, each, pairs in zip(rows, results.standings, results.crosstable, strict=True):
        assert (float(row["rating"]) if row["rating"] else None) == each.rating
        assert float(row["points"]) == each.points
        score = formatting.score(pairs)
        assert row["score"] == ("" if score is None else str(score))
        assert row["anchor"] == ("yes" if each.anchor else "no")
        assert int(row["time_forfeit"]) == each.terminations.get("time forfeit", 0)


@results_of
def test_games_are_a_row_each_with_all_of_their_seats(results: Results) -> None:
    rows = read(export.games_csv(results))
    assert [row["tag"] for row in rows] == [game.tag for game in results.games]
    for row, game in zip(rows, results.games, strict=True):
        assert None not in row
        assert [row[f"player{n}"] for n in range(1, results.event.seats + 1)] == game.players
        assert [int(row[f"place{n}"]) for n in range(1, len(game.places) + 1)] == game.places
        causes = [row[f"cause{n}"] for n in range(1, len(game.causes) + 1)]
        assert [Cause(each) if each else None for each in causes] == game.causes
        assert (row["plies"], row["record"], row["reason"]) == (
            str(game.plies),
            game.record,
            game.reason,
        )
        assert row["round"] == ("" if game.round is None else str(game.round))


@results_of
def test_the_scores_of_games_add_up_to_the_points(results: Results) -> None:
    totals = {each.name: 2.0 * each.byes for each in results.standings}
    for row in read(export.games_csv(results)):
        for seat in range(1, results.event.seats + 1):
            totals[row[f"player{seat}"]] += float(row[f"score{seat}"])
    assert totals == pytest.approx({each.name: each.points for each in results.standings})


def test_scores_of_ties_are_shared() -> None:
    game = samples.melee().games[0].model_copy(update={"places": [1, 1, 3, 3, 3, 6]})
    assert [game.share(seat) for seat in range(6)] == [0.9, 0.9, 0.4, 0.4, 0.4, 0.0]
