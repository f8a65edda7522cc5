"""The secret of a playing bot, kept on disk so that it gets its seats back after being killed.

A server identifies a guest by the resume secret of its first welcome. Without it a bot that is
started again finds its own name taken for as long as its match runs. A file for each server, name
and bot has the secret (`state_file`), from the welcome until the run ends normally.

A second process of the same bot takes the next file, and with it another player's place. Failures
never keep a bot from playing: if the directory cannot be used, a log line says so and nothing is
saved.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from filelock import Timeout

from kibitz_bots.running.state_file import StateFile, digest, state_directory

log = logging.getLogger("kibitz_bots")

MOST: Final = 64
"""How many processes of one bot have a file each."""
MIN_SECRET_LENGTH: Final = 8
"""Characters of the shortest secret that the protocol takes."""


class SavedSeat:
    """The file of one process; close it when the process is done."""

    def __init__(self, file: StateFile) -> None:
        self._file = file

    @property
    def resume(self) -> str | None:
        """The secret that a process left behind, None if there is none."""
        try:
            secret = self._file.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return secret if len(secret) >= MIN_SECRET_LENGTH else None

    def keep(self, secret: str) -> None:
        """Write the secret atomically, readable only by its owner."""
        try:
            self._file.write(f"{secret}\n")
        except OSError as error:
            _warn(error)

    def forget(self) -> None:
        """Remove the secret: the server does not accept it, or the run is over."""
        self._file.remove()

    def close(self) -> None:
        """Let other processes have the file."""
        self._file.close()


def take_seat(server: str, name: str | None, words: Sequence[str]) -> SavedSeat | None:
    """Return the first unused file of a bot, None if none can be used.

    `words` name the bot, with absolute paths for those that are files.
    """
    parts = [server.rstrip("/"), name or "", *map(_whole_path, words)]
    place = state_directory("bots")
    try:
        for number in range(1, MOST + 1):
            with contextlib.suppress(Timeout):
                return SavedSeat(StateFile(place / f"{digest(*parts, str(number))}.resume"))
    except OSError as error:
        _warn(error)
    return None


def _warn(error: OSError) -> None:
    log.warning("this seat cannot be saved, a killed bot will not come back: %s", error)


def _whole_path(word: str) -> str:
    path = Path(word)
    return str(path.resolve()) if path.is_file() else word
