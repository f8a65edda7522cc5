"""A scripted Gomocup engine with the quirks of real ones, each behind a switch.

``python pbrain_standin.py [QUIRK ...] [--log FILE]``. It shares no code with the project: it keeps
its own board and puts its stone next to the last one. If a command contradicts its board, it prints
an error and exits with status 3. This detects a manager with a wrong position.

    deaf        a command that arrives within 10 ms of a reply is dropped
    only-N      START with another size than N is an ERROR
    ordered     a BOARD whose stones do not alternate in playing order is an ERROR
    stateless   forgets the board after each answer, so TURN is an ERROR
    slow        takes 0.3 s to answer START
    chatty      MESSAGE, DEBUG and empty lines around every answer, which ends in CR LF
    grumpy      UNKNOWN to every INFO
    curt        answers only INFO max_memory with UNKNOWN
    minimal     knows only START, BEGIN, INFO, BOARD, TURN and END, and answers UNKNOWN to the rest
    silent      like minimal, but does not answer the rest
    cr          ends its lines in a lone CR
    crlf        ends its lines in CR LF
    boardless   answers BOARD with UNKNOWN, without waiting for its end
    occupied    answers a TURN with an occupied cell
    outside     answers a TURN with -1,3
    twice       answers and then sends another stone
    noisy       writes a megabyte to standard error and a megabyte of MESSAGEs before every answer
    suggest     sends SUGGEST first and expects PLAY
    spaced      answers "x, y"
    mute        never answers a request for a stone
    dies        exits with status 7 at its second stone
    strict      requires CR LF after every line
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import NoReturn

OWN, OTHER = 1, 2
MANDATORY = {"START", "BEGIN", "INFO", "BOARD", "TURN", "END", "PLAY"}
"""The commands that the protocol requires; PLAY answers the engine's SUGGEST."""


class Engine:
    """The engine, with a method ``on_...`` for each command."""

    def __init__(self, words: list[str]) -> None:
        self.log = Path(words.pop(words.index("--log") + 1)) if "--log" in words else None
        self.quirks = {word for word in words if word != "--log"}
        self.size = 0
        self.cells: dict[tuple[int, int], int] = {}
        self.order: list[tuple[int, int]] = []
        self.replied = -1.0
        self.stones = 0

    def write(self, text: str) -> None:
        ending = (
            "\r" if "cr" in self.quirks else "\r\n" if self.quirks & {"chatty", "crlf"} else "\n"
        )
        self.replied = time.monotonic()  # set early, so a pause is never too short
        sys.stdout.buffer.write((text + ending).encode())
        sys.stdout.buffer.flush()

    def note(self, text: str) -> None:
        if self.log:
            with self.log.open("a") as log:
                log.write(text + "\n")

    def fail(self, text: str) -> NoReturn:
        sys.stderr.write(text + "\n")
        sys.exit(3)

    def read(self) -> str:
        raw = sys.stdin.buffer.readline()
        if not raw:
            sys.exit(0)
        if "strict" in self.quirks and not raw.endswith(b"\r\n"):
            self.fail(f"a line without CR LF: {raw!r}")
        line = raw.decode().strip()
        if "deaf" in self.quirks and time.monotonic() - self.replied < 0.010:
            self.note("(dropped) " + line)
            return ""
        self.note(line)
        return line

    def run(self) -> NoReturn:
        while True:
            word, _, rest = self.read().partition(" ")
            if word and self.quirks & {"minimal", "silent"} and word not in MANDATORY:
                self.unknown()
            elif word:
                getattr(self, "on_" + word.lower(), self.unknown)(rest)

    def unknown(self, rest: str = "") -> None:
        if "silent" not in self.quirks:
            self.write("UNKNOWN command")

    def on_start(self, rest: str) -> None:
        if "slow" in self.quirks:
            time.sleep(0.3)
        only = [quirk[5:] for quirk in self.quirks if quirk.startswith("only-")]
        if only and rest not in only:
            return self.write(f"ERROR I play on {only[0]} only")
        self.size = int(rest)
        self.clear()
        return self.write("OK")

    def clear(self) -> None:
        self.cells, self.order = {}, []

    def on_restart(self, rest: str) -> None:
        self.clear()
        self.write("OK")

    def on_about(self, rest: str) -> None:
        self.write('name="Stand-in", version="1.0", author="nobody", country="XX"')

    def on_info(self, rest: str) -> None:
        key = rest.partition(" ")[0]
        if "grumpy" in self.quirks or ("curt" in self.quirks and key == "max_memory"):
            self.unknown()

    def on_end(self, rest: str) -> None:
        self.note("(ended)")
        sys.exit(0)

    def on_begin(self, rest: str) -> None:
        if self.cells:
            self.fail("BEGIN on a board with stones")
        self.think()

    def on_turn(self, rest: str) -> None:
        if "stateless" in self.quirks:
            return self.write("ERROR I keep no board")
        self.put(rest, OTHER)
        return self.think(by_turn=True)

    def on_board(self, rest: str) -> None:
        if "boardless" in self.quirks:
            return self.unknown()
        if self.cells and "stateless" not in self.quirks:
            self.fail("BOARD into an open match")
        self.clear()
        fields = []
        while True:
            line = self.read()
            if line == "DONE":
                break
            cell, _, field = line.rpartition(",")
            self.put(cell, int(field))
            fields.append(int(field))
        alternate = all(a != b for a, b in itertools.pairwise(fields))
        if "ordered" in self.quirks and (not alternate or fields[-1:] == [OWN]):
            return self.write("ERROR stones out of order")
        return self.think()

    def put(self, text: str, field: int) -> None:
        x, y = map(int, text.split(","))
        if not (0 <= x < self.size and 0 <= y < self.size) or (x, y) in self.cells:
            self.fail(f"told of an impossible stone: {text}")
        self.cells[x, y] = field
        self.order.append((x, y))

    def think(self, *, by_turn: bool = False) -> None:
        self.stones += 1
        if "mute" in self.quirks:
            return None
        if "dies" in self.quirks and self.stones == 2:
            sys.stderr.write("out of ideas\n")
            sys.exit(7)
        if "noisy" in self.quirks:
            for _ in range(1000):
                sys.stderr.write("e" * 999 + "\n")
                self.write("MESSAGE " + "m" * 991)
            sys.stderr.flush()
        if "chatty" in self.quirks:
            self.write("MESSAGE depth 3 ev 12")
            self.write("DEBUG thinking")
            self.write("")
        x, y = self.order[-1] if by_turn and "occupied" in self.quirks else self.choose()
        if by_turn and "outside" in self.quirks:
            return self.write("-1,3")
        if "suggest" in self.quirks:
            return self.write(f"SUGGEST {x},{y}")
        return self.answer(x, y)

    def on_play(self, rest: str) -> None:
        x, _, y = rest.partition(",")
        self.answer(int(x), int(y))

    def answer(self, x: int, y: int) -> None:
        self.cells[x, y] = OWN
        self.order.append((x, y))
        if "stateless" in self.quirks:
            self.clear()
        self.write(f"{x}, {y}" if "spaced" in self.quirks else f"{x},{y}")
        if "twice" in self.quirks:
            self.write(f"{self.size - 1},{self.size - 1}")

    def choose(self) -> tuple[int, int]:
        x, y = self.order[-1] if self.order else (self.size // 2, self.size // 2)
        empty = [
            (max(abs(a - x), abs(b - y)), b, a)
            for b in range(self.size)
            for a in range(self.size)
            if (a, b) not in self.cells
        ]
        _, b, a = min(empty)
        return a, b


if __name__ == "__main__":
    Engine(sys.argv[1:]).run()
