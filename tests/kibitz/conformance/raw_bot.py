"""A bot that speaks the protocol directly, with a selectable fault: the doctor's test cases.

``python raw_bot.py FAULT [GAME SEATS]``; the faults are those of `FAULTS`, "none" is healthy.
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
AT_ONCE = 2


class RawBot:
    """A player with the state that outlives connections."""

    def __init__(self, fault: str, game: str = "line-nim", seats: str = "2") -> None:
        self.fault = fault
        self.claims = {"games": [{"game": game, "seats": [int(seats)]}], "at_once": AT_ONCE}
        self.request = 0
        self.resume: str | None = None
        self.answered: dict[tuple[str, int], dict[str, Any]] = {}
        """The sent moves with their ids, by match and ply."""
        self.open: dict[int, tuple[str, int]] = {}
        self.seats: dict[str, int] = {}
        """Its seats in running matches."""
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
        self.ask(socket, type="hello", versions=[1], name=name, capabilities=self.claims, **secret)
        welcome = json.loads(socket.recv())
        if welcome["type"] != "welcome":
            raise SystemExit(f"not welcome: {welcome['message']}")
        if self.fault == "leaves at once":
            raise SystemExit(4)
        if self.resume is None:
            self.ask(socket, type="join", lobby=LOBBY)
            self.ask(socket, type="ready", lobby=LOBBY)
        self.resume = welcome["resume"]
        self.greeted += 1
        for match in welcome["seats"]:
            self.ask(socket, type="rejoin", match=match)
        if self.fault == "sends again" and self.answered and self.greeted > 1:
            self.ask(socket, **{key: self.last[key] for key in ("type", "match", "ply", "action")})

    def hear(self, socket: ClientConnection, news: dict[str, Any]) -> None:
        if news["type"] == "your_turn":
            self.seats[news["match"]] = news["seat"]
            if self.fault == "one at a time" and news["match"] != min(self.seats):
                return
            self.turn(socket, news)
        elif news["type"] == "event":
            self.see(socket, news)
        elif news["type"] == "finished":
            self.seats.pop(news["match"], None)
        elif news["type"] == "refused" and news["code"] == "rate_limited":
            if self.fault != "impatient":
                time.sleep(news["retry_after_ms"] / 1000)
            socket.send(json.dumps(self.answered[self.open[news["re"]]]))
        elif news["type"] == "refused" and self.fault == "sulks":
            raise SystemExit(6)
        elif news["type"] == "lobby_closed":
            self.over = True
            if self.fault == "ends badly":
                raise SystemExit(7)

    def see(self, socket: ClientConnection, news: dict[str, Any]) -> None:
        """Handle the events of a match; a healthy bot ignores them."""
        entry = news["entry"]
        drops = entry["kind"] in ("resign", "forfeit")
        own = entry.get("seat") == self.seats.get(news["match"])
        if self.fault == "counts on others" and drops and not own:
            raise SystemExit(8)
        if self.fault == "plays on" and drops and own and news["to_act"] >= 0:
            action = self.last["action"]
            self.ask(socket, type="move", match=news["match"], ply=news["ply"] + 1, action=action)

    @property
    def last(self) -> dict[str, Any]:
        """The last sent move."""
        return [*self.answered.values()][-1]

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
    "leaves at once",
    "one at a time",
    "sulks",
    "sends again",
    "counts on others",
    "plays on",
    "ends badly",
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
    RawBot(*sys.argv[1:]).run()
