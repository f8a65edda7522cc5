"""The running and recently finished matches and lobbies of a server, and their players."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from kibitz_protocol.wire.lobbies import MatchBrief, ReservedSeat
from kibitz_server.lobby.commands import VacateSeat
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.views import lobby_brief
from kibitz_server.match import lifecycle
from kibitz_server.match.commands import Leave
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.storage.streams import CallWaiter

MAX_RECENTLY_FINISHED = 256
"""The number of finished matches that stay in memory."""
MAX_FINISHED_LISTED = 50
"""The number of finished matches in lists."""


class Registry:
    """Finds matches and lobbies by key and by player."""

    def __init__(self) -> None:
        self.draining = False
        """Whether the server is shutting down, so that nothing starts or is reloaded."""
        self.matches: dict[str, MatchRunner] = {}
        self.lobbies: dict[str, LobbyRunner] = {}
        self.recently_finished: OrderedDict[str, MatchRunner] = OrderedDict()
        """Recently finished matches, which can still answer resent moves."""
        self.closing: dict[str, LobbyRunner] = {}
        """Closed lobbies whose end is not on disk yet."""
        self._finished_briefs: dict[bool, deque[MatchBrief]] = {
            listed: deque(maxlen=MAX_FINISHED_LISTED) for listed in (True, False)
        }
        """The list entries of the last finished matches, oldest first: those of listed lobbies
        under True, all others under False.
        """
        self.ended_here: deque[MatchBrief] = deque(maxlen=MAX_FINISHED_LISTED)
        """The list entries of finished matches that were played on this node, in listed lobbies."""
        self._memberships: dict[str, tuple[str, ...]] = {}
        """The lobbies that each player hosts or is a member of; tuples, because small sets waste
        memory.
        """
        self._insiders: dict[str, tuple[str, ...]] = {}
        """The host and members of each lobby, as of its last entry that changed them."""
        self._expected: dict[str, tuple[str, ...]] = {}
        """The lobbies with a seat reserved for each player."""
        self._seats: dict[str, tuple[str, ...]] = {}
        """The running matches in which each player has or had a seat."""

    def runner(self, key: str) -> MatchRunner | LobbyRunner | None:
        """Return the runner of a running match or an open lobby."""
        return self.matches.get(key) or self.lobbies.get(key)

    # --- matches ----------------------------------------------------------------------------

    def add_match(self, match: MatchRunner) -> None:
        """Add a running match, or replace it after a reload."""
        self.matches[match.key] = match
        for player in match.engine.state.players:
            self.add_seat(player.player, match)

    def remove_match(self, match: MatchRunner) -> None:
        """Remove a match that no longer runs, with its players' seats."""
        self.matches.pop(match.key, None)
        state = match.engine.state
        for player in {seated.player for seated in (*state.players, *state.setup.seats)}:
            self.remove_seat(player, match)
        for peer in match.peers():
            peer.subscriptions.pop(match.key, None)

    def find_match(self, key: str) -> MatchRunner | None:
        """Return a match that is running or has just finished."""
        return self.matches.get(key) or self.recently_finished.get(key)

    def add_seat(self, player: str, match: MatchRunner) -> None:
        """Record that a player has a seat in a running match."""
        _add(self._seats, player, match.key)

    def remove_seat(self, player: str, match: MatchRunner) -> None:
        """Record that a player no longer has a seat in a running match."""
        _discard(self._seats, player, match.key)

    def seats_outside(self, player: str, lobby: str) -> int:
        """Return in how many running matches of other lobbies a player has a seat."""
        mine = f"{lobby}-"
        return sum(not key.startswith(mine) for key in self._seats.get(player, ()))

    def matches_of(self, player: str) -> list[MatchRunner]:
        """Return the running matches in which a player has or had a seat."""
        keys = sorted(self._seats.get(player, ()))
        return [self.matches[key] for key in keys if key in self.matches]

    def house_bot_ended(self, player: str, last_words: str) -> None:
        """Notify a house bot's matches that its process has ended; pass them its last output."""
        for match in self.matches_of(player):
            lifecycle.house_bot_ended(match, player, last_words)

    def vacate_seat(self, vacate: VacateSeat) -> None:
        """Take a player out of a running match."""
        match = self.matches.get(vacate.match)
        seat = None if match is None else seat_in(match.engine.state.players, vacate.player)
        if match is not None and seat is not None:
            match.command(Leave(seat, vacate.reason))

    def keep_finished(self, match: MatchRunner) -> None:
        """Keep a finished match for a while."""
        self.recently_finished[match.key] = match
        if len(self.recently_finished) > MAX_RECENTLY_FINISHED:
            self.recently_finished.popitem(last=False)

    def note_finished(self, brief: MatchBrief, *, listed: bool) -> None:
        """Record the list entry of a finished match; unless `listed`, only its lobby shows it."""
        self._finished_briefs[listed].append(brief)

    def finished_briefs(self, lobby: str | None) -> list[MatchBrief]:
        """Return the last finished matches, newest first: of a lobby, or all that are public."""
        if lobby is None:
            return list(reversed(self._finished_briefs[True]))
        return [
            brief
            for briefs in self._finished_briefs.values()
            for brief in reversed(briefs)
            if brief.lobby == lobby
        ]

    def forget_matches(self, keys: Collection[str]) -> None:
        """Remove matches that were deleted from disk from all lists."""
        for briefs in self._finished_briefs.values():
            kept = [brief for brief in briefs if brief.match not in keys]
            if len(kept) < len(briefs):
                briefs.clear()
                briefs.extend(kept)
        self.ended_here = deque(
            (brief for brief in self.ended_here if brief.match not in keys), MAX_FINISHED_LISTED
        )
        for key in keys:
            self.recently_finished.pop(key, None)

    def plies(self, matches: Sequence[str]) -> Mapping[str, int]:
        """Return the plies of running matches, from a spectator's point of view."""
        return {key: self.matches[key].shown.ply for key in matches if key in self.matches}

    # --- lobbies ----------------------------------------------------------------------------

    def add_lobby(self, lobby: LobbyRunner) -> None:
        """Add a lobby with its host and members, or replace it after a reload."""
        self.lobbies[lobby.key] = lobby
        self.update_memberships(lobby)
        for player in _kept_for(lobby):
            _add(self._expected, player, lobby.key)

    def remove_lobby(self, lobby: LobbyRunner) -> None:
        """Remove a lobby that is closed, or that cannot continue."""
        self.lobbies.pop(lobby.key, None)
        for player in self._insiders.pop(lobby.key, ()):
            _discard(self._memberships, player, lobby.key)
        for player in _kept_for(lobby):
            _discard(self._expected, player, lobby.key)
        for peer in lobby.news.followers():
            peer.subscriptions.pop(lobby.key, None)

    def close_lobby(self, lobby: LobbyRunner) -> None:
        """Close the log of a closed lobby, after the announcement."""
        self.remove_lobby(lobby)
        brief = lobby_brief(lobby.engine.state).model_dump_json().encode()
        self.closing[lobby.key] = lobby
        forget = CallWaiter(lambda _: self.closing.pop(lobby.key, None))
        lobby.context.store.finish(lobby.stream, None, brief, forget)

    def update_memberships(self, lobby: LobbyRunner) -> None:
        """Update a lobby's host and members after an entry that changed them.

        Players who have left are removed only when their departure is on disk.
        """
        if self.lobbies.get(lobby.key) is not lobby:
            return
        former = self._insiders.get(lobby.key, ())
        now = tuple(dict.fromkeys((*lobby.engine.state.insiders(), *lobby.shown.insiders())))
        for player in set(former).difference(now):
            _discard(self._memberships, player, lobby.key)
        for player in now:
            _add(self._memberships, player, lobby.key)
        self._insiders[lobby.key] = now

    @property
    def begun_matches(self) -> int:
        """How many unfinished matches the lobbies have begun, in memory or still to be created."""
        return sum(len(lobby.engine.state.round.running) for lobby in self.lobbies.values())

    def lobbies_of(self, player: str) -> list[LobbyRunner]:
        """Return the lobbies that a player hosts or is a member of."""
        keys = sorted(self._memberships.get(player, ()))
        return [self.lobbies[key] for key in keys if key in self.lobbies]

    def lobby_of(self, match: MatchRunner) -> LobbyRunner | None:
        """Return the lobby of a match, or None."""
        return self.lobbies.get(match.engine.state.setup.lobby or "")

    def is_busy(self, player: str) -> bool:
        """Return whether a player has a seat or a lobby."""
        return bool(self._memberships.get(player) or self._seats.get(player))

    def is_expected(self, player: str) -> bool:
        """Return whether a lobby has a seat reserved for a player."""
        return player in self._expected


def _kept_for(lobby: LobbyRunner) -> Iterator[str]:
    """Yield the keys of the players for whom a lobby reserves seats."""
    for spec in lobby.engine.state.settings.seats:
        if isinstance(spec, ReservedSeat) and spec.player is not None:
            yield spec.player


def _add(keys_of: dict[str, tuple[str, ...]], player: str, key: str) -> None:
    keys = keys_of.get(player, ())
    if key not in keys:
        keys_of[player] = (*keys, key)


def _discard(keys_of: dict[str, tuple[str, ...]], player: str, key: str) -> None:
    kept = tuple(other for other in keys_of.get(player, ()) if other != key)
    if kept:
        keys_of[player] = kept
    else:
        keys_of.pop(player, None)
