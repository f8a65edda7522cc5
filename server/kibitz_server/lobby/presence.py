"""The connected players of a lobby, and the absences of its members. Pure.

Also tracks how long the lobby has been empty. None of this is logged, so a restart resets it. Times
are the caller's monotonic milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable


class Presence:
    """Tracks which members, hosts and spectators of one lobby are connected."""

    def __init__(self, members: Iterable[str], now: int) -> None:
        """Start with nobody connected and all members absent since `now`."""
        self._connected: set[str] = set()
        self._away = dict.fromkeys(members, now)
        """When each disconnected member became absent."""
        self._empty_since: int | None = now
        """When the last player disconnected, not counting house bots; None if one is connected."""

    @property
    def connected(self) -> Collection[str]:
        """The keys of all connected players."""
        return self._connected

    def arrive(self, player: str) -> None:
        """Note that `player` has a connection."""
        self._connected.add(player)
        self._away.pop(player, None)

    def depart(self, player: str, now: int, *, member: bool) -> None:
        """Note that `player` has lost its last connection; a member's grace period begins."""
        self._connected.discard(player)
        if member:
            self._away.setdefault(player, now)

    def remove(self, player: str) -> None:
        """Forget the absence of a former member, who may still be connected."""
        self._away.pop(player, None)

    def disconnect(self, player: str) -> None:
        """Count a player who left or was removed as disconnected."""
        self._connected.discard(player)

    def clear_absences(self) -> None:
        """Forget all absences, because the lobby is closed."""
        self._away.clear()

    def overdue(self, now: int, grace_ms: int) -> list[str]:
        """Return the members who have been absent for `grace_ms` or longer."""
        return [player for player, since in self._away.items() if now >= since + grace_ms]

    def first_overdue(self, grace_ms: int) -> int | None:
        """Return when the next absence reaches `grace_ms`, or None."""
        return min((since + grace_ms for since in self._away.values()), default=None)

    def note_visitors(self, is_house_bot: Callable[[str], bool], now: int) -> None:
        """Start the idle time if only house bots are connected; otherwise reset it."""
        for player in self._connected:
            if not is_house_bot(player):
                self._empty_since = None
                return
        if self._empty_since is None:
            self._empty_since = now

    def empty_for(self, idle_ms: int) -> int | None:
        """Return when the lobby will have been empty for `idle_ms`, or None if it is not empty."""
        return None if self._empty_since is None else self._empty_since + idle_ms
