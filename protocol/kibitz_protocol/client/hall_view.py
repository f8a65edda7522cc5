"""The hall as a client knows it: one full copy with every later change applied. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from kibitz_protocol.wire.lobbies import LadderTable, LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import HallChanged, HallNews

_B = TypeVar("_B", LobbyBrief, MatchBrief)


def apply_hall_change(hall: HallNews, changed: HallChanged) -> HallNews:
    """Return the hall after a change."""
    matches = _put(hall.matches, changed.matches, changed.matches_gone)
    return HallNews(
        lobbies=_put(hall.lobbies, changed.lobbies, changed.lobbies_gone),
        matches=[_at_ply(brief, changed.plies or {}) for brief in matches],
        finished=_put(hall.finished, changed.finished, changed.finished_gone),
        ladders=_put_ladders(hall.ladders, changed),
        lobbies_in_all=_given(changed.lobbies_in_all, hall.lobbies_in_all),
        matches_in_all=_given(changed.matches_in_all, hall.matches_in_all),
    )


def brief_key(brief: LobbyBrief | MatchBrief) -> str:
    """Return the key of the lobby or match in a line of a list."""
    return brief.lobby if isinstance(brief, LobbyBrief) else brief.match


def _put(known: Iterable[_B], new: Iterable[_B] | None, gone: Collection[str] | None) -> list[_B]:
    briefs = {brief_key(brief): brief for brief in known}
    for key in gone or ():
        briefs.pop(key, None)
    briefs.update((brief_key(brief), brief) for brief in new or ())
    return sorted(briefs.values(), key=lambda brief: brief.order or 0, reverse=True)


def _at_ply(brief: MatchBrief, plies: dict[str, int]) -> MatchBrief:
    ply = plies.get(brief.match, brief.ply)
    return brief if ply == brief.ply else brief.model_copy(update={"ply": ply})


def _put_ladders(known: Iterable[LadderTable], changed: HallChanged) -> list[LadderTable]:
    tables = {table.game: table for table in [*known, *(changed.ladders or ())]}
    for game in changed.ladders_gone or ():
        tables.pop(game, None)
    return [tables[game] for game in sorted(tables)]


def _given(new: int | None, old: int) -> int:
    return old if new is None else new
