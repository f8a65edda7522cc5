"""The entries that clients can add to a lobby's log are bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import get_args

from kibitz_protocol.wire.lobbies import Arrangement, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby.budget import ARRANGED, BOUNDS, CHANGES, MATCHES
from kibitz_server.lobby.commands import (
    Arrange,
    Command,
    Join,
    Leave,
    Ready,
    Refuse,
    Rematch,
    Start,
)
from kibitz_server.lobby.engine import DEFAULT_LIMITS
from kibitz_server.lobby.entries import Entry, Readied
from kibitz_server.net.rate_limit import RateLimits
from tests.server.lobby.test_engine import LobbyDriver, player, settings

HOUR_MS = 3_600_000
LIMITS = {limit.name for limit in fields(RateLimits) if limit.name.startswith("lobby_")}


def test_every_kind_of_entry_has_a_bound() -> None:
    assert set(BOUNDS) == set(get_args(Entry))
    assert LIMITS - {"lobby_changes_a_player"} == {CHANGES, MATCHES}
    assert (LIMITS | {ARRANGED}) - set(BOUNDS.values()) == {"lobby_changes_a_player"}


def until_refused(room: LobbyDriver, make: Callable[[int], list[Command]]) -> Refuse:
    """Execute commands until one is refused."""
    for number in range(100_000):
        for command in make(number):
            effects = room.command(command)
            if isinstance(effects[0], Refuse):
                return effects[0]
    raise AssertionError("entries are appended without end")


def test_a_player_changes_so_much_in_an_hour() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat(), auto_start=False))
    room.seat("ada", "bob", ready=False)
    for hours in range(3):
        refused = until_refused(room, lambda number: [Ready("ada", not number % 2)])
        assert refused.code is Code.RATE_LIMITED
        assert refused.retry_after_ms
        limit = DEFAULT_LIMITS.lobby_changes_a_player
        most = limit.burst + hours * HOUR_MS / 1000 * limit.per_second
        assert sum(isinstance(each, Readied) for each in room.entries()) <= most
        before = len(room.log)
        room.command(Ready("bob"))
        assert len(room.log) == before + (hours == 0)  # other players are not affected
        room.now += HOUR_MS


def test_all_players_together_change_so_much_in_an_hour() -> None:
    """Strangers who repeatedly join and leave cannot grow the log without limit."""
    room = LobbyDriver(settings())
    refused = until_refused(room, lambda n: [Join(player(f"p{n}")), Leave(f"p{n}")])
    assert refused.code is Code.RATE_LIMITED
    assert len(room.log) <= 2 * DEFAULT_LIMITS.lobby_changes.burst + 2
    room.now += refused.retry_after_ms or 0
    assert not isinstance(room.command(Join(player("late")))[0], Refuse)


def test_a_rematch_is_such_a_change() -> None:
    room = LobbyDriver(settings(auto_start=False))
    room.seat("ada")
    room.seat("host", ready=False)
    until_refused(room, lambda number: [Ready("host", not number % 2)])
    assert room.engine.state.seats.members["host"].ready
    room.command(Start("host"))
    room.play()
    refused = room.command(Rematch("host"))[0]
    assert isinstance(refused, Refuse)
    assert refused.code is Code.RATE_LIMITED


def test_what_a_host_arranges_has_a_budget() -> None:
    room = LobbyDriver(settings(arranged=True))
    room.seat("ada", "bob")
    room.command(Start("host"))

    def arrange(number: int) -> list[Command]:
        options = {f"o{n}": [0] * 400 for n in range(15)}
        item = ProgrammeItem(game="toy", options=options)
        match = Arrangement(tag=f"{number}", item=item, players=["ada", "bob"])
        return [Arrange("host", [match])]

    refused = until_refused(room, arrange)
    assert refused.code is Code.RATE_LIMITED
    size = sum(len(line) for line in room.log if '"kind":"arranged"' in line)
    assert size <= 1.1 * DEFAULT_LIMITS.arranged.burst


def test_matches_beyond_the_budget_begin_later() -> None:
    most = int(DEFAULT_LIMITS.lobby_matches.burst)
    programme = [ProgrammeItem(game="toy", games=most + 50)]
    room = LobbyDriver(settings(programme=programme, at_once=50))
    for name in ("ada", "bob"):
        room.command(Join(player(name), Capabilities(at_once=50)))
        room.command(Ready(name))
    room.play()
    assert room.engine.state.round.done == most
    assert room.deadline == room.now + 1000
    assert room.engine.state.phase == "running"
    while room.engine.state.phase == "running":
        assert room.deadline is not None
        room.wait(room.deadline - room.now)
        room.play()
    assert room.engine.state.round.done == most + 50
    assert room.now >= 50 / DEFAULT_LIMITS.lobby_matches.per_second * 1000
