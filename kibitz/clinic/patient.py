"""The bot under examination: its command line, its process, and what it wrote."""

from __future__ import annotations

import os
import shlex
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kibitz.children import TAIL_LINES, child
from kibitz.clinic.stage import LOBBY, NAME
from kibitz.leash import leashed

Way = Literal["own", "stdio", "gomocup", "house"]
"""How a bot is talked to: it connects by itself, through a bridge, or it is one of ours."""


@dataclass(frozen=True)
class Prescription:
    """How the bot is started."""

    words: tuple[str, ...]
    """A command, or the one word that names a bot of ours."""
    way: Way

    @property
    def name(self) -> str:
        """The bot as the report calls it."""
        return shlex.join(self.words)

    def command(self, url: str) -> list[str]:
        """Return the command line that connects the bot to `url`."""
        ours = ("--url", url, "--lobby", LOBBY, "--name", NAME)
        if self.way == "house":
            return leashed("kibitz_bots", *self.words, *ours)
        if self.way in ("stdio", "gomocup"):
            return leashed("kibitz_bots", f"--{self.way}", *ours, "--", *self.words)
        said = {"{url}": url, "{lobby}": LOBBY, "{name}": NAME}
        return [_filled(word, said) for word in self.words]

    def environment(self, url: str) -> dict[str, str]:
        """Return the environment, which says the same for commands that connect by themselves."""
        secrets = {"KIBITZ_TOKEN", "KIBITZ_RESUME"}
        kept = {name: value for name, value in os.environ.items() if name not in secrets}
        said = {"KIBITZ_SERVER": url, "KIBITZ_LOBBY": LOBBY, "KIBITZ_NAME": NAME}
        return kept | said | {"PYTHONUNBUFFERED": "1"}


def _filled(word: str, said: Mapping[str, str]) -> str:
    for placeholder, value in said.items():
        word = word.replace(placeholder, value)
    return word


class Patient:
    """A running bot."""

    def __init__(self, process: Process, log: Path) -> None:
        self.process = process
        self._log = log
        self._read = 0

    def mark(self) -> None:
        """Count as output only what is written from now on."""
        self._read = self._log.stat().st_size

    def output(self) -> str:
        """Return the last lines that were written since the mark."""
        with self._log.open("rb") as file:
            file.seek(self._read)
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])


@asynccontextmanager
async def admitted(how: Prescription, url: str, log: Path) -> AsyncIterator[Patient]:
    """Run the bot for the length of the block. Raises `OSError` where it cannot be started."""
    async with child(how.command(url), log, env=how.environment(url)) as process:
        yield Patient(process, log)
