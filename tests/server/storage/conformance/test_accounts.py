"""Accounts and tokens, which the operator changes while the server runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from kibitz_server.storage.interface import PlayerRow, Store
from kibitz_server.storage.opening import open_register
from kibitz_server.storage.token_register import TokenRegister
from tests.server.storage.conformance.engines import FullEngine, RecordingWaiter
from tests.server.storage.conformance.test_players import guest

WAIT_S = 10.0


@pytest.fixture
def engine(full_engine: FullEngine) -> FullEngine:
    return full_engine


def issued(engine: FullEngine, key: str, skeleton: str, digest: bytes, expires: int | None) -> int:
    """Create an account with a token while the server runs."""

    with closing(open_register(engine.db)) as register, register.transaction():
        known = register.by_skeleton(skeleton)
        if known is not None and not known.account:
            register.clear_skeleton(known.key)
        if known is None or not known.account:
            account = PlayerRow(key, f"name of {key}", "bot", True, skeleton, 1000)
            register.add_account(account)
        return register.add_token(digest, key, 1000, expires)


async def seen(condition: Callable[[], object]) -> None:
    """Wait until a server has noticed external changes."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  the database notifies no test
            await asyncio.sleep(0.01)


async def test_a_guest_takes_no_name_of_an_account(engine: FullEngine, store: Store) -> None:
    issued(engine, "a1", "ada", b"token", None)
    waiter = RecordingWaiter()
    store.players.add_guest(guest("g1", "ada"), b"1", waiter)
    await store.flush()
    assert waiter.told == [0]
    await seen(lambda: store.players.by_skeleton("ada"))
    found = store.players.by_skeleton("ada")
    assert found is not None
    assert found.account
    assert store.players.by_key("g1") is None


async def test_an_account_takes_the_name_of_a_guest(engine: FullEngine, store: Store) -> None:
    store.players.add_guest(guest("g1", "ada"), b"1", RecordingWaiter())
    await store.flush()
    issued(engine, "a1", "ada", b"token", None)
    await seen(lambda: (row := store.players.by_skeleton("ada")) is not None and row.account)
    former = store.players.by_secret(b"1")
    assert former is not None
    assert former.skeleton is None


async def test_tokens_count_from_the_moment_they_are_made_to_that_they_are_revoked(
    engine: FullEngine, store: Store
) -> None:
    now = int(time.time())
    good = issued(engine, "a1", "ada", b"good", None)
    issued(engine, "a1", "ada", b"old", now - 10)
    issued(engine, "a1", "ada", b"new", now + 1000)
    await seen(lambda: store.players.token(b"new"))
    found = store.players.token(b"good")
    assert found is not None
    assert (found.player, found.expires, found.revoked) == ("a1", None, None)
    present = [b"good", b"old", b"new", b"unknown"]
    assert store.players.void_tokens(present, now) == {b"old"}
    assert store.players.void_tokens([], now) == set()
    with closing(open_register(engine.db)) as register:
        assert register.revoke(good, now)
        assert not register.revoke(good, now)
        assert not register.revoke(10**6, now)
        assert [(each.id == good, each.revoked) for each in register.tokens()] == [
            (True, now),
            (False, None),
            (False, None),
        ]
    await seen(lambda: store.players.void_tokens(present, now) == {b"good", b"old"})


async def test_a_change_that_raises_changes_nothing(engine: FullEngine, store: Store) -> None:
    def change(register: TokenRegister) -> None:
        with register.transaction():
            register.add_account(PlayerRow("a1", "Ada", "bot", True, "ada", 1000))
            raise ValueError("planted")

    with closing(open_register(engine.db)) as register:
        with pytest.raises(ValueError, match="planted"):
            change(register)
        assert register.tokens() == []
        assert issued(engine, "a1", "ada", b"t", None)
