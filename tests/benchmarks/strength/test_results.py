"""The stored results of events."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from benchmarks.strength import cases, results
from benchmarks.strength.results import CaseResult, MoveTimes
from kibitz_protocol.wire.recordfile import read_record
from kibitz_protocol.wire.records import Flagged, Moved
from tests.arena.tournaments import event
from tests.benchmarks.strength import samples

RECORD = Path(__file__).parents[3] / "docs/images/line-nim.jsonl"


def test_it_has_everybody_with_shares_scores_and_faults() -> None:
    found = samples.outcome(2, blocks=10, claims=["Ada is better than Bob"])
    ada, bob = found.players
    assert (ada.name, ada.games, ada.wins, ada.score, ada.mean_score) == ("Ada", 20, 20, 1.0, 10.0)
    assert (bob.losses, bob.score, bob.mean_score) == (20, 0.0, 5.0)
    assert ada.blocks == {2.0: 10}
    assert ada.low == pytest.approx(0.7225, abs=1e-4), "ten openings, not twenty games"
    assert found.crosstable == [[None, "20-0-0"], ["0-0-20", None]]
    assert found.holds
    assert not found.well
    assert found.faults() == "Bob 20 out of time"


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ("bot line-nim/mcts:evaluation=parts,time=0.3", "0.3"),
        ("bot line-nim/greedy:evaluation=parts", None),
        ("bot line-nim/greedy", None),
        ("stdio node engine.mjs 2", None),
    ],
)
def test_a_time_limit_is_a_parameter(what: str, limit: str | None) -> None:
    ada = samples.outcome().players[0]
    assert ada.model_copy(update={"what": what}).time_limit == limit


def test_it_belongs_to_the_event_that_was_played_and_to_its_claims() -> None:
    found = samples.outcome(blocks=3, claims=["Ada is better than Bob"])
    assert found.of_event(event(2, blocks=3, claims=["Ada is better than Bob"]))
    assert not found.of_event(event(2, blocks=4, claims=["Ada is better than Bob"]))
    assert not found.of_event(event(2, blocks=3, claims=["Bob is better than Ada"]))


def test_what_is_kept_is_read_back_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert results.load(path) == {}
    first, other = samples.outcome(3, blocks=1), samples.outcome(2, blocks=1, name="bowl")
    for each in (first, other):
        results.save(each, path)
    assert [*results.load(path).items()] == [("bowl", other), ("cup", first)]
    text = path.read_text(encoding="utf-8")
    results.save(first, path)
    assert path.read_text(encoding="utf-8") == text, "equal results are equal files"
    again = samples.outcome(3, blocks=2)
    results.save(again, path)
    assert results.load(path)["cup"] == again


def test_a_damaged_file_of_results_is_no_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"event": 3}\n', encoding="utf-8")
    with pytest.raises(ValidationError):
        results.load(path)


def test_every_result_is_that_of_a_case_as_it_is_now() -> None:
    """After changing a case, rerun it: python -m benchmarks.strength NAME --write."""
    known = {case.name: case.tournament for case in cases.select()}
    found = results.load()
    assert found.keys() <= known.keys()
    assert [name for name, each in found.items() if not each.of_event(known[name])] == []


def test_only_results_without_blocks_lack_the_commit_of_their_measurement() -> None:
    for name, each in results.load().items():
        assert {player.blocks is None for player in each.players} == {each.measured.stored_only}, (
            name
        )


def test_times_are_those_of_the_records() -> None:
    """A record contains the durations of its moves."""
    line = samples.results(blocks=1).games[0]
    times = MoveTimes()
    times.read(line, RECORD)
    moves = [entry for entry in read_record(RECORD).entries if isinstance(entry, Moved)]
    flags = [entry for entry in read_record(RECORD).entries if isinstance(entry, Flagged)]
    assert sum(map(len, times.moves.values())) == len(moves) > 0
    assert sum(times.flags.values()) == len(flags)


def test_one_move_in_a_hundred_may_be_slower() -> None:
    times = MoveTimes()
    times.moves["Ada"] = [*range(1, 100), 5000]
    assert times.p99_ms("Ada") == 99
    assert times.mean_ms("Ada") == 99.5
    times.moves["Bob"] = [7]
    assert times.p99_ms("Bob") == 7
    assert (times.p99_ms("Cyd"), times.mean_ms("Cyd")) == (0, 0)


def test_who_is_late_is_not_well_even_where_a_flag_is_no_loss() -> None:
    found = samples.outcome(3, blocks=1)
    clean = [each.model_copy(update={"causes": {}}) for each in found.players]
    assert found.model_copy(update={"players": clean}).well
    late = [clean[0].model_copy(update={"flags": 2}), *clean[1:]]
    worse = CaseResult.model_validate(found.model_dump() | {"players": late})
    assert not worse.well
    assert worse.faults() == "Ada 2 late"
