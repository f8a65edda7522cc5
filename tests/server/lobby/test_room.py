"""Matches start within the limits of the lobby, the player, the server, and the start rate."""

from __future__ import annotations

from dataclasses import dataclass, field

from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_server.lobby.commands import Join, MatchFinished, Ready
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.room import LATER_MS, SOON_MS, Room
from tests.server.lobby.test_engine import LobbyDriver, player, result, settings


@dataclass
class FewPlaces(Room):
    """Limits set by a test."""

    most_in_lobby: int = 1000
    server: int = 1000
    now: int = 1000
    players: dict[str, int] = field(default_factory=dict)

    def places(self) -> tuple[int, int]:
        return self.server, self.now

    def for_player(self, player: str, lobby: str) -> int:
        return self.players.get(player, 1000)


def lobby_in(room: FewPlaces) -> LobbyDriver:
    """Return a lobby with a hundred startable matches, in which all members are ready."""
    chosen = settings(programme=[ProgrammeItem(game="toy", games=100)], at_once=1000)
    driver = LobbyDriver(chosen)
    opened = driver.engine.state.opened
    driver.engine, _ = LobbyEngine.new(opened, driver.now, room=room)
    for name in ("ada", "bob"):
        driver.command(Join(player(name), Capabilities(at_once=1000)))
        driver.command(Ready(name))
    return driver


def running(driver: LobbyDriver) -> int:
    return len(driver.engine.state.round.running)


def test_a_lobby_runs_no_more_than_it_may_whatever_its_host_has_asked_for() -> None:
    driver = lobby_in(FewPlaces(most_in_lobby=7))
    assert running(driver) == 7
    driver.end()
    assert running(driver) == 7


def test_a_few_matches_begin_at_once_and_the_others_soon() -> None:
    driver = lobby_in(FewPlaces(now=8))
    for begun in range(8, 100, 8):
        assert running(driver) == begun
        assert driver.deadline == driver.now + SOON_MS
        driver.wait(SOON_MS)
    assert running(driver) == 100


def test_matches_wait_for_room_on_the_server_and_begin_by_themselves() -> None:
    room = FewPlaces(server=3)
    driver = lobby_in(room)
    assert running(driver) == 3
    room.server = 0
    driver.wait(SOON_MS)
    assert (running(driver), driver.deadline) == (3, driver.now + LATER_MS)
    room.server = 10
    driver.wait(LATER_MS)
    assert running(driver) == 13


def test_a_player_has_no_more_matches_than_it_may_in_all_lobbies() -> None:
    room = FewPlaces(players={"ada": 5})
    driver = lobby_in(room)
    assert (running(driver), driver.deadline) == (5, driver.now + LATER_MS)
    room.players["ada"] = 6
    driver.wait(LATER_MS)
    assert running(driver) == 6
    driver.command(MatchFinished(next(iter(driver.engine.state.round.running)), result()))
    assert running(driver) == 6
