"""The state of a match in interactive clients, built from the messages of a complete server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kibitz.builtin_games import load_games
from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.wording.line_output import LineWriter
from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import decode_server_message
from kibitz_protocol.wire.messages import Answer, HallChanged, LobbyChanged
from kibitz_protocol.wire.values import Fields
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

PLIES = 12


def start_match(server: VirtualServer, game: Game, seats: int) -> list[ScriptedClient]:
    """Start a match and return its players; the first one receives every view."""
    players = [server.guest_client("p0", "every")]
    players += [server.guest_client(f"p{seat}", "none") for seat in range(1, seats)]
    item = {"game": game.info.name, "seats": seats, "games": 1, "rotate": False}
    settings = {"seats": [{"kind": "open"}] * seats, "programme": [item]}
    lobby = players[0].ask("host", settings=settings)["lobby"]
    for request in ("join", "ready"):
        for player in players:
            player.ask(request, lobby=lobby)
    return players


def state_of(client: ScriptedClient, games: dict[str, Game]) -> ClientState:
    """Return a client's state after all the messages it received."""
    state = ClientState(games)
    client.receive()
    for text in client.received:
        message = decode_server_message(text)
        if not isinstance(message, Answer | LobbyChanged | HallChanged):
            state.apply(message, 0)
    return state


@pytest.mark.parametrize(("name", "seats"), [("tanks", 4), ("five-in-a-row", 2)])
def test_a_screen_has_every_view_and_lines_need_none(name: str, seats: int, tmp_path: Path) -> None:
    games: dict[str, Any] = dict(load_games("plain"))
    game = games[name]
    make_template(tmp_path)
    with virtual_server(games, tmp_path) as server:
        players = start_match(server, game, seats)
        [(key, runner)] = server.backend.registry.matches.items()
        watchers = [server.guest_client(f"w-{wanted}", wanted) for wanted in ("every", "none")]
        for watcher in watchers:
            watcher.ask("watch", match=key)
        seen: dict[int | None, list[Fields]] = {0: [], None: []}
        for ply in range(PLIES):
            state = runner.engine.state
            move = game.legal(state.game_state)[0]
            action = game.encode(state.game_state, move).to_wire()
            done = players[state.to_act].ask("move", match=key, ply=ply, action=action)
            assert done["type"] == "done"
            for seat, views in seen.items():
                views.append(game.view(state.game_state, seat).to_wire())
        for client, seat in ((players[0], 0), (watchers[0], None)):
            frames = state_of(client, games).matches[key].frames
            assert [frame.view for frame in frames if frame.seq > 0] == seen[seat]
        lines = [
            LineWriter(games).new_lines(state_of(watcher, games).matches[key])
            for watcher in watchers
        ]
        assert lines[0] == lines[1]
        assert len(lines[0]) == PLIES + 1
