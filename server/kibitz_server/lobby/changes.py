"""The changes of a lobby since the last news to its followers. Pure.

Every follower of a lobby has received all of it once, and every change since. A change gives the
new value and not the difference, so receiving it twice does no harm. Running matches are not
included: `match_started` and `match_ended` announce them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kibitz_protocol.wire.messages import LobbyChanged
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.lobby.seats import SeatedMember
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.views import house_trouble, member, ranked_players

_NOTHING = {name: field.default for name, field in LobbyChanged.model_fields.items()}
"""The fields of empty news; `construct` needs all of them."""
_COUNTS = ("state", "round", "spectators", "planned", "done", "void", "stopped")


class ToldLobby:
    """The parts of one lobby that its followers have received.

    Of members and of lines of the table it keeps just enough to detect changes.
    """

    __slots__ = ("_counts", "_members", "_played", "_trouble")

    def __init__(self) -> None:
        """Start with nothing sent."""
        self._counts: tuple[object, ...] = (None,) * len(_COUNTS)
        self._members: dict[str, tuple[SeatedMember, bool]] = {}
        self._played: dict[str, tuple[int, int]] = {}
        """The round of each line of the table, and the number of its matches."""
        self._trouble: tuple[object, ...] = ()

    def take_changes(
        self, state: LobbyState, connected: Collection[str], spectators: int
    ) -> LobbyChanged | None:
        """Return the changes, which count as sent now, or None."""
        changes = self._changed_counts(state, spectators)
        changes |= self._changed_members(state, connected)
        changes |= self._changed_standings(state)
        changes |= self._changed_trouble(state)
        if not changes:
            return None
        return construct(LobbyChanged, _NOTHING | {"lobby": state.id} | changes)

    def _changed_counts(self, state: LobbyState, spectators: int) -> dict[str, Any]:
        progress = (state.round.planned, state.round.done, state.round.void, state.round.stopped)
        counts = (state.phase, state.round.number, spectators, *progress)
        former, self._counts = self._counts, counts
        return {
            name: now
            for name, now, before in zip(_COUNTS, counts, former, strict=True)
            if now != before
        }

    def _changed_members(self, state: LobbyState, connected: Collection[str]) -> dict[str, Any]:
        before = self._members
        present = self._members = {
            player: (seated, player in connected) for player, seated in state.seats.members.items()
        }
        if before == present:
            return {}
        left = [player for player in before if player not in present]
        changed = [
            member(seated, connected)
            for player, (seated, here) in present.items()
            if before.get(player) != (seated, here)
        ]
        return _without_empty(members=changed, left=left)

    def _changed_standings(self, state: LobbyState) -> dict[str, Any]:
        table, before = state.round.standings, self._played
        ranked = {ranked_player.player: ranked_player for ranked_player in ranked_players(state)}
        played = self._played = {
            player: (state.round.number, table.played(player)) for player in ranked
        }
        if before == played:
            return {}
        changed = [ranked[player] for player in ranked if before.get(player) != played[player]]
        unranked = [player for player in before if player not in played]
        return _without_empty(standings=table.lines(changed), unranked=unranked)

    def _changed_trouble(self, state: LobbyState) -> dict[str, Any]:
        failures = (*state.seats.failures.items(), *state.seats.abandoned)
        if failures == self._trouble:
            return {}
        self._trouble = failures
        return {"house_trouble": house_trouble(state)}


def _without_empty(**lists: list[Any]) -> dict[str, Any]:
    return {name: values for name, values in lists.items() if values}
