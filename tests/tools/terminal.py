"""Run the command on its own terminal, type input and read the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.tools.command import PATIENCE_SECONDS, Kibitz

ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\[\]])")
ROWS, COLUMNS = 30, 100


class Terminal:
    """The command on its own terminal, with its output."""

    def __init__(self, process: subprocess.Popen[bytes], leader: int) -> None:
        self.process = process
        self._leader = leader
        self._written = b""

    def type(self, text: str) -> None:
        """Type all text at once, as if pasted."""
        os.write(self._leader, text.encode())

    def until(self, words: str) -> None:
        """Wait until these words have been written to the screen."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self.text:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, f"{words!r} is not in\n{self.text}"
            if select.select([self._leader], [], [], 0.5)[0]:
                self._written += os.read(self._leader, 65_536)

    @property
    def text(self) -> str:
        """The output as one line without colors."""
        return ESCAPES.sub(b"", self._written).decode(errors="replace")

    def close(self) -> None:
        """Hang up the terminal, like closing its window."""
        if self._leader >= 0:
            os.close(self._leader)
            self._leader = -1

    def forget(self) -> None:
        """Discard the output so far."""
        self._written = b""


@contextmanager
def terminal(kibitz: Kibitz, *words: str, through: Sequence[str] = ()) -> Iterator[Terminal]:
    """Run the command on a new terminal; kill it at the end.

    `through` is a command that runs it and is the session leader in its place.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [*through, sys.executable, "-m", "kibitz", *words],
        cwd=kibitz.directory,
        env=kibitz.environment() | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    shown = Terminal(process, leader)
    try:
        yield shown
    finally:
        process.kill()
        process.wait()
        shown.close()
