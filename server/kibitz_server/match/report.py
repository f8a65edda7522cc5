"""Forensic reports. They are made only from a match's log, so they are identical on the server and
offline.

`directory/archive.py` decides who may read one. A player can read about its own seat, and the
lobby's host about all seats, both only after the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic_core import from_json, to_json

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import YourTurn
from kibitz_protocol.wire.records import (
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Setup,
)
from kibitz_protocol.wire.reports import (
    MAX_NOTE_LINES,
    MAX_TURNS_LISTED,
    MatchReport,
    Received,
    SeatReport,
    Spent,
)
from kibitz_protocol.wire.values import MAX_SAFE_INT
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews

NO_FAULT: Final = frozenset({Cause.RULES, Cause.RESIGNATION})
"""Causes that result from the rules or from a player's decision."""
STATED_BY_BOT: Final = frozenset({Cause.CRASH, Cause.ILLEGAL})
"""Causes that a bot may give when it resigns."""


class NoSuchTurnError(ValueError):
    """The seat had no such turn; the message lists the turns that it had."""


@dataclass
class _Tenure:
    """The period during which a player had a seat."""

    seat: int
    player: Player
    cause: Cause | None
    detail: str
    until: int
    """The number of the last entry of that period."""


def match_report(
    game: Game, setup: Setup, entries: Sequence[Entry], seat: int | None = None
) -> MatchReport:
    """Return the report of a finished match: about the seats at fault, or about `seat`.

    Raises `ValueError` for a running match, and `BrokenLog` for an invalid log.
    """
    match = MatchState.restore(game, setup, entries)
    result = match.result
    if result is None:
        raise ValueError(f"match {setup.match} is not over")
    cases = _tenures(match, setup, entries)
    if seat is None:
        cases = [case for case in cases if case.cause is not None]
    else:
        cases = [case for case in cases if case.seat == seat]
    return MatchReport(
        match=setup.match,
        game=setup.game,
        cause=result.cause,
        reason=result.reason,
        plies=result.plies,
        seats=[_seat_report(game, setup, entries[: case.until], case) for case in cases],
    )


def replay_turn(
    game: Game, setup: Setup, entries: Sequence[Entry], seat: int, ply: int | None = None
) -> tuple[MatchState, YourTurn]:
    """Return the match at a turn of `seat` and the message that announced it.

    The turn is the one at `ply`, or the last one. Raises `NoSuchTurnError`.
    """
    last = _turns(game, setup, entries, seat)
    chosen = [seq for seq, at in last if ply is None or at == ply]
    if not chosen:
        plies = sorted({at for _, at in last})
        had = f"its turns were at plies {_listed_plies(plies)}" if plies else "it never had a turn"
        raise NoSuchTurnError(
            f"seat {seat + 1} had no turn{'' if ply is None else f' at ply {ply}'}; {had}"
        )
    match = MatchState.restore(game, setup, entries[: chosen[-1]])
    return match, MatchViews(match).your_turn()


def _listed_plies(plies: Sequence[int]) -> str:
    shown = ", ".join(map(str, plies[:12]))
    return shown if len(plies) <= 12 else f"{shown}, ..., {plies[-1]}"


def _turns(game: Game, setup: Setup, entries: Sequence[Entry], seat: int) -> list[tuple[int, int]]:
    """Return, for each turn of a seat, the entry that began it and its ply."""
    match = MatchState(game, setup)
    turns = [(0, 0)] if match.to_act == seat else []
    for entry in entries:
        before = match.turn
        match.apply(entry)
        if match.to_act == seat and match.turn != before:
            turns.append((match.seq, match.ply))
    return turns


def _tenures(match: MatchState, setup: Setup, entries: Sequence[Entry]) -> list[_Tenure]:
    """Return, for each seat, the players who had it, and why each of them left."""
    assert match.result is not None
    sitting = list(setup.seats)
    cases = []
    for entry in entries:
        if isinstance(entry, Replaced):
            left = sitting[entry.seat]
            cases.append(_Tenure(entry.seat, left, entry.cause, "replaced", entry.seq))
            sitting[entry.seat] = entry.player
    for seat, ended in enumerate(match.result.seats):
        fault = ended.cause if ended.cause not in NO_FAULT else None
        until = next((e.seq for e in entries if _ends_tenure(e, seat)), len(entries))
        cases.append(_Tenure(seat, sitting[seat], fault, ended.detail, until))
    return sorted(cases, key=lambda case: (case.seat, case.until))


def _ends_tenure(entry: Entry, seat: int) -> bool:
    return isinstance(entry, Forfeited | Resigned) and entry.seat == seat


def _seat_report(game: Game, setup: Setup, entries: Sequence[Entry], case: _Tenure) -> SeatReport:
    refused = [
        _refusal(e) for e in entries if isinstance(e, Noted) and e.seat == case.seat and e.refused
    ]
    ledger = _turn_times(game, setup, entries, case.seat)
    return SeatReport(
        seat=case.seat,
        player=case.player,
        cause=case.cause,
        detail=case.detail,
        sent=_last_turn_message(game, setup, entries, case.seat),
        received=_received(entries, case.seat),
        refused=refused,
        notes=_notes(entries, case.seat),
        ledger=ledger[-MAX_TURNS_LISTED:],
        earlier=max(0, len(ledger) - MAX_TURNS_LISTED),
    )


def _last_turn_message(
    game: Game, setup: Setup, entries: Sequence[Entry], seat: int
) -> dict[str, object] | None:
    try:
        _, turn = replay_turn(game, setup, entries, seat)
    except NoSuchTurnError:
        return None
    message: dict[str, object] = from_json(encode(turn))
    return message


def _received(entries: Sequence[Entry], seat: int) -> Received | None:
    """Return the last entry that a seat's own messages caused; the server makes others."""
    ply, received = 0, None
    for entry in entries:
        match entry:
            case Moved() if entry.seat == seat and entry.id is not None:
                action = to_json(entry.action).decode()
                received = Received(kind="move", ply=entry.ply, at_ms=entry.at_ms, action=action)
            case Noted() if entry.seat == seat and entry.refused is not None:
                received = _refusal(entry)
            case Resigned() if entry.seat == seat:
                received = Received(kind="resign", ply=ply, at_ms=entry.at_ms)
            case Forfeited() if (
                entry.seat == seat
                and entry.cause in STATED_BY_BOT
                and not (
                    received is not None
                    and received.kind == "refused"
                    and received.at_ms == entry.at_ms
                )
            ):
                detail = entry.detail
                received = Received(kind="fault", ply=ply, at_ms=entry.at_ms, detail=detail)
            case _:
                pass
        ply = entry.ply + 1 if isinstance(entry, Moved | Flagged) else ply
    return received


def _refusal(entry: Noted) -> Received:
    refused = entry.refused
    assert refused is not None
    return Received(
        kind="refused",
        ply=refused.ply,
        at_ms=entry.at_ms,
        action=refused.action,
        code=refused.code,
        detail=entry.text,
    )


def _notes(entries: Sequence[Entry], seat: int) -> list[str]:
    texts = [e.text for e in entries if isinstance(e, Noted) and e.seat == seat and not e.refused]
    return "\n".join(texts).splitlines()[-MAX_NOTE_LINES:]


def _turn_times(game: Game, setup: Setup, entries: Sequence[Entry], seat: int) -> list[Spent]:
    match = MatchState(game, setup)
    lines = []
    for entry in entries:
        match.apply(entry)
        if isinstance(entry, Moved | Flagged) and entry.seat == seat:
            lines.append(_turn_time_of(entry, match))
    return lines


def _turn_time_of(entry: Moved | Flagged, match: MatchState) -> Spent:
    clock = None if match.clocks is None else match.clocks[entry.seat]
    allowed = entry.allowance_ms if isinstance(entry, Moved) else 0
    return Spent(
        ply=entry.ply,
        elapsed_ms=entry.elapsed_ms,
        allowance_ms=allowed,
        charged_ms=max(0, entry.elapsed_ms - allowed),
        lag_ms=entry.lag_ms or 0,
        left_ms=None if clock is None else min(MAX_SAFE_INT, clock.main_ms + clock.bank_ms),
        flagged=isinstance(entry, Flagged),
    )
