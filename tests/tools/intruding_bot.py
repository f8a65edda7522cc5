"""A bot that attacks the event's server from inside its isolation.

While all entrants compile, it signs in under the names of the other entrants and under a new name.
Once it plays, it reads its own player's secret from its process. On a second connection it requests
everything that it should not get: house bots, other people's matches, lists. Then it sends notes as
fast as it can. It reports successful attacks on stderr, one JSON object per line: ``{"did":
"hosted", "what": "..."}``. Otherwise it plays legal moves.

It imports nothing from the tests, so that the file can be copied. ``FORAY`` in its text is replaced
with its data: ``names`` of other entrants, and a ``marker`` file to write outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from typing import Any
from unittest import mock

from websockets.sync.client import ClientConnection, connect

from kibitz import Bot, Client, Turn

FORAY: dict[str, str] = {}
CLIENTS: list[Client] = []
FLOOD_S = 2.0
BATCH = 20
SETTINGS = {
    "name": "mine",
    "seats": [{"kind": "house", "personality": "line-nim/random"} for _ in range(2)],
    "programme": [{"game": "line-nim", "seats": 2}],
}


def tell(did: str, what: object) -> None:
    sys.stderr.write(json.dumps({"did": did, "what": str(what)[:200]}) + "\n")
    sys.stderr.flush()


def argument(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


class Intrusion:
    """A separate connection without a client's limits."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.number += 1
        self.socket.send(json.dumps({"type": kind, "id": self.number, **fields}))
        while True:
            answer: dict[str, Any] = json.loads(self.socket.recv(timeout=10))
            if answer.get("re") == self.number:
                return answer


def come_in(who: dict[str, str]) -> None:
    """Sign in as a player, take a seat, and resign all of that player's games."""
    with contextlib.suppress(Exception), connect(argument("--url"), open_timeout=5) as socket:
        there = Intrusion(socket)
        if there.ask("hello", versions=[1], **who)["type"] != "welcome":
            return
        tell("came", who)
        joined = there.ask("join", lobby=argument("--lobby"))
        if joined["type"] == "done":
            tell("joined", who)
            there.ask("ready", lobby=argument("--lobby"))
        while True:
            message = json.loads(socket.recv(timeout=20))
            if message["type"] in ("snapshot", "your_turn"):
                there.ask("resign", match=message["match"])
                tell("resigned", message["match"])


def squat() -> None:
    come_in({"name": "onlooker"})
    for name in FORAY["names"].split():
        threading.Thread(target=come_in, args=({"name": name},), daemon=True).start()


def look_around(match: str) -> None:
    """Request things on a second connection that a player does not need."""
    secret = CLIENTS[0].resume
    lobby, url = argument("--lobby"), argument("--url")
    wanted: dict[str, dict[str, Any]] = {
        "host": {"settings": SETTINGS},
        "seek": {"terms": {"item": SETTINGS["programme"][0]}},
        "join": {"lobby": lobby, "role": "spectator"},
        "watch": {"match": match},
        "wall": {"matches": [match]},
        "history": {"match": match},
        "report": {"match": match},
        "list_matches": {},
        "list_lobbies": {},
        "subscribe": {"topic": "hall"},
        "close": {"lobby": lobby},
        "kick": {"lobby": lobby, "player": "g0"},
    }
    with connect(url) as socket:
        there = Intrusion(socket)
        if there.ask("hello", versions=[1], resume=secret)["type"] == "welcome":
            tell("second", "connection")
        for kind, fields in wanted.items():
            time.sleep(0.15)  # within the rate limit, so refusals have other reasons
            answer = there.ask(kind, **fields)
            refused = answer["type"] == "refused"
            tell("refused" if refused else "allowed", f"{kind} {answer.get('code', '')}")
    loop = CLIENTS[0]._task.get_loop()
    asyncio.run_coroutine_threadsafe(flood(CLIENTS[0], match), loop).result()
    tell("done", "")


async def flood(client: Client, match: str) -> None:
    """Send notes as fast as the server's announced limit."""
    taken, stop = 0, time.monotonic() + FLOOD_S
    while time.monotonic() < stop:
        notes = [client.note(match, "n" * 2000) for _ in range(BATCH)]
        answers = await asyncio.gather(*notes, return_exceptions=True)
        taken += 2000 * sum(not isinstance(each, BaseException) for each in answers)
    tell("noted", taken)


def mark() -> None:
    """Write a marker where only a process outside the isolation can."""
    with contextlib.suppress(OSError), open(FORAY["marker"], "a") as file:
        file.write(f"{os.getpid()} {sys.argv}\n")


mark()
if "--lobby" in sys.argv:
    threading.Thread(target=squat, daemon=True).start()


_connect = Client.__init__


def _remember(client: Client, *words: Any, **said: Any) -> None:
    """Create a client and store it, since it has the secret of this process's player."""
    _connect(client, *words, **said)
    CLIENTS.append(client)


mock.patch.object(Client, "__init__", _remember).start()


class Intruder(Bot):
    name = "Intruder"
    begun = False

    def choose(self, turn: Turn) -> Any:
        if not Intruder.begun:
            Intruder.begun = True
            look_around(turn.match.id)  # while its turn is open, so that it keeps its seat
        time.sleep(0.05)
        return turn.legal[0]
