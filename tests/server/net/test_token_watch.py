"""Watching tokens: connections with a revoked token are closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from typing import cast

import pytest
from websockets.frames import Opcode

from kibitz_protocol.wire.refusals import CloseCode
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.net.token_watch import close_void, watch_tokens
from tests.server.fakes import PeerRig, ScriptedConnection


class FakeTokens:
    """Returns which tokens are revoked, and counts its calls."""

    def __init__(self) -> None:
        self.void: set[bytes] = set()
        self.asked = 0
        self.broken = False

    def void_tokens(self, present: Collection[bytes]) -> Collection[bytes]:
        self.asked += 1
        self.present = sorted(present)
        if self.broken:
            raise OSError("the disk is gone")
        return self.void & set(present)


class Scenario:
    def __init__(self) -> None:
        self.rig = PeerRig()
        self.office = FakeTokens()
        self.lines: list[ScriptedConnection] = []

    def come(self, token: bytes | None) -> ScriptedConnection:
        line = self.rig.open()
        line.head()
        line.peer.token = token
        self.lines.append(line)
        return line

    def check(self) -> None:
        close_void([line.peer for line in self.lines], cast(Accounts, self.office))


def test_a_revoked_token_ends_its_connections_and_no_others() -> None:
    house = Scenario()
    ours, again, other, guest = map(house.come, (b"one", b"one", b"two", None))
    house.check()
    assert not any(line.peer.leaving for line in house.lines)
    house.office.void = {b"one", b"three"}
    house.check()
    for line in (ours, again):
        (told, closed) = line.frames()
        assert json.loads(told[1])["code"] == "unauthorized"
        assert closed[0] == Opcode.CLOSE
        assert int.from_bytes(closed[1][:2], "big") == CloseCode.KICKED
    assert not other.peer.leaving
    assert not guest.peer.leaving


def test_where_nobody_has_a_token_nothing_is_looked_up() -> None:
    house = Scenario()
    house.come(None)
    house.check()
    assert house.office.asked == 0
    house.come(b"one")
    house.come(b"one")
    house.check()
    assert (house.office.asked, house.office.present) == (1, [b"one"])


def test_who_is_leaving_is_left_alone() -> None:
    house = Scenario()
    line = house.come(b"one")
    line.peer.close(1000)
    line.frames()
    house.office.void = {b"one"}
    house.check()
    assert line.frames() == []


async def test_a_database_that_cannot_be_read_is_asked_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = Scenario()
    line = house.come(b"one")
    house.office.broken = True
    house.office.void = {b"one"}
    watch = watch_tokens(lambda: [line.peer], cast(Accounts, house.office), 0.001)
    watching = asyncio.create_task(watch)
    async with asyncio.timeout(10):
        while not house.office.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        house.office.broken = False
        while not line.peer.leaving:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert "cannot check the tokens" in caplog.text
    watching.cancel()
