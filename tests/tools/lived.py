"""A server that has lived for a while: a match that is over, two that are not, and their lobbies.

What is done to its database, while it runs or between two starts, is the caller's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kibitz_server import checkpoint
from tests.server.toys import Grid, Race
from tests.tools.parlour import Guest, Parlour, opened
from tests.tools.simulation import template

WIDE = {"columns": 8, "rows": 8, "row": 8}
GAMES = {game.info.name: game for game in (Grid(), Race())}
PLIES = 11


@dataclass
class World:
    """A server with a match that gets hurt, one that does not, and a past."""

    parlour: Parlour
    guests: dict[str, Guest]
    hurt: str
    """A running match of ada and bob, in a lobby of ada's."""
    well: str
    """A running match of cat and dan."""
    past: str
    """A rated match that is over."""

    @property
    def lobby(self) -> str:
        return self.hurt.partition("-")[0]

    def running(self, match: str) -> tuple[bytes, int] | None:
        """Return state and last entry of a running match."""
        table = self.parlour.hall.tables.get(match)
        return None if table is None else (table.match.state.tobytes(), table.match.ply)

    def restart(self, damage: Callable[[Path], object]) -> None:
        self.parlour.restart(damage)
        self.parlour.wait(0.1)

    def come(self, *names: str) -> list[Guest]:
        for name in names:
            self.guests[name].come_again()
        return [self.guests[name] for name in names]


def lobby_of(parlour: Parlour, *players: Guest, **settings: Any) -> str:
    """Play a match; return its identifier."""
    item = {"game": "toy-grid", "seats": len(players), "options": settings.pop("options", WIDE)}
    seats = [{"kind": "open"}] * len(players)
    done = players[0].ask("host", settings={"seats": seats, "programme": [item], **settings})
    assert done["type"] == "done", done
    for player in players:
        player.ask("join", lobby=done["lobby"])
    for player in players:
        player.ask("ready", lobby=done["lobby"])
    return f"{done['lobby']}-1-1"


def play(parlour: Parlour, match: str, plies: int, *players: Guest) -> None:
    for _ in range(plies):
        table = parlour.hall.tables[match]
        game, state = table.match.game, table.match.state
        action = game.moves(state, [game.legal(state)[0]])[0]
        mover = players[table.match.to_act]
        done = mover.ask("move", match=match, ply=table.match.ply, action=action)
        assert done["type"] == "done", done


@contextmanager
def lived(directory: Path) -> Iterator[World]:
    """Run a server on virtual time until the block ends; its checkpoints are four entries apart."""
    template(directory)
    with patch.object(checkpoint, "EVERY", 4), opened(dict(GAMES), directory) as parlour:
        guests = {name: parlour.guest(name) for name in ("ada", "bob", "cat", "dan")}
        rated = [parlour.account("eve"), parlour.account("fay")]
        ada, bob, cat, dan = guests.values()
        small = {"columns": 2, "rows": 2, "row": 2}
        past = lobby_of(parlour, *rated, options=small, rated=True)
        play(parlour, past, 3, *rated)
        hurt, well = lobby_of(parlour, ada, bob), lobby_of(parlour, cat, dan)
        play(parlour, hurt, PLIES, ada, bob)
        play(parlour, well, PLIES - 2, cat, dan)
        yield World(parlour, guests, hurt, well, past)


def flip(path: Path, table: str, column: str, where: str, place: float = 0.5) -> None:
    """Change a bit of a value, at a share of its length."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rowid, value = db.execute(
            f"SELECT rowid, {column} FROM {table} WHERE {where} ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        changed = bytearray(value)
        changed[int(place * (len(changed) - 1))] ^= 1
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bytes(changed), rowid))


def of_stream(key: str) -> str:
    return f"stream = (SELECT number FROM stream WHERE key = '{key}')"
