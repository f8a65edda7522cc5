"""Who is connected to a lobby, since when members are away, and since when nobody is here. Pure.

None of it is in the log: it does not outlive the server. Times are the caller's monotonic
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable


class Presence:
    """The connections of one lobby's members, host and spectators."""

    __slots__ = ("_away", "_connected", "_empty_since")

    def __init__(self, members: Iterable[str], now: int) -> None:
        """Nobody is connected yet: every member has been away since `now`."""
        self._connected: set[str] = set()
        self._away = dict.fromkeys(members, now)
        """Since when each member that is not connected has been away."""
        self._empty_since: int | None = now
        """Since when nobody but house bots is connected; None while somebody is."""

    @property
    def connected(self) -> Collection[str]:
        """The keys of everybody who is connected."""
        return self._connected

    def arrive(self, player: str) -> None:
        """`player` has a connection."""
        self._connected.add(player)
        self._away.pop(player, None)

    def depart(self, player: str, now: int, *, member: bool) -> None:
        """`player` has no connection any more; a member is waited for."""
        self._connected.discard(player)
        if member:
            self._away.setdefault(player, now)

    def remove(self, player: str) -> None:
        """`player` is a member no longer, so it is not waited for; its connection may stay."""
        self._away.pop(player, None)

    def disconnect(self, player: str) -> None:
        """`player` left, or was removed: its connection does not count any more."""
        self._connected.discard(player)

    def clear_absences(self) -> None:
        """Wait for nobody any more: the lobby is closed."""
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
        """Return when nobody will have been here for `idle_ms`; None while somebody is here."""
        return None if self._empty_since is None else self._empty_since + idle_ms
