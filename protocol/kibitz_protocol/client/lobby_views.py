"""Lobbies as a client knows them: each whole once, and every change since put into it."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import LobbyView, MatchBrief, standing_order
from kibitz_protocol.wire.messages import LobbyChanged

_REPLACED = ("state", "round", "spectators", "planned", "done", "void", "stopped", "house_trouble")
"""Fields that a change gives anew; absent ones are as they were."""


class LobbyViews:
    """The lobbies that one connection was told of; `views` are never changed, but replaced."""

    def __init__(self) -> None:
        self.views: dict[str, LobbyView] = {}

    def tell(self, view: LobbyView) -> None:
        """Take a whole lobby in."""
        self.views[view.lobby] = view

    def forget(self, lobby: str) -> None:
        """Forget a lobby that is gone."""
        self.views.pop(lobby, None)

    def change(self, changed: LobbyChanged) -> LobbyView | None:
        """Put a change in; None for a lobby that is not known, whose whole view is to come."""
        view = self.views.get(changed.lobby)
        if view is None:
            return None
        members = {member.player: member for member in [*view.members, *(changed.members or ())]}
        lines = {line.player: line for line in [*view.standings, *(changed.standings or ())]}
        for player in changed.left or ():
            members.pop(player, None)
        for player in changed.unranked or ():
            lines.pop(player, None)
        given = {name: getattr(changed, name) for name in _REPLACED}
        return self._replace(
            view,
            members=sorted(members.values(), key=lambda member: member.seat),
            standings=sorted(lines.values(), key=standing_order),
            **{name: value for name, value in given.items() if value is not None},
        )

    def match_started(self, lobby: str, brief: MatchBrief) -> LobbyView | None:
        """Put a running match in; None for a lobby that is not known."""
        view = self.views.get(lobby)
        if view is None:
            return None
        others = [other for other in view.live if other.match != brief.match]
        return self._replace(view, live=[*others, brief])

    def match_ended(self, lobby: str, match: str) -> LobbyView | None:
        """Take a match out that is over; None for a lobby that is not known."""
        view = self.views.get(lobby)
        if view is None:
            return None
        return self._replace(view, live=[brief for brief in view.live if brief.match != match])

    def _replace(self, view: LobbyView, **fields: object) -> LobbyView:
        changed = view.model_copy(update=fields)
        self.views[view.lobby] = changed
        return changed
