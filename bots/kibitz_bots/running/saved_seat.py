"""Saves a bot's resume secret on disk, so that it can resume its seats after being killed.

A server identifies a guest by the resume secret of its first welcome. Without the secret, a
restarted bot finds its own name taken for as long as its match runs. The secret is written to a
file after the welcome and removed when the run ends normally (`state_file`). Each combination of
server, player name and bot has its own numbered files. If another process of the same bot has
locked the first file, this process uses the next one and is a separate player.

Failures do not stop the bot: if the directory cannot be used, a warning is logged and nothing is
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
"""The maximum number of processes of one bot with a saved seat."""
MIN_SECRET_LENGTH: Final = 8
"""The minimum length of a secret in the protocol."""


class SavedSeat:
    """The file of one process; close it when the process ends."""

    def __init__(self, file: StateFile) -> None:
        self._file = file

    @property
    def resume(self) -> str | None:
        """The secret left by an earlier process, None if there is none."""
        try:
            secret = self._file.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return secret if len(secret) >= MIN_SECRET_LENGTH else None

    def keep(self, secret: str) -> None:
        """Write the secret atomically to a file that only its owner can read."""
        try:
            self._file.write(f"{secret}\n")
        except OSError as error:
            _warn(error)

    def forget(self) -> None:
        """Remove the secret, because the server rejected it or the run is over."""
        self._file.remove()

    def close(self) -> None:
        """Unlock the file for other processes."""
        self._file.close()


def take_seat(server: str, name: str | None, words: Sequence[str]) -> SavedSeat | None:
    """Lock and return a bot's first unused file, None if none is available.

    `words` identify the bot; file names among them are made absolute.
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
    log.warning("cannot save this seat, so a bot that is killed cannot resume it: %s", error)


def _whole_path(word: str) -> str:
    path = Path(word)
    return str(path.resolve()) if path.is_file() else word
