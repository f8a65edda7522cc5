"""Players and tokens: of guests by the server, of accounts by the operator beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from kibitz_server.storage.interface import PlayerRow, Registration, Store
from kibitz_server.storage.opening import open_register
from tests.server.storage.conformance.engines import Engine, RecordingWaiter

WAIT_S = 10.0


def guest(key: str, skeleton: str | None, created: int = 1000) -> PlayerRow:
    return PlayerRow(key, f"name of {key}", "human", False, skeleton, created)


def issued(engine: Engine, key: str, skeleton: str, digest: bytes, expires: int | None) -> int:
    """Make an account with a token beside the server."""

    def change(registration: Registration) -> int:
        known = registration.by_skeleton(skeleton)
        if known is not None and not known.account:
            registration.clear_skeleton(known.key)
        if known is None or not known.account:
            account = PlayerRow(key, f"name of {key}", "bot", True, skeleton, 1000)
            registration.add_account(account)
        return registration.add_token(digest, key, 1000, expires)

    with open_register(engine.db) as register:
        return register.transaction(change)


async def seen(condition: Callable[[], object]) -> None:
    """Wait until a server has noticed what was changed beside it."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  the database notifies no test
            await asyncio.sleep(0.01)


async def test_a_guest_is_found_by_its_key_its_name_and_its_secret(engine: Engine) -> None:
    store = engine.open()
    waiter = RecordingWaiter()
    ada = guest("g1", "ada")
    store.players.add_guest(ada, b"secret", waiter)
    await store.flush()
    assert waiter.told == [0]
    for _ in range(2):
        players = store.players
        assert players.by_key("g1") == players.by_skeleton("ada") == ada
        assert players.by_secret(b"secret") == ada
        assert players.by_key("g2") is players.by_skeleton("x") is players.by_secret(b"x") is None
        await store.close()
        store = engine.open()
    await store.close()


async def test_a_name_passes_from_one_guest_to_the_next(store: Store) -> None:
    store.players.add_guest(guest("g1", "ada"), b"1", RecordingWaiter())
    await store.flush()
    store.players.add_guest(guest("g2", "ada"), b"2", RecordingWaiter())
    await store.flush()
    found = store.players.by_skeleton("ada")
    assert found is not None
    assert found.key == "g2"
    assert store.players.by_secret(b"1") is store.players.by_key("g1") is None


async def test_a_guest_takes_no_name_of_an_account(engine: Engine, store: Store) -> None:
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


async def test_an_account_takes_the_name_of_a_guest(engine: Engine, store: Store) -> None:
    store.players.add_guest(guest("g1", "ada"), b"1", RecordingWaiter())
    await store.flush()
    issued(engine, "a1", "ada", b"token", None)
    await seen(lambda: (row := store.players.by_skeleton("ada")) is not None and row.account)
    former = store.players.by_secret(b"1")
    assert former is not None
    assert former.skeleton is None


async def test_a_house_bot_gets_a_new_secret(store: Store) -> None:
    bot = PlayerRow("h1", "house bot 1", "house", False, None, 1000)
    for secret in (b"1", b"2"):
        store.players.put_house_bot(bot, secret, RecordingWaiter())
        await store.flush()
    assert store.players.by_secret(b"1") is None
    assert store.players.by_secret(b"2") == bot


async def test_when_a_guest_was_here_last(engine: Engine) -> None:
    store = engine.open()
    store.players.add_guest(guest("g1", "ada"), b"1", RecordingWaiter())
    await store.flush()
    store.players.note_seen("g1", 2000)
    await store.flush()
    for _ in range(2):
        row = store.players.by_key("g1")
        assert row is not None
        assert row.created == 2000
        await store.close()
        store = engine.open()
    await store.close()


async def test_tokens_count_from_the_moment_they_are_made_to_that_they_are_revoked(
    engine: Engine, store: Store
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
    with open_register(engine.db) as register:
        assert register.revoke(good, now)
        assert not register.revoke(good, now)
        assert not register.revoke(10**6, now)
        assert [(each.id == good, each.revoked) for each in register.tokens()] == [
            (True, now),
            (False, None),
            (False, None),
        ]
    await seen(lambda: store.players.void_tokens(present, now) == {b"good", b"old"})


async def test_a_change_that_raises_changes_nothing(engine: Engine, store: Store) -> None:
    def change(registration: Registration) -> int:
        registration.add_account(PlayerRow("a1", "Ada", "bot", True, "ada", 1000))
        raise ValueError("planted")

    with open_register(engine.db) as register:
        try:
            register.transaction(change)
        except ValueError:
            pass
        else:
            raise AssertionError("it did not raise")
        assert register.tokens() == []
        assert issued(engine, "a1", "ada", b"t", None)
