"""Hostile guests and accounts that follow the protocol, during other players' matches.

Floods and slow readers are in `test_abuse.py`, malformed frames in `test_fuzz.py`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kibitz_server.accounts.token_admin import TokenAdmin
from tests.tools.fleet import fleet_of
from tests.tools.raw_connection import RawConnection, greeted_connection
from tests.tools.server_process import ServerProcess, drawn_matches, server_process

BOARD = {"columns": 5, "rows": 5, "row": 5}
ONE = {"game": "mnk", "options": BOARD, "rotate": False, "games": 1}
CLOCK = {"main_ms": 60_000, "increment_ms": 1_000}
OPEN = [{"kind": "open"}, {"kind": "open"}]


def lobby(**changes: object) -> dict[str, object]:
    return {"name": "den", "seats": OPEN, "programme": [ONE], **changes}


def start_match(host: RawConnection, other: RawConnection, **changes: object) -> tuple[str, str]:
    """Host a two-player lobby, let both join, and return the keys of the lobby and its match."""
    opened = host.ask("host", settings=lobby(**changes))
    assert opened["type"] == "done", opened
    for player in (host, other):
        assert player.ask("join", lobby=opened["lobby"])["type"] == "done"
    for player in (host, other):
        assert player.ask("ready", lobby=opened["lobby"])["type"] == "done"
    return opened["lobby"], next_news(other, "snapshot")["match"]


def next_news(connection: RawConnection, kind: str) -> dict[str, Any]:
    """Return the next event of a kind."""
    while True:
        _, data = connection.frame()
        message: dict[str, Any] = json.loads(data) if data.startswith(b"{") else {}
        if message.get("type") == kind:
            return message


# --- strings --------------------------------------------------------------------------------------

WORDS: list[object] = [
    *("", " ", "\x00", "\u202e", "../../etc/passwd", "%s{0}", "<script>", "NaN", "x" * 3000),
    *("e" + "\u0301" * 300, "\U0001f3f4" * 200, "--help", "1"),
    *(0, -1, 1.5, 1e308, 2**53, 2**64, 10**300, True, None, [], {}, [[]], {"a": {}}),
]
REQUESTS: dict[str, dict[str, object]] = {
    "host": {"settings": lobby()},
    "join": {"lobby": "LOBBY", "invite": "x", "role": "player"},
    "kick": {"lobby": "LOBBY", "player": "x"},
    "seek": {"terms": {"item": ONE}, "wait_s": 10},
    "arrange": {"lobby": "LOBBY", "matches": []},
    "watch": {"match": "MATCH"},
    "wall": {"matches": ["MATCH"]},
    "history": {"match": "MATCH", "first": 1, "count": 1},
    "report": {"match": "MATCH", "seat": 0},
    "ladder": {"game": "mnk", "first": 1, "count": 1},
    "list_lobbies": {"after": 0, "limit": 1},
    "list_matches": {"lobby": "LOBBY", "after": 0},
    "subscribe": {"topic": "hall"},
    "move": {"match": "MATCH", "ply": 0, "action": {"cell": -1}},
    "note": {"match": "MATCH", "text": "x"},
    "comment": {"match": "MATCH", "text": "x"},
    "resign": {"match": "NONE", "fault": "crash", "detail": "x"},
    "abort": {"match": "MATCH", "reason": "x"},
}
SETTINGS: dict[str, dict[str, object]] = {
    "seats": {"seats": [{"kind": "reserved", "name": "x"}, {"kind": "open"}]},
    "programme": {"programme": [{**ONE, "time_control": CLOCK, "seed": 1}]},
    "spectating": {"spectating": {"mode": "shoulder", "seat": 0, "delay_plies": 0, "delay_ms": 0}},
    "conduct": {"conduct": {"grace_ms": 1000, "max_illegal": 1, "on_leave": "forfeit"}},
    "lag": {"lag": {"bank_ms": 0, "refill_ms": 0, "standstill_ms": 0}},
}


def with_each_value_replaced(value: object, word: object) -> Iterator[object]:
    """Yield variants of a JSON value with one of its values replaced by a string."""
    yield word
    if isinstance(value, dict):
        for key, inner in value.items():
            for changed in with_each_value_replaced(inner, word):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for changed in with_each_value_replaced(inner, word):
                yield [*value[:index], changed, *value[index + 1 :]]


def odd_requests() -> Iterator[tuple[str, dict[str, Any]]]:
    for word in WORDS:
        for kind, fields in REQUESTS.items():
            for changed in with_each_value_replaced(fields, word):
                if isinstance(changed, dict) and changed:
                    yield kind, changed
        for fields in SETTINGS.values():
            for changed in with_each_value_replaced(fields, word):
                if isinstance(changed, dict) and changed:
                    yield "host", {"settings": lobby(**{str(k): v for k, v in changed.items()})}


def say_odd_words(server: ServerProcess) -> Counter[str]:
    """Send every request with an odd string in each place; count the answers by code."""
    answers: Counter[str] = Counter()
    with (
        greeted_connection(server.port, "wordsmith") as guest,
        greeted_connection(server.port, "partner") as partner,
    ):
        den, match = start_match(guest, partner, conduct={"max_illegal": 1000})
        places = {"LOBBY": den, "MATCH": match}
        for kind, fields in odd_requests():
            named = {
                key: places.get(value, value) if isinstance(value, str) else value
                for key, value in fields.items()
            }
            answer = guest.ask(kind, **named)
            answers[answer.get("code", answer["type"])] += 1
            if kind == "host" and answer["type"] == "done":
                guest.ask("close", lobby=answer["lobby"])
            if kind == "seek" and answer["type"] == "done":
                guest.ask("leave", lobby=answer["lobby"])
        assert partner.ask("resign", match=match)["type"] == "done"
    return answers


async def test_no_word_in_any_field_makes_the_server_fail(tmp_path: Path) -> None:
    with server_process(tmp_path, unlimited=True) as server:
        async with fleet_of(server.url, 2, drawn_matches(8), pause=0.02) as fleet:
            answers = await asyncio.to_thread(say_odd_words, server)
            await fleet.finished(2)
        assert answers["malformed"] > 500
        assert answers.keys() & {"internal", "unavailable"} == set(), answers
        assert server.error_lines() == []


# --- rated play -----------------------------------------------------------------------------------

WAYS_OUT: dict[str, list[tuple[str, dict[str, str]]]] = {
    "kick": [("kick", {"lobby": "LOBBY", "player": "OTHER"})],
    "close": [("close", {"lobby": "LOBBY"})],
    "other state": [("ready", {"lobby": "LOBBY"}), ("rematch", {"lobby": "LOBBY"})],
    "abort": [("abort", {"match": "MATCH", "reason": "my opponent cheats"})],
    "fault": [("resign", {"match": "MATCH", "fault": "crash", "detail": "the server's trouble"})],
    "leave": [("leave", {"lobby": "LOBBY"})],
    "leave the match": [("leave_match", {"match": "MATCH"})],
    "watch": [("join", {"lobby": "LOBBY", "role": "spectator"}), ("watch", {"match": "MATCH"})],
}


def account(port: int, token: str) -> tuple[RawConnection, str]:
    """Return a connection of an account and its player's key."""
    connection = RawConnection(port)
    connection.handshake()
    welcome = connection.ask("hello", versions=[1], token=token)
    assert welcome["type"] == "welcome", welcome
    return connection, welcome["player"]


def play_to_lose(port: int, tokens: list[str], way: str) -> dict[str, Any]:
    """Host a rated match with the first account and evade it; return the result."""
    loser, _ = account(port, tokens[0])
    other, key = account(port, tokens[1])
    with loser, other:
        rated = {"game": "mnk", "time_control": CLOCK, "games": 2}
        den, match = start_match(loser, other, rated=True, programme=[rated], at_once=1)
        names = {"LOBBY": den, "MATCH": match, "OTHER": key}
        for kind, fields in WAYS_OUT[way]:
            loser.ask(kind, **{field: names.get(text, text) for field, text in fields.items()})
        loser.ask("resign", match=match)
        finished = next_news(other, "finished")
        assert finished["match"] == match
        # Both leave, so that the rest of the programme is not played.
        for each in (loser, other):
            each.ask("leave", lobby=den)
        result: dict[str, Any] = finished["result"]
        return result


def ratings(server: ServerProcess) -> dict[str, float]:
    with greeted_connection(server.port, "reader") as reader:
        [table] = reader.ask("ladder")["games"]
        return {line["name"]: line["rating"] for line in table["lines"]}


def test_the_host_of_a_rated_match_finds_no_way_out_of_losing_it(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        for way in WAYS_OUT:
            with TokenAdmin(tmp_path / "hosted.db") as register:
                pair = [register.issue(f"{who} {way}", "bot").token for who in ("loser", "winner")]
            result = play_to_lose(server.port, pair, way)
            causes = {seat["rank"]: seat.get("cause") for seat in result["seats"]}
            assert causes[1] is None
            assert causes[2] in {"resignation", "crash", "disconnect"}, way
        rated = ratings(server)
        for way in WAYS_OUT:
            assert rated[f"loser {way}"] < 1500 < rated[f"winner {way}"], way
        assert server.error_lines() == []


# --- disk -----------------------------------------------------------------------------------------

NOTE = "n" * 2000


def test_notes_do_not_fill_the_disk(tmp_path: Path) -> None:
    with (
        server_process(tmp_path, unlimited=False) as server,
        greeted_connection(server.port, "hoarder") as hoarder,
        greeted_connection(server.port, "partner") as partner,
    ):
        _, match = start_match(hoarder, partner)
        before = database_bytes(tmp_path)
        taken = 0
        answer: dict[str, Any] = {}
        while "notes" not in answer.get("message", ""):
            time.sleep(answer.get("retry_after_ms", 0) / 1000)  # the request rate limit is separate
            answer = hoarder.ask("note", match=match, text=NOTE)
            taken += answer["type"] == "done"
            assert taken * len(NOTE) <= 110_000, "more than a seat's notes on a match"
        assert taken > 0
        assert answer["code"] in {"rate_limited", "limit"}
        assert database_bytes(tmp_path) - before < 4 << 20
        assert partner.ask("resign", match=match)["type"] == "done"
        assert next_news(hoarder, "finished")["result"]["cause"] == "resignation"
        assert server.error_lines() == []


def database_bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.glob("hosted.db*"))


# --- names ----------------------------------------------------------------------------------------

MASKS = [
    *("ada lovelace", "ADA LOVELACE", "Ada  Lovelace", "Ada\u00a0Lovelace", "Ada\u3000Lovelace"),
    *("\u0410da Lovelace", "Ad\u0430 Lovelace", "\uff21da Lovelace", "\u24b6da Lovelace"),
    *("Ada Love\u200blace", "Ada Lovelace\ufe0f", "\u202eecalevoL adA", "Ada L0velace"),
    *("Ada Love1ace", "\U0001d400da Lovelace", "\u1d00da Lovelace", "Ada L\u03bfvelace"),
]


def test_nobody_gets_the_name_seat_or_match_of_somebody_else(tmp_path: Path) -> None:
    with server_process(tmp_path) as server, greeted_connection(server.port, "host") as host:
        with RawConnection(server.port) as ada:
            ada.handshake()
            welcome = ada.hello("Ada Lovelace")
        kept = {"kind": "reserved", "name": "Ada Lovelace", "player": welcome["player"]}
        opened = host.ask("host", settings=lobby(joinable="closed", seats=[kept, kept | OTHER]))
        assert opened["type"] == "done", opened
        for name in MASKS:
            assert refusal(server.port, name=name) in {"name_taken", "name_invalid"}, ascii(name)
        secret = welcome["resume"]
        for wrong in (welcome["player"], secret[:-1], secret.swapcase(), secret + "A"):
            assert refusal(server.port, resume=wrong) == "unauthorized"
        for field in ("token", "ticket"):
            assert refusal(server.port, **{field: secret}) == "unauthorized"
        with greeted_connection(server.port, "stranger") as stranger:
            assert stranger.ask("join", lobby=opened["lobby"])["code"] == "closed"
        with RawConnection(server.port) as ada:
            ada.handshake()
            again = ada.ask("hello", versions=[1], resume=secret)
            assert again["player"] == welcome["player"]
            assert ada.ask("join", lobby=opened["lobby"])["type"] == "done"


OTHER = {"kind": "reserved", "name": "Somebody", "player": None}


def refusal(port: int, **who: str) -> str:
    """Return the refusal code of a hello."""
    with RawConnection(port) as connection:
        connection.handshake()
        code: str = connection.ask("hello", versions=[1], **who)["code"]
        return code
