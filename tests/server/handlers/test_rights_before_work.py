"""Rights are checked before any work, for every type of request and every role.

Work means building a start position or a view, or reading a log. A request without permission
causes no work and is refused with the matching code.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from kibitz_server.app import Config, Server, running
from kibitz_server.match.visibility import MatchViews
from kibitz_server.storage.sqlite.store import SQLiteStore
from tests.server.directory.test_directory import GAMES, OPEN
from tests.server.fakes import JsonClient, connected
from tests.server.handlers.test_answers import MODELS, fields
from tests.server.match.toy_games import Grid

RIGHT: Final = "may ask"
"""A marker instead of a code: the role has permission; other errors do not matter."""
ANYBODY: Final = dict.fromkeys(("guest", "spectator", "member", "seat", "host"), RIGHT)
HOST_ONLY: Final = {**dict.fromkeys(ANYBODY, "not_host"), "host": RIGHT}
SEAT_ONLY: Final = {**dict.fromkeys(ANYBODY, "not_seated"), "seat": RIGHT}
RIGHTS: Final[dict[str, dict[str, str]]] = {
    "hello": dict.fromkeys(ANYBODY, "wrong_state"),
    "list_games": ANYBODY,
    "list_lobbies": ANYBODY,
    "list_matches": {**ANYBODY, "guest": "no_such_lobby", "spectator": "no_such_lobby"},
    "ladder": ANYBODY,
    "host": ANYBODY,
    "seek": ANYBODY,
    "join": {**ANYBODY, "guest": "closed", "spectator": "closed"},
    "leave": {**ANYBODY, "guest": "not_member", "spectator": "not_member", "host": "not_member"},
    "kick": HOST_ONLY,
    "ready": {**ANYBODY, "guest": "not_member", "spectator": "not_member", "host": "not_member"},
    "start": HOST_ONLY,
    "rematch": HOST_ONLY,
    "close": HOST_ONLY,
    "arrange": HOST_ONLY,
    "watch": {**ANYBODY, **dict.fromkeys(("guest", "spectator", "seat"), "not_watchable")},
    "unwatch": ANYBODY,
    "wall": {**ANYBODY, **dict.fromkeys(("guest", "spectator", "seat"), "not_watchable")},
    "subscribe": ANYBODY,
    "unsubscribe": ANYBODY,
    "rejoin": SEAT_ONLY,
    "move": SEAT_ONLY,
    "abort": dict.fromkeys(ANYBODY, "unauthorized"),  # for operators
    "resign": SEAT_ONLY,
    "leave_match": SEAT_ONLY,
    "note": SEAT_ONLY,
    "comment": {**dict.fromkeys(ANYBODY, "wrong_state"), "seat": RIGHT},
    "report": dict.fromkeys(ANYBODY, "wrong_state"),  # running matches have none
    "history": {**dict.fromkeys(ANYBODY, "not_watchable"), "seat": RIGHT},
}
"""The answer to each role about a running match in a members-only lobby, by request.

`spectator` watches another match. `host` and `member` have no seat and do not watch.
"""
FINISHED: Final[dict[str, dict[str, str]]] = {
    "report": {**SEAT_ONLY, "host": RIGHT},
    "rejoin": SEAT_ONLY,
    "move": SEAT_ONLY,
}
"""The same for a finished match that is only on disk."""


class Work:
    """Counts the work of a server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: Tally[str] = Tally()
        self._count(monkeypatch, Grid, "start")
        self._count(monkeypatch, Grid, "view")
        self._count(monkeypatch, MatchViews, "snapshot")
        for read in ("entries", "lines", "reload", "ledger"):
            self._count(monkeypatch, SQLiteStore, read)

    def _count(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        right: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            self.done[name] += 1
            return right(*args, **options)

        monkeypatch.setattr(owner, name, counted)


@dataclass
class World:
    """A server with a members-only lobby, a running match, and a client for each role."""

    server: Server
    roles: dict[str, JsonClient]
    lobby: str
    match: str

    async def ask(self, role: str, kind: str) -> dict[str, Any]:
        """Send a request about the lobby and its match."""
        request = fields(kind, "")
        for name, key in (("lobby", self.lobby), ("match", self.match)):
            if name in MODELS[kind].model_fields:
                request = {**request, name: key}
        if kind == "wall":
            request = {"matches": [self.match]}
        if kind == "arrange":
            item = {"game": "toy-grid", "seats": 2}
            items = [{**item, "games": number} for number in range(1, 30)]
            named = [
                {"tag": f"{n}", "item": item, "players": ["a", "b"]} for n, item in enumerate(items)
            ]
            request = {"lobby": self.lobby, "matches": named}
        return dict(await self.roles[role].ask(kind, **request))

    async def end(self) -> None:
        """End the match and drop everything that is not on disk."""
        await self.roles["seat"].ask("resign", match=self.match)
        await self.roles["seat"].next("finished")
        await self.roles["seat"].ask("ladder")  # after the batch that closes the log
        self.server.backend.registry.recently_finished.clear()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    config = Config(db=tmp_path / "k.db", unlimited=True)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:

        async def guest(name: str) -> JsonClient:
            caller = await stack.enter_async_context(connected(server.url))
            caller.player = (await caller.hello(name))["player"]
            return caller

        roles = {name: await guest(name) for name in [*ANYBODY, "rival"]}
        roles["no hello"] = await stack.enter_async_context(connected(server.url))
        seated = ("seat", "rival", "member")
        lobby = (
            await roles["host"].ask(
                "host",
                settings={
                    "joinable": "closed",
                    "watchable": False,
                    "seats": [{"kind": "reserved", "name": name} for name in seated],
                    "programme": [{"game": "toy-grid", "seats": 2, "rotate": False}],
                },
            )
        )["lobby"]
        for name in seated:
            assert (await roles[name].ask("join", lobby=lobby))["type"] == "done"
        for name in seated:
            await roles[name].ask("ready", lobby=lobby)
        match = (await roles["seat"].next("match_started"))["match"]["match"]
        await watch_another(guest, roles["spectator"])
        yield World(server, roles, lobby, match)


async def watch_another(guest: Callable[[str], Any], spectator: JsonClient) -> None:
    """Let a spectator watch a match of another lobby."""
    players = [await guest("ada"), await guest("bob")]
    programme = [{"game": "toy-grid", "seats": 2}]
    asked = await players[0].ask("host", settings={"seats": [OPEN] * 2, "programme": programme})
    for player in players:
        await player.ask("join", lobby=asked["lobby"])
        await player.ask("ready", lobby=asked["lobby"])
    begun = (await players[0].next("match_started"))["match"]["match"]
    assert (await spectator.ask("watch", match=begun))["type"] == "done"


def told(answer: dict[str, Any]) -> str | None:
    """Return the refusal code of a request, None if it was not refused."""
    if answer["type"] == "walled" and answer["refused"]:
        [refused] = answer["refused"]
        return str(refused["code"])
    return answer.get("code")


def test_every_type_of_request_has_its_rights() -> None:
    assert RIGHTS.keys() == MODELS.keys()


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "hello"])
async def test_nothing_is_done_before_hello(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(monkeypatch)
    assert told(await world.ask("no hello", kind)) == "hello_first"
    assert work.done == {}


@pytest.mark.parametrize("kind", RIGHTS)
async def test_nothing_is_done_for_who_has_no_right_to_it(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = [role for role, code in RIGHTS[kind].items() if code != RIGHT]
    for role in without:
        work = Work(monkeypatch)
        assert (role, told(await world.ask(role, kind))) == (role, RIGHTS[kind][role])
        assert (role, dict(work.done)) == (role, {})
        monkeypatch.undo()
    for role in RIGHTS[kind].keys() - without:
        denials = {"not_host", "not_member", "not_seated", "not_watchable", "closed"}
        assert told(await world.ask(role, kind)) not in denials, role
        if kind in ("resign", "leave", "leave_match", "close"):
            break


@pytest.mark.parametrize("kind", FINISHED)
async def test_nothing_of_a_finished_match_is_read_for_who_had_no_seat(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.end()
    for role, code in FINISHED[kind].items():
        work = Work(monkeypatch)
        answer = told(await world.ask(role, kind))
        if code != RIGHT:
            assert (role, answer) == (role, code)
            assert (role, dict(work.done)) == (role, {})
        else:
            assert answer != "not_seated"
        monkeypatch.undo()


async def test_the_spies_see_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch)
    await world.ask("host", "host")
    assert work.done["start"] == 1
    await world.ask("seat", "note")
    await world.ask("seat", "history")
    assert work.done["lines"] == 1


# --- the cost of permitted requests -----------------------------------------------------------


async def test_a_request_tries_the_start_of_each_kind_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = {"game": "toy-grid", "seats": 2}
    seeds = [{**item, "games": number, "seed": number} for number in range(1, 30)]
    work = Work(monkeypatch)
    done = await world.roles["host"].ask("host", settings={"seats": [OPEN] * 2, "programme": seeds})
    assert done["type"] == "done"
    assert work.done["start"] == 1


async def test_one_request_names_so_many_kinds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = [{"game": "toy-grid", "seats": 2, "options": {"n": n}} for n in range(40)]
    work = Work(monkeypatch)
    asked = {"seats": [OPEN] * 2, "programme": kinds}
    assert told(await world.roles["guest"].ask("host", settings=asked)) == "limit"
    assert work.done == {}
