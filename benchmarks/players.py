"""Players for each kind of server, and a meter for their moves.

A player plays the first legal move (a match of five in a row then has 41 moves), or fills the board
without a winner (100 moves). It moves at once or, if a pace is set, at its match's next beat. The
meter counts accepted moves and the time from sending a move to its acknowledgment.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from benchmarks.connection import ClientConnection, connect

_T = TypeVar("_T")
SIZE = 10
"""The size of the boards of reference servers."""


@dataclass
class Meter:
    """Moves, deliveries and latencies of one server's players while `running`."""

    interval: float = 0.0
    """Seconds between the moves of a match; 0 for no delay."""
    running: bool = False
    moves: int = 0
    deliveries: int = 0
    lost: int = 0
    latencies: list[float] = field(default_factory=list)
    sent_at: dict[int, float] = field(default_factory=dict)
    """When the watched match's move at each ply was sent (`time.perf_counter`)."""
    heard_at: dict[int, float] = field(default_factory=dict)
    """When the last spectator received the move at each ply, so far."""

    def reset(self) -> None:
        self.moves = self.deliveries = self.lost = 0
        self.latencies, self.sent_at, self.heard_at = [], {}, {}

    def accepted(self, sent: float) -> None:
        if self.running:
            self.moves += 1
            self.latencies.append(time.perf_counter() - sent)


class Player(ABC):
    """A connection that plays or watches."""

    seats = 2
    """The number of players in its match."""
    watched = False
    """Whether spectators watch its match, so that the meter needs the times of its moves."""

    def __init__(self, connection: ClientConnection, meter: Meter) -> None:
        self.connection, self.meter = connection, meter
        self.sent = 0.0
        self.beat = 0.0
        connection.on_text = self.on_text

    @abstractmethod
    def on_text(self, text: bytes) -> None: ...

    def act(self, payload: bytes, ply: int) -> None:
        """Send a move at a ply now, or at the next beat of this player's match."""
        if not self.meter.interval:
            self._send(payload, ply)
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        # All seats of a match share one pace: each moves on every n-th beat, with a random phase.
        self.beat = max(self.beat + self.seats * self.meter.interval, now)
        if self.beat == now:
            self.beat += random.random() * self.meter.interval
        loop.call_at(self.beat, self._send, payload, ply)

    def _send(self, payload: bytes, ply: int) -> None:
        if not self.connection.closed:
            self.sent = time.perf_counter()
            if self.watched:
                self.meter.sent_at[ply] = self.sent
            self.connection.send(payload)


class ReferencePlayer(Player):
    """A seat on a reference server."""

    def __init__(
        self, connection: ClientConnection, meter: Meter, match: int, seat: int, *, draws: bool
    ) -> None:
        super().__init__(connection, meter)
        self.match, self.seat, self.requests = match, seat, 0
        self._cell = drawing_cell if draws else first_cell
        self._board = bytearray()

    def on_text(self, text: bytes) -> None:
        if text.startswith(b'{"type":"finished"'):
            if self.sent:  # the result acknowledges the last move of a match
                self._accepted()
            return
        if not text.startswith(b'{"type":"moved"'):
            raise AssertionError(f"the reference refused: {text!r}")
        if _number_after(text, b'"seat":') == self.seat:
            self._accepted()
        ply = _number_after(text, b'"ply":')
        self._update(text, ply)
        if ply % 2 == self.seat:
            self.requests += 1
            y, x = divmod(self._cell(self._board, SIZE, self.seat), SIZE)
            self.act(
                b'{"type":"move","id":%d,"match":%d,"ply":%d,"x":%d,"y":%d}'
                % (self.requests, self.match, ply, x, y),
                ply,
            )

    def _update(self, text: bytes, ply: int) -> None:
        """Place the stone of a move on this client's board, or empty it for a new match."""
        if ply == 0:
            self._board = bytearray(b"." * SIZE**2)
        else:
            x, y = _number_after(text, b'"x":'), _number_after(text, b'"y":')
            self._board[y * SIZE + x] = ord("x")

    def _accepted(self) -> None:
        self.meter.accepted(self.sent)
        self.sent = 0.0


class Watcher(Player):
    """Counts the moves that it receives, and notes when each came."""

    def on_text(self, text: bytes) -> None:
        if self.meter.running and text.startswith((b'{"type":"event"', b'{"type":"moved"')):
            self.meter.deliveries += 1
            self.meter.heard_at[_number_after(text, b'"ply":') - 1] = time.perf_counter()


class KibitzPlayer(Player):
    """A connection to kibitz that joins a lobby and plays the matches started there."""

    draws = False
    """Whether the player fills five-in-a-row boards without a winner."""
    patience_s: float | None = 60.0
    """The timeout for answers; None for no timeout."""

    def __init__(self, connection: ClientConnection, meter: Meter) -> None:
        super().__init__(connection, meter)
        self.requests = 0
        self.answers: dict[int, asyncio.Future[dict[str, object]]] = {}
        self.matches: list[str] = []
        self.started = asyncio.Event()

    async def request(self, **fields: object) -> dict[str, object]:
        self.requests += 1
        answer = asyncio.get_running_loop().create_future()
        self.answers[self.requests] = answer
        self.connection.send(json.dumps({"id": self.requests, **fields}).encode())
        answered: dict[str, object] = await asyncio.wait_for(answer, self.patience_s)
        if answered["type"] == "refused":
            raise AssertionError(f"the server refused {fields}: {answered}")
        return answered

    def on_text(self, text: bytes) -> None:
        if text.startswith(b'{"type":"your_turn"'):
            self._turn(text)
        elif text.startswith(b'{"re":'):
            self._answer(text)
        elif text.startswith(b'{"type":"snapshot"'):
            self.matches.append(json.loads(text)["match"])
            self.started.set()

    def _turn(self, text: bytes) -> None:
        match = _string_after(text, b'"match":"')
        ply = _number_after(text, b'"ply":')
        self.requests += 1
        self.act(
            b'{"type":"move","id":%d,"match":"%s","ply":%d,"action":%s}'
            % (self.requests, match, ply, self._action(text)),
            ply,
        )

    def _action(self, text: bytes) -> bytes:
        if self.draws:
            return b"{%s}" % drawing_point(text, _number_after(text, b'"seat":'))
        return _first_legal(text)

    def _answer(self, text: bytes) -> None:
        number = _number_after(text, b'"re":')
        waiting = self.answers.pop(number, None)
        if waiting is not None:
            waiting.set_result(json.loads(text))
        elif b'"type":"done"' in text:
            self.meter.accepted(self.sent)
        else:
            self.meter.lost += 1


def _first_legal(text: bytes) -> bytes:
    listed = text.find(b'"legal":[')
    if listed >= 0:
        return text[listed + 9 : text.index(b"}", listed) + 1]
    return b"{%s}" % first_point(text, 0)


def first_point(text: bytes, seat: int) -> bytes:
    """Return the first empty cell of a board of strings, as the fields x and y."""
    start = text.index(b'"board":["') + 10
    width = text.index(b'"', start) - start + 3  # the length of a row and of the separator after it
    y, x = divmod(text.index(b".", start) - start, width)
    return b'"x":%d,"y":%d' % (x, y)


def first_cell(board: bytearray, size: int, seat: int) -> int:
    """Return the first empty cell."""
    return board.index(b".")


def drawing_cell(board: bytearray, size: int, seat: int) -> int:
    """Return an empty cell of a pattern without three in a row, or else any empty cell."""
    for cell in range(size * size):
        y, x = divmod(cell, size)
        if board[cell] == ord(".") and (x // 2 + y) % 2 == seat:
            return cell
    return first_cell(board, size, seat)


def drawing_point(text: bytes, seat: int) -> bytes:
    """Return an empty cell of a pattern without three in a row, or else any empty cell."""
    start = text.index(b'"board":["') + 10
    width = text.index(b'"', start) - start + 3
    rows = (text.index(b"]", start) - start) // width + 1
    for y in range(rows):
        for x in range(width - 3):
            empty = text[start + y * width + x] == ord(".")
            if empty and (x // 2 + y) % 2 == seat:
                return b'"x":%d,"y":%d' % (x, y)
    return first_point(text, seat)


def _string_after(text: bytes, key: bytes) -> bytes:
    start = text.index(key) + len(key)
    return text[start : text.index(b'"', start)]


def _number_after(text: bytes, key: bytes) -> int:
    """Return the number after a key; -1 if it is negative."""
    start = end = text.index(key) + len(key)
    if text[start] == ord("-"):
        return -1
    while text[end : end + 1].isdigit():
        end += 1
    return int(text[start:end])


async def seat_reference(
    host: str, port: int, matches: int, meter: Meter, *, draws: bool = False
) -> list[Player]:
    """Connect two players to each of `matches` boards of a reference server."""
    players: list[Player] = []
    for match in range(matches):
        for seat in range(2):
            player = ReferencePlayer(await connect(host, port), meter, match, seat, draws=draws)
            player.watched = match == 0
            player.connection.send(b'{"type":"sit","match":%d}' % match)
            players.append(player)
    return players


async def watch_reference(host: str, port: int, count: int, meter: Meter) -> list[Player]:
    """Let `count` spectators watch board 0."""
    watchers: list[Player] = []
    for _ in range(count):
        watcher = Watcher(await connect(host, port), meter)
        watcher.connection.send(b'{"type":"watch","match":0}')
        watchers.append(watcher)
    return watchers


async def greet(host: str, port: int, meter: Meter, name: str, views: str = "turn") -> KibitzPlayer:
    """Open a connection to kibitz and say hello with the given `views`."""
    player = KibitzPlayer(await connect(host, port), meter)
    await player.request(
        type="hello",
        versions=[1],
        name=name,
        kind="bot",
        capabilities={"games": [], "at_once": 1000},
        views=views,
    )
    return player


@dataclass(frozen=True)
class Programme:
    """The programme of the lobbies in a kibitz run."""

    game: str
    options: dict[str, object]
    games: int = 200
    """More games than a run can play."""
    at_once: int = 1
    spectating: str = "public"
    seats: int = 2
    draws: bool = False
    """Whether the players fill boards without a winner."""


async def seat_kibitz(
    host: str, port: int, lobbies: int, meter: Meter, programme: Programme, tag: str
) -> list[KibitzPlayer]:
    """Open `lobbies` lobbies with all their players, and start their programmes."""
    players = await greet_groups(host, port, lobbies, meter, programme, tag)
    for player in players[: programme.seats]:
        player.watched = True
    await open_lobbies(players, programme, tag)
    return players


async def greet_groups(
    host: str, port: int, groups: int, meter: Meter, programme: Programme, tag: str
) -> list[KibitzPlayer]:
    """Connect the players of `lobbies` lobbies."""
    names = [f"{tag}-{n}-{seat}" for n in range(groups) for seat in range(programme.seats)]
    players = await gather_in_parts([partial(greet, host, port, meter, name) for name in names])
    for player in players:
        player.seats, player.draws = programme.seats, programme.draws
    return players


async def open_lobbies(players: Sequence[KibitzPlayer], programme: Programme, tag: str) -> None:
    """Let connected players open and start their lobbies."""
    groups = [
        players[first : first + programme.seats]
        for first in range(0, len(players), programme.seats)
    ]
    await gather_in_parts(
        [
            partial(_open_lobby, group, programme, f"{tag} {number}")
            for number, group in enumerate(groups)
        ]
    )
    for player in players:
        await asyncio.wait_for(player.started.wait(), 60)


async def _open_lobby(group: Sequence[KibitzPlayer], programme: Programme, name: str) -> None:
    done = await group[0].request(
        type="host",
        settings={
            "name": name,
            "listed": False,
            "seats": [{"kind": "open"}] * programme.seats,
            "at_once": programme.at_once,
            "spectating": {"mode": programme.spectating},
            "programme": [
                {
                    "game": programme.game,
                    "options": programme.options,
                    "seats": programme.seats,
                    "games": programme.games,
                    "time_control": {"main_ms": 3_600_000, "increment_ms": 1000},
                }
            ],
        },
    )
    for player in group:
        await player.request(type="join", lobby=done["lobby"])
    for player in group:
        await player.request(type="ready", lobby=done["lobby"])


async def gather_in_parts(
    calls: Sequence[Callable[[], Coroutine[Any, Any, _T]]], size: int = 50
) -> list[_T]:
    """Await calls in batches. If they ran one at a time, each would wait for its own disk sync."""
    found: list[_T] = []
    for first in range(0, len(calls), size):
        found += await asyncio.gather(*[call() for call in calls[first : first + size]])
    return found


async def watch_kibitz(
    host: str, port: int, count: int, meter: Meter, match: str, tag: str, views: str = "turn"
) -> list[Player]:
    """Let `count` spectators watch one match."""

    async def watch(name: str) -> Player:
        guest = await greet(host, port, meter, name, views)
        await guest.request(type="watch", match=match)
        guest.connection.on_text = Watcher(guest.connection, meter).on_text
        return guest

    return await gather_in_parts([partial(watch, f"{tag}-{number}") for number in range(count)])
