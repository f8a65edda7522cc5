"""Audit of a log: compares what clients saw with the log, in one pass.

Clients keep a history of the moves they sent, the acknowledgments, refusals and missing answers,
and the events they were shown. `audit` merges the histories of all clients with the final entries
of the matches and reports every contradiction:

1. every acknowledged move is in the log exactly once, with the acknowledged number and the action
   that was sent;
2. the log's numbers have no gaps;
3. the log contains no refused moves and no moves that were never sent;
4. a move sent after another was acknowledged is later in the log;
5. every viewer saw consecutive numbers, and each entry as in the log or hidden.

An empty result means that no acknowledged move was lost, duplicated or changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kibitz_protocol.wire.records import Entry, Forfeited, Hidden, Moved
from kibitz_protocol.wire.values import Scalar


@dataclass(frozen=True, slots=True)
class Sent:
    """A client sent or resent a move. All histories share the clock of `at`."""

    match: str
    player: str
    id: int
    ply: int
    action: Mapping[str, Scalar]
    at: float


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The server answered the move `id` with `done` and the log's number `seq`."""

    match: str
    player: str
    id: int
    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class Declined:
    """The server refused the move `id`."""

    match: str
    player: str
    id: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A viewer was shown an entry; `since` is the number of the preceding snapshot."""

    match: str
    viewer: str
    since: int
    entry: Entry


Observation: TypeAlias = Sent | Acknowledged | Declined | Shown


@dataclass(slots=True)
class _History:
    """The observations of one match, sorted by kind."""

    sent: dict[tuple[str, int], Sent] = field(default_factory=dict)
    acknowledged: dict[tuple[str, int], Acknowledged] = field(default_factory=dict)
    declined: set[tuple[str, int]] = field(default_factory=set)
    shown: list[Shown] = field(default_factory=list)


def audit(
    logs: Mapping[str, Sequence[Entry]],
    seats: Mapping[str, Sequence[str]],
    observations: Iterable[Observation],
) -> list[str]:
    """Return one sentence per contradiction.

    `logs` maps matches to all their entries, `seats` to their players in seat order.
    """
    histories = _sort(observations)
    faults = [f"match {match} was seen but has no log" for match in histories if match not in logs]
    for match, entries in logs.items():
        history = histories.get(match, _History())
        faults += (f"match {match}: {fault}" for fault in _faults(entries, seats[match], history))
    return faults


def _sort(observations: Iterable[Observation]) -> dict[str, _History]:
    histories: dict[str, _History] = {}
    for seen in observations:
        history = histories.setdefault(seen.match, _History())
        match seen:
            case Sent():
                history.sent.setdefault((seen.player, seen.id), seen)
            case Acknowledged():
                history.acknowledged.setdefault((seen.player, seen.id), seen)
            case Declined():
                history.declined.add((seen.player, seen.id))
            case Shown():
                history.shown.append(seen)
    return histories


def _faults(entries: Sequence[Entry], seats: Sequence[str], history: _History) -> Iterator[str]:
    yield from _holes(entries)
    moves = {
        entry.seq: (seats[entry.seat], entry)
        for entry in entries
        if isinstance(entry, Moved) and entry.id is not None
    }
    yield from _unsent(moves, history)
    yield from _lost(moves, history)
    yield from _disorder(moves, history)
    yield from _missed(entries, history.shown)


def _holes(entries: Sequence[Entry]) -> Iterator[str]:
    for number, entry in enumerate(entries, start=1):
        if entry.seq != number:
            yield f"entry {number} of the log has the number {entry.seq}"
            return


def _unsent(moves: Mapping[int, tuple[str, Moved]], history: _History) -> Iterator[str]:
    logged: dict[tuple[str, int], int] = {}
    for seq, (player, move) in moves.items():
        assert move.id is not None
        key = (player, move.id)
        if key in logged:
            yield f"move {move.id} of {player} is in the log twice, at {logged[key]} and {seq}"
        logged[key] = seq
        if key in history.declined and key not in history.acknowledged:
            yield f"move {move.id} of {player} was refused but is in the log at {seq}"
        sent = history.sent.get(key)
        if sent is None:
            yield f"entry {seq} is a move of {player} that was never sent"
        elif dict(sent.action) != move.action or sent.ply != move.ply:
            yield f"entry {seq} is not the move {move.id} that {player} sent"


def _lost(moves: Mapping[int, tuple[str, Moved]], history: _History) -> Iterator[str]:
    for (player, request), seen in history.acknowledged.items():
        move = moves.get(seen.seq)
        if move is None or move[0] != player or move[1].id != request:
            yield f"move {request} of {player} was acknowledged as {seen.seq} but is missing"


def _disorder(moves: Mapping[int, tuple[str, Moved]], history: _History) -> Iterator[str]:
    latest = 0.0
    for seq in sorted(moves, reverse=True):
        # Going backwards, `latest` is the earliest time at which a later move was acknowledged;
        # this move must have been sent before.
        player, move = moves[seq]
        assert move.id is not None
        acknowledged = history.acknowledged.get((player, move.id))
        sent = history.sent.get((player, move.id))
        if sent is not None and latest and sent.at > latest:
            yield f"move {move.id} of {player} was sent after a later entry was acknowledged"
        if acknowledged is not None:
            latest = min(latest, acknowledged.at) if latest else acknowledged.at


def _missed(entries: Sequence[Entry], shown: Iterable[Shown]) -> Iterator[str]:
    last: dict[str, int] = {}
    for seen in shown:
        seq = seen.entry.seq
        expected = max(last.get(seen.viewer, 0), seen.since) + 1
        if seq != expected:
            yield f"{seen.viewer} was shown entry {seq} when {expected} was due"
        last[seen.viewer] = seq
        if not 1 <= seq <= len(entries):
            yield f"{seen.viewer} was shown entry {seq}, which the log does not have"
        elif not _same(seen.entry, entries[seq - 1]):
            yield f"{seen.viewer} was shown an entry {seq} that is not the log's"


def _same(shown: Entry, logged: Entry) -> bool:
    if isinstance(shown, Hidden):
        return True
    # A comment may be missing because only spectators see it during the match, and so may the
    # detail of a forfeit in a game with hidden information.
    ignored = {"comment", "id"}
    if isinstance(shown, Forfeited) and not shown.detail:
        ignored.add("detail")
    return shown.model_dump(exclude=ignored) == logged.model_dump(exclude=ignored)
