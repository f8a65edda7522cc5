"""A complete server on a loopback socket, with raw clients that send requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.messages import HouseBotLine
from kibitz_protocol.wire.refusals import CloseCode
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.app import Config, Server, running
from kibitz_server.directory import lobby_matches
from kibitz_server.match.news import SEAT_IS_OUT
from kibitz_server.match.record import read_setup
from kibitz_server.net.connections import Quotas
from kibitz_server.net.token_watch import close_void
from tests.server.fakes import JsonClient, connected, house_bot, wait_until
from tests.server.match.toy_games import Grid, Race, Veil, variant
from tests.tools.transcripts import transcript

GAMES = {
    game.info.name: game
    for game in (Grid(), Race(), Veil(), variant(Grid, name="toy-even", balanced=True))
}
ENDINGS = {"row": "with a row"}
OPEN = {"kind": "open"}


def settings(game: str = "toy-grid", seats: int = 2, **fields: Any) -> dict[str, Any]:
    item = {"game": game, "seats": seats, **fields.pop("item", {})}
    return {"seats": [OPEN] * seats, "programme": [item], **fields}


class Scenario:
    """A server and its clients."""

    def __init__(self, server: Server, stack: AsyncExitStack) -> None:
        self.server = server
        self.secrets: dict[str, str] = {}
        self._stack = stack

    async def call(self, **options: Any) -> JsonClient:
        return await self._stack.enter_async_context(connected(self.server.url, **options))

    async def guest(self, name: str, **fields: object) -> JsonClient:
        caller = await self.call()
        welcome = await caller.hello(name, **fields)
        assert welcome["type"] == "welcome", welcome
        caller.player = welcome["player"]
        self.secrets[name] = welcome["resume"]
        return caller

    async def match(self, *names: str, **fields: Any) -> tuple[list[JsonClient], str]:
        """Open a lobby, fill it, and return the players and the lobby."""
        players = [await self.guest(name) for name in names]
        done = await players[0].ask("host", settings=settings(seats=len(names), **fields))
        assert done["type"] == "done", done
        for player in players:
            assert (await player.ask("join", lobby=done["lobby"]))["type"] == "done"
        for player in players:
            assert (await player.ask("ready", lobby=done["lobby"]))["type"] == "done"
        return players, done["lobby"]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Scenario]:
    async with (
        running(Config(db=tmp_path / "kibitz.db"), GAMES) as server,
        AsyncExitStack() as stack,
    ):
        yield Scenario(server, stack)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def play_out(players: list[JsonClient]) -> dict[str, Any]:
    """Let every player answer its turns with the first legal move; return the end of the match."""

    async def play(player: JsonClient) -> dict[str, Any]:
        while True:
            message = await player.take()
            if message["type"] == "your_turn":
                await player.move(message)
            elif message["type"] == "finished":
                return dict(message)

    return (await asyncio.gather(*map(play, players)))[0]


# --- hello ------------------------------------------------------------------------------------


async def test_hello_first(house: Scenario) -> None:
    caller = await house.call()
    refused = await caller.ask("list_games")
    assert refused["code"] == "hello_first"
    refused = await caller.ask("move", match="m", ply=0, action={})
    assert refused["code"] == "hello_first"
    assert (await caller.hello("ada"))["type"] == "welcome"
    assert (await caller.hello("ada"))["code"] == "wrong_state"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"versions": [99]}, "version"),
        ({"versions": [1], "token": "kb_" + "x" * 43}, "unauthorized"),
        ({"versions": [1], "resume": "x" * 43}, "unauthorized"),
        ({"versions": [1], "name": "a\u0000b"}, "name_invalid"),
        ({"versions": [1]}, "name_invalid"),
    ],
)
async def test_a_refused_hello_ends_the_connection(
    house: Scenario, fields: dict[str, Any], code: str
) -> None:
    caller = await house.call()
    assert (await caller.ask("hello", **fields))["code"] == code
    assert await caller.closed() == CloseCode.NO_HELLO


async def test_a_name_is_free_again_when_its_guest_has_gone(house: Scenario) -> None:
    ada = await house.guest("ada")
    caller = await house.call()
    assert (await caller.hello("Ada"))["code"] == "name_taken"
    await ada.socket.close()
    again = await house.call()
    assert (await again.hello("Ada"))["type"] == "welcome"


async def test_a_token_in_the_header(house: Scenario) -> None:
    with TokenAdmin(house.server.config.db) as register:
        issued = register.issue("Deep", "bot")
    caller = await house.call(additional_headers={"Authorization": f"Bearer {issued.token}"})
    welcome = await caller.ask("hello", versions=[1])
    assert (welcome["player"], welcome["resume"]) == (issued.player.player, issued.token)


async def test_a_revoked_token_ends_its_connections(house: Scenario) -> None:
    with TokenAdmin(house.server.config.db) as register:
        backend, issued = house.server.backend, register.issue("Deep", "bot")
        caller = await house.call()
        await caller.ask("hello", versions=[1], token=issued.token)
        close_void(list(backend.connections.peers), backend.accounts)
        assert (await caller.ask("list_matches"))["type"] == "matches"
        register.revoke(issued.id)
    close_void(list(backend.connections.peers), backend.accounts)
    assert (await caller.next("farewell"))["code"] == "unauthorized"
    assert await caller.closed() == CloseCode.KICKED


# --- drawing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["toy-grid", "toy-veil"])
async def test_a_match_is_played_by_clients_that_know_no_rules(house: Scenario, game: str) -> None:
    """Clients draw only from a stage, paints and picks, and get the server's drawing."""
    players = [await house.guest(name, views="drawn") for name in ("ada", "bob")]
    done = await players[0].ask("host", settings=settings(game))
    for request in ("join", "ready"):
        for player in players:
            assert (await player.ask(request, lobby=done["lobby"]))["type"] == "done"

    async def play(player: JsonClient) -> dict[str, Any]:
        stage: dict[str, Any] = {}
        while True:
            message = player.news.pop(0) if player.news else json.loads(await player.socket.recv())
            stage = message.get("stage", stage)
            if "patch" in message and message["type"] != "lobby_changed":
                stage = apply(stage, message["patch"])
            if message["type"] == "your_turn":
                assert not {"view", "legal"} & message.keys()
                action = message["picks"][-1]["action"]
                match, ply = message["match"], message["ply"]
                assert (await player.ask("move", match=match, ply=ply, action=action)).get("seq")
            elif message["type"] == "finished":
                return stage

    drawn = await asyncio.gather(*map(play, players))
    page = await players[0].ask("history", match=f"{done['lobby']}-1-1", first=1, count=1000)
    [replayed, *rest] = [page["stage"], *(event.get("patch", {}) for event in page["events"])]
    for paint in rest:
        replayed = apply(replayed, paint)
    assert drawn[0] == drawn[1] == replayed


# --- lists ------------------------------------------------------------------------------------


async def test_lists(house: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GAMES["toy-grid"], "reason_texts", ENDINGS)
    players, lobby = await house.match("ada", "bob")
    await players[0].next("match_started")
    eve = await house.guest("eve")
    games = await eve.ask("list_games")
    assert [game["name"] for game in games["games"]] == list(GAMES)
    assert (games["personalities"], games["bots"]) == ([], [])
    grid = games["games"][0]
    assert grid["options_schema"]["properties"]["columns"]
    assert grid["move_schema"]["properties"]["x"]
    assert grid["view_schema"]["type"] == "object"
    assert [game["balanced"] for game in games["games"]] == [False, False, False, True]
    [brief] = (await eve.ask("list_lobbies"))["lobbies"]
    assert (brief["lobby"], brief["state"], brief["members"]) == (lobby, "running", 2)
    [match] = (await eve.ask("list_matches"))["matches"]
    assert (match["match"], match["watchable"]) == (f"{lobby}-1-1", True)
    await play_out(players)
    [match] = (await eve.ask("list_matches", lobby=lobby))["matches"]
    assert match["result"]["cause"] == "rules"


async def test_an_unlisted_lobby_is_in_no_list(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob", listed=False)
    await players[0].next("match_started")
    eve = await house.guest("eve")
    assert (await eve.ask("list_lobbies"))["lobbies"] == []
    assert (await eve.ask("list_matches"))["matches"] == []
    assert len((await players[1].ask("list_lobbies"))["lobbies"]) == 1
    assert len((await eve.ask("list_matches", lobby=lobby))["matches"]) == 1


# --- lobbies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "code", "where"),
    [
        (settings("chess"), "unknown_game", "settings.programme.0.game"),
        (settings(item={"options": {"columns": 0}}), "bad_option", "programme.0.options.columns"),
        (settings(item={"options": {"sails": 3}}), "bad_option", "programme.0.options.sails"),
        (settings(item={"seats": 3}), "bad_seats", "3 seats"),
        (
            settings(item={"time_control": {"periods": 3}}),
            "bad_option",
            "settings.programme.0.time_control: byo-yomi needs both",
        ),
        (
            {**settings(), "seats": [OPEN, {"kind": "house", "personality": "toy-grid/nobody"}]},
            "unknown_personality",
            "toy-grid/nobody",
        ),
        (settings(conduct={"on_leave": "replace"}), "bad_option", "stand_in"),
        (settings(name="a\u202eb"), "bad_option", "settings.name"),
    ],
)
async def test_settings_that_cannot_be_played(
    house: Scenario, asked: dict[str, Any], code: str, where: str
) -> None:
    ada = await house.guest("ada")
    refused = await ada.ask("host", settings=asked)
    assert (refused["type"], refused["code"]) == ("refused", code)
    assert where in refused["message"]
    assert (await ada.ask("list_lobbies"))["lobbies"] == []


async def test_lobbies_have_a_limit_for_each_player(house: Scenario) -> None:
    path = Path(str(house.server.config.db)).with_name("other.db")
    config = Config(db=path, quotas=Quotas(lobbies=2))
    async with running(config, GAMES) as server, connected(server.url) as caller:
        await caller.hello("bob")
        lobbies = [await caller.ask("host", settings=settings()) for _ in range(3)]
        assert [answer.get("code") for answer in lobbies] == [None, None, "limit"]
        await caller.ask("close", lobby=lobbies[0]["lobby"])
        assert (await caller.ask("host", settings=settings()))["type"] == "done"


@pytest.mark.e2e
async def test_house_bots_have_a_limit_for_each_player_and_for_all(house: Scenario) -> None:
    path = Path(str(house.server.config.db)).with_name("other.db")
    quotas = Quotas(house_bots=3, house_bots_in_all=5)
    config = Config(db=path, quotas=quotas)
    bots = [{"kind": "house", "personality": "toy-grid/first"}] * 2

    class Idle:
        def bots(self) -> list[HouseBotLine]:
            return [house_bot("toy-grid/first")]

        def flaw(self, personality: str) -> str | None:
            return None

        def command(self, personality: str, url: str, lobby: str) -> list[str]:
            return ["sleep", "60"]

    async with (
        running(config, GAMES, Idle()) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
    ):
        assert (await ada.hello("ada"))["limits"]["house_bots"] == 3
        await bob.hello("bob")
        asked = settings() | {"seats": [OPEN, *bots]}
        done = await ada.ask("host", settings=asked)
        refused = await ada.ask("host", settings=asked)
        assert refused["code"] == "limit"
        assert refused["message"].startswith("2 house bots of yours have seats, and 2 more")
        assert (await ada.ask("host", settings=settings()))["type"] == "done"
        assert (await bob.ask("host", settings=asked))["type"] == "done"
        one = settings() | {"seats": [OPEN, *bots[:1], OPEN]}
        assert (await ada.ask("host", settings=one))["type"] == "done"
        assert "on this server" in (await bob.ask("host", settings=one))["message"]
        await ada.ask("close", lobby=done["lobby"])
        assert (await bob.ask("host", settings=one))["type"] == "done"


async def test_lobbies_of_an_address_have_a_limit(house: Scenario) -> None:
    path = Path(str(house.server.config.db)).with_name("other.db")
    quotas = Quotas(lobbies_an_address=1, lobbies_in_all=2)
    config = Config(db=path, quotas=quotas, guests="anyone", proxies=("127.0.0.1",))
    async with running(config, GAMES) as server, AsyncExitStack() as stack:

        async def host(name: str, address: str) -> dict[str, Any]:
            came = {"X-Forwarded-For": address}
            caller = await stack.enter_async_context(connected(server.url, additional_headers=came))
            await caller.hello(name)
            return await caller.ask("host", settings=settings())

        assert (await host("ada", "192.0.2.1"))["type"] == "done"
        refused = await host("bob", "192.0.2.1")
        assert (refused["code"], "from your address" in refused["message"]) == ("limit", True)
        assert (await host("cyd", "192.0.2.2"))["type"] == "done"
        refused = await host("dan", "192.0.2.3")
        assert (refused["code"], "on this server" in refused["message"]) == ("limit", True)
    config = replace(config, quotas=Quotas(lobbies_an_address=1, lobbies_in_all=3))
    async with running(config, GAMES) as server, AsyncExitStack() as stack:  # a restart
        refused = await host("eve", "192.0.2.1")
        assert (refused["code"], "from your address" in refused["message"]) == ("limit", True)
        assert (await host("fay", "192.0.2.3"))["type"] == "done"


async def test_behind_a_proxy_only_this_machine_s_guests_are_local(house: Scenario) -> None:
    path = Path(str(house.server.config.db)).with_name("other.db")
    config = Config(db=path, proxies=("127.0.0.1",))
    async with running(config, GAMES) as server:
        for address, answer in (
            ("192.0.2.1", "refused"),
            ("127.0.0.1", "refused"),
            ("", "welcome"),
        ):
            headers = {"X-Forwarded-For": address} if address else {}
            async with connected(server.url, additional_headers=headers) as caller:
                assert (await caller.hello("ada"))["type"] == answer
    async with connected(house.server.url, additional_headers={"Via": "1.1 proxy"}) as caller:
        assert (await caller.hello("ada"))["code"] == "unauthorized"


async def test_lists_come_in_pages(house: Scenario) -> None:
    ada = await house.guest("ada")
    keys = [(await ada.ask("host", settings=settings()))["lobby"] for _ in range(5)]
    seen: list[str] = []
    page: dict[str, Any] = {"last": 0, "more": True}
    while page["more"]:
        page = await ada.ask("list_lobbies", after=page["last"], limit=2)
        assert len(page["lobbies"]) <= 2
        seen += [brief["lobby"] for brief in page["lobbies"]]
        if len(seen) == 2:  # removals between two pages lose no other items
            await ada.ask("close", lobby=keys[1])
            await ada.ask("close", lobby=keys[2])
    assert seen == [keys[0], keys[1], keys[3], keys[4]]
    async with Client(house.server.url, name="eve") as client:
        assert [brief.lobby for brief in (await client.hall.lobbies()).lobbies] == [
            keys[0],
            keys[3],
            keys[4],
        ]


async def test_running_matches_come_in_pages_and_finished_ones_after_them(house: Scenario) -> None:
    pairs = [("ada", "bob"), ("cyd", "dan"), ("eve", "fay"), ("gus", "hal")]
    begun = [await house.match(*pair) for pair in pairs]
    for players, _ in begun:
        await players[1].next("match_started")
    (ada, bob), lobby = begun[0]
    turn = await ada.next("your_turn")
    await ada.ask("resign", match=turn["match"])
    await ada.next("match_ended")
    first = await bob.ask("list_matches", limit=2)
    assert (len(first["matches"]), first["more"]) == (2, True)
    assert not any(brief.get("result") for brief in first["matches"])
    rest = await bob.ask("list_matches", limit=2, after=first["last"])
    assert rest["more"] is False
    assert [bool(brief.get("result")) for brief in rest["matches"]] == [False, True]
    async with Client(house.server.url, name="ivy") as client:
        assert len((await client.hall.matches()).matches) == 4
        assert len((await client.hall.matches(lobby)).matches) == 1


@pytest.mark.parametrize(
    ("type", "fields", "code"),
    [
        ("join", {}, "no_such_lobby"),
        ("leave", {}, "no_such_lobby"),
        ("start", {}, "no_such_lobby"),
        ("watch", {"match": "m9"}, "no_such_match"),
        ("rejoin", {"match": "m9"}, "no_such_match"),
        ("resign", {"match": "m9"}, "no_such_match"),
        ("leave_match", {"match": "m9"}, "no_such_match"),
        ("note", {"match": "m9", "text": "x"}, "no_such_match"),
        ("history", {"match": "m9"}, "no_such_match"),
        ("move", {"match": "m9", "ply": 0, "action": {}}, "no_such_match"),
    ],
)
async def test_what_is_not_there(
    house: Scenario, type: str, fields: dict[str, Any], code: str
) -> None:
    ada = await house.guest("ada")
    asked = fields or {"lobby": "nowhere"}
    assert (await ada.ask(type, **asked))["code"] == code


async def test_only_the_host_may(house: Scenario) -> None:
    ada, bob = await house.guest("ada"), await house.guest("bob")
    lobby = (await ada.ask("host", settings=settings(auto_start=False)))["lobby"]
    assert (await bob.ask("start", lobby=lobby))["code"] == "not_host"
    assert (await bob.ask("close", lobby=lobby))["code"] == "not_host"
    assert (await bob.ask("ready", lobby=lobby))["code"] == "not_member"
    assert (await ada.ask("start", lobby=lobby))["code"] in {"not_ready", "bad_seats"}
    assert (await ada.ask("close", lobby=lobby))["type"] == "done"
    assert (await ada.next("lobby_closed"))["reason"] == "closed"
    assert (await ada.ask("list_lobbies"))["lobbies"] == []


async def test_an_invite_code_lets_in(house: Scenario) -> None:
    ada, bob = await house.guest("ada"), await house.guest("bob")
    done = await ada.ask("host", settings=settings(joinable="invite"))
    assert (await bob.ask("join", lobby=done["lobby"], invite="no"))["code"] == "wrong_invite"
    joined = await bob.ask("join", lobby=done["lobby"], invite=done["invite"])
    assert joined["type"] == "done"


async def test_a_kicked_player_hears_of_it(house: Scenario) -> None:
    ada, bob = await house.guest("ada"), await house.guest("bob")
    lobby = (await ada.ask("host", settings=settings()))["lobby"]
    await bob.ask("join", lobby=lobby)
    kicked = await ada.ask("kick", lobby=lobby, player=bob.player)
    assert kicked["type"] == "done"
    assert (await bob.next("lobby_closed"))["reason"] == "kicked"
    assert (await bob.ask("join", lobby=lobby))["code"] == "closed"


async def test_spectators_of_a_lobby_get_its_news(house: Scenario) -> None:
    ada, bob, eve = [await house.guest(name) for name in ("ada", "bob", "eve")]
    lobby = (await ada.ask("host", settings=settings()))["lobby"]
    assert (await eve.ask("join", lobby=lobby, role="spectator"))["type"] == "done"
    view = await eve.next_lobby()
    assert view.get("invite") is None
    assert view["spectators"] == 1
    for player in (ada, bob):
        await player.ask("join", lobby=lobby)
        await player.ask("ready", lobby=lobby)
    started = await eve.next("match_started")
    await play_out([ada, bob])
    ended = await eve.next("match_ended")
    assert ended["match"]["match"] == started["match"]["match"]
    assert ended["match"]["result"]
    assert (await eve.ask("leave", lobby=lobby))["type"] == "done"
    assert (await eve.ask("leave", lobby=lobby))["code"] == "not_member"


async def test_a_host_who_watches_too_hears_of_each_match_once(house: Scenario) -> None:
    ada, bob, eve = [await house.guest(name) for name in ("ada", "bob", "eve")]
    asked = settings(item={"games": 2}, at_once=1)
    lobby = (await ada.ask("host", settings=asked))["lobby"]
    await ada.ask("join", lobby=lobby, role="spectator")
    for player in (bob, eve):
        await player.ask("join", lobby=lobby)
        await player.ask("ready", lobby=lobby)
    first = await ada.next("match_started")
    await bob.ask("resign", match=first["match"]["match"])
    assert (await ada.next("match_ended"))["match"]["number"] == 1
    second = await ada.next("match_started")
    assert (first["match"]["number"], second["match"]["number"]) == (1, 2)


async def test_a_balanced_game_is_played_in_blocks(house: Scenario) -> None:
    ada, bob = await house.guest("ada"), await house.guest("bob")
    refused = await ada.ask("host", settings=settings("toy-even", item={"games": 3}))
    assert refused["code"] == "bad_option"
    assert "use 2 or 4, or rotate=false (--no-rotate) to play single" in refused["message"]
    lobby = (await ada.ask("host", settings=settings("toy-even", at_once=1)))["lobby"]
    for player in (ada, bob):
        await player.ask("join", lobby=lobby)
        await player.ask("ready", lobby=lobby)
    seated = []
    for _ in range(2):
        snapshot = await bob.next("snapshot")
        assert snapshot["block"] == 1
        seated.append([each["name"] for each in snapshot["seats"]])
        await ada.ask("resign", match=snapshot["match"])
        ended = await bob.next("match_ended")
        assert ended["match"]["block"] == 1
    assert seated == [["ada", "bob"], ["bob", "ada"]]
    record = await transcript(house.server.backend.store, snapshot["match"])
    assert record is not None
    assert read_setup(record.head).block == 1


def arrangement(
    tag: str, *players: JsonClient, game: str = "toy-grid", **item: Any
) -> dict[str, Any]:
    return {
        "tag": tag,
        "item": {"game": game, "seats": len(players), **item},
        "players": [player.player for player in players],
    }


async def arranged(
    house: Scenario, *names: str, **fields: Any
) -> tuple[JsonClient, list[JsonClient], str]:
    """Open and start an arranged lobby whose members are ready."""
    host = await house.guest("host")
    chosen = {"seats": [OPEN] * len(names), "programme": [], "arranged": True, **fields}
    done = await host.ask("host", settings=chosen)
    players = [await house.guest(name) for name in names]
    for player in players:
        await player.ask("join", lobby=done["lobby"])
        await player.ask("ready", lobby=done["lobby"])
    assert (await host.ask("start", lobby=done["lobby"]))["type"] == "done"
    return host, players, done["lobby"]


async def test_who_shares_a_player_of_an_event_is_flagged_from_the_start(house: Scenario) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob")
    thief = await house.call()
    await thief.ask("hello", versions=[1], resume=house.secrets["ada"], instance="not-of-ada")
    await host.ask("arrange", lobby=lobby, matches=[arrangement("b1.1", ada, bob)])
    match = (await thief.next("snapshot"))["match"]
    assert (await thief.ask("resign", match=match))["type"] == "done"
    ended = (await host.next("match_ended"))["match"]["result"]
    assert ended["cause"] == "takeover"
    assert [seat.get("takeover") for seat in ended["seats"]] == [True, None]


async def test_who_comes_back_in_an_event_is_not_flagged(house: Scenario) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob")
    await ada.socket.close()
    back = await house.call()
    await back.ask("hello", versions=[1], resume=house.secrets["ada"], instance="started-again")
    await back.ask("ready", lobby=lobby)
    await host.ask("arrange", lobby=lobby, matches=[arrangement("b1.1", ada, bob)])
    match = (await back.next("snapshot"))["match"]
    assert (await back.ask("resign", match=match))["type"] == "done"
    assert (await host.next("match_ended"))["match"]["result"]["cause"] == "resignation"


async def test_matches_are_arranged_and_their_tags_are_in_news_and_records(house: Scenario) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob")
    matches = [arrangement("b1.1", ada, bob, seed=5), arrangement("b1.2", bob, ada, seed=5)]
    answer = await host.ask("arrange", lobby=lobby, matches=matches)
    assert answer["type"] == "arranged"
    assert [each and each["tag"] for each in answer["matches"]] in ([None, None], ["b1.1", None])
    assert (await host.next("match_started"))["match"]["tag"] == "b1.1"
    await play_out([ada, bob])
    ended = (await host.next("match_ended"))["match"]
    assert (ended["tag"], ended["result"]["cause"]) == ("b1.1", "rules")
    await play_out([ada, bob])
    await host.next("match_ended")
    answer = await host.ask("arrange", lobby=lobby, matches=matches)
    assert [each["match"] for each in answer["matches"]] == [f"{lobby}-1-1", f"{lobby}-1-2"]
    assert answer["matches"][0]["result"] == ended["result"]
    stored = await transcript(house.server.backend.store, f"{lobby}-1-2")
    assert stored is not None
    setup = read_setup(stored.head)
    assert (setup.tag, setup.rated, setup.seats[0].name) == ("b1.2", None, "bob")


@pytest.mark.parametrize(
    ("fields", "code", "where"),
    [
        ({"game": "chess"}, "unknown_game", "matches.1.item.game"),
        ({"options": {"columns": 0}}, "bad_option", "matches.1.item.options.columns"),
        ({"time_control": {"periods": 3}}, "bad_option", "matches.1.item.time_control"),
    ],
    ids=["game", "option", "clock"],
)
async def test_what_cannot_be_played_is_not_arranged(
    house: Scenario, fields: dict[str, Any], code: str, where: str
) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob")
    matches = [arrangement("good", ada, bob), arrangement("bad", ada, bob, **fields)]
    refused = await host.ask("arrange", lobby=lobby, matches=matches)
    assert (refused["type"], refused["code"]) == ("refused", code)
    assert where in refused["message"]
    [brief] = (await host.ask("list_lobbies"))["lobbies"]
    assert brief["games"] == []


async def test_a_tag_is_made_of_safe_signs(house: Scenario) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob")
    for tag in ("", "a b", "x" * 65, "a/b", "a\n"):
        matches = [arrangement(tag, ada, bob)]
        assert (await host.ask("arrange", lobby=lobby, matches=matches))["code"] == "malformed"


async def test_arranged_matches_of_a_game_that_hides_have_seeds_of_their_own(
    house: Scenario,
) -> None:
    host, (ada, bob), lobby = await arranged(house, "ada", "bob", at_once=2)
    matches = [arrangement(f"v{n}", ada, bob, game="toy-veil", seed=5) for n in (1, 2)]
    await host.ask("arrange", lobby=lobby, matches=matches)
    ends = [await play_out([ada, bob]), await play_out([ada, bob])]
    assert len({end["seed"] for end in ends} | {f"{5:016x}"}) == 3


async def test_only_matches_between_accounts_are_rated(house: Scenario) -> None:
    with TokenAdmin(house.server.config.db) as register:
        tokens = [register.issue(name, "bot").token for name in ("Host", "Deep", "Thought")]
    guest = await house.guest("guest")
    callers = []
    for token in tokens:
        caller = await house.call()
        caller.player = (await caller.ask("hello", versions=[1], token=token))["player"]
        callers.append(caller)
    host, *bots = callers
    chosen = {"seats": [OPEN] * 3, "programme": [], "arranged": True, "rated": True}
    lobby = (await host.ask("host", settings=chosen))["lobby"]
    assert (await guest.ask("join", lobby=lobby))["code"] == "unauthorized"
    for caller in bots:
        await caller.ask("join", lobby=lobby)
        await caller.ask("ready", lobby=lobby)
    await host.ask("start", lobby=lobby)
    clock = {"move_ms": 60_000}
    for tag, pair in (("one", bots), ("two", bots[::-1])):
        arranging = arrangement(tag, *pair, time_control=clock)
        await host.ask("arrange", lobby=lobby, matches=[arranging])
        await play_out(pair)
    (table,) = (await guest.ask("ladder"))["games"]
    assert (table["game"], table["matches"], table["players"]) == ("toy-grid", 2, 2)
    assert {line["key"] for line in table["lines"]} == {bot.player for bot in bots}
    assert {line["name"] for line in table["lines"]} == {"Deep", "Thought"}
    (part,) = (await guest.ask("ladder", game="toy-grid", first=2, count=1))["games"]
    assert part["lines"] == table["lines"][1:]
    (none,) = (await guest.ask("ladder", game="toy-race"))["games"]
    assert (none["players"], none["lines"]) == (0, [])
    assert (await guest.ask("ladder", game="chess"))["code"] == "unknown_game"


async def test_a_lobby_that_shows_nobody_in(house: Scenario) -> None:
    _, lobby = await house.match("ada", "bob", watchable=False)
    eve = await house.guest("eve")
    asked = await eve.ask("join", lobby=lobby, role="spectator")
    assert asked["code"] == "not_watchable"
    assert (await eve.ask("watch", match=f"{lobby}-1-1"))["code"] == "not_watchable"
    assert (await eve.ask("list_matches", lobby=lobby))["code"] == "no_such_lobby"


# --- matches ----------------------------------------------------------------------------------


async def test_a_programme_is_played_to_its_end(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob", item={"games": 3, "seats": 2})
    ends = [await play_out(players) for _ in range(3)]
    assert [end["match"] for end in ends] == [f"{lobby}-1-{number}" for number in (1, 2, 3)]
    view = await players[0].next_lobby()
    while view["done"] < 3:
        view = await players[0].next_lobby()
    assert view["state"] == "finished"
    assert sum(line["played"] for line in view["standings"].values()) == 6


async def test_a_programme_whose_matches_cannot_begin_stops(
    house: Scenario, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def raising(*args: Any, **named: Any) -> Any:
        raise RuntimeError("planted")

    monkeypatch.setattr(lobby_matches, "match_setup", raising)
    players, _ = await house.match("ada", "bob", item={"games": 10_000, "seats": 2}, at_once=1)
    view = await players[1].next_lobby()
    while not view["stopped"]:
        view = await players[1].next_lobby()
    assert view["stopped"] == "6 matches in a row could not be played: the match could not start"
    assert (view["state"], view["done"], view["void"]) == ("finished", 10_000, 9_997)
    assert len([each for each in caplog.messages if "cannot start" in each]) == 6


async def test_who_hears_of_the_end_finds_a_lobby_that_has_heard_of_it(house: Scenario) -> None:
    small = {"columns": 2, "rows": 2, "row": 2}
    players, lobby = await house.match("ada", "bob", item={"options": small})
    for _ in range(5):
        await play_out(players)
        assert (await players[0].ask("rematch", lobby=lobby))["type"] == "done"
        for player in players:
            assert (await player.ask("ready", lobby=lobby))["type"] == "done"


async def test_seats_three_and_four(house: Scenario) -> None:
    for names in (("a1", "b1", "c1"), ("a2", "b2", "c2", "d2")):
        players, _ = await house.match(*names, item={"options": {"columns": 4, "rows": 4}})
        end = await play_out(players)
        assert len(end["result"]["seats"]) == len(names)


async def test_a_record_can_be_had(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob")
    end = await play_out(players)
    reader, writer = await asyncio.open_connection("127.0.0.1", house.server.port)
    writer.write(f"GET {end['record']} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    text = await reader.read()
    writer.close()
    await writer.wait_closed()
    lines = text.partition(b"\r\n\r\n")[2].splitlines()
    assert json.loads(lines[0])["match"] == f"{lobby}-1-1"
    assert json.loads(lines[-1])["result"] == end["result"]


async def test_players_do_not_watch_their_own_match(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob", spectating={"mode": "referee"})
    refused = await players[0].ask("watch", match=f"{lobby}-1-1")
    assert refused["code"] == "not_watchable"


async def test_a_match_that_is_shown_to_nobody(house: Scenario) -> None:
    _, lobby = await house.match("ada", "bob", spectating={"mode": "off"})
    eve = await house.guest("eve")
    assert (await eve.ask("watch", match=f"{lobby}-1-1"))["code"] == "not_watchable"
    assert (await eve.ask("history", match=f"{lobby}-1-1"))["code"] == "not_watchable"


async def test_a_spectator_sees_the_match_and_its_end(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob")
    eve = await house.guest("eve")
    match = f"{lobby}-1-1"
    assert (await eve.ask("watch", match=match))["type"] == "done"
    snapshot = await eve.next("snapshot")
    end = await play_out(players)
    numbers = []
    while True:
        message = json.loads(await eve.socket.recv())
        if message["type"] == "finished":
            break
        numbers.append(message["entry"]["seq"])
    assert numbers == list(range(snapshot["seq"] + 1, end["seq"] + 1))
    assert (await eve.ask("watch", match=match))["code"] == "over"


async def test_history_of_a_running_and_of_a_finished_match(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob", "cyd")
    match = f"{lobby}-1-1"
    mover = players[0]
    await mover.move(await mover.next("your_turn"))
    told = await players[1].ask("history", match=match)
    assert [event["entry"]["seq"] for event in told["events"]] == [1]
    assert told["more"] is False
    eve = await house.guest("eve")
    assert (await eve.ask("history", match=match))["code"] == "not_watchable"
    await players[2].ask("resign", match=match)
    await players[1].ask("resign", match=match)
    await mover.next("finished")
    told = await eve.ask("history", match=match, first=2, count=1)
    assert ([event["entry"]["kind"] for event in told["events"]], told["more"]) == (
        ["resign"],
        True,
    )


async def test_a_seat_moves_to_the_newest_connection(house: Scenario) -> None:
    (ada, _), lobby = await house.match("ada", "bob")
    match = f"{lobby}-1-1"
    turn = await ada.next("your_turn")
    newer = await house.call()
    back = await newer.ask("hello", versions=[1], resume=house.secrets["ada"])
    assert (back["seats"], back["lobbies"]) == ([match], [lobby])
    assert (await newer.ask("rejoin", match=match))["type"] == "done"
    assert await ada.closed() == CloseCode.REPLACED
    again = await newer.next("your_turn")
    assert again["ply"] == turn["ply"]
    assert (await newer.move(again))["type"] == "done"


async def test_a_move_that_was_answered_into_the_void_is_answered_again(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob")
    match = f"{lobby}-1-1"
    ada = players[0]
    turn = await ada.next("your_turn")
    request = {"match": match, "ply": turn["ply"], "action": turn["legal"][0]}
    first = await ada.ask_as(77, "move", **request)
    await ada.socket.close()
    back = await house.call()
    await back.ask("hello", versions=[1], resume=house.secrets["ada"])
    await back.ask("rejoin", match=match)
    assert await back.ask_as(77, "move", **request) == first
    stale = await back.ask_as(78, "move", **request)
    assert (stale["code"], stale["ply"]) == ("stale", turn["ply"] + 1)


async def test_a_bot_in_many_fast_matches_is_not_throttled(house: Scenario) -> None:
    item = {"games": 12, "options": {"columns": 3, "rows": 3}}
    both = {"capabilities": {"at_once": 12}}
    players = [await house.guest(name, **both) for name in ("ada", "bob")]
    done = await players[0].ask("host", settings=settings(at_once=12, item=item))
    for player in players:
        await player.ask("join", lobby=done["lobby"])
        await player.ask("ready", lobby=done["lobby"])

    async def play(player: JsonClient) -> int:
        moves = ended = 0
        while ended < 12:
            message = player.news.pop(0) if player.news else json.loads(await player.socket.recv())
            if message["type"] == "your_turn":
                answer = await player.move(message)
                assert answer["type"] == "done", answer
                moves += 1
            ended += message["type"] == "finished"
        return moves

    async with asyncio.timeout(30):
        assert sum(await asyncio.gather(*map(play, players))) >= 12 * 5


async def test_the_record_names_what_plays_and_nobody_is_told_before(house: Scenario) -> None:
    engine = {"name": "game/secret-weapon", "version": "3", "parameters": {"time": 0.5}}
    ada = await house.guest("ada", capabilities={"at_once": 4, "engine": engine})
    bob = await house.guest("bob", kind="human")
    done = await ada.ask("host", settings=settings())
    for player in (ada, bob):
        await player.ask("join", lobby=done["lobby"])
        await player.ask("ready", lobby=done["lobby"])
    match = (await bob.next("snapshot"))["match"]
    heard = [bob.news, await bob.ask("history", match=match), await bob.ask("list_lobbies")]
    assert "secret-weapon" not in json.dumps(heard)
    (runner,) = house.server.backend.registry.matches.values()
    engines = runner.engine.state.setup.engines
    assert engines is not None
    names = [player.name for player in runner.engine.state.setup.seats]
    said = {name: each and each.model_dump() for name, each in zip(names, engines, strict=True)}
    assert said == {"ada": engine | {"weights": {}}, "bob": None}


async def test_hidden_hands_stay_hidden_on_the_wire(house: Scenario) -> None:
    players = [await house.guest(name) for name in ("ada", "bob")]
    done = await players[0].ask("host", settings=settings("toy-veil"))
    for player in players:
        await player.ask("join", lobby=done["lobby"])
        await player.ask("ready", lobby=done["lobby"])
    snapshots = [await player.next("snapshot") for player in players]
    hands = [snapshot["view"]["hand"] for snapshot in snapshots]
    told = [await player.ask("history", match=snapshots[0]["match"]) for player in players]
    for seat in range(2):
        text = json.dumps([snapshots[seat], told[seat], players[seat].news])
        assert not any(str(card) in text for card in hands[1 - seat])


# --- limits -----------------------------------------------------------------------------------


async def test_a_flooder_is_closed_and_nobody_else_notices(house: Scenario) -> None:
    players, _ = await house.match("ada", "bob")
    flooder = await house.guest("eve")
    for number in range(200):
        await flooder.socket.send(json.dumps({"type": "list_games", "id": 100 + number}))
    assert await flooder.closed() == 1008
    assert (await play_out(players))["result"]["cause"] == "rules"


async def test_a_flood_of_stale_moves_is_a_flood(house: Scenario) -> None:
    players, lobby = await house.match("ada", "bob")
    for number in range(200):
        stale = {"type": "move", "id": 100 + number, "match": f"{lobby}-1-1", "ply": 99}
        await players[0].socket.send(json.dumps({**stale, "action": {"x": 0, "y": 0}}))
    assert await players[0].closed() == 1008


async def test_two_servers_in_one_process_know_nothing_of_each_other(
    house: Scenario, tmp_path: Path
) -> None:
    await house.match("ada", "bob")
    async with running(Config(db=tmp_path / "two.db"), GAMES) as other:
        async with connected(other.url) as caller:
            await caller.hello("ada")
            assert (await caller.ask("list_lobbies"))["lobbies"] == []
        assert other.port != house.server.port


async def test_a_report_is_for_the_player_of_the_seat_and_for_the_host(house: Scenario) -> None:
    (ada, bob), lobby = await house.match("ada", "bob", conduct={"max_illegal": 1})
    match = f"{lobby}-1-1"
    eve = await house.guest("eve")
    assert (await ada.ask("report", match=match))["code"] == "wrong_state"
    await ada.move(await ada.next("your_turn"))
    turn = await bob.next("your_turn")
    refused = await bob.ask("move", match=match, ply=turn["ply"], action={"x": 99})
    assert refused["code"] == "malformed"
    await ada.next("finished")

    for reader in (ada, bob):  # ada has opened the lobby
        told = await reader.ask("report", match=match)
        [seat] = told["report"]["seats"]
        assert (seat["seat"], seat["cause"]) == (1, "illegal")
        assert seat["received"]["action"] == '{"x":99}'
        assert seat["sent"] == turn
    assert (await eve.ask("report", match=match))["code"] == "not_seated"
    assert (await eve.ask("report", match="no-such"))["code"] == "no_such_match"
    assert (await bob.ask("report", match=match, seat=0))["report"]["seats"] == []

    await ada.ask("close", lobby=lobby)
    assert len((await ada.ask("report", match=match))["report"]["seats"]) == 1
    assert (await bob.ask("history", match=match, first=2))["events"][0]["entry"]["kind"] == "note"
    entries = (await eve.ask("history", match=match, first=2))["events"]
    assert entries[0]["entry"]["kind"] == "hidden"


async def test_a_seat_that_is_out_is_not_told_that_the_match_is_over(house: Scenario) -> None:
    players, _ = await house.match("ada", "bob", "cyd", game="toy-race")
    turn = await players[0].next("your_turn")
    await players[0].ask("resign", match=turn["match"])
    refused = await players[0].move(turn)
    assert refused["code"] == "over"
    assert refused["hint"] == SEAT_IS_OUT
    refused = await players[0].ask("resign", match=turn["match"])
    assert refused["hint"] == SEAT_IS_OUT
    assert (await players[1].next("your_turn"))["seat"] == 1


# --- guests of a network ------------------------------------------------------------------------


async def test_so_many_guests_come_from_a_network_though_nobody_else_may(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db", guests="nobody", guests_from=("127.0.0.0/8=2",))
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        house = Scenario(server, stack)
        ada = await house.guest("ada")
        await house.guest("bob")
        late = await house.call()
        refused = await late.hello("cyd")
        assert (refused["code"], "your network" in refused["message"]) == ("limit", True)
        back = await house.call()
        welcome = await back.ask("hello", versions=[1], resume=house.secrets["ada"])
        assert welcome["type"] == "welcome", "who comes back is let in"
        await ada.socket.close()
        await back.socket.close()
        await wait_until(lambda: len(server.backend.connections.players) == 1)
        assert (await (await house.call()).hello("cyd"))["type"] == "welcome"


async def test_guests_come_from_no_other_network(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db", guests="nobody", guests_from=("192.0.2.0/24=2",))
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        caller = await Scenario(server, stack).call()
        assert (await caller.hello("ada"))["code"] == "unauthorized"


@pytest.mark.parametrize("wrong", ["192.0.2.0/24", "everywhere=3"])
def test_a_network_that_cannot_be_is_refused_at_once(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match="expected an address or network"):
        Config(db=tmp_path / "k.db", guests_from=(wrong,))
