"""Limits on the growth of a lobby's log. Pure.

Each kind of entry that a client can cause is limited, because a restart reads the whole log.
`BOUNDS` lists the limits. Budgets refill over time and are full after a restart. House bots are not
limited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import entries
from kibitz_server.lobby.commands import Refusal
from kibitz_server.lobby.entries import Entry
from kibitz_server.net.rate_limit import Bucket, RateLimits, SharedBuckets

CHANGES: Final = "lobby_changes"
MATCHES: Final = "lobby_matches"
ARRANGED: Final = "arranged"
BOUNDS: Final[Mapping[type[Entry], str]] = MappingProxyType(
    {
        entries.Joined: CHANGES,
        entries.Readied: CHANGES,
        entries.Rematched: CHANGES,
        entries.Arranged: ARRANGED,
        entries.MatchBegun: MATCHES,
        entries.MatchEnded: "follows an entry `match_begun`",
        entries.Left: "follows an entry `joined`",
        entries.Kicked: "follows an entry `joined`",
        entries.Started: "follows the opening or an entry `rematched`",
        entries.Stopped: "one of a round",
        entries.HouseLost: "`MAX_BOT_FAILURES` of a seat and round",
        entries.Opened: "one of a lobby, and the rate limit on opening lobbies",
        entries.Closing: "one of a lobby",
        entries.Closed: "one of a lobby",
        entries.TakenOver: "written only by the nodes of a cluster",
    }
)
"""The bound of each kind of entry: a field of `RateLimits`, or the reason why it is bounded."""


class LobbyBudget:
    """One lobby's remaining budgets. Times are the caller's monotonic milliseconds."""

    def __init__(self, limits: RateLimits, now: int) -> None:
        self._changes = Bucket(limits.lobby_changes, now / 1000)
        self._players: SharedBuckets[str] = SharedBuckets(limits.lobby_changes_a_player)
        self._matches = Bucket(limits.lobby_matches, now / 1000)
        self._arranged = Bucket(limits.arranged, now / 1000)

    def charge_change(self, player: str, now: int) -> None:
        """Charge a player for one change; raises `Refusal` over the limit."""
        wait_ms = self._changes.wait_ms(1, now / 1000) or self._players.charge(player, now / 1000)
        if wait_ms:
            message = f"too many changes of this lobby, wait {wait_ms} ms"
            raise Refusal(Code.RATE_LIMITED, message, wait_ms)
        self._changes.charge(1, now / 1000)

    def charge_arranged(self, characters: int, now: int) -> None:
        """Charge the host for arranged matches; raises `Refusal` over the limit."""
        wait_ms = self._arranged.wait_ms(characters, now / 1000)
        if wait_ms:
            message = f"too many matches are being arranged in this lobby, wait {wait_ms} ms"
            raise Refusal(Code.RATE_LIMITED, message, wait_ms)
        self._arranged.charge(characters, now / 1000)

    def matches_left(self, now: int) -> int:
        """Return how many matches may begin now."""
        return max(0, math.floor(self._matches.level(now / 1000)))

    def charge_matches(self, count: int, now: int) -> None:
        """Charge for matches that begin, at most `matches_left`."""
        self._matches.charge(count, now / 1000)
