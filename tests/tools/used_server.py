"""A server with a past: a finished match, two running ones, and their lobbies.

Tests may change its database while it runs or between two starts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kibitz_server.match import checkpoint
from tests.server.match.toy_games import Grid, Race
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

LARGE_BOARD = {"columns": 8, "rows": 8, "row": 8}
GAMES = {game.info.name: game for game in (Grid(), Race())}
PLIES = 11
CLOCK = {"move_ms": 3_600_000}
RATED_PLIES = 7
"""The number of plies after which a match of first legal moves ends on the default board."""


@dataclass
class UsedServer:
    """A server with a running match to be damaged, another running match, and a finished match."""

    server: VirtualServer
    guests: dict[str, ScriptedClient]
    damaged: str
    """A running match of ada and bob, in ada's lobby."""
    intact: str
    """A running match of cat and dan."""
    finished: str
    """A finished rated match."""

    @property
    def lobby(self) -> str:
        return self.damaged.partition("-")[0]

    def running(self, match: str) -> tuple[bytes, int] | None:
        """Return the state and the last entry of a running match."""
        match_runner = self.server.backend.registry.matches.get(match)
        return (
            None
            if match_runner is None
            else (match_runner.engine.state.game_state.tobytes(), match_runner.engine.state.ply)
        )

    def restart(self, damage: Callable[[Path], object]) -> None:
        self.server.restart(damage)
        self.server.advance(0.1)

    def reconnect(self, *names: str) -> list[ScriptedClient]:
        for name in names:
            self.guests[name].reconnect()
        return [self.guests[name] for name in names]


def start_match(server: VirtualServer, *players: ScriptedClient, **settings: Any) -> str:
    """Start and play a match; return its identifier."""
    item = {
        "game": "toy-grid",
        "seats": len(players),
        "options": settings.pop("options", LARGE_BOARD),
        "time_control": settings.pop("time_control", {}),
    }
    seats = [{"kind": "open"}] * len(players)
    done = players[0].ask("host", settings={"seats": seats, "programme": [item], **settings})
    assert done["type"] == "done", done
    for player in players:
        player.ask("join", lobby=done["lobby"])
    for player in players:
        player.ask("ready", lobby=done["lobby"])
    return f"{done['lobby']}-1-1"


def play_plies(server: VirtualServer, match: str, plies: int, *players: ScriptedClient) -> None:
    by_name = {player.name: player for player in players}
    for _ in range(plies):
        match_runner = server.backend.registry.matches[match]
        game, state = match_runner.engine.state.game, match_runner.engine.state.game_state
        action = game.encode(state, game.legal(state)[0]).to_wire()
        mover = by_name[match_runner.state.players[match_runner.engine.state.to_act].name]
        done = mover.ask("move", match=match, ply=match_runner.engine.state.ply, action=action)
        assert done["type"] == "done", done


@contextmanager
def used_server(directory: Path) -> Iterator[UsedServer]:
    """Run a server on virtual time during the block, with a checkpoint every four entries."""
    make_template(directory)
    with (
        patch.object(checkpoint, "CHECKPOINT_INTERVAL", 4),
        patch.object(checkpoint, "FOLDED_AT_START", 0),
        virtual_server(dict(GAMES), directory) as server,
    ):
        guests = {name: server.guest_client(name) for name in ("ada", "bob", "cat", "dan")}
        rated = [server.account_client("eve"), server.account_client("fay")]
        ada, bob, cat, dan = guests.values()
        finished = start_match(server, *rated, options={}, time_control=CLOCK, rated=True)
        play_plies(server, finished, RATED_PLIES, *rated)
        damaged, intact = start_match(server, ada, bob), start_match(server, cat, dan)
        play_plies(server, damaged, PLIES, ada, bob)
        play_plies(server, intact, PLIES - 2, cat, dan)
        yield UsedServer(server, guests, damaged, intact, finished)


def flip_bit(path: Path, table: str, column: str, where: str, place: float = 0.5) -> None:
    """Flip a bit of a value, at a relative position from 0 to 1."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rowid, value = db.execute(
            f"SELECT rowid, {column} FROM {table} WHERE {where} ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        changed = bytearray(value)
        changed[int(place * (len(changed) - 1))] ^= 1
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bytes(changed), rowid))


def where_stream(key: str) -> str:
    return f"stream = (SELECT number FROM stream WHERE key = '{key}')"
