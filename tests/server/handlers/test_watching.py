"""Requests to watch another node's matches, with two servers on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from kibitz_server.app.config import Config
from kibitz_server.app.server import Server, running
from kibitz_server.directory.tails import Tails
from kibitz_server.net.connections import Quotas
from kibitz_server.storage.location import PostgresURL
from tests.server.fakes import JsonClient, connected
from tests.server.match.toy_games import Grid, Veil
from tests.tools import postgres_server

pytestmark = pytest.mark.e2e
GAMES = {game.info.name: game for game in (Grid(), Veil())}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as url:
        yield url


class Pair:
    """Node a, which plays matches, and node b, where clients watch them."""

    def __init__(self, nodes: list[Server], stack: AsyncExitStack) -> None:
        self.a, self.b = nodes
        self._stack = stack

    @property
    def tails(self) -> Tails:
        assert self.b.backend.directory.tails is not None
        return self.b.backend.directory.tails

    async def client(self, node: Server, name: str, **fields: object) -> JsonClient:
        made = await self._stack.enter_async_context(connected(node.url))
        welcome = await made.hello(name, **fields)
        assert welcome["type"] == "welcome", welcome
        made.player = welcome["resume"]  # with this the other node also learns of it soon
        players = self.a.backend.store.players
        async with asyncio.timeout(10):
            while players.by_key(welcome["player"]) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return made

    async def matches(self, *players: JsonClient, count: int = 1, **settings: Any) -> list[str]:
        """Start matches between two players at node a, and wait until b knows them."""
        item = {"game": "toy-grid", "seats": 2, "games": count}
        fields = {"seats": [{"kind": "open"}] * 2, "programme": [item], "at_once": count}
        host = players[0]
        key = (await host.ask("host", settings={**fields, **settings}))["lobby"]
        for request in ("join", "ready"):
            for player in players:
                assert (await player.ask(request, lobby=key))["type"] == "done"
        keys = [f"{key}-1-{number}" for number in range(1, count + 1)]
        others = self.b.backend.directory.others
        assert others is not None
        async with asyncio.timeout(10):
            while any(others.match(each) is None for each in keys):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return keys

    async def two_players(self) -> tuple[JsonClient, JsonClient]:
        capabilities = {"at_once": 100}
        ada = await self.client(self.a, "ada", capabilities=capabilities)
        return ada, await self.client(self.a, "bob", capabilities=capabilities)


@asynccontextmanager
async def two_nodes(address: str) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgres_server.database(address))
        nodes = [
            await stack.enter_async_context(
                running(
                    Config(
                        db=PostgresURL(url.url),
                        node=name,
                        public_url=f"ws://{name}.example.org",
                        quotas=Quotas(matches_elsewhere=2),
                        drain_s=2,
                    ),
                    GAMES,
                )
            )
            for name in ("a", "b")
        ]
        async with asyncio.timeout(20):
            while not all(node.backend.ready() for node in nodes):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        async with AsyncExitStack() as clients:
            yield Pair(nodes, clients)


@pytest.fixture
async def pair(address: str) -> AsyncIterator[Pair]:
    async with two_nodes(address) as made:
        yield made


def sent_to_a(refused: dict[str, Any]) -> bool:
    return (refused["code"], refused["redirect"]["url"]) == ("elsewhere", "ws://a.example.org")


async def test_a_spectator_stays_and_a_player_is_sent_to_its_match(pair: Pair) -> None:
    ada_here = await pair.client(pair.b, "ada")
    ada = await pair.client(pair.a, "ada", resume=ada_here.player)
    bob = await pair.client(pair.a, "bob")
    [match] = await pair.matches(ada, bob)
    eve = await pair.client(pair.b, "eve")
    assert (await eve.ask("watch", match=match))["type"] == "done"
    snapshot = await eve.next("snapshot")
    assert (snapshot["why"], snapshot["match"]) == ("watching", match)
    assert sent_to_a(await ada_here.ask("watch", match=match))
    [declined] = (await ada_here.ask("wall", matches=[match]))["refused"]
    assert declined["code"] == "not_watchable"
    await ada.ask("resign", match=match)
    await eve.next("finished")
    over = await eve.ask("watch", match=match)
    assert (over["code"], match in over["hint"]) == ("over", True)
    assert [each["code"] for each in (await eve.ask("wall", matches=[match]))["refused"]] == [
        "over"
    ]
    assert (await eve.ask("history", match=match))["type"] == "events"
    assert (await eve.ask("history", match="nothing"))["code"] == "no_such_match"


@pytest.mark.parametrize("settings", [{"watchable": False}, {"spectating": {"mode": "off"}}])
async def test_whom_the_host_does_not_show_a_match_its_own_node_refuses(
    pair: Pair, settings: dict[str, Any]
) -> None:
    [match] = await pair.matches(*await pair.two_players(), **settings)
    eve = await pair.client(pair.b, "eve")
    assert sent_to_a(await eve.ask("watch", match=match))
    walled = await eve.ask("wall", matches=[match])
    assert (walled["watching"], len(walled["refused"])) == ([], 1)
    there = await pair.client(pair.a, "gus")
    assert (await there.ask("watch", match=match))["code"] == "not_watchable"


async def test_what_is_beyond_the_limit_is_watched_where_it_is(pair: Pair) -> None:
    matches = await pair.matches(*await pair.two_players(), count=4)
    eve = await pair.client(pair.b, "eve")
    walled = await eve.ask("wall", matches=matches[:3])
    assert walled["watching"] == matches[:2]
    assert [each["code"] for each in walled["refused"]] == ["elsewhere"]
    for _ in range(2):
        await eve.next("snapshot")
    assert sent_to_a(await eve.ask("watch", match=matches[3]))
    assert (await eve.ask("watch", match=matches[0]))["type"] == "done"
    assert pair.tails.followed == 2
    await eve.ask("wall", matches=[])
    async with asyncio.timeout(5):
        while pair.tails.followed:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (await eve.ask("watch", match=matches[3]))["type"] == "done"


async def test_who_does_not_want_to_watch_any_more_is_shown_nothing(pair: Pair) -> None:
    """Even if that is requested before the log has been read."""
    [match] = await pair.matches(*await pair.two_players())
    eve = await pair.client(pair.b, "eve")
    await eve.socket.send(f'{{"type":"watch","id":101,"match":"{match}"}}')
    await eve.socket.send(f'{{"type":"unwatch","id":102,"match":"{match}"}}')
    answers = [await eve.take(), await eve.take()]
    assert {(each["type"], each["re"]) for each in answers} == {("done", 101), ("done", 102)}
    assert (await eve.ask("watch", match=match))["type"] == "done"
    await eve.next("snapshot")
    assert (await eve.ask("unwatch", match=match))["type"] == "done"
    assert eve.news == []
    assert pair.tails.spectators == 0


async def test_who_watches_nothing_that_is_there_loses_nothing_by_it(pair: Pair) -> None:
    """The key may be that of a lobby that the connection follows."""
    eve = await pair.client(pair.b, "eve")
    item = {"game": "toy-grid", "seats": 2}
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
    lobby = (await eve.ask("host", settings=settings))["lobby"]
    gus = await pair.client(pair.b, "gus")
    assert (await gus.ask("join", lobby=lobby, role="spectator"))["type"] == "done"
    assert (await gus.ask("watch", match=lobby))["code"] == "no_such_match"
    await gus.ask("unwatch", match=lobby)
    [peer] = pair.b.backend.registry.lobbies[lobby].news.spectators
    assert lobby in peer.subscriptions
    await gus.socket.close()
    async with asyncio.timeout(5):
        while pair.b.backend.registry.lobbies[lobby].news.spectators:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_connection_that_is_gone_is_not_let_in(pair: Pair) -> None:
    [match] = await pair.matches(*await pair.two_players())
    eve = await pair.client(pair.b, "eve")
    await eve.ask("watch", match=match)
    assert pair.tails.spectators == 1
    await eve.socket.close()
    async with asyncio.timeout(5):
        while pair.tails.followed:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
