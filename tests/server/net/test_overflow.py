"""Broadcasts in which one recipient's queue overflows, for every loop that sends to several peers.

In each case one recipient of an event stops reading, so that the event overflows its queue. The
server closes its connection, notifies all others, and completes the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kibitz_protocol.wire.records import Cause, Player
from kibitz_server.directory.recovery import StoredLog
from kibitz_server.lobby.commands import Close, Kick
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.commands import Abort, AddComment, Forfeit
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import StoreError
from tests.server.match.toy_games import Grid
from tests.tools.profiles import some
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

FOLLOWERS = ("host", "host 2", "ada", "ada 2", "bob", "guest", "ghost")
"""The connections that follow the lobby: its host's, members' and spectators'."""
SEATED = ("ada 2", "bob")
"""The connections with the match's seats."""
SPECTATORS = ("eve", "fay")
ALL = (*FOLLOWERS, *SPECTATORS)


class Crowd:
    """A lobby with a running match, and every kind of connection that follows them."""

    def __init__(self, server: VirtualServer, delay_plies: int, number: int) -> None:
        """Create a crowd; `number` distinguishes its guests from those of other crowds."""
        self.server = server
        self.clients = {
            name: server.guest_client(f"{name}{number}") for name in ALL if "2" not in name
        }
        for name in ("host", "ada"):
            self.clients[f"{name} 2"] = self.clients[name].beside()
        settings = {
            "seats": [{"kind": "open"}] * 2,
            "programme": [{"game": "toy-grid", "games": 2}],
            "at_once": 1,
            "spectating": {"delay_plies": delay_plies},
        }
        key = self._ask("host", "host", settings=settings)["lobby"]
        for name in ("ada", "ada 2", "bob"):
            self._ask(name, "join", lobby=key)
        for name in ("host 2", "guest", "ghost"):
            self._ask(name, "join", lobby=key, role="spectator")
        for name in ("ada", "bob"):
            self._ask(name, "ready", lobby=key)
        for name in SPECTATORS:
            self._ask(name, "watch", match=f"{key}-1-1")
            self._ask(name, "subscribe", topic="hall")
        server.advance(1)
        self.lobby: LobbyRunner = server.backend.registry.lobbies[key]
        self.match: MatchRunner = server.backend.registry.matches[f"{key}-1-1"]

    def _ask(self, name: str, type: str, **fields: object) -> dict[str, str]:
        answer: dict[str, str] = self.clients[name].ask(type, **fields)
        assert answer["type"] == "done", answer
        return answer

    def player(self, name: str) -> Player:
        return next(each for each in self.match.shown.players if each.name.startswith(name))


def comment(crowd: Crowd) -> None:
    crowd.match.command(AddComment(crowd.player("ada"), 0, 0, "hm"))


def end(crowd: Crowd) -> None:
    crowd.match.command(Forfeit(0, Cause.RESIGNATION, ""))


def start(crowd: Crowd) -> None:
    crowd.lobby.match_started(crowd.match.shown.brief())


def kick(crowd: Crowd) -> None:
    host = crowd.lobby.engine.state.host.player
    crowd.lobby.command(Kick(host, crowd.player("ada").player))


def close(crowd: Crowd) -> None:
    crowd.lobby.command(Close(crowd.lobby.engine.state.host.player))
    crowd.match.command(Abort("the test ends it"))


def lose(crowd: Crowd) -> None:
    damaged = StoredLog("lobby", crowd.lobby.key, StoreError("planted"))
    crowd.server.backend.recovery.restore([damaged])


def farewell(crowd: Crowd) -> None:
    crowd.server.backend.send_farewell()


EVENTS: dict[str, tuple[Callable[[Crowd], None], str, tuple[str, ...]]] = {
    "an entry": (comment, "event", SEATED),
    "the end of a match": (end, "finished", SEATED),
    "the end of a match of the lobby": (end, "match_ended", FOLLOWERS),
    "the start of a match of the lobby": (start, "match_started", FOLLOWERS),
    "a kick": (kick, "lobby_closed", ("ada", "ada 2")),
    "the end of a lobby": (close, "lobby_closed", FOLLOWERS),
    "a lobby that cannot be read": (lose, "lobby_closed", FOLLOWERS),
    "the end of the server": (farewell, "farewell", ALL),
}
"""The cause, the message that must not be dropped, and the connections that receive it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({"toy-grid": Grid()}, tmp_path) as server:
        yield server


def told(client: ScriptedClient, start: int, type: str) -> int:
    return sum(each["type"] == type for each in client.messages(start))


@pytest.mark.parametrize("delay_plies", [0, 2])
@pytest.mark.parametrize("event", some(list(EVENTS), 3))
def test_one_who_overflows_stops_nothing_and_nobody_else(
    server: VirtualServer, event: str, delay_plies: int, caplog: pytest.LogCaptureFixture
) -> None:
    happens, type, recipients = EVENTS[event]
    for number, slow in enumerate(ALL):
        crowd = Crowd(server, delay_plies, number)
        starts = {name: len(client.messages()) for name, client in crowd.clients.items()}
        crowd.clients[slow].stop_reading()
        caplog.clear()
        happens(crowd)
        server.advance(1)
        raised = [each for each in caplog.records if each.exc_info]
        assert raised == [], slow
        heard = {
            name: told(client, starts[name], type)
            for name, client in crowd.clients.items()
            if name in recipients and name != slow
        }
        assert all(heard.values()), (slow, heard)  # the seat's disconnect is also an event
        assert crowd.clients[slow].is_closed or slow not in recipients
        ended = {"the end of a lobby", "a lobby that cannot be read"}
        assert (crowd.lobby.key not in server.backend.registry.lobbies) == (event in ended)
        server.restart()
