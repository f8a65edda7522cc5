"""People whose terminal is killed in the middle: the same command takes everything back."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tests.tools.command import PATIENCE_SECONDS, Kibitz, Running

ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\[\]])")
ROWS, COLUMNS = 30, 100


class Terminal:
    """The command on a terminal of its own, and what it has written there."""

    def __init__(self, process: subprocess.Popen[bytes], leader: int) -> None:
        self.process = process
        self._leader = leader
        self._written = b""

    def type(self, text: str) -> None:
        """Type everything at once, as somebody who pastes it."""
        os.write(self._leader, text.encode())

    def until(self, words: str) -> None:
        """Wait until the screen was written with these words."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self.text:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, f"{words!r} is not in\n{self.text}"
            if select.select([self._leader], [], [], 0.5)[0]:
                self._written += os.read(self._leader, 65_536)

    @property
    def text(self) -> str:
        """What was written, as one line without its colours."""
        return ESCAPES.sub(b"", self._written).decode(errors="replace")

    def forget(self) -> None:
        """Look at what comes from now on only."""
        self._written = b""


@contextmanager
def terminal(kibitz: Kibitz, *words: str) -> Iterator[Terminal]:
    """Run the command on a new terminal; it is killed at the end."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", *words],
        cwd=kibitz.directory,
        env=kibitz.environment() | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    try:
        yield Terminal(process, leader)
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_host_and_a_player_are_killed_and_come_back(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
        url = stack.enter_context(kibitz.start(*words)).json()["url"]
        there = ["--server", url]
        seats = "open,house=number-merge/random"
        hosting = ["host", "number-merge", "--seats", seats, "--title", "evening", *there]

        def host() -> Running:
            return stack.enter_context(kibitz.start(*hosting, "--json"))

        def match() -> dict[str, object]:
            lines = kibitz.run("matches", "--json", *there).stdout.splitlines()
            [brief] = [line for line in map(json.loads, lines) if "result" not in line]
            return dict(brief)

        first = host()
        lobby = first.json()["lobby"]
        join = ["join", lobby, "--name", "ada", *there]
        with terminal(kibitz, *join) as player:
            player.until("press r")
            player.type("r")
            player.until("Your turn")
            second_terminal = kibitz_on_a_terminal(kibitz, join)
            assert "another terminal of yours" in second_terminal
            assert str(player.process.pid) in second_terminal
        first.send(signal.SIGKILL)
        first.rest()
        before = match()

        second = host()
        assert second.json() == {"lobby": lobby, "invite": None, "again": True}
        with terminal(kibitz, *join) as player:
            player.until("welcome back, ada")
            player.until("Your turn")
            player.type("0+1\r")
            until(lambda: int(str(match()["ply"])) > int(str(before["ply"])))
            assert match()["match"] == before["match"]
            player.type("\x12")  # resign: ctrl-r, and yes
            player.until("Resign this match?")
            player.type("y")
            player.until("resigned")
        with terminal(kibitz, *join) as player:  # the block's second match
            player.until("Your turn")
            player.type("\x12")
            player.until("Resign this match?")
            player.type("y")
            result = json.loads(second.rest())
        assert [each["result"]["cause"] for each in result["matches"]] == ["resignation"] * 2
        third = host()
        told = third.json()
        assert "again" not in told
        assert told["lobby"] != lobby


def kibitz_on_a_terminal(kibitz: Kibitz, words: list[str]) -> str:
    """Run the command on a terminal to its end, and return what it has written."""
    with terminal(kibitz, *words) as other:
        try:
            other.until("\0never")
        except (AssertionError, OSError):  # it has ended, and the terminal with it
            assert other.process.wait(PATIENCE_SECONDS) == 1
        return other.text
