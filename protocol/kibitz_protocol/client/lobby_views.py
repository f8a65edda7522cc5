"""Lobbies as a client knows them: a full copy of each with every later change applied."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import LobbyView, MatchBrief, standing_order
from kibitz_protocol.wire.messages import LobbyChanged

_REPLACED = ("state", "round", "spectators", "planned", "done", "void", "stopped", "house_trouble")
"""Fields that a change replaces; absent ones are unchanged."""


class LobbyViews:
    """The lobbies that one connection has received; `views` are replaced, never modified."""

    def __init__(self) -> None:
        self.views: dict[str, LobbyView] = {}

    def tell(self, view: LobbyView) -> None:
        """Store a whole lobby."""
        self.views[view.lobby] = view

    def forget(self, lobby: str) -> None:
        """Forget a lobby that is gone."""
        self.views.pop(lobby, None)

    def change(self, changed: LobbyChanged) -> LobbyView | None:
        """Apply a change; None for an unknown lobby, whose whole view is yet to come."""
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
        """Add a running match; None for an unknown lobby."""
        view = self.views.get(lobby)
        if view is None:
            return None
        others = [other for other in view.live if other.match != brief.match]
        return self._replace(view, live=[*others, brief])

    def match_ended(self, lobby: str, match: str) -> LobbyView | None:
        """Remove a finished match; None for an unknown lobby."""
        view = self.views.get(lobby)
        if view is None:
            return None
        return self._replace(view, live=[brief for brief in view.live if brief.match != match])

    def _replace(self, view: LobbyView, **fields: object) -> LobbyView:
        changed = view.model_copy(update=fields)
        self.views[view.lobby] = changed
        return changed
