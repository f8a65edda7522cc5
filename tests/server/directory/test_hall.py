"""The hall: its changes, their recipients, and its limits."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.client.lobby_views import patched
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.lobbies import LadderTable, LobbyBrief, MatchBrief
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import HallChanged, HallNews
from kibitz_server.directory import hall as hall_module
from kibitz_server.directory.hall import HALL_INTERVAL_S
from kibitz_server.net.send_queue import message_frame
from tests.server.match.toy_games import Grid, Race, Veil
from tests.tools.sample_messages import ADA, GRACE, NEWS, RESULT
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

SAMPLE = next(news for news in NEWS if isinstance(news, HallNews))
KEYS = st.integers(1, 6)


def lobby(number: int, members: int) -> LobbyBrief:
    update = {"lobby": f"L{number}", "members": members, "order": number}
    return SAMPLE.lobbies["L1"].model_copy(update=update)


def match(number: int, ply: int, *, swapped: bool, over: bool = False) -> MatchBrief:
    return MatchBrief(
        match=f"m{number}",
        game="line",
        seats=[GRACE, ADA] if swapped else [ADA, GRACE],
        ply=ply,
        result=RESULT if over else None,
        order=number,
    )


def ladder(number: int, matches: int) -> LadderTable:
    (table,) = SAMPLE.ladders.values()
    return table.model_copy(update={"game": f"g{number}", "matches": matches})


@st.composite
def halls(draw: st.DrawFn) -> HallNews:
    lobbies = draw(st.dictionaries(KEYS, st.integers(0, 2)))
    matches = draw(st.dictionaries(KEYS, st.tuples(st.integers(0, 2), st.booleans())))
    finished = draw(st.sets(KEYS))
    ladders = draw(st.dictionaries(KEYS, st.integers(1, 2)))
    return HallNews(
        lobbies={f"L{key}": lobby(key, members) for key, members in lobbies.items()},
        matches={
            f"m{key}": match(key, ply, swapped=swapped) for key, (ply, swapped) in matches.items()
        },
        finished={f"m{key}": match(key, 9, swapped=False, over=True) for key in finished},
        ladders={f"g{key}": ladder(key, count) for key, count in ladders.items()},
        lobbies_in_all=draw(st.integers(0, 2)),
        matches_in_all=draw(st.integers(0, 2)),
    )


@given(halls(), halls())
def test_a_hall_with_the_change_put_in_is_the_next_hall(before: HallNews, after: HallNews) -> None:
    patch = difference(before, after)
    assert bool(patch) == (before != after)
    travelled = decode_server_message(encode(HallChanged(patch=patch)))
    assert isinstance(travelled, HallChanged)
    assert patched(before, travelled.patch) == after


def test_a_ply_alone_is_told_shortly() -> None:
    before = SAMPLE.model_copy(update={"matches": {"m1": match(1, 3, swapped=False)}})
    after = SAMPLE.model_copy(update={"matches": {"m1": match(1, 4, swapped=False)}})
    assert difference(before, after) == {"matches": {"m1": {"ply": 4}}}


# --- on a server ------------------------------------------------------------------------------

GAMES = {game.info.name: game for game in (Grid(), Race(), Veil())}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


def host(client: ScriptedClient, **settings: Any) -> str:
    """Open a two-player lobby and return its key."""
    item = {"game": "toy-grid", "seats": 2, "games": 2}
    fields = {"seats": [{"kind": "open"}] * 2, "programme": [item], **settings}
    key: str = client.ask("host", settings=fields)["lobby"]
    return key


def begin(server: VirtualServer, players: list[ScriptedClient], **settings: Any) -> str:
    """Start the programme of a new lobby and return its key."""
    key = host(players[0], **settings)
    for request in ("join", "ready"):
        for player in players:
            player.ask(request, lobby=key)
    return key


def told(client: ScriptedClient, start: int = 0) -> list[HallNews | HallChanged]:
    """Return the hall updates that a client received."""
    news = map(decode_server_message, map(json.dumps, client.messages(start)))
    return [each for each in news if isinstance(each, HallNews | HallChanged)]


def folded(news: list[HallNews | HallChanged]) -> HallNews:
    """Return the hall as known to a client."""
    hall: HallNews | None = None
    for each in news:
        if isinstance(each, HallNews):
            hall = each
        else:
            assert hall is not None
            hall = patched(hall, each.patch)
    assert hall is not None
    return hall


def newest(briefs: dict[str, Any]) -> list[str]:
    """Return the keys of lobbies or matches, newest first."""
    return sorted(briefs, key=lambda key: -briefs[key].order)


def players(server: VirtualServer, count: int = 2) -> list[ScriptedClient]:
    return [server.guest_client(f"player {number}") for number in range(count)]


def test_who_subscribes_is_told_the_hall_and_what_changes(server: VirtualServer) -> None:
    ada, bob = players(server)
    eve = server.guest_client("eve")
    assert eve.ask("subscribe", topic="hall")["type"] == "done"
    [hall] = told(eve)
    assert isinstance(hall, HallNews)
    assert (hall.lobbies, hall.matches, hall.matches_in_all) == ({}, {}, 0)
    key = begin(server, [ada, bob])
    server.advance(HALL_INTERVAL_S)
    now = folded(told(eve))
    assert [*now.lobbies] == [key]
    assert now.lobbies[key].people == 0
    assert [*now.matches] == [f"{key}-1-1"]
    ada.ask("resign", match=f"{key}-1-1")
    server.advance(HALL_INTERVAL_S)
    now = folded(told(eve))
    assert [*now.matches] == [f"{key}-1-2"]
    assert [*now.finished] == [f"{key}-1-1"]
    assert now.finished[f"{key}-1-1"].result is not None
    assert eve.ask("unsubscribe", topic="hall")["type"] == "done"
    known = len(told(eve))
    ada.ask("resign", match=f"{key}-1-2")
    server.advance(1)
    assert len(told(eve)) == known


def test_only_what_lists_show_to_anybody_is_told(server: VirtualServer) -> None:
    ada, bob = players(server)
    ada.ask("subscribe", topic="hall")
    secret = begin(server, [ada, bob], listed=False)
    open_ = host(bob)
    server.advance(1)
    hall = folded(told(ada))
    assert [*hall.lobbies] == [open_]
    assert (hall.matches, hall.matches_in_all, hall.lobbies_in_all) == ({}, 0, 1)
    ada.ask("resign", match=f"{secret}-1-1")
    server.advance(1)
    assert secret.encode() not in b"".join(
        text for text in ada.received if text.startswith(b'{"type":"hall')
    )


def test_news_come_at_most_four_times_a_second_and_not_while_nothing_changes(
    server: VirtualServer,
) -> None:
    ada, bob = players(server)
    eve = server.guest_client("eve")
    eve.ask("subscribe", topic="hall")
    server.advance(3)
    assert len(told(eve)) == 1
    key = begin(server, [ada, bob])
    for _ in range(30):
        ada.ask("leave", lobby=key)
        ada.ask("join", lobby=key)
    known = len(told(eve))
    assert known - 1 <= 30 * 2 * 0.02 / HALL_INTERVAL_S + 2


def test_nothing_is_spent_while_nobody_is_subscribed(server: VirtualServer) -> None:
    looks: list[int] = []
    hall = server.backend.hall
    look = hall._look

    def counted() -> HallNews:
        looks.append(1)
        return look()

    ada, bob = players(server)
    with patch.object(hall, "_look", counted):
        begin(server, [ada, bob])
        server.advance(5)
        assert looks == []
        ada.ask("subscribe", topic="hall")
        server.advance(1)
        assert looks
        ada.ask("unsubscribe", topic="hall")
        bob.ask("subscribe", topic="hall")
        bob._connection.connection_lost(None)
        del looks[:]
        server.advance(5)
        assert looks == []
        assert (hall._told, hall._timer, hall._subscribers) == (None, None, {})


def test_a_change_is_one_frame_for_all(server: VirtualServer) -> None:
    ada, bob = players(server)
    clients = [server.guest_client(f"eve {number}") for number in range(3)]
    for client in clients:
        client.ask("subscribe", topic="hall")
    with patch.object(hall_module, "message_frame", wraps=message_frame) as made:
        begin(server, [ada, bob])
        server.advance(HALL_INTERVAL_S)
    frames = {tuple(map(repr, told(client)[1:])) for client in clients}
    assert len(frames) == 1
    assert made.call_count == len(told(clients[0])) - 1


def test_who_reads_too_slowly_is_told_the_hall_anew(server: VirtualServer) -> None:
    ada, bob = players(server)
    eve = server.guest_client("eve")
    eve.ask("subscribe", topic="hall")
    eve._connection.pause_writing()
    key = begin(server, [ada, bob])
    server.advance(2)
    assert len(told(eve)) == 1
    eve._connection.resume_writing()
    server.advance(0.1)
    *_, whole = told(eve)
    assert isinstance(whole, HallNews)
    assert [*whole.lobbies] == [key]
    ada.ask("leave", lobby=key)
    server.advance(1)
    assert isinstance(told(eve)[-1], HallChanged)


def test_the_newest_are_told_and_how_many_there_are(server: VirtualServer) -> None:
    ada, bob = players(server)
    with patch.object(hall_module, "MAX_MATCHES", 2), patch.object(hall_module, "MAX_LOBBIES", 3):
        ada.ask("subscribe", topic="hall")
        keys = [begin(server, [ada, bob]) for _ in range(5)]
        server.advance(1)
        hall = folded(told(ada))
        assert newest(hall.matches) == [f"{key}-1-1" for key in keys[:2:-1]]
        assert newest(hall.lobbies) == keys[:1:-1]
        assert (hall.lobbies_in_all, hall.matches_in_all) == (5, 5)
        ada.ask("leave", lobby=keys[4])  # the older ones become visible again
        ada.ask("close", lobby=keys[4])
        server.advance(1)
        hall = folded(told(ada))
        assert newest(hall.lobbies)[-3:] == keys[:-1][:0:-1][-3:]


def test_a_look_that_fails_is_made_up_for_by_the_next(
    server: VirtualServer, caplog: pytest.LogCaptureFixture
) -> None:
    ada, bob = players(server)
    eve = server.guest_client("eve")
    eve.ask("subscribe", topic="hall")
    with patch.object(hall_module, "_match_line", side_effect=ZeroDivisionError("planted")):
        key = begin(server, [ada, bob])
        server.advance(1)
    assert "cannot send the hall" in caplog.text
    server.advance(1)
    assert [*folded(told(eve)).lobbies] == [key]


class Crowd:
    """Clients that perform random actions."""

    def __init__(self, server: VirtualServer, seed: int) -> None:
        self._random = random.Random(seed)
        self._clients = players(server, 3)
        self._server = server

    def act(self) -> None:
        registry, draw = self._server.backend.registry, self._random.choice
        client = draw(self._clients)
        lobbies, matches = [*registry.lobbies, "nothing"], [*registry.matches, "nothing"]
        kind = draw(
            ["host", "join", "ready", "leave", "close", "resign", "move", "rematch", "kick"]
        )
        if kind == "host":
            settings = {"listed": self._random.random() < 0.8, "at_once": 2}
            host(client, spectating={"delay_plies": draw([0, 2])}, **settings)
        elif kind == "resign":
            client.ask("resign", match=draw(matches))
        elif kind == "move":
            key = draw(matches)
            found = registry.matches.get(key)
            ply = 0 if found is None else found.engine.state.ply
            for each in self._clients:
                action = {"x": self._random.randrange(3), "y": self._random.randrange(3)}
                each.ask("move", match=key, ply=ply, action=action)
        elif kind == "kick":
            client.ask("kick", lobby=draw(lobbies), player=draw(self._clients).name)
        else:
            client.ask(kind, lobby=draw(lobbies))


@pytest.mark.parametrize("seed", range(6))
def test_changes_put_in_are_the_hall_after_any_commands(server: VirtualServer, seed: int) -> None:
    crowd = Crowd(server, seed)
    limits = (
        patch.object(hall_module, "MAX_MATCHES", 3),
        patch.object(hall_module, "MAX_LOBBIES", 4),
    )
    with limits[0], limits[1]:
        eve, late = server.guest_client("eve"), server.guest_client("late")
        eve.ask("subscribe", topic="hall")
        seen = set()
        for _ in range(60):
            crowd.act()
            server.advance(crowd._random.choice([0, 0.05, 0.3]))
            if crowd._random.random() < 0.2:
                server.advance(HALL_INTERVAL_S)
                start = len(late.messages())
                late.ask("subscribe", topic="hall")
                [fresh] = told(late, start)
                assert folded(told(eve)) == fresh == server.backend.hall._look()
                late.ask("unsubscribe", topic="hall")
                assert isinstance(fresh, HallNews)
                listed = late.ask("list_matches")["matches"]
                plies = {each["match"]: each["ply"] for each in listed if "result" not in each}
                assert fresh.matches_in_all == len(plies)
                shown = {key: brief.ply for key, brief in fresh.matches.items()}
                assert shown.items() <= plies.items()
                assert fresh.lobbies_in_all == len(late.ask("list_lobbies")["lobbies"])
                seen.add((len(fresh.lobbies), len(fresh.matches), len(fresh.finished)))
        assert len(seen) > 2
