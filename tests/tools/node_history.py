"""The history that several nodes have written, and its checker.

The log does not record the writers of entries. So each node connects to the database with its own
role. When a transaction commits, a trigger (`witness`) records the writer of each entry and the
current owner of the lobby. A deferred trigger runs while the transaction still holds its locks, so
for each lobby the notes are in commit order.

`faults` compares the log with these notes and with the clients' own notes. A fault is one of these:

* a stream has a gap, or its hash chain is broken;
* a node wrote an entry although it did not own the lobby, or after another node had taken it over;
* a committed entry is missing, or an entry exists that was never committed;
* an acknowledged move is lost, duplicated, changed or out of order (`audit`);
* a seat was charged more for a move than its player's thinking time;
* a match did not end by the rules of its game.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_protocol.wire.records import Cause, Entry, Footer, Moved
from kibitz_server.match.record import read_entry
from tests.tools.log_audit import Observation, audit

SLACK_MS = 2_500
"""The maximum excess of a charge over the player's own measurement, for messages in transit."""
_WITNESS = """
CREATE SCHEMA witness;
CREATE TABLE witness.written (
    place bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    author text NOT NULL DEFAULT session_user, owner text, stream bigint NOT NULL, seq int NOT NULL
);
CREATE FUNCTION witness.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO witness.written (stream, seq, owner) SELECT NEW.stream, NEW.seq, lobby.node
        FROM kibitz.stream JOIN kibitz.stream AS lobby
        ON lobby.key = coalesce(stream.owner, stream.key) WHERE stream.number = NEW.stream;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON kibitz.entry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION witness.note()
"""
_STREAMS = """
SELECT number, key, kind, coalesce(owner, key), state, head, link, footer
FROM kibitz.stream ORDER BY number"""
_ENTRIES = "SELECT stream, seq, encode(link, 'hex'), line FROM kibitz.entry ORDER BY stream, seq"
_WRITTEN = """
SELECT stream, seq, author, owner, extract(epoch FROM at) FROM witness.written ORDER BY place"""


@dataclass(frozen=True)
class StoredEntry:
    """A row of an entry: its number, its link in the hash chain, its line."""

    seq: int
    link: str
    line: bytes


@dataclass(frozen=True)
class StreamLog:
    """A stream as stored in the database."""

    key: str
    kind: str
    lobby: str
    state: str
    head: bytes
    link: str
    """The chain's link at the head."""
    footer: bytes | None = None
    entries: Sequence[StoredEntry] = ()


@dataclass(frozen=True)
class Written:
    """A committed entry: its writer, time (UTC in seconds), and the lobby's owner then."""

    stream: str
    seq: int
    author: str
    owner: str | None
    at: float = 0.0


@dataclass(frozen=True)
class NodeHistory:
    """All streams by key, and every committed entry, in order for each lobby."""

    streams: Mapping[str, StreamLog]
    written: Sequence[Written]

    def entry(self, each: Written) -> StoredEntry | None:
        """Return a committed entry, None if it is missing."""
        entries = self.streams[each.stream].entries
        found = entries[each.seq - 1] if each.seq <= len(entries) else None
        return found if found is not None and found.seq == each.seq else None

    def take_overs(self) -> Iterator[tuple[str, str, float]]:
        """Yield the lobby, new owner and time of every takeover."""
        for each in self.written:
            taker = self._taker(each)
            if taker is not None:
                yield each.stream, taker, each.at

    def _taker(self, each: Written) -> str | None:
        entry = self.entry(each)
        return None if entry is None else _taker(self.streams[each.stream], entry.line)


@dataclass
class ClientNotes:
    """The clients' notes about the matches."""

    seats: Mapping[str, Sequence[str]]
    """The players of each match, in seat order."""
    observed: Sequence[Observation]
    thought_ms: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """The time from the announcement of a turn to the player's move, by match and ply."""


def install_witness(url: str) -> None:
    """Start to record the writers of entries. The tables must exist."""
    with psycopg.connect(url) as db:
        db.execute(_WITNESS)


def read_history(url: str) -> NodeHistory:
    """Return the history from a consistent snapshot of the database."""
    with psycopg.connect(url) as db:
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        rows = db.execute(_STREAMS).fetchall()
        entries: dict[int, list[StoredEntry]] = {}
        for number, seq, link, line in db.execute(_ENTRIES):
            entries.setdefault(number, []).append(StoredEntry(seq, link, bytes(line)))
        written = db.execute(_WRITTEN).fetchall()
    streams = {
        number: StreamLog(
            key, kind, lobby, state, bytes(head), link, footer, entries.get(number, ())
        )
        for number, key, kind, lobby, state, head, link, footer in rows
    }
    return NodeHistory(
        {stream.key: stream for stream in streams.values()},
        [
            Written(streams[number].key, seq, author, owner, float(at))
            for number, seq, author, owner, at in written
        ],
    )


def faults(history: NodeHistory, notes: ClientNotes) -> list[str]:
    """Return one sentence per fault; an empty result means that the history is consistent."""
    logs = {
        key: list(_readable(stream.entries))
        for key, stream in history.streams.items()
        if stream.kind == "match" and key in notes.seats
    }
    return [
        *(fault for stream in history.streams.values() for fault in _broken(stream)),
        *_foreign(history),
        *_unwitnessed(history),
        *audit(logs, notes.seats, notes.observed),
        *(fault for key, log in logs.items() for fault in _overcharged(key, log, notes)),
        *(fault for stream in history.streams.values() for fault in _badly_ended(stream)),
    ]


def _readable(entries: Iterable[StoredEntry]) -> Iterator[Entry]:
    for each in entries:
        yield read_entry(each.line)


def _broken(stream: StreamLog) -> Iterator[str]:
    link = chain_hash(EMPTY_CHAIN, stream.head)
    if link != stream.link:
        yield f"the head of {stream.key} is not as it was written"
    for seq, entry in enumerate(stream.entries, 1):
        link = chain_hash(link, entry.line)
        if entry.seq != seq or entry.link != link:
            yield f"the history of {stream.key} is broken at {seq}"
            return


def _taker(stream: StreamLog, line: bytes) -> str | None:
    """Return the node that takes over a lobby with this entry, None for other entries."""
    if stream.kind != "lobby":
        return None
    entry = json.loads(line)
    return str(entry["node"]) if entry["kind"] == "taken_over" else None


def _foreign(history: NodeHistory) -> Iterator[str]:
    owners: dict[str, str] = {}
    for each in history.written:
        stream, entry = history.streams[each.stream], history.entry(each)
        what = f"entry {each.seq} of {each.stream} was written by node {each.author}"
        taker = None if entry is None else _taker(stream, entry.line)
        owner = owners.setdefault(stream.lobby, each.author)
        if taker is not None and taker != each.author:
            yield f"{what} and says that {taker} has taken the lobby"
        elif taker is not None:
            owners[stream.lobby] = taker
        elif owner != each.author:
            yield f"{what}, when {owner} had taken the lobby"
        if each.owner != each.author:
            yield f"{what}, when the lobby was node {each.owner}'s"


def _unwitnessed(history: NodeHistory) -> Iterator[str]:
    stored = Counter(
        (key, each.seq) for key, stream in history.streams.items() for each in stream.entries
    )
    committed = Counter((each.stream, each.seq) for each in history.written)
    for key, seq in committed - stored:
        yield f"entry {seq} of {key} was committed but is missing"
    for key, seq in stored - committed:
        yield f"entry {seq} of {key} exists but was never committed"


def _overcharged(match: str, log: Iterable[Entry], notes: ClientNotes) -> Iterator[str]:
    for entry in log:
        if isinstance(entry, Moved) and (match, entry.ply) in notes.thought_ms:
            thought_ms = notes.thought_ms[match, entry.ply]
            if entry.elapsed_ms > thought_ms + SLACK_MS:
                yield (
                    f"match {match}: ply {entry.ply} was charged {entry.elapsed_ms} ms,"
                    f" its player thought for {thought_ms:.0f} ms"
                )


def _badly_ended(stream: StreamLog) -> Iterator[str]:
    if stream.kind == "match" and stream.state == "closed" and stream.footer is not None:
        result = Footer.model_validate_json(stream.footer).result
        if result.cause is not Cause.RULES:
            yield f"match {stream.key} ended by {result.cause}"
    elif stream.state not in {"open", "closed"}:
        yield f"{stream.kind} {stream.key} is {stream.state}"
