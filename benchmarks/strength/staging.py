"""Playing a target: with the machinery of `kibitz arena`, in a directory that outlives a break."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.strength.targets import Target
from kibitz.event.folder import EventFolder
from kibitz.event.house import House, Site, unfinished
from kibitz.event.ticker import Ticker
from kibitz.running import draining, run
from kibitz_clients.arena.event import Event
from kibitz_clients.arena.journal import Journal, JournalError
from kibitz_clients.arena.results import Results

PATIENCE = 30.0
"""Seconds in which a program has to find that there is nothing to read."""


class Broken(Exception):
    """An event that did not get to its end; the message says why."""


def play(target: Target, event: Event, directory: Path, *, quiet: bool = False) -> Results:
    """Play an event to its end and return what it has shown; raises `Broken`.

    `directory` may hold the same event half played, which then goes on. An event that was over,
    or another one, is played anew.
    """
    for entrant in event.entrants:
        if entrant.stdio is not None:
            _try_out(entrant.name, entrant.stdio, target.path.parent)
    folder = EventFolder(directory)
    if not _half_played(folder, event):
        shutil.rmtree(directory, ignore_errors=True)
    folder.make(target.path.parent)
    ticker = Ticker(sys.stderr, quiet=quiet)
    house = House(event, folder, Site(), ticker)
    try:
        return run(_held(house))
    finally:
        ticker.close()


def _try_out(name: str, command: Sequence[str], base: Path) -> None:
    """Start a program that reads lines, with nothing to read; raises `Broken` where it fails.

    Otherwise an engine that is not installed would lose every match, and look weak.
    """
    try:
        tried = subprocess.run(
            command,
            cwd=base,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Broken(f"{name} cannot play: {error}") from error
    if tried.returncode:
        said = tried.stderr.strip() or f"its program ends with status {tried.returncode}"
        raise Broken(f"{name} cannot play: {said}")


def _half_played(folder: EventFolder, event: Event) -> bool:
    if not folder.journal.exists():
        return False
    try:
        with Journal(folder.journal, event) as journal:
            return unfinished(journal.progress)
    except JournalError:
        return False


async def _held(house: House) -> Results:
    """Hold the event; the first Ctrl-C lets the running games end."""

    async def drain() -> None:
        house.ticker.say("finishing the running games; Ctrl-C ends at once")
        await house.drain()

    async with draining(drain, (signal.SIGINT, signal.SIGTERM)):
        progress = await house.hold()
    if unfinished(progress):
        raise Broken(house.failure or "interrupted; the same command goes on")
    return Results.of(house.event, progress)
