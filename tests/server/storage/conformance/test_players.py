"""Guests and house bots, which the server writes."""

from __future__ import annotations

from kibitz_server.storage.interface import PlayerRow, Store
from tests.server.storage.conformance.engines import Engine, RecordingWaiter


def guest(key: str, skeleton: str | None, created: int = 1000) -> PlayerRow:
    return PlayerRow(key, f"name of {key}", "human", False, skeleton, created)


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
