"""Invalid input of all kinds, sent to a server with a running match.

The server must have no internal errors, never answer `internal`, leak nothing, and remain
responsive. The players of the running match must not be affected.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.tools.fleet import contradictions, fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.message_fuzzer import MessageFuzzer, zero_masked_frame
from tests.tools.mnk import GAME
from tests.tools.raw_connection import HANDSHAKE, RawConnection, greeted_connection
from tests.tools.server_process import (
    ServerProcess,
    drawn_matches,
    resources_released,
    server_process,
)

BATCH = 50
BRIDGES = 4
INTERNAL = b'"code":"internal"'
CLOSE_FRAME = re.compile(rb"\x88[\x02-\x7d][\x03\x0f]")
"""A close frame with a code; these bytes never occur in JSON."""
UNLIMITED = {"per_second": 1e9, "burst": 1e9}
OPTIONS: dict[str, Any] = {
    # No message rate limit, for speed, but the default limit on lobbies.
    "tariff": {
        "socket": UNLIMITED,
        "account": UNLIMITED,
        "address": UNLIMITED,
        "malformed": UNLIMITED,
    },
}
SETTINGS: dict[str, Any] = {
    "seats": [{"kind": "open"}, {"kind": "open"}],
    "programme": [{"game": "mnk", "options": {"columns": 15, "rows": 15, "row": 15}, "games": 5}],
    "at_once": 20,
    "conduct": {"max_illegal": 1000, "grace_ms": 3_600_000},
}
CODES = {1000, 1002, 1003, 1005, 1007, 1008, 1009, 4000, 4002}
"""Close codes with which a server may answer a broken connection."""
PATIENCE_S = 20.0


@dataclass
class FuzzRun:
    """The requests of a run and their answers."""

    server: ServerProcess
    seed: int
    frames: int = 0
    connections: int = 0
    closed: dict[int | None, int] = field(default_factory=dict)
    internal: list[bytes] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    """The resume secrets of the players."""

    def __post_init__(self) -> None:
        self.known: dict[str, list[Any]] = {"match": ["x"], "lobby": ["x"], "game": ["mnk"]}
        self.known["options"] = [{}, {"columns": 3, "rows": 3, "row": 3}]
        self.known["action"] = [{"cell": 0}, {"cell": 4}, {"cell": 225}, {"cell": 226}]
        self.known["ply"] = [0, 0, 1, 2]
        self.known["seats"] = [2, 2, [{"kind": "open"}, {"kind": "open"}]]
        self.known["personality"] = ["mnk/none"]

    def heard(self, data: bytes) -> None:
        if INTERNAL in data:
            self.internal.append(data)

    async def messages(self, number: int, count: int) -> None:
        """Send malformed messages as one player, reconnecting when disconnected."""
        mutants = MessageFuzzer(f"{self.seed} messages {number}", self.known)
        player = await Player.arrive(self, f"fuzz {number}")
        while count > 0:
            batch = b"".join(mutants.message() for _ in range(BATCH))
            if await player.survives(batch):
                count -= BATCH
                self.frames += BATCH
            else:
                await player.come_back()
        await player.leave()

    async def wires(self, number: int, count: int) -> None:
        """Send invalid frames, each time on a new connection."""
        mutants = MessageFuzzer(f"{self.seed} wires {number}", self.known)
        for _ in range(count):
            self.frames += 1
            self.connections += 1
            await self._wire(mutants.malformed_frames())

    async def _wire(self, data: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            async with asyncio.timeout(PATIENCE_S):
                with contextlib.suppress(ConnectionError):
                    writer.write(HANDSHAKE.format(path="/", more="").encode() + data)
                    writer.write_eof()
                    await reader.readuntil(b"\r\n\r\n")
                    answer = await reader.read()
                    self.heard(answer)
                    code = _close_code(answer)
                    self.closed[code] = self.closed.get(code, 0) + 1
        finally:
            writer.transport.abort()


class Player:
    """A connection after hello that may be disconnected by the server."""

    def __init__(self, fuzz: FuzzRun, name: str) -> None:
        self._fuzz = fuzz
        self._name = name
        self._sentinel = 1 << 50

    @classmethod
    async def arrive(cls, fuzz: FuzzRun, name: str) -> Player:
        player = cls(fuzz, name)
        await player._connect()
        return player

    async def come_back(self) -> None:
        await self.leave()
        await self._connect()

    async def leave(self) -> None:
        self._writer.transport.abort()
        await asyncio.sleep(0)

    async def survives(self, batch: bytes) -> bool:
        """Send frames and wait until they are processed; return whether we are still connected."""
        self._sentinel += 1
        end = b'"re":%d' % self._sentinel
        ask = json.dumps({"type": "unwatch", "id": self._sentinel, "match": "x"}).encode()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE_S):
                self._writer.write(batch + zero_masked_frame(ask))
                return await self._until(end)
        return False

    async def _until(self, end: bytes) -> bool:
        seen = b""
        while end not in seen:
            data = await self._reader.read(262_144)
            self._fuzz.heard(seen[-len(INTERNAL) :] + data)
            seen = seen[-len(end) :] + data
            if not data or CLOSE_FRAME.search(seen):
                return False
        return True

    async def _connect(self) -> None:
        self._fuzz.connections += 1
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._fuzz.server.port, limit=1 << 20
        )
        who = {"resume": self._fuzz.secrets[self._name]}
        hello = json.dumps({"type": "hello", "id": 1, "versions": [1], **who}).encode()
        self._writer.write(HANDSHAKE.format(path="/", more="").encode() + zero_masked_frame(hello))
        await self._reader.readuntil(b"\r\n\r\n")
        welcome = b""
        while b'"resume":"' not in welcome:
            data = await self._reader.read(4096)
            assert data, welcome
            welcome += data


def _close_code(data: bytes) -> int | None:
    """Return the code of the close frame at the end of the server's output."""
    frames: list[tuple[int, bytes]] = []
    while len(data) >= 2:
        length, start = data[1] & 127, 2
        if length > 125:
            extent = 2 if length == 126 else 8
            length, start = int.from_bytes(data[2 : 2 + extent], "big"), 2 + extent
        frames.append((data[0] & 15, data[start : start + length]))
        data = data[start + length :]
    for opcode, payload in frames:
        if opcode == 8:
            return int.from_bytes(payload[:2], "big") if payload else 1005
    return None


def seated(fuzz: FuzzRun) -> None:
    """Give the fuzzing players their own matches, so that some messages reach a match."""
    connections = []
    for number in range(BRIDGES):
        connection = RawConnection(fuzz.server.port)
        connections.append(connection)
        connection.handshake()
        welcome = connection.hello(f"fuzz {number}", capabilities={"at_once": 20})
        fuzz.secrets[f"fuzz {number}"] = welcome["resume"]
    for pair in (connections[:2], connections[2:]):
        lobby = pair[0].ask("host", settings=SETTINGS)["lobby"]
        for what in ("join", "ready"):
            for connection in pair:
                assert connection.ask(what, lobby=lobby)["type"] == "done"
        live: list[dict[str, Any]] = []
        give_up = time.monotonic() + PATIENCE_S
        while len(live) < SETTINGS["programme"][0]["games"]:  # matches start once they are durable
            assert time.monotonic() < give_up, "the matches do not begin"
            time.sleep(0.01)
            live = pair[0].ask("list_matches", lobby=lobby)["matches"]
        fuzz.known["lobby"].append(lobby)
        fuzz.known["match"] += [brief["match"] for brief in live]
    for connection in connections:
        connection.socket.close()


async def rounds(fuzz: FuzzRun, frames: int) -> None:
    """Send `frames` frames: one in twenty has invalid framing, the others invalid messages."""
    share = frames // 20 // BRIDGES
    async with asyncio.TaskGroup() as group:
        for number in range(BRIDGES):
            group.create_task(fuzz.messages(number, frames // BRIDGES - share))
            group.create_task(fuzz.wires(number, share))


async def run_fuzz(
    server: ServerProcess, frames: int, seed: int, rate: float, warm_up: int
) -> tuple[FuzzRun, int]:
    """Fuzz during a match; return the sent data and the memory growth in bytes.

    The growth is measured over `frames` frames after `warm_up` others. Allocator pools and bounded
    tables fill in the first 800,000: 200,000 frames each grew a server by 3.9, 5.1, 2.0, 1.2, 0.5,
    0.3, 0.2, 0.1 and 0.2 MiB.
    """
    fuzz = FuzzRun(server, seed)
    before = await asyncio.to_thread(server.resources)
    async with fleet_of(
        server.url, 2, drawn_matches(8), pause=(warm_up + frames) / rate / 64, seed=seed
    ) as fleet:
        await fleet.moved(1)
        fuzz.known["match"] += fleet.seats
        fuzz.known["lobby"] += [match.split("-")[0] for match in fleet.seats]
        await asyncio.to_thread(seated, fuzz)
        await rounds(fuzz, warm_up)
        warm = server.memory()
        fuzz.seed += 1
        await rounds(fuzz, frames)
        growth = server.memory() - warm
        fleet.pause = 0.0
        await fleet.finished(2)
        records = {
            match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
            for match in fleet.seats
        }
    assert contradictions(fleet, GAME, records) == []
    assert await resources_released(server, before)
    return fuzz, growth


def check_unharmed(fuzz: FuzzRun) -> None:
    """Assert that the server is unharmed."""
    server = fuzz.server
    assert fuzz.internal == []
    assert server.error_lines() == []
    assert server.running
    assert not [name for name in server.metrics() if "internal" in name]
    assert set(fuzz.closed) - {None} <= CODES
    with greeted_connection(server.port, "after all that") as connection:
        assert connection.ask("list_games")["games"][0]["name"] == "mnk"


async def test_rubbish_does_a_server_no_harm(tmp_path: Path) -> None:
    with server_process(tmp_path, **OPTIONS) as server:
        async with asyncio.timeout(50):
            fuzz, _ = await run_fuzz(server, 16_000, 1, 4000, warm_up=4_000)
        check_unharmed(fuzz)
        assert fuzz.frames >= 20_000 - BATCH
        # Some of it passed the first checks.
        figures = server.metrics()
        for code in (
            "malformed",
            "unknown_type",
            "stale",
            "not_your_turn",
            "not_seated",
            "no_such_match",
        ):
            assert figures[f'kibitz_refusals_total{{code="{code}"}}'] > 0, code
        assert {1002, 1003, 1007, 1009} <= set(fuzz.closed)


@pytest.mark.slow
async def test_a_million_frames(tmp_path: Path, report: ReportFigure) -> None:
    """T7: memory does not grow."""
    with server_process(tmp_path, **OPTIONS) as server:
        async with asyncio.timeout(1500):
            fuzz, growth = await run_fuzz(server, 1_000_000, 7, 5000, warm_up=600_000)
        check_unharmed(fuzz)
        report(
            f"T7: {fuzz.frames} frames on {fuzz.connections} connections,"
            f" memory {growth / 2**20:+.2f} MiB, close codes {fuzz.closed}"
        )
        assert growth < 5 * 2**20
