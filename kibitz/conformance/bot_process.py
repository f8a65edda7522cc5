"""The process of the tested bot: its command line, environment and output."""

from __future__ import annotations

import os
import shlex
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kibitz.conformance.server import LOBBY, NAME
from kibitz.process.child import TAIL_LINES, child_process
from kibitz.process.parent_death import child_command

BotInterface = Literal["own", "stdio", "gomocup", "house"]
"""How a bot connects: by itself, through a bridge, or as a Python or house bot."""


@dataclass(frozen=True)
class BotCommand:
    """The way to start the bot."""

    words: tuple[str, ...]
    """A command, or a single word that names a Python or house bot."""
    interface: BotInterface

    @property
    def name(self) -> str:
        """The name of the bot in the report."""
        return shlex.join(self.words)

    def command(self, url: str) -> list[str]:
        """Return the command line that connects the bot to `url`."""
        ours = ("--url", url, "--lobby", LOBBY, "--name", NAME)
        if self.interface == "house":
            return child_command("kibitz_bots", *self.words, *ours)
        if self.interface in ("stdio", "gomocup"):
            return child_command("kibitz_bots", f"--{self.interface}", *ours, "--", *self.words)
        values = {"{url}": url, "{lobby}": LOBBY, "{name}": NAME}
        return [_fill_placeholders(word, values) for word in self.words]

    def environment(self, url: str) -> dict[str, str]:
        """Return the environment, which tells a self-connecting command where to connect."""
        secrets = {"KIBITZ_TOKEN", "KIBITZ_RESUME"}
        kept = {name: value for name, value in os.environ.items() if name not in secrets}
        variables = {"KIBITZ_SERVER": url, "KIBITZ_LOBBY": LOBBY, "KIBITZ_NAME": NAME}
        return kept | variables | {"PYTHONUNBUFFERED": "1"}


def _fill_placeholders(word: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        word = word.replace(placeholder, value)
    return word


class TestedBot:
    """A running bot."""

    def __init__(self, process: Process, log: Path) -> None:
        self.process = process
        self._log = log
        self._read = 0

    def mark_output(self) -> None:
        """Ignore the output written so far."""
        self._read = self._log.stat().st_size

    def output(self) -> str:
        """Return the last lines written since the mark."""
        with self._log.open("rb") as file:
            file.seek(self._read)
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])


@asynccontextmanager
async def running_bot(how: BotCommand, url: str, log: Path) -> AsyncIterator[TestedBot]:
    """Run the bot for the length of the block. Raises `OSError` if it cannot be started."""
    async with child_process(how.command(url), log, env=how.environment(url)) as process:
        yield TestedBot(process, log)
