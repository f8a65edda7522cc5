"""A slow reference implementation of Tanks in plain Python, written from the rules.

``python -m tests.games.tanks.reference > tests/games/data/tanks-perft.jsonl`` counts leaves.
"""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

ROCKS = (
    "(8,1)(8,2)(8,3) (8,13)(8,14)(8,15) (1,8)(2,8)(3,8) (13,8)(14,8)(15,8) (4,4)(4,5)(5,4)"
    "(4,11)(4,12)(5,12) (11,4)(12,4)(12,5) (11,12)(12,11)(12,12) (8,6)(8,8)(8,10)(6,8)(10,8)"
)
STARTS = {
    "corners": [(15, 1), (1, 15), (1, 1), (15, 15)],
    "table1": [(13, 2), (3, 14), (1, 2), (13, 14)],
}
DIRECTIONS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
HULLS = ["up", "right", "down", "left"]
ACTIONS = ["up", "down", "right", "left", "turn-right", "turn-left", "fire"]
Place = tuple[int, int]


def rocks() -> set[Place]:
    """Return the places of the rocks, parsed from the list in the rules."""
    pairs = ROCKS.replace(" ", "").strip("()").split(")(")
    return {(int(row), int(column)) for row, column in (pair.split(",") for pair in pairs)}


class Reference:
    """The state of a play and its rules; `act` takes an action's name, or None for a skip."""

    def __init__(
        self,
        start: str = "corners",
        rocky: bool = True,
        turns: int = 1000,
        memory: str = "last",
    ) -> None:
        self.start, self.rocky, self.turns, self.memory = start, rocky, turns, memory
        self.places = list(STARTS[start])
        self.hulls = ["up", "down", "right", "left"]
        self.rocks = rocks() if rocky else set()
        self.visited = [{place} for place in self.places]
        self.kills = [0] * 4
        self.wrecks: dict[int, dict[str, Any]] = {}
        self.shots: dict[int, dict[str, Any]] = {}
        self.dropped: list[int] = []
        self.slot = self.ply = 0
        self.ended = False
        self.local: list[dict[Place, int]] = [
            {place: 11 * (seat + 1)} for seat, place in enumerate(self.places)
        ]
        self.look(0)

    def code(self, place: Place) -> int | None:
        """Return the code of a place, None off the board."""
        if not (1 <= place[0] <= 15 and 1 <= place[1] <= 15):
            return None
        if place in self.rocks:
            return -2
        for seat, there in enumerate(self.places):
            if there == place:
                return -3 if seat in self.wrecks else 11 * (seat + 1)
        return 0

    def seen(self, seat: int) -> set[Place]:
        """Return the places that a tank sees."""
        ahead = DIRECTIONS[self.hulls[seat]]
        sides = [(-ahead[1], ahead[0]), (ahead[1], -ahead[0])]
        limits = [99, 99]
        here = self.places[seat]
        found = {here}
        while True:
            for side, (down, right) in enumerate(sides):
                for offset in range(1, limits[side] + 1):
                    place = (
                        here[0] + offset * (ahead[0] + down),
                        here[1] + offset * (ahead[1] + right),
                    )
                    if self.code(place) is None:
                        break
                    found.add(place)
                    if self.code(place) != 0:
                        limits[side] = offset
                        break
            here = (here[0] + ahead[0], here[1] + ahead[1])
            if self.code(here) is None:
                return found
            found.add(here)
            if self.code(here) != 0:
                return found

    def know(self, seat: int, place: Place, code: int) -> None:
        """Write to a local board; a tank is on it at most once, except with the report's rules."""
        if code == 11 * (seat + 1) or (code > 0 and self.memory != "report"):
            self.forget(seat, code)
        self.local[seat][place] = code

    def forget(self, seat: int, code: int) -> None:
        """Remove the marks of a tank from a local board."""
        for place, was in self.local[seat].items():
            if was == code:
                self.local[seat][place] = 0

    def look(self, seat: int) -> None:
        """Refresh a local board."""
        for place in self.seen(seat):
            code = self.code(place)
            assert code is not None
            self.know(seat, place, code)

    @property
    def to_act(self) -> int:
        """The seat to act, or -1."""
        return -1 if self.ended or self.slot >= self.turns else self.slot % 4

    def acts(self, seat: int) -> bool:
        """Return whether a seat still has turns."""
        return seat not in self.wrecks and seat not in self.dropped

    def act(self, word: str | None) -> None:
        """Execute an action of the seat to act."""
        seat = self.slot % 4
        if word in DIRECTIONS:
            self.move(seat, *DIRECTIONS[word])
        elif word == "fire":
            self.fire(seat)
        elif word is not None:
            quarter = 1 if word == "turn-right" else -1
            self.hulls[seat] = HULLS[(HULLS.index(self.hulls[seat]) + quarter) % 4]
        self.ply += 1
        self.pass_on()

    def move(self, seat: int, down: int, right: int) -> None:
        place = (self.places[seat][0] + down, self.places[seat][1] + right)
        if self.code(place) == 0:
            self.places[seat] = place
            self.visited[seat].add(place)
            self.know(seat, place, 11 * (seat + 1))

    def fire(self, seat: int) -> None:
        row, column = self.places[seat]
        shot = {"slot": self.slot, "seat": seat, "row": row, "column": column}
        self.shots[seat] = shot
        for other in range(4):
            self.know(other, (row, column), 11 * (seat + 1))
        down, right = DIRECTIONS[self.hulls[seat]]
        place = (row + down, column + right)
        while self.code(place) == 0:
            place = (place[0] + down, place[1] + right)
        code = self.code(place)
        if code is not None and code > 0:
            victim = code // 11 - 1
            self.kills[seat] += 1
            shot["victim"] = victim
            wreck = {"seat": victim, "by": seat, "slot": self.slot}
            self.wrecks[victim] = wreck | {"row": place[0], "column": place[1]}
            for other in range(4):
                if self.memory == "last":
                    self.forget(other, code)
                self.know(other, place, -3)

    def pass_on(self) -> None:
        self.slot += 1
        while self.slot < self.turns and not self.acts(self.slot % 4):
            self.slot += 1
        if self.slot < self.turns:
            self.look(self.slot % 4)

    def drop(self, seat: int) -> None:
        """Drop a seat."""
        if self.to_act == -1 or not self.acts(seat):
            return
        on_turn = self.to_act == seat
        self.dropped.append(seat)
        if len(self.dropped) == 3 or not any(map(self.acts, range(4))):
            self.ended = True
        elif on_turn:
            self.pass_on()

    def score(self, seat: int) -> int:
        """Return the points of a seat."""
        return 10 * len(self.visited[seat]) + 50 * self.kills[seat]

    def ranks(self) -> list[int]:
        """Return the ranks: dropped seats are last, in reverse order of dropping."""
        order = [
            (-1, self.dropped.index(seat)) if seat in self.dropped else (0, self.score(seat))
            for seat in range(4)
        ]
        return [1 + sum(other > mine for other in order) for mine in order]

    def grid(self, codes: dict[Place, int]) -> list[list[int]]:
        """Return codes in rows, -1 for places without one."""
        return [[codes.get((r, c), -1) for c in range(1, 16)] for r in range(1, 16)]

    def view(self, seat: int | None) -> dict[str, Any]:
        """Return the view of a seat or of the public as sent on the wire."""
        shots = sorted(self.shots.values(), key=lambda shot: int(shot["slot"]))
        view: dict[str, Any] = {
            "options": {
                "start": self.start,
                "rocks": "classic" if self.rocky else "none",
                "turns": self.turns,
                "memory": self.memory,
            },
            "ply": self.ply,
            "slot": self.slot,
            "left": self.turns - self.slot,
            "to_act": self.to_act,
            "alive": [seat not in self.wrecks for seat in range(4)],
            "dropped": self.dropped,
            "events": [shot for shot in shots if shot["slot"] >= self.slot - 4],
            "shots": shots,
            "wrecks": [self.wrecks[victim] for victim in sorted(self.wrecks)],
        }
        if self.to_act == -1:
            view["over"] = "dropped" if self.ended else "turns"
        return view if seat is None else view | self.own(seat)

    def own(self, seat: int) -> dict[str, Any]:
        """Return a seat's information beyond the public view."""
        trail = [[int((r, c) in self.visited[seat]) for c in range(1, 16)] for r in range(1, 16)]
        return {
            "seat": seat,
            "row": self.places[seat][0],
            "column": self.places[seat][1],
            "hull": self.hulls[seat],
            "score": self.score(seat),
            "local": self.grid(self.local[seat]),
            "visited": ["".join(map(str, row)) for row in trail],
        }

    def full(self) -> dict[str, Any]:
        """Return a referee's information beyond the public view."""
        board = {(r, c): self.code((r, c)) or 0 for r in range(1, 16) for c in range(1, 16)}
        trails = [
            "".join(
                f"{sum(((r, c) in self.visited[seat]) << seat for seat in range(4)):x}"
                for c in range(1, 16)
            )
            for r in range(1, 16)
        ]
        tanks = [
            {
                "row": self.places[seat][0],
                "column": self.places[seat][1],
                "hull": self.hulls[seat],
                "score": self.score(seat),
                "visited": len(self.visited[seat]),
            }
            for seat in range(4)
        ]
        return self.view(None) | {"board": self.grid(board), "trails": trails, "tanks": tanks}


class Blind(Reference):
    """The same without local boards, for counting leaves faster."""

    def look(self, seat: int) -> None:
        pass

    def know(self, seat: int, place: Place, code: int) -> None:
        pass

    def forget(self, seat: int, code: int) -> None:
        pass

    def twin(self) -> Blind:
        """Return a copy."""
        other = copy.copy(self)
        for name in ("places", "hulls", "kills", "wrecks", "shots"):
            setattr(other, name, copy.copy(getattr(self, name)))
        other.visited = [set(), set(), set(), set()]
        return other


def leaves(state: Blind, depth: int) -> int:
    """Count the sequences of `depth` actions from `state`."""
    if state.to_act == -1:
        return 0
    if depth == 1:
        return len(ACTIONS)
    total = 0
    for word in ACTIONS:
        after = state.twin()
        after.act(word)
        total += leaves(after, depth - 1)
    return total


def _main() -> None:
    write = sys.stdout.write
    write("# Sequences of actions from the start, at depth 1, 2, ...; they differ from powers of\n")
    write("# seven where somebody dies so early that slots pass before the last turn. Counted by\n")
    write("# python -m tests.games.tanks.reference > tests/games/data/tanks-perft.jsonl\n")
    for start, rock, turns in (
        ("corners", "classic", 1000),
        ("table1", "none", 6),
        ("table1", "none", 7),
        ("table1", "classic", 7),
        ("corners", "none", 6),
    ):
        state = Blind(start, rock == "classic", turns)
        counts = [leaves(state, depth) for depth in range(1, min(turns, 7) + 1)]
        options = {"start": start, "rocks": rock, "turns": turns}
        write(json.dumps({"options": options, "seats": 4, "perft": counts}) + "\n")


if __name__ == "__main__":
    _main()
