"""A bot that speaks the protocol by hand, with a fault of one's choice: the doctor's test cases.

``python raw_bot.py FAULT``; the faults are the keys of `FAULTS`, "none" is healthy.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

URL, LOBBY = os.environ["KIBITZ_SERVER"], os.environ["KIBITZ_LOBBY"]
CLAIMS = {"games": [{"game": "line-nim", "seats": [2]}], "at_once": 1}


class Raw:
    """One player; it keeps what has to outlive a connection."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.request = 0
        self.resume: str | None = None
        self.answered: dict[tuple[str, int], dict[str, Any]] = {}
        """By match and ply the move that was sent, with its id."""
        self.open: dict[int, tuple[str, int]] = {}
        self.over = False
        self.greeted = 0

    def run(self) -> None:
        while not self.over:
            with connect(URL, compression=None) as socket:
                try:
                    self.greet(socket)
                    for frame in socket:
                        self.hear(socket, json.loads(frame))
                        if self.over:
                            return
                except ConnectionClosed:
                    pass
            if self.fault == "stays away":
                time.sleep(1000)

    def ask(self, socket: ClientConnection, **fields: Any) -> dict[str, Any]:
        self.request += 1
        message = {"id": self.request, **fields}
        socket.send(json.dumps(message))
        return message

    def greet(self, socket: ClientConnection) -> None:
        secret = {} if self.resume is None or self.fault == "stranger" else {"resume": self.resume}
        name = os.environ["KIBITZ_NAME"]
        self.ask(socket, type="hello", versions=[1], name=name, capabilities=CLAIMS, **secret)
        welcome = json.loads(socket.recv())
        if welcome["type"] != "welcome":
            raise SystemExit(f"not welcome: {welcome['message']}")
        if self.resume is None:
            self.ask(socket, type="join", lobby=LOBBY)
            self.ask(socket, type="ready", lobby=LOBBY)
        self.resume = welcome["resume"]
        self.greeted += 1
        for match in welcome["seats"]:
            self.ask(socket, type="rejoin", match=match)

    def hear(self, socket: ClientConnection, news: dict[str, Any]) -> None:
        if news["type"] == "your_turn":
            self.turn(socket, news)
        elif news["type"] == "refused" and news["code"] == "rate_limited":
            if self.fault != "impatient":
                time.sleep(news["retry_after_ms"] / 1000)
            socket.send(json.dumps(self.answered[self.open[news["re"]]]))
        elif news["type"] == "lobby_closed":
            self.over = True

    def turn(self, socket: ClientConnection, turn: dict[str, Any]) -> None:
        key = turn["match"], turn["ply"]
        known = self.answered.get(key)
        if known is not None:
            socket.send(json.dumps(known))
            return
        if self.fault == "hangs":
            time.sleep(1000)
        if self.fault == "crashes at a forced move" and turn["legal_count"] == 1:
            raise RuntimeError("nothing to choose from")
        if self.fault == "slow":
            time.sleep(0.8)
        action = turn["legal"][0] if self.fault != "illegal" else {"nonsense": 1}
        move = self.ask(socket, type="move", match=key[0], ply=key[1], action=action)
        self.answered[key] = move
        self.open[move["id"]] = key
        again = self.fault == "answers again" and self.greeted > 1
        if again or self.fault == "twice":
            self.ask(socket, type="move", match=key[0], ply=key[1], action=action)
        if self.fault == "rubbish":
            socket.send("move e4")


FAULTS = (
    "none",
    "illegal",
    "hangs",
    "slow",
    "stays away",
    "stranger",
    "twice",
    "answers again",
    "impatient",
    "crashes at a forced move",
    "rubbish",
)

if __name__ == "__main__":
    Raw(sys.argv[1]).run()
