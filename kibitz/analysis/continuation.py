"""Plays a match to its end with bots in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kibitz.analysis.seated_bot import SeatedBot
from kibitz_protocol.wire.records import Cause, Entry, Forfeited, Moved, Result
from kibitz_server.match.state import MatchState


def play_on(match: MatchState, bots: Mapping[int, SeatedBot]) -> tuple[Result, list[Entry]]:
    """Play `match` to its end in place; return the result and the new entries.

    `bots` has one for every seat still playing. A bot forfeits its seat at once if it raises an
    error or does not answer with a legal move; a server may allow more attempts. Clocks do not run.
    """
    entries: list[Entry] = []
    while match.result is None:
        entry = _next_entry(match, bots[match.to_act])
        match.apply(entry)
        entries.append(entry)
    return match.result, entries


def faults(entries: Iterable[Entry]) -> list[Forfeited]:
    """Return the forfeit entries of bots that failed."""
    return [entry for entry in entries if isinstance(entry, Forfeited)]


def _next_entry(match: MatchState, bot: SeatedBot) -> Entry:
    try:
        action, comment = bot.answer(match)
    except Exception as error:  # noqa: BLE001 - a bot may raise anything
        return _forfeit(match, Cause.CRASH, f"{type(error).__name__}: {error}")
    try:
        match.decode(action)
    except ValueError as error:
        return _forfeit(match, Cause.ILLEGAL, str(error))
    return Moved(
        seq=match.seq + 1,
        at_ms=match.at_ms,
        ply=match.ply,
        seat=match.to_act,
        action=action,
        wait_ms=match.at_ms - match.turn_at,
        id=match.ply + 1,
        comment=comment,
    )


def _forfeit(match: MatchState, cause: Cause, detail: str) -> Forfeited:
    line = " ".join(detail.split())[:200]
    return Forfeited(
        seq=match.seq + 1, at_ms=match.at_ms, seat=match.to_act, cause=cause, detail=line
    )
