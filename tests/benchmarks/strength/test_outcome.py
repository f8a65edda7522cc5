"""What is kept of an event that was played."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import outcome
from benchmarks.strength.outcome import Outcome, Times
from kibitz_protocol.recordfile import read_record
from kibitz_protocol.records import Flagged, Moved
from tests.benchmarks.strength import samples
from tests.clients.arena.events import event

RECORD = Path(__file__).parents[3] / "docs/images/line-nim.jsonl"


def test_it_has_everybody_with_shares_scores_and_faults() -> None:
    found = samples.outcome(2, blocks=10, claims=["Ada is better than Bob"])
    ada, bob = found.players
    assert (ada.name, ada.games, ada.wins, ada.score, ada.mean_score) == ("Ada", 20, 20, 1.0, 10.0)
    assert (bob.losses, bob.score, bob.mean_score) == (20, 0.0, 5.0)
    assert ada.low == pytest.approx(0.8389, abs=1e-4)
    assert found.crosstable == [[None, "20-0-0"], ["0-0-20", None]]
    assert found.holds
    assert not found.well
    assert found.faults() == "Bob 20 out of time"


def test_it_belongs_to_the_event_that_was_played_and_to_its_claims() -> None:
    found = samples.outcome(blocks=3, claims=["Ada is better than Bob"])
    assert found.of_event(event(2, blocks=3, claims=["Ada is better than Bob"]))
    assert not found.of_event(event(2, blocks=4, claims=["Ada is better than Bob"]))
    assert not found.of_event(event(2, blocks=3, claims=["Bob is better than Ada"]))


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    found = samples.outcome(3, blocks=1)
    outcome.keep(found, tmp_path / "cup.json")
    assert outcome.kept(tmp_path / "cup.json") == found
    assert outcome.kept(tmp_path / "cap.json") is None


def test_times_are_those_of_the_records() -> None:
    """A record says for itself how long its moves took."""
    line = samples.results(blocks=1).games[0]
    times = Times()
    times.read(line, RECORD)
    moves = [entry for entry in read_record(RECORD).entries if isinstance(entry, Moved)]
    flags = [entry for entry in read_record(RECORD).entries if isinstance(entry, Flagged)]
    assert sum(map(len, times.moves.values())) == len(moves) > 0
    assert sum(times.flags.values()) == len(flags)


def test_one_move_in_a_hundred_may_be_slower() -> None:
    times = Times()
    times.moves["Ada"] = [*range(1, 100), 5000]
    assert times.p99_ms("Ada") == 99
    times.moves["Bob"] = [7]
    assert times.p99_ms("Bob") == 7
    assert times.p99_ms("Cyd") == 0


def test_who_is_late_is_not_well_even_where_a_flag_is_no_loss() -> None:
    found = samples.outcome(3, blocks=1)
    clean = [each.model_copy(update={"causes": {}}) for each in found.players]
    assert found.model_copy(update={"players": clean}).well
    late = [clean[0].model_copy(update={"flags": 2}), *clean[1:]]
    worse = Outcome.model_validate(found.model_dump() | {"players": late})
    assert not worse.well
    assert worse.faults() == "Ada 2 late"
