"""The records of a tournament's games: faults, and the use of time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kibitz.local.tournament_services import LocalServices
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.records import RecordCollector, has_fault, used_ms
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Cause, Footer, Moved
from tests.arena import tournaments

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def record() -> Record:
    return read_record(ROOT / "docs/images/line-nim.jsonl")


def ended(record: Record, *causes: Cause | None, whole: Cause = Cause.RULES) -> Record:
    """Return the record of a match with a given end."""
    assert record.footer is not None
    old = record.footer.result
    seats = [
        seat.model_copy(update={"cause": cause})
        for seat, cause in zip(old.seats, causes, strict=True)
    ]
    result = old.model_copy(update={"seats": seats, "cause": whole})
    return replace(record, footer=Footer(result=result, hash=record.footer.hash))


def test_a_seat_that_dropped_out_and_trouble_of_the_server_are_faults(record: Record) -> None:
    assert not has_fault(ended(record, None, None))
    assert has_fault(ended(record, None, Cause.TIME))
    assert has_fault(ended(record, Cause.CRASH, None, whole=Cause.CRASH))
    assert has_fault(ended(record, None, None, whole=Cause.INFRASTRUCTURE))
    assert not has_fault(replace(record, footer=None))


def test_the_time_of_a_seat_is_what_it_thought_less_what_the_wire_took(record: Record) -> None:
    moves = [entry for entry in record.entries if isinstance(entry, Moved)]
    first, second, *_ = [entry for entry in moves if entry.seat == moves[0].seat]
    entries = (
        first.model_copy(update={"elapsed_ms": 70, "allowance_ms": 20}),
        second.model_copy(update={"elapsed_ms": 5, "allowance_ms": 9}),
    )
    used = used_ms(replace(record, entries=entries))
    assert used[first.seat] == 50
    assert sum(used) == 50


async def test_a_record_that_cannot_be_had_is_told_and_stops_nothing(tmp_path: Path) -> None:
    folder, told = TournamentDirectory(tmp_path / "cup.arena"), list[str]()
    folder.create(tmp_path)
    url = "ws://127.0.0.1:9"
    services = LocalServices(tournaments.event(2), folder)
    archive = RecordCollector(url, Client(url), folder, services, own=True, tell=told.append)
    assert await archive.collect("m1") is None
    [line] = told
    assert line.startswith("cannot fetch the record of match m1: ")
    assert not [*folder.records.iterdir()]
