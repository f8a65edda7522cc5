"""On an event's private server, entrants may only play their seats and viewers may only read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_server.app import Config, Server, running
from tests.server.directory.test_directory import GAMES, settings
from tests.server.fakes import JsonClient, connected, wait_until
from tests.server.handlers.test_answers import MODELS, TYPES, fields
from tests.tools.sample_messages import REQUESTS

SECRET = "the secret of the organizer, that nobody else has"
ALLOWED = {"join", "leave", "ready", "rejoin", "move", "resign", "leave_match", "note", "comment"}
"""The requests allowed for entrants besides hello; all others are `unauthorized`."""

OF_VIEWERS = {
    "list_games",
    "list_lobbies",
    "list_matches",
    "ladder",
    "watch",
    "wall",
    "unwatch",
    "subscribe",
    "unsubscribe",
    "history",
}
"""The requests allowed for viewers besides hello."""


class Event:
    """A server with an organizer, a match of two entrants, and a match of others."""

    def __init__(self, server: Server, stack: AsyncExitStack) -> None:
        self.server = server
        self._stack = stack

    async def caller(self) -> JsonClient:
        return await self._stack.enter_async_context(connected(self.server.url))

    async def hello(self, **who: Any) -> tuple[JsonClient, dict[str, Any]]:
        caller = await self.caller()
        return caller, await caller.ask("hello", versions=[1], **who)

    async def organizer(self, name: str | None = "boss") -> JsonClient:
        who = {} if name is None else {"name": name}
        caller, answer = await self.hello(token=SECRET, **who)
        assert answer["type"] == "welcome"
        caller.player = answer["player"]
        return caller

    async def entrant(self, name: str) -> tuple[JsonClient, str]:
        """Register a player and reconnect with only its own secret."""
        registering, answer = await self.hello(token=SECRET, name=name)
        await registering.socket.close()
        capabilities = {"at_once": 1000}
        caller, back = await self.hello(resume=answer["resume"], capabilities=capabilities)
        assert back["player"] == answer["player"]
        caller.player = back["player"]
        return caller, answer["resume"]

    async def begin(self, organizer: JsonClient, *players: JsonClient) -> tuple[str, str]:
        """Start a match in a lobby of the organizer; return the keys of lobby and match."""
        seats = [
            {"kind": "reserved", "name": f"seat-{each.player}", "player": each.player}
            for each in players
        ]
        said = settings() | {"seats": seats, "joinable": "closed", "name": "event"}
        lobby = (await organizer.ask("host", settings=said))["lobby"]
        for each in players:
            assert (await each.ask("join", lobby=lobby))["type"] == "done"
        for each in players:
            assert (await each.ask("ready", lobby=lobby))["type"] == "done"
        return lobby, (await players[0].next("match_started"))["match"]["match"]


@pytest.fixture
async def event(tmp_path: Path) -> AsyncIterator[Event]:
    config = Config(db=tmp_path / "k.db", unlimited=True, guests="anyone", organizer=SECRET)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        yield Event(server, stack)


def test_the_rights_are_those_that_are_tested_here() -> None:
    assert {request.type for request in REQUESTS if request.of_entrants} | {"move"} == ALLOWED
    assert {request.type for request in REQUESTS if request.of_viewers} == OF_VIEWERS


async def begin_match(ada: JsonClient, bob: JsonClient) -> tuple[str, str]:
    """Start a match of two guests; return its lobby and its key."""
    await ada.hello("ada")
    await bob.hello("bob")
    lobby = (await ada.ask("host", settings=settings()))["lobby"]
    for player in (ada, bob):
        await player.ask("join", lobby=lobby)
        await player.ask("ready", lobby=lobby)
    return lobby, (await ada.next("match_started"))["match"]["match"]


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "hello"])
async def test_a_viewer_may_read_and_do_nothing_else(tmp_path: Path, kind: str) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
        connected(server.url) as viewer,
    ):
        lobby, match = await begin_match(ada, bob)
        welcome = await viewer.ask("hello", versions=[1], viewer=True)
        assert (welcome["viewer"], welcome["resume"], welcome["seats"]) == (True, "", [])
        if kind == "history":  # for a running match that is being watched
            await viewer.ask("watch", match=match)
        backend = server.backend
        before = len(backend.registry.lobbies), len(backend.registry.matches)
        key = lobby if "lobby" in MODELS[kind].model_fields else match
        answer = await viewer.ask(kind, **fields(kind, key))
        if kind in OF_VIEWERS:
            assert answer["type"] == MODELS[kind].answer
        elif kind == "move":  # requires a seat, which a viewer never has
            assert answer["type"] == "refused"
        else:
            assert (answer["type"], answer["code"]) == ("refused", "unauthorized")
            assert "viewer" in answer["message"]
        assert before == (len(backend.registry.lobbies), len(backend.registry.matches))
        assert welcome["player"] not in backend.connections.players


async def test_a_viewer_receives_snapshots_the_wall_and_the_hall(tmp_path: Path) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
        connected(server.url) as viewer,
    ):
        _, match = await begin_match(ada, bob)
        await viewer.ask("hello", versions=[1], viewer=True)
        await viewer.ask("subscribe", topic="hall")
        assert [*(await viewer.next("hall"))["matches"]] == [match]
        assert (await viewer.ask("wall", matches=[match]))["watching"] == [match]
        assert (await viewer.next("snapshot"))["why"] == "watching"


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "hello"])
@pytest.mark.parametrize("whose", ["own", "others"])
async def test_an_entrant_may_play_its_seats_and_nothing_else(
    event: Event, kind: str, whose: str
) -> None:
    boss = await event.organizer()
    ada, _ = await event.entrant("ada")
    bob, _ = await event.entrant("bob")
    lobby, match = await event.begin(boss, ada, bob)
    if whose == "others":
        cyd, _ = await event.entrant("cyd")
        dan, _ = await event.entrant("dan")
        lobby, match = await event.begin(boss, cyd, dan)
    before = (
        len(event.server.backend.registry.lobbies),
        len(event.server.backend.registry.matches),
    )
    key = lobby if "lobby" in MODELS[kind].model_fields else match
    answer = await ada.ask(kind, **fields(kind, key))
    if kind not in ALLOWED:
        assert (answer["type"], answer["code"]) == ("refused", "unauthorized")
        assert "entrant" in answer["message"]
        assert answer["hint"]
        assert before == (
            len(event.server.backend.registry.lobbies),
            len(event.server.backend.registry.matches),
        )
        assert not event.server.backend.registry.matches[match].watchers
    elif whose == "others":
        assert answer["type"] == "refused", "its own seats only"
    else:
        assert answer.get("code") not in ("unauthorized", "internal")


async def test_an_entrant_does_not_join_as_a_spectator(event: Event) -> None:
    boss = await event.organizer()
    ada, _ = await event.entrant("ada")
    bob, _ = await event.entrant("bob")
    lobby, _ = await event.begin(boss, ada, bob)
    answer = await ada.ask("join", lobby=lobby, role="spectator")
    assert answer["code"] == "unauthorized"


async def test_the_organizer_may_ask_for_everything(event: Event) -> None:
    boss = await event.organizer()
    viewer = await event.organizer(name=None)
    for kind in TYPES:
        for each in (boss, viewer):
            if kind not in ("hello", "abort"):  # `abort` is only for accounts named with --operator
                answer = await each.ask(kind, **fields(kind, "nothing"))
                assert answer.get("code") != "unauthorized", answer


@pytest.mark.parametrize(
    "who",
    [
        {"name": "ada"},
        {"name": "somebody"},
        {"token": "no token of anybody at all"},
        {"resume": "no secret of anybody at all"},
        {"name": "ada", "resume": SECRET},
        {"ticket": "a.ticket.of.nobody"},
    ],
    ids=str,
)
async def test_nobody_else_comes_in(event: Event, who: dict[str, str]) -> None:
    ada, _ = await event.entrant("ada")
    await ada.socket.close()
    _, answer = await event.hello(**who)
    assert (answer["type"], answer["code"]) == ("refused", "unauthorized")


async def test_a_second_connection_of_an_entrant_is_that_entrant(event: Event) -> None:
    boss = await event.organizer()
    ada, secret = await event.entrant("ada")
    bob, _ = await event.entrant("bob")
    _, match = await event.begin(boss, ada, bob)
    second, welcome = await event.hello(resume=secret, name="onlooker")
    assert welcome["name"] == "ada"
    assert (await second.ask("watch", match=match))["code"] == "unauthorized"


async def test_a_viewer_comes_back_as_a_viewer(event: Event) -> None:
    """A browser keeps only the secret of its welcome."""
    _, first = await event.hello(token=SECRET)
    back, again = await event.hello(resume=first["resume"])
    assert again["player"] == first["player"]
    assert (await back.ask("list_lobbies"))["type"] == "lobbies"


async def test_limits_hold_for_entrants_on_an_unlimited_server(event: Event) -> None:
    _, organizer = await event.hello(token=SECRET, name="boss")
    assert organizer["limits"]["burst"] > 1_000_000
    ada, _ = await event.entrant("ada")
    for _ in range(60):  # the server does not read from a client in debt, not even its close frame
        answer = await ada.ask("note", match="none", text="x" * 2000)
        if answer["code"] == "rate_limited":
            ada.socket.transport.abort()
            return
    pytest.fail("an entrant sent 60 long notes at once")


@pytest.mark.parametrize(
    ("by_key", "squatted"), [(True, False), (False, True)], ids=["by key", "by name"]
)
async def test_a_seat_that_is_kept_by_key_goes_to_nobody_else(
    tmp_path: Path, by_key: bool, squatted: bool
) -> None:
    """On any server, an absent guest's name can be taken, but not its seat."""
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES) as server,
        connected(server.url) as host,
        connected(server.url) as squatter,
    ):
        await host.hello("boss")
        async with connected(server.url) as ada:
            player = (await ada.hello("ada"))["player"]
        key = {"player": player} if by_key else {}
        seats = [{"kind": "reserved", "name": "ada", **key}, {"kind": "open"}]
        said = settings() | {"seats": seats, "joinable": "closed"}
        lobby = (await host.ask("host", settings=said))["lobby"]
        claimed = await squatter.ask("hello", versions=[1], name="ada")
        assert (claimed["type"] == "welcome") is squatted
        if squatted:
            assert (await squatter.ask("join", lobby=lobby))["type"] == "done"
        else:
            assert claimed["code"] == "name_taken"
            await host.ask("close", lobby=lobby)
            await wait_until(lambda: not server.backend.registry.is_expected(player))


@pytest.mark.parametrize("public_boards", [False, True])
async def test_an_operator_opens_the_boards_of_a_server_without_guests(
    tmp_path: Path, public_boards: bool
) -> None:
    config = Config(db=tmp_path / "k.db", guests="nobody", public_boards=public_boards)
    async with running(config, GAMES) as server, connected(server.url) as viewer:
        answer = await viewer.ask("hello", versions=[1], viewer=True)
        assert answer["type"] == ("welcome" if public_boards else "refused")
