"""The checker of several nodes' writes: it detects doctored logs and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import psycopg
import pytest

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_protocol.wire.records import Cause, Footer, Moved, Result, SeatResult
from kibitz_server.lobby.entries import Closing, TakenOver
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import connect
from kibitz_server.storage.postgres.schema import ensure_schema
from tests.tools import postgres_server
from tests.tools.log_audit import Acknowledged, Observation, Sent
from tests.tools.node_history import (
    ClientNotes,
    NodeHistory,
    StoredEntry,
    StreamLog,
    Written,
    faults,
    install_witness,
    read_history,
)

PLAYERS = ("ann", "bob")
PLIES = 6
TAKEN_AFTER = 3
"""The number of moves that node a has written when node b takes the lobby over."""


def moved(ply: int) -> Moved:
    return Moved(
        seq=ply + 1,
        at_ms=100 * ply,
        ply=ply,
        seat=ply % 2,
        action={"cell": ply},
        elapsed_ms=90,
        id=10 + ply,
    )


def stream(key: str, kind: str, lines: Iterable[bytes]) -> StreamLog:
    """Return a sound stream with these entries."""
    head = f"head of {key}".encode()
    first = link = chain_hash(EMPTY_CHAIN, head)
    entries = []
    for seq, line in enumerate(lines, 1):
        link = chain_hash(link, line)
        entries.append(StoredEntry(seq, link, line))
    return StreamLog(key, kind, "lobby", "open", head, first, entries=entries)


def sound_history() -> NodeHistory:
    """Return a match that node a starts and node b continues."""
    closing = Closing(seq=1).model_dump_json().encode()
    taken = TakenOver(seq=2, node="b", former="a").model_dump_json().encode()
    moves = [moved(ply).model_dump_json().encode() for ply in range(PLIES)]
    written = [Written("lobby", 1, "a", "a")]
    written += [Written("match", seq, "a", "a") for seq in range(1, TAKEN_AFTER + 1)]
    written += [Written("lobby", 2, "b", "b")]
    written += [Written("match", seq, "b", "b") for seq in range(TAKEN_AFTER + 1, PLIES + 1)]
    streams = [stream("lobby", "lobby", [closing, taken]), stream("match", "match", moves)]
    return NodeHistory({each.key: each for each in streams}, written)


def sound_notes() -> ClientNotes:
    observed: list[Observation] = []
    for ply in range(PLIES):
        player, at = PLAYERS[ply % 2], float(ply)
        observed.append(Sent("match", player, 10 + ply, ply, {"cell": ply}, at))
        observed.append(Acknowledged("match", player, 10 + ply, ply + 1, at + 0.5))
    thought = {("match", ply): 100.0 for ply in range(PLIES)}
    return ClientNotes({"match": PLAYERS}, observed, thought)


def with_match(history: NodeHistory, lines: Iterable[bytes]) -> NodeHistory:
    """Return a history with other entries of the match and a matching hash chain."""
    return replace(history, streams={**history.streams, "match": stream("match", "match", lines)})


def lines_of(history: NodeHistory) -> list[bytes]:
    return [each.line for each in history.streams["match"].entries]


def test_a_sound_history_has_no_fault() -> None:
    history = sound_history()
    assert faults(history, sound_notes()) == []
    assert [(lobby, node) for lobby, node, _ in history.take_overs()] == [("lobby", "b")]


# --- doctored logs ----------------------------------------------------------------------------


def lost(history: NodeHistory) -> NodeHistory:
    """The last move is missing, as if it had never been committed."""
    written = list(history.written)[:-1]
    return replace(with_match(history, lines_of(history)[:-1]), written=written)


def gone(history: NodeHistory) -> NodeHistory:
    """The last move was committed and later deleted."""
    return with_match(history, lines_of(history)[:-1])


def doubled(history: NodeHistory) -> NodeHistory:
    again = moved(0).model_copy(update={"seq": PLIES + 1}).model_dump_json().encode()
    extra = [*history.written, Written("match", PLIES + 1, "b", "b")]
    return replace(with_match(history, [*lines_of(history), again]), written=extra)


def reordered(history: NodeHistory) -> NodeHistory:
    """Two moves of one player are swapped."""
    lines = lines_of(history)
    for at, ply in ((1, 3), (3, 1)):
        lines[at] = moved(ply).model_copy(update={"seq": at + 1}).model_dump_json().encode()
    return with_match(history, lines)


def changed(history: NodeHistory) -> NodeHistory:
    lines = lines_of(history)
    lines[2] = moved(2).model_copy(update={"action": {"cell": 9}}).model_dump_json().encode()
    return with_match(history, lines)


def broken_chain(history: NodeHistory) -> NodeHistory:
    match = history.streams["match"]
    entries = list(match.entries)
    entries[2] = replace(entries[2], line=moved(2).model_dump_json().encode() + b" ")
    return replace(history, streams={**history.streams, "match": replace(match, entries=entries)})


def hole(history: NodeHistory) -> NodeHistory:
    match = history.streams["match"]
    entries = [each for each in match.entries if each.seq != 2]
    written = [each for each in history.written if (each.stream, each.seq) != ("match", 2)]
    streams = {**history.streams, "match": replace(match, entries=entries)}
    return replace(history, streams=streams, written=written)


def by_the_former_owner(history: NodeHistory) -> NodeHistory:
    """Node a continues to write after the takeover, and sees itself as the lobby's owner."""
    written = list(history.written)
    written[-1] = replace(written[-1], author="a", owner="a")
    return replace(history, written=written)


def against_the_row(history: NodeHistory) -> NodeHistory:
    """An entry is committed while the row of the lobby names another node."""
    written = list(history.written)
    written[2] = replace(written[2], owner="b")
    return replace(history, written=written)


def in_anothers_name(history: NodeHistory) -> NodeHistory:
    written = list(history.written)
    taken = next(at for at, each in enumerate(written) if each.stream == "lobby" and each.seq == 2)
    written[taken] = replace(written[taken], author="a", owner="a")
    return replace(history, written=written)


def ended_by(cause: Cause) -> Callable[[NodeHistory], NodeHistory]:
    def ended(history: NodeHistory) -> NodeHistory:
        result = Result(seats=[SeatResult(rank=1, score=0.5)] * 2, cause=cause, plies=PLIES)
        footer = Footer(result=result, hash="0" * 64).model_dump_json().encode()
        match = replace(history.streams["match"], state="closed", footer=footer)
        return replace(history, streams={**history.streams, "match": match})

    return ended


def set_aside(history: NodeHistory) -> NodeHistory:
    match = replace(history.streams["match"], state="damaged")
    return replace(history, streams={**history.streams, "match": match})


@pytest.mark.parametrize(
    ("doctor", "words"),
    [
        (lost, "was acknowledged as 6 but is missing"),
        (gone, "entry 6 of match was committed but is missing"),
        (doubled, "is in the log twice"),
        (reordered, "was acknowledged as 2 but is missing"),
        (changed, "is not the move 12 that ann sent"),
        (broken_chain, "the history of match is broken at 3"),
        (hole, "the history of match is broken at 2"),
        (by_the_former_owner, "was written by node a, when b had taken the lobby"),
        (against_the_row, "was written by node a, when the lobby was node b's"),
        (in_anothers_name, "was written by node a and says that b has taken the lobby"),
        (ended_by(Cause.DISCONNECT), "match match ended by disconnect"),
        (set_aside, "match match is damaged"),
    ],
)
def test_a_doctored_log_is_found(doctor: Callable[[NodeHistory], NodeHistory], words: str) -> None:
    found = faults(doctor(sound_history()), sound_notes())
    assert any(words in each for each in found), found


def test_a_match_that_ends_by_its_rules_has_no_fault() -> None:
    assert faults(ended_by(Cause.RULES)(sound_history()), sound_notes()) == []


# --- doctored notes ---------------------------------------------------------------------------


def test_an_acknowledgement_of_what_nobody_wrote_is_found() -> None:
    notes = sound_notes()
    more: list[Observation] = [
        Sent("match", "ann", 99, PLIES, {"cell": 8}, 7.0),
        Acknowledged("match", "ann", 99, PLIES + 1, 7.5),
    ]
    found = faults(sound_history(), replace(notes, observed=[*notes.observed, *more]))
    assert found == ["match match: move 99 of ann was acknowledged as 7 but is missing"]


def test_a_move_that_its_player_does_not_know_is_found() -> None:
    notes = sound_notes()
    found = faults(sound_history(), replace(notes, observed=notes.observed[2:]))
    assert found == ["match match: entry 1 is a move of ann that was never sent"]


def test_a_charge_for_what_nobody_thought_is_found() -> None:
    history = sound_history()
    lines = lines_of(history)
    lines[4] = moved(4).model_copy(update={"elapsed_ms": 9_000}).model_dump_json().encode()
    assert faults(with_match(history, lines), sound_notes()) == [
        "match match: ply 4 was charged 9000 ms, its player thought for 100 ms"
    ]


# --- the witness ------------------------------------------------------------------------------


@pytest.fixture
def database() -> Iterator[PostgresURL]:
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as server, postgres_server.database(server) as url:
        yield url


@pytest.mark.e2e
def test_who_wrote_an_entry_is_known_from_the_commit(database: PostgresURL) -> None:
    """Node a owns the lobby, and a role with another name also writes about it."""
    with connect(database) as db:
        ensure_schema(db, database)
        me = db.info.user
        head = b"head"
        link = chain_hash(EMPTY_CHAIN, head)
        install_witness(database.url)
        for number, owner in enumerate((me, "another"), 1):
            with db.transaction():
                # As in a batch, the entry is written before its stream's row.
                line = Closing(seq=1).model_dump_json().encode()
                db.execute(
                    "INSERT INTO entry (stream, seq, link, line) VALUES (%s, 1, %s, %s)",
                    (number, bytes.fromhex(chain_hash(link, line)), line),
                )
                db.execute(
                    "INSERT INTO stream (number, key, kind, opened, head, link, node)"
                    " VALUES (%s, %s, 'lobby', 0, %s, %s, %s)",
                    (number, f"of {owner}", head, link, owner),
                )
        with pytest.raises(psycopg.errors.UniqueViolation):
            db.execute("INSERT INTO entry SELECT * FROM entry")
    found = faults(read_history(database.url), ClientNotes({}, []))
    assert found == [
        f"entry 1 of of another was written by node {me}, when the lobby was node another's"
    ]
