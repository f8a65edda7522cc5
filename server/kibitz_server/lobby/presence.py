"""The connections to a lobby: who is connected, and how long members have been away. Pure.

It also tracks since when the lobby is empty. None of this is in the log: it does not outlive the
server. Times are the caller's monotonic milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable


class Presence:
    """The connections of one lobby's members, host and spectators."""

    __slots__ = ("_away", "_connected", "_empty_since")

    def __init__(self, members: Iterable[str], now: int) -> None:
        """Start with nobody connected: every member has been away since `now`."""
        self._connected: set[str] = set()
        self._away = dict.fromkeys(members, now)
        """The start of the absence of each member that is not connected."""
        self._empty_since: int | None = now
        """The time since which nobody but house bots is connected, or None."""

    @property
    def connected(self) -> Collection[str]:
        """The keys of everybody who is connected."""
        return self._connected

    def arrive(self, player: str) -> None:
        """Note that `player` has a connection."""
        self._connected.add(player)
        self._away.pop(player, None)

    def depart(self, player: str, now: int, *, member: bool) -> None:
        """Note that `player` has no connection any more; a member keeps its seat for a grace."""
        self._connected.discard(player)
        if member:
            self._away.setdefault(player, now)

    def remove(self, player: str) -> None:
        """Note that `player` is no longer a member: its absence ends, and its connection may
        stay."""
        self._away.pop(player, None)

    def disconnect(self, player: str) -> None:
        """Note that `player` left or was removed: its connection no longer counts."""
        self._connected.discard(player)

    def clear_absences(self) -> None:
        """Forget all absences: the lobby is closed."""
        self._away.clear()

    def overdue(self, now: int, grace_ms: int) -> list[str]:
        """Return the members that have been away for `grace_ms` or longer."""
        return [player for player, since in self._away.items() if now >= since + grace_ms]

    def first_overdue(self, grace_ms: int) -> int | None:
        """Return when the next member will have been away for `grace_ms`."""
        return min((since + grace_ms for since in self._away.values()), default=None)

    def note_visitors(self, is_house_bot: Callable[[str], bool], now: int) -> None:
        """Note whether anybody but house bots is connected at `now`."""
        for player in self._connected:
            if not is_house_bot(player):
                self._empty_since = None
                return
        if self._empty_since is None:
            self._empty_since = now

    def empty_for(self, idle_ms: int) -> int | None:
        """Return when the lobby will have been empty for `idle_ms`, None while it is not empty."""
        return None if self._empty_since is None else self._empty_since + idle_ms
