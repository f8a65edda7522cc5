"""Lines, their hash chain, and the record of a finished match."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import pytest

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.recordfile import (
    EMPTY_CHAIN,
    RecordExport,
    chain_hash,
    parse_record,
    seed_commitment,
)
from kibitz_protocol.wire.records import Comment, Moved
from kibitz_server.match.commands import Note, Play, Resign
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.record import read_entry, read_setup, restore
from kibitz_server.match.state import BrokenLog
from tests.server.match.toy_games import SEED, Grid, MatchDriver, Race, setup, state_values

MOVE = Moved(
    seq=7,
    at_ms=1_500,
    ply=3,
    seat=1,
    action={"x": 1, "y": 2},
    elapsed_ms=20,
    allowance_ms=5,
    wait_ms=2,
    id=9,
    comment=Comment(value=0.5, line=["1-2"]),
)


def played() -> MatchDriver:
    shell = MatchDriver(Race(), setup(Race(), 3, clock="10+1", goal=5))
    shell.do(Play(0, 1, 0, {"steps": 2}, Comment(value=0.5)), 700)
    shell.play(wait=30, steps=3)
    shell.do(Resign(2))
    while shell.match.state.result is None:
        shell.play(wait=30, steps=1)
    return shell


def lines_of(shell: MatchDriver) -> list[bytes]:
    return [encode(shell.setup), *(encode(entry) for entry in shell.log)]


def record_of(shell: MatchDriver, *, notes: bool = True) -> list[bytes]:
    assert shell.match.state.result is not None
    first, *rest = lines_of(shell)
    export = RecordExport(first, notes=notes)
    text = export.head + export.entries(rest) + export.footer(shell.match.state.result)
    return text.splitlines()


def test_a_line_is_compact_and_leaves_out_what_is_absent() -> None:
    assert encode(MOVE) == (
        b'{"seq":7,"at_ms":1500,"kind":"move","ply":3,"seat":1,"action":{"x":1,"y":2},'
        b'"elapsed_ms":20,"allowance_ms":5,"wait_ms":2,"id":9,'
        b'"comment":{"value":0.5,"line":["1-2"]}}'
    )


def test_a_line_reads_back_and_writes_the_same_bytes() -> None:
    shell = played()
    for data, entry in zip(lines_of(shell)[1:], shell.log, strict=True):
        assert read_entry(data) == entry
        assert encode(read_entry(data)) == data
    first = encode(shell.setup)
    assert (read_setup(first), encode(read_setup(first))) == (shell.setup, first)


def test_the_setup_comes_with_its_schema() -> None:
    assert json.loads(encode(setup(Grid())))["schema"] == "kibitz-record/1"


def test_a_link_is_the_hash_of_the_link_before_and_the_line() -> None:
    first = chain_hash(EMPTY_CHAIN, b"{}")
    assert first == hashlib.sha256(b"{}").hexdigest()
    assert chain_hash(first, b"{1}") == hashlib.sha256(first.encode() + b"{1}").hexdigest()


def test_lines_fold_to_the_live_match() -> None:
    shell = played()
    assert state_values(restore(Race(), lines_of(shell))) == state_values(shell.match.state)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_beginning_of_a_log_folds(count: int) -> None:
    lines = lines_of(played())[:count]
    assert restore(Race(), lines).seq == count - 1


def test_a_finished_record_has_a_footer_with_result_and_hash() -> None:
    shell = played()
    *lines, footer = record_of(shell)
    link = EMPTY_CHAIN
    for data in lines:
        link = chain_hash(link, data)
    read = json.loads(footer)
    expected = chain_hash(link, footer.replace(read["hash"].encode(), b""))
    assert (read["kind"], read["hash"]) == ("end", expected)
    assert [seat["rank"] for seat in read["result"]["seats"]] == [2, 1, 3]
    assert state_values(restore(Race(), [*lines, footer])) == state_values(shell.match.state)


def test_the_protocol_reads_the_record_that_the_server_writes() -> None:
    shell = played()
    assert shell.match.state.result is not None
    read = parse_record(data + b"\n" for data in record_of(shell))
    assert (read.setup, list(read.entries)) == (shell.setup, shell.log)
    assert read.footer is not None
    assert read.footer.result == shell.match.state.result


Spoil = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [], "expected a setup, found no line"),
        (lambda lines: lines[1:], r"setup\..*"),
        (lambda lines: [lines[0], *lines[2:]], "entry 2 does not follow entry 0"),
        (lambda lines: [*lines, lines[1]], "expected nothing after the footer"),
        (lambda lines: [lines[0], b'{"seq":1}'], "entry"),
        (lambda lines: [lines[0], b"{"], "entry: Invalid JSON"),
        (lambda lines: [*lines[:-1], b'{"kind":"end"}'], "footer.result: Field required"),
        (lambda lines: [*lines[:-2], lines[-1]], "result differs from the result of the entries"),
        (
            lambda lines: [lines[0].replace(SEED.encode(), b"f" * 16), *lines[1:]],
            "seed '[0f]+' does not match commitment",
        ),
        (
            lambda lines: [lines[0], lines[1].replace(b'"id":1', b'"id":2'), *lines[2:]],
            "differs from the last hash of the chain",
        ),
    ],
)
def test_a_record_that_was_tampered_with_is_refused(spoil: Spoil, message: str) -> None:
    with pytest.raises(BrokenLog, match=message):
        restore(Race(), spoil(record_of(played())))


def test_a_published_record_has_bare_numbers_for_notes_and_still_folds() -> None:
    shell = grid_with_notes()
    shown = record_of(shell, notes=False)
    assert b"canary" in b"".join(lines_of(shell))
    assert b"canary" not in b"".join(shown)
    assert [read_entry(data).seq for data in shown[1:-1]] == [entry.seq for entry in shell.log]
    shell.match.state.used.clear()  # readers do not need the seats' note budgets
    assert state_values(restore(shell.game, shown)) == state_values(shell.match.state)
    parse_record(data + b"\n" for data in shown)


def grid_with_notes() -> MatchDriver:
    """Return a match with notes, one of which contains text like a move entry."""
    shell = MatchDriver(Grid(), setup(Grid()))
    shell.do(Note(0, 'canary "kind":"move"'))
    shell.play(x=0, y=0)
    shell.do(Note(1, "canary"))
    shell.do(Resign(1))
    return shell


def test_the_commitment_is_published_before_the_seed() -> None:
    shell = played()
    assert shell.setup.commitment == seed_commitment(shell.setup.seed, shell.setup.nonce)
    live = MatchEngine.new(shell.game, shell.setup).views.snapshot(0, "started").model_dump_json()
    assert shell.setup.commitment in live
    assert shell.setup.seed not in live
