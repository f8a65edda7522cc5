"""The directory of a tournament: its journal, database, logs, secrets, records and results.

Files:

    journal.jsonl    the journal: the tournament itself, and its events (see `arena/journal`)
    kibitz.db        the database of its private server
    bots/NAME.log    the output of an entrant's process
    bots/NAME.resume the secret with which it reconnects as the same player (mode 0600)
    host.resume      the same for the host of the games, with the lobby (mode 0600)
    records/         a record for each game
    reports/         a forensic report for each game in which a seat was at fault; for the host only
    organizer.token  the secret of the tournament's own server, for watching (mode 0600)
    live.json        the data of the page of the running tournament
    results.json, results.csv, games.csv, results.html

All files are for the organizer only: the directory has mode 0700.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kibitz_arena import entries
from kibitz_arena.tournament import Tournament
from kibitz_protocol.atomic_write import write_atomically
from kibitz_protocol.wire.values import Strict


class HostSession(Strict):
    """The server and lobby of the games, and the secret of their host."""

    resume: str
    lobby: str | None = None
    server: str | None = None
    """The address of a server that is not the tournament's own."""


class Origin(Strict):
    """The folder of a tournament's file, against which its paths are resolved."""

    base: str


class NoTournamentError(OSError):
    """A directory that holds no tournament; the message says what was looked for."""


@dataclass(frozen=True)
class RunDirectory:
    """The common part of the directories of tournaments and ladders."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def reports(self) -> Path:
        return self.path / "reports"

    def host_session(self) -> HostSession | None:
        """Return the session that arranged games before, if there was one."""
        try:
            return HostSession.model_validate_json((self.path / "host.resume").read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save_host_session(self, session: HostSession) -> None:
        """Save the session that arranges games."""
        self.write("host.resume", session.model_dump_json() + "\n", mode=0o600)

    def remove_secrets(self) -> None:
        """Delete the secrets: the server that issued them no longer knows them."""
        for path in (self.path / "host.resume", *(self.path / "bots").glob("*.resume")):
            path.unlink(missing_ok=True)

    def write(self, name: str, text: str, *, mode: int = 0o644, durable: bool = True) -> Path:
        """Write a file of the directory; there is never a part of it under its name."""
        return write_atomically(self.path / name, text, mode=mode, durable=durable)


class TournamentDirectory(RunDirectory):
    """The paths of a tournament, and the small files that are read and written whole."""

    @property
    def database(self) -> Path:
        return self.path / "kibitz.db"

    @property
    def live(self) -> Path:
        return self.path / "live.json"

    @property
    def records(self) -> Path:
        return self.path / "records"

    def log_path(self, name: str) -> Path:
        """Return the log of an entrant."""
        return self.path / "bots" / f"{safe_filename(name)}.log"

    def secret_path(self, name: str) -> Path:
        """Return the file that keeps an entrant's secret."""
        return self.path / "bots" / f"{safe_filename(name)}.resume"

    def create(self, base: Path) -> None:
        """Make the directories; the paths of the tournament are relative to `base`.

        Other users may not read them, since entrants may be other users of this machine.
        """
        for directory in (self.path, self.path / "bots", self.records, self.reports):
            directory.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        origin = Origin(base=os.path.relpath(base.resolve(), self.path.resolve()))
        self.write("origin.json", origin.model_dump_json() + "\n")

    def base(self) -> Path:
        """Return the directory that the paths of the tournament are relative to."""
        try:
            origin = Origin.model_validate_json((self.path / "origin.json").read_bytes())
        except (OSError, ValidationError):
            return self.path.resolve().parent
        return (self.path / origin.base).resolve()

    def tournament(self) -> Tournament:
        """Return the tournament of the journal; raises `NoTournamentError`, `JournalError`."""
        try:
            reading = entries.FORMAT.parse(self.journal.read_bytes())
        except FileNotFoundError:
            raise NoTournamentError(
                f"{self.path}: expected a tournament's directory, with journal.jsonl"
            ) from None
        if reading.header is None:
            raise NoTournamentError(
                f"{self.journal}: nothing has begun here; name the tournament's own file"
            )
        return Tournament.model_validate(reading.header.config)

    def with_seed(self, tournament: Tournament) -> Tournament:
        """Return a tournament with the seed that it started with here, or with a new one.

        One that has a seed keeps it. Raises `JournalError`.
        """
        if tournament.seed is not None:
            return tournament
        try:
            seed = self.tournament().seed
        except NoTournamentError:
            seed = secrets.token_hex(32)
        return tournament.model_copy(update={"seed": seed})

    # Secrets

    def load_secret(self, name: str) -> str | None:
        """Return an entrant's secret, None while it has none."""
        try:
            return self.secret_path(name).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def save_secret(self, name: str, secret: str) -> None:
        """Write down an entrant's secret."""
        self.write(f"bots/{safe_filename(name)}.resume", secret + "\n", mode=0o600)

    def save_organizer(self, secret: str) -> None:
        """Write down the secret of the tournament's own server; each start has another one."""
        self.write("organizer.token", secret + "\n", mode=0o600)


def other_directories(directories: Iterable[Path]) -> Iterator[Path]:
    """Yield the directories of other tournaments beside the files of this one."""
    for directory in directories:
        with contextlib.suppress(OSError):
            yield from (path.parent for path in sorted(directory.glob("*/journal.jsonl")))


def safe_filename(name: str) -> str:
    """Return a name as a file's: what is not plain becomes its number, so that all differ.

    Names differ in more than their case already.
    """
    return "".join(
        c if c.isascii() and (c.isalnum() or c in "-_.") else f"%{ord(c):x}" for c in name
    )
