"""The changes in the hall between two moments. Pure.

The invariant is that of `kibitz_protocol.client.hall_view`: the hall before with the change applied
equals the hall after.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from kibitz_protocol.client.hall_view import brief_key
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import HallChanged, HallNews

_B = TypeVar("_B", LobbyBrief, MatchBrief)


def hall_change(before: HallNews, after: HallNews) -> HallChanged | None:
    """Return the change from `before` to `after`, or None if they are equal."""
    matches, plies = _match_changes(before.matches, after.matches)
    tables = {table.game: table for table in before.ladders}
    games = {table.game for table in after.ladders}
    changes: dict[str, Any] = {
        "lobbies": _new(before.lobbies, after.lobbies),
        "lobbies_gone": _gone(before.lobbies, after.lobbies),
        "matches": matches,
        "plies": plies,
        "matches_gone": _gone(before.matches, after.matches),
        "finished": _new(before.finished, after.finished),
        "finished_gone": _gone(before.finished, after.finished),
        "ladders": [table for table in after.ladders if table != tables.get(table.game)],
        "ladders_gone": [game for game in tables if game not in games],
    }
    made = {name: change for name, change in changes.items() if change}
    for name in ("lobbies_in_all", "matches_in_all"):
        if getattr(before, name) != getattr(after, name):
            made[name] = getattr(after, name)
    return HallChanged(**made) if made else None


def _match_changes(
    before: Iterable[MatchBrief], after: Iterable[MatchBrief]
) -> tuple[list[MatchBrief], dict[str, int]]:
    """Return the matches that are new or changed, and the plies of those with only a new ply."""
    known = {brief.match: brief for brief in before}
    changed: list[MatchBrief] = []
    plies: dict[str, int] = {}
    for brief in after:
        former = known.get(brief.match)
        if former is brief:
            continue
        if former is None or not _differs_in_ply_only(former, brief):
            changed.append(brief)
        elif former.ply != brief.ply:
            plies[brief.match] = brief.ply
    return changed, plies


def _differs_in_ply_only(one: MatchBrief, other: MatchBrief) -> bool:
    """Return whether two briefs are equal, except perhaps in the ply."""
    # As dicts, whose comparison passes over values that are the same object, which most are.
    return one.__dict__ | {"ply": 0} == other.__dict__ | {"ply": 0}


def _new(before: Iterable[_B], after: Iterable[_B]) -> list[_B]:
    known = {brief_key(brief): brief for brief in before}
    formers = [(brief, known.get(brief_key(brief))) for brief in after]
    return [brief for brief, former in formers if brief is not former and brief != former]


def _gone(before: Iterable[_B], after: Iterable[_B]) -> list[str]:
    there = {brief_key(brief) for brief in after}
    return [key for key in map(brief_key, before) if key not in there]
