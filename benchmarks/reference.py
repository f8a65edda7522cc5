"""Bare reference servers for the same workload, as a baseline for kibitz.

They have five in a row on a 10x10 bytearray, pydantic models in both directions, and uvloop. They
send each move without the board, which the clients keep. They have no log, clocks, lobbies,
spectator permissions or flood control. Only the ratio between kibitz and a reference, from the same
run on the same machine, is meaningful.

    python -m benchmarks.reference [--layer asyncio|sansio]

`asyncio` is a straightforward implementation with the asyncio server of websockets, which sends
with `broadcast`. `sansio` uses the sans-I/O layer of websockets with a custom protocol class, and
no coroutine or task per connection. It builds the frame of a message once for all connections. It
shows the minimal cost of a Python server with this library.

Protocol: `{"type": "sit", "match": m}` twice opens match m, `{"type": "watch", "match": m}` watches
it. The server sends each accepted move to all players and spectators as `moved`, and the result
after the last move. Then the next match begins on an empty board.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Literal, Protocol, cast

import uvloop
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

SIZE = 10
ROW = 5
MAX_MESSAGE = 16384


class Sit(BaseModel):
    type: Literal["sit"]
    match: int


class Watch(BaseModel):
    type: Literal["watch"]
    match: int


class Move(BaseModel):
    type: Literal["move"]
    id: int
    match: int
    ply: int
    x: int = Field(ge=0, lt=SIZE)
    y: int = Field(ge=0, lt=SIZE)


class Moved(BaseModel):
    type: Literal["moved"] = "moved"
    match: int
    ply: int
    seat: int
    x: int
    y: int


class Finished(BaseModel):
    type: Literal["finished"] = "finished"
    match: int
    winner: int | None


class Refused(BaseModel):
    type: Literal["refused"] = "refused"
    message: str


REQUEST: TypeAdapter[Sit | Watch | Move] = TypeAdapter(
    Annotated[Sit | Watch | Move, Field(discriminator="type")]
)


class Connection(Protocol):
    """A connection that can send messages."""

    def say(self, text: str) -> None: ...


class Layer(Protocol):
    """A way to send one message to many connections."""

    def tell(self, connections: Iterable[Connection], text: str) -> None: ...


class Board:
    """A board of five in a row with its players and spectators."""

    def __init__(self) -> None:
        self.seats: list[Connection] = []
        self.watchers: list[Connection] = []
        self.clear()

    def clear(self) -> None:
        self.cells = bytearray(b"." * (SIZE * SIZE))
        self.ply = 0

    def play(self, x: int, y: int) -> Finished | None:
        """Place the mover's stone; return the result if that ended the match."""
        seat = self.ply % 2
        self.cells[y * SIZE + x] = b"xo"[seat]
        self.ply += 1
        if self._wins(x, y):
            return Finished(match=0, winner=seat)
        return Finished(match=0, winner=None) if self.ply == SIZE * SIZE else None

    def _wins(self, x: int, y: int) -> bool:
        own = self.cells[y * SIZE + x]
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            count = 1
            for sign in (1, -1):
                cx, cy = x + sign * dx, y + sign * dy
                while 0 <= cx < SIZE and 0 <= cy < SIZE and self.cells[cy * SIZE + cx] == own:
                    count += 1
                    cx, cy = cx + sign * dx, cy + sign * dy
            if count >= ROW:
                return True
        return False


class Server:
    """The boards, and the handling of messages."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self.boards: dict[int, Board] = {}

    def received(self, connection: Connection, data: str | bytes) -> None:
        try:
            request = REQUEST.validate_json(data)
        except ValidationError as error:
            connection.say(Refused(message=str(error)).model_dump_json())
            return
        if isinstance(request, Move):
            self._move(connection, request)
        else:
            self._enter(connection, request)

    def _enter(self, connection: Connection, request: Sit | Watch) -> None:
        board = self.boards.setdefault(request.match, Board())
        if isinstance(request, Watch):
            board.watchers.append(connection)
            return
        board.seats.append(connection)
        if len(board.seats) == 2:
            self._begin(request.match, board)

    def _begin(self, match: int, board: Board) -> None:
        board.clear()
        self._tell(board, Moved(match=match, ply=0, seat=-1, x=-1, y=-1))

    def _move(self, connection: Connection, move: Move) -> None:
        board = self.boards[move.match]
        fault = self._fault(board, connection, move)
        if fault:
            connection.say(Refused(message=fault).model_dump_json())
            return
        seat = board.ply % 2
        result = board.play(move.x, move.y)
        moved = Moved(match=move.match, ply=board.ply, seat=seat, x=move.x, y=move.y)
        if result is None:
            self._tell(board, moved)
            return
        result.match = move.match
        self._tell(board, result)
        self._begin(move.match, board)

    def _fault(self, board: Board, connection: Connection, move: Move) -> str:
        if board.seats[board.ply % 2] is not connection or move.ply != board.ply:
            return "not your turn"
        return "" if board.cells[move.y * SIZE + move.x] == ord(".") else "illegal"

    def _tell(self, board: Board, message: BaseModel) -> None:
        text = message.model_dump_json()
        self._layer.tell([*board.seats, *board.watchers], text)


def announce(port: int) -> None:
    """Print the address in the format of `kibitz serve --json`."""
    print(json.dumps({"url": f"ws://127.0.0.1:{port}/ws"}), flush=True)


# --- the asyncio server ---------------------------------------------------------------------------


class AsyncioConnection:
    """A connection of the asyncio server of websockets."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    def say(self, text: str) -> None:
        broadcast([self.socket], text)


class AsyncioLayer:
    """A layer that sends with `broadcast`, which builds each frame once and never blocks."""

    def tell(self, connections: Iterable[Connection], text: str) -> None:
        broadcast([cast(AsyncioConnection, connection).socket for connection in connections], text)


async def serve_asyncio(port: int) -> None:
    server = Server(AsyncioLayer())

    async def connected(socket: ServerConnection) -> None:
        connection = AsyncioConnection(socket)
        with suppress(ConnectionClosed):  # the benchmark's clients leave without a close frame
            async for data in socket:
                server.received(connection, data)

    async with serve(
        connected, "127.0.0.1", port, compression=None, max_size=MAX_MESSAGE, max_queue=4
    ) as listening:
        announce(listening.sockets[0].getsockname()[1])
        await asyncio.get_running_loop().create_future()


# --- the sans-I/O layer ---------------------------------------------------------------------------


class SansIOConnection(asyncio.Protocol):
    """A connection that moves bytes between its transport and websockets' `ServerProtocol`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.protocol = ServerProtocol(max_size=MAX_MESSAGE)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if isinstance(event, Request):
                self.protocol.send_response(self.protocol.accept(event))
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._server.received(self, bytes(event.data))
        self.flush()

    def say(self, text: str) -> None:
        self.protocol.send_text(text.encode())
        self.flush()

    def flush(self) -> None:
        for data in self.protocol.data_to_send():
            if data:
                self.transport.write(data)
            else:
                self.transport.close()


class SansIOLayer:
    """A layer that builds each frame once; frames from a server have no mask."""

    def tell(self, connections: Iterable[Connection], text: str) -> None:
        frame = Frame(Opcode.TEXT, text.encode()).serialize(mask=False)
        for connection in cast(Iterable[SansIOConnection], connections):
            connection.transport.write(frame)


async def serve_sansio(port: int) -> None:
    server = Server(SansIOLayer())
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: SansIOConnection(server), "127.0.0.1", port)
    announce(listening.sockets[0].getsockname()[1])
    await loop.create_future()


LAYERS = {"asyncio": serve_asyncio, "sansio": serve_sansio}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--layer", choices=LAYERS, default="asyncio")
    chosen = parser.parse_args()
    uvloop.run(LAYERS[chosen.layer](chosen.port))
