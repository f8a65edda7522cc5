"""A bare reference server for the same workload, to hold the measured server against.

What most people would write in an afternoon with the same libraries: websockets' ready-made
server on uvloop, pydantic models both ways, m,n,k rules on a bytearray. No log, no clocks,
no lobbies, no spectators' rights, no flood control. Only its ratio to the measured server
means anything, because both run in one run on one machine.

Protocol: `{"type": "sit", "match": m}` twice opens match m, `{"type": "watch", "match": m}`
watches it. Every accepted move is told to everybody at the match as `moved`; after the last
one the board is cleared and seat 0 begins again.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Annotated, Literal

import uvloop
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from websockets.asyncio.server import ServerConnection, serve


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
    cell: int


class Moved(BaseModel):
    type: Literal["moved"] = "moved"
    match: int
    ply: int
    seat: int
    cell: int
    cells: str


class Refused(BaseModel):
    type: Literal["refused"] = "refused"
    message: str


REQUEST: TypeAdapter[Sit | Watch | Move] = TypeAdapter(
    Annotated[Sit | Watch | Move, Field(discriminator="type")]
)


class Board:
    """An m,n,k board and who sits and watches there."""

    def __init__(self, columns: int, rows: int, row: int) -> None:
        self.columns, self.rows, self.row = columns, rows, row
        self.seats: list[ServerConnection] = []
        self.watchers: list[ServerConnection] = []
        self.clear()

    def clear(self) -> None:
        self.cells = bytearray(b"." * (self.columns * self.rows))
        self.ply = 0

    def play(self, cell: int) -> bool:
        """Place the mover's stone; answer whether that ended the game."""
        self.cells[cell] = b"XO"[self.ply % 2]
        self.ply += 1
        return self._wins(cell) or self.ply == len(self.cells)

    def _wins(self, cell: int) -> bool:
        columns, rows, cells = self.columns, self.rows, self.cells
        if self.row > max(columns, rows):
            return False
        own, x, y = cells[cell], cell % columns, cell // columns
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            count = 1
            for sign in (1, -1):
                cx, cy = x + sign * dx, y + sign * dy
                while 0 <= cx < columns and 0 <= cy < rows and cells[cy * columns + cx] == own:
                    count += 1
                    cx, cy = cx + sign * dx, cy + sign * dy
            if count >= self.row:
                return True
        return False


class Server:
    def __init__(self, columns: int, rows: int, row: int) -> None:
        self.shape = (columns, rows, row)
        self.boards: dict[int, Board] = {}

    async def connection(self, peer: ServerConnection) -> None:
        async for data in peer:
            try:
                request = REQUEST.validate_json(data)
            except ValidationError as error:
                await peer.send(Refused(message=str(error)).model_dump_json())
                continue
            if isinstance(request, Move):
                await self.move(peer, request)
            else:
                await self.enter(peer, request)

    async def enter(self, peer: ServerConnection, request: Sit | Watch) -> None:
        board = self.boards.setdefault(request.match, Board(*self.shape))
        if isinstance(request, Watch):
            board.watchers.append(peer)
            return
        board.seats.append(peer)
        if len(board.seats) == 2:
            await self.tell(board, self._moved(request.match, board, -1, -1))

    async def move(self, peer: ServerConnection, request: Move) -> None:
        board = self.boards[request.match]
        seat = board.ply % 2
        fault = self._fault(board, peer, request)
        if fault:
            await peer.send(Refused(message=fault).model_dump_json())
            return
        if board.play(request.cell):
            board.clear()
        await self.tell(board, self._moved(request.match, board, seat, request.cell))

    def _fault(self, board: Board, peer: ServerConnection, request: Move) -> str:
        if board.seats[board.ply % 2] is not peer or request.ply != board.ply:
            return "not your turn"
        if not 0 <= request.cell < len(board.cells) or board.cells[request.cell] != ord("."):
            return "illegal"
        return ""

    def _moved(self, match: int, board: Board, seat: int, cell: int) -> Moved:
        cells = board.cells.decode("ascii")
        return Moved(match=match, ply=board.ply, seat=seat, cell=cell, cells=cells)

    async def tell(self, board: Board, moved: Moved) -> None:
        text = moved.model_dump_json()
        for peer in board.seats:
            await peer.send(text)
        for peer in board.watchers:
            await peer.send(text)


async def main(port: int, shape: tuple[int, int, int]) -> None:
    server = Server(*shape)
    async with serve(
        server.connection, "127.0.0.1", port, compression=None, max_size=16384, max_queue=4
    ) as listening:
        print(f"listening {listening.sockets[0].getsockname()[1]}", flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--row", type=int, default=5)
    chosen = parser.parse_args()
    uvloop.run(main(chosen.port, (chosen.columns, chosen.rows, chosen.row)))
