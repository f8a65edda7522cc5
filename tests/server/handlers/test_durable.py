"""Nothing is visible before it is durable: every change, every request, and every role.

The test holds back the disk and changes something in memory. Then every role sends every request.
The answers must equal those without the change, and no events may arrive. Once the disk continues,
the messages must differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import pytest

from kibitz_protocol.wire.messages import ClientMessage
from kibitz_server.accounts.names import skeleton
from tests.server.directory.test_hall_sharing import Scene
from tests.server.match.toy_games import Grid
from tests.tools.profiles import some
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

_W = TypeVar("_W", bound="World")
Answers: TypeAlias = dict[str, Any]
TYPES = {each.model_fields["type"].default for each in get_args(get_args(ClientMessage)[0])}
PEOPLE = ("hal", "ada", "bob", "eve", "pat", "sam")
"""The host of the lobbies; two players; a spectator; a player without a seat; a stranger."""
ACCOUNTS = ("ivy", "joe")
"""The players of a rated match; joe is an operator."""
ITEM = {"game": "toy-grid", "seats": 2}
RATED = {**ITEM, "time_control": {"main_ms": 60_000, "increment_ms": 1000}}
SMALL = {**ITEM, "options": {"columns": 2, "rows": 2, "row": 2}}
SOUGHT = {"item": {**ITEM, "time_control": {"main_ms": 60_000}}}
READS = ("hello", "list_games", "list_lobbies", "list_matches", "ladder", "history", "report")
"""The requests that change nothing."""


class World:
    """Lobbies in every state and matches, with all roles that can send requests about them."""

    def __init__(self, server: VirtualServer) -> None:
        self.server = server
        server.backend.accounts._operators = frozenset({skeleton("joe")})
        self.clients = {name: server.guest_client(name) for name in PEOPLE}
        self.clients |= {name: server.account_client(name) for name in ACCOUNTS}
        self.gathering = self._host("hal", seats=3, auto_start=False)
        self.full = self._host("hal", auto_start=False, listed=False)
        self.arranged = self._host("hal", arranged=True, programme=[])
        self.running = self._host("hal", programme=[{**SMALL, "games": 2}], watchable=True)
        self.finished = self._host("hal", programme=[SMALL])
        self.rated = self._host("ivy", rated=True, programme=[RATED])
        self._ask("ada", "join", lobby=self.gathering)
        for lobby in (self.full, self.arranged, self.running, self.finished):
            self._fill(lobby, "ada", "bob")
        self._ask("hal", "start", lobby=self.arranged)
        self._fill(self.rated, *ACCOUNTS)
        self.match, self.rated_match = f"{self.running}-1-1", f"{self.rated}-1-1"
        self.over = f"{self.finished}-1-1"
        self._ask("ada", "resign", match=self.over)
        self.seek = self._ask("hal", "seek", terms=SOUGHT)["lobby"]
        self._ask("eve", "join", lobby=self.gathering, role="spectator")
        self._ask("eve", "watch", match=self.match)
        self._ask("ada", "subscribe", topic="hall")
        members = server.backend.registry.lobbies[self.full].engine.state.seats.members.values()
        self.keys = {each.player.name: each.player.player for each in members}
        self.play()
        server.advance(1)
        self.starts = {name: len(each.messages()) for name, each in self.clients.items()}

    def _host(self, name: str, seats: int = 2, **settings: Any) -> str:
        settings = {"programme": [ITEM], "seats": [{"kind": "open"}] * seats, **settings}
        return str(self._ask(name, "host", settings=settings)["lobby"])

    def _fill(self, lobby: str, *names: str) -> None:
        for type in ("join", "ready"):
            for name in names:
                self._ask(name, type, lobby=lobby)

    def _ask(self, name: str, type: str, **fields: Any) -> dict[str, Any]:
        answer = self.clients[name].ask(type, **fields)
        assert answer["type"] == "done", answer
        return answer

    def play(self, *, times: int = 1) -> None:
        """Make moves for the seats to act, without waiting for the answers."""
        for _ in range(times):
            state = self.server.backend.registry.matches[self.match].engine.state
            action = state.game.legal(state.game_state)[0]
            move = state.game.encode(state.game_state, action).to_wire()
            name = state.players[state.to_act].name
            self.clients[name].post("move", match=self.match, ply=state.ply, action=move)
            self.server.advance(0)

    # --- requests ---------------------------------------------------------------------------

    def ask_all(self, requests: list[tuple[str, str, dict[str, Any]]]) -> Answers:
        """Return the answers that arrive while the disk is held, by request."""
        answers: Answers = {}
        for name, type, fields in requests:
            client = self.clients[name]
            if type == "GET":
                page = self.server.page(f"/records/{fields['match']}.jsonl")
                answers[f"{name}: {type} {json.dumps(fields)}"] = page
                continue
            if type == "hello":
                client = ScriptedClient(self.server, name, client._token)
                fields = (
                    {"versions": [1]}
                    if name in ACCOUNTS
                    else {"versions": [1], "resume": client_secret(self, name)}
                )
            request = client.post(type, **fields)
            self.server.advance(0.02)
            answer = client.answer_to(request)
            if answer is not None:
                del answer["re"]
            answers[f"{name}: {type} {json.dumps(fields)}"] = answer
        answers["another node"] = self.lines_for_other_nodes()
        return answers

    def lines_for_other_nodes(self) -> dict[str, bytes | None]:
        """Return the lines about its lobbies and matches that this server would publish."""
        scene = Scene(self.server.backend.registry)
        scene.nodes.lobbies = list(self.server.backend.registry.lobbies)
        for _ in range(2):  # the first poll finds the other node
            with pytest.raises(StopIteration):
                scene.sharing.exchange().send(None)
        return scene.nodes.written[1]

    def news(self) -> list[str]:
        """Return all messages since the world's creation that are not answers."""
        return [
            f"{name}: {json.dumps(message)}"
            for name, client in self.clients.items()
            for message in client.messages(self.starts[name])
            if "re" not in message and not _is_presence(message)
        ]


def _is_presence(news: dict[str, Any]) -> bool:
    """Return whether an event only counts connections or spectators, which are not logged."""
    if news["type"] != "lobby_changed":
        return False
    members = news["patch"].get("members", {}).values()
    return news["patch"].keys() <= {"members", "spectators"} and all(
        member == {"connected": False} for member in members
    )


def client_secret(world: World, name: str) -> str:
    return world.clients[name].resume


def reads(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    """Return all read-only requests from all roles about all objects, and record downloads."""
    lobbies = [world.gathering, world.full, world.running, world.finished, world.seek, "nothing"]
    found: list[tuple[str, str, dict[str, Any]]] = []
    for name in world.clients:
        found += [(name, type, {}) for type in READS[:5]]
        found += [(name, "list_matches", {"lobby": lobby}) for lobby in lobbies]
        for match in (world.match, world.over, world.rated_match, "nothing"):
            found += [(name, type, {"match": match}) for type in ("history", "report", "GET")]
    return found


def commands(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    """Return all other requests from all roles; those that need a watched match are first."""
    lobbies = [world.gathering, world.full, world.running, world.arranged, world.seek]
    arrangement = {"tag": "t", "item": ITEM, "players": [world.keys["ada"], world.keys["bob"]]}
    found: list[tuple[str, str, dict[str, Any]]] = []
    for name in world.clients:
        for match in (world.match, world.over):
            found += [
                (name, "move", {"match": match, "ply": 1, "action": {"x": 1, "y": 1}}),
                (name, "note", {"match": match, "text": "hm"}),
                (name, "comment", {"match": match, "text": "hm"}),
                (name, "resign", {"match": match}),
                (name, "leave_match", {"match": match}),
                (name, "abort", {"match": match}),
            ]
        for lobby in lobbies:
            found += [
                (name, "join", {"lobby": lobby}),
                (name, "join", {"lobby": lobby, "role": "spectator"}),
                (name, "ready", {"lobby": lobby}),
                (name, "start", {"lobby": lobby}),
                (name, "rematch", {"lobby": lobby}),
                (name, "kick", {"lobby": lobby, "player": world.keys["bob"]}),
                (name, "leave", {"lobby": lobby}),
                (name, "close", {"lobby": lobby}),
            ]
        found += [
            (name, "arrange", {"lobby": world.arranged, "matches": [arrangement]}),
            (name, "seek", {"terms": SOUGHT}),
            (name, "seek", {"terms": {"item": {**ITEM, "games": 2}}}),
            *[(name, "host", {"settings": {"seats": [{"kind": "open"}] * 2, "programme": [ITEM]}})]
            * 9,
            (name, "host", {"settings": {"seats": [], "programme": []}}),
            (name, "rejoin", {"match": world.match}),
            (name, "watch", {"match": world.match}),
            (name, "unwatch", {"match": world.match}),
            (name, "wall", {"matches": [world.match, world.over]}),
            (name, "subscribe", {"topic": "hall"}),
            (name, "unsubscribe", {"topic": "hall"}),
        ]
    return found


# --- changes --------------------------------------------------------------------------------------


def asks(name: str, type: str, **fields: Any) -> Callable[[World], object]:
    """Return a change made by a request; keys of lobbies and matches are substituted."""

    def ask(world: World) -> None:
        named = {
            key: getattr(world, value, value) if isinstance(value, str) else value
            for key, value in fields.items()
        }
        if type == "kick":
            named["player"] = world.keys[fields["player"]]
        if type == "arrange":
            players = [world.keys["ada"], world.keys["bob"]]
            named["matches"] = [{"tag": "t", "item": ITEM, "players": players}]
        world.clients[name].post(type, **named)

    return ask


CHANGES: dict[str, Callable[[World], object]] = {
    "a move": lambda world: world.play(),
    "the last move": lambda world: world.play(times=2),
    "a resignation": asks("ada", "resign", match="match"),
    "a resignation with a rating": asks("ivy", "resign", match="rated_match"),
    "an abort": asks("joe", "abort", match="match"),
    "leaving a match": asks("bob", "leave_match", match="match"),
    "a note": asks("ada", "note", match="match", text="hm"),
    "a comment of a player": asks("ada", "comment", match="match", text="hm"),
    "a comment of a spectator": asks("eve", "comment", match="match", text="hm"),
    "a lost connection": lambda world: world.clients["bob"].disconnect(),
    "a new lobby": asks(
        "pat", "host", settings={"seats": [{"kind": "open"}] * 2, "programme": [ITEM]}
    ),
    "joining": asks("pat", "join", lobby="gathering"),
    "ready": asks("ada", "ready", lobby="gathering"),
    "leaving": asks("ada", "leave", lobby="gathering"),
    "a kick": asks("hal", "kick", lobby="full", player="ada"),
    "a start": asks("hal", "start", lobby="full"),
    "a rematch": asks("hal", "rematch", lobby="finished"),
    "an arranged match": asks("hal", "arrange", lobby="arranged"),
    "the end of a lobby": asks("hal", "close", lobby="gathering"),
    "the end of a lobby that plays": asks("hal", "close", lobby="running"),
    "a new seek": asks("pat", "seek", terms={"item": {**ITEM, "games": 2}}),
    "joining a seek": asks("pat", "seek", terms=SOUGHT),
    "a seek that is withdrawn": asks("hal", "leave", lobby="seek"),
}


def differences(answered: Answers, before: Answers) -> Answers:
    """Return the answers that differ from before, ignoring missing answers."""
    return {key: each for key, each in answered.items() if each not in (None, before[key])}


@contextmanager
def opened(path: Path, kind: Callable[[VirtualServer], _W]) -> Iterator[_W]:
    """Run a server with a world of this kind during the block."""
    with virtual_server({"toy-grid": Grid()}, path) as server:
        yield kind(server)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("durable")
    make_template(path)
    return path


@pytest.fixture(scope="module")
def unchanged(template: Path) -> tuple[Answers, Answers, list[str]]:
    """Return all answers and events while the disk is held and nothing was changed."""
    with opened(template, World) as world:
        world.server.store.hold()
        asked = world.ask_all(reads(world))
        return asked, world.ask_all(commands(world)), world.news()


def test_every_request_is_asked(template: Path) -> None:
    with opened(template, World) as world:
        assert {type for _, type, _ in [*reads(world), *commands(world)]} == TYPES | {"GET"}


def test_what_everybody_asks_for_changes_nothing_that_is_read(
    template: Path, unchanged: tuple[Answers, Answers, list[str]]
) -> None:
    with opened(template, World) as world:
        world.server.store.hold()
        world.ask_all(commands(world))
        # The history that a player receives depends on what its connection is watching.
        asked = [each for each in reads(world) if each[1] != "history"]
        answered = world.ask_all(asked)
        assert answered == {key: unchanged[0][key] for key in answered}


@pytest.mark.parametrize("change", some(list(CHANGES), 8))
def test_nothing_is_visible_before_it_is_durable(
    template: Path, unchanged: tuple[Answers, Answers, list[str]], change: str
) -> None:
    before, refused, news = unchanged
    with opened(template, World) as world:
        world.server.store.hold()
        CHANGES[change](world)
        world.server.advance(0.1)
        assert world.server.store.held, "it is on its way to the disk"
        assert world.news() == []
        assert differences(world.ask_all(reads(world)), before) == {}
        assert differences(world.ask_all(commands(world)), refused) == {}
        if change != "a lost connection":  # a lost connection sends and receives nothing
            assert set(world.news()) <= set(news)
    with opened(template, World) as world:
        world.server.store.hold()
        CHANGES[change](world)
        world.server.advance(0.1)
        world.server.store.release()
        world.server.advance(1)
        assert world.news() or world.ask_all(reads(world)) != before
        if change == "a resignation":
            assert world.server.page(f"/records/{world.match}.jsonl").startswith(b"HTTP/1.1 200")


def test_a_match_is_listed_when_its_own_log_is_on_the_disk(template: Path) -> None:
    """The lobby's log has the start of the match; the match's log follows in the next commit."""
    with opened(template, World) as world:
        store, match = world.server.store, f"{world.full}-1-1"
        store.hold()
        world.clients["hal"].post("start", lobby=world.full)
        world.server.advance(0.1)
        store.release(hold_next=True)
        world.server.advance(0.1)
        assert match in world.server.backend.registry.matches

        def seen() -> tuple[list[str], list[str]]:
            listed = world.clients["ada"].ask("list_matches", lobby=world.full)["matches"]
            news = [each for each in world.news() if "match_started" in each]
            return [each["match"] for each in listed], news

        assert seen() == ([], [])
        store.release()
        world.server.advance(0.1)
        listed, news = seen()
        assert listed == [match]
        assert len(news) == 3, "its host and its players"
