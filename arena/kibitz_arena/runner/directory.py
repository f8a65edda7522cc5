"""The directory of a tournament: journal, database, logs, secrets, records and results.

Files:

    journal.jsonl    the journal: the tournament's configuration and events (`kibitz_arena.journal`)
    kibitz.db        the database of the private server
    bots/NAME.log    the output of an entrant's process
    bots/NAME.resume the secret for reconnecting as the same player (mode 0600)
    host.resume      the secret of the host, and its server and lobby (mode 0600)
    records/         a record for each game
    reports/         a forensic report for each game in which a seat was at fault; only for the host
    organizer.token  the secret for watching on the private server (mode 0600)
    live.json        the data for the page of the running tournament
    results.json, results.csv, games.csv, results.html

Only the organizer can read the files: the directory has mode 0700.
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
    """The server and lobby of the games, and the host's secret."""

    resume: str
    lobby: str | None = None
    server: str | None = None
    """The URL of an external server; None for the private server."""


class Origin(Strict):
    """The folder of a tournament's file, for resolving relative paths."""

    base: str


class NoTournamentError(OSError):
    """A directory that is not a tournament's; the message says what was expected."""


@dataclass(frozen=True)
class RunDirectory:
    """The common base of tournament and ladder directories."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def reports(self) -> Path:
        return self.path / "reports"

    def host_session(self) -> HostSession | None:
        """Return the earlier hosting session, if any."""
        try:
            return HostSession.model_validate_json((self.path / "host.resume").read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save_host_session(self, session: HostSession) -> None:
        """Save the hosting session."""
        self.write("host.resume", session.model_dump_json() + "\n", mode=0o600)

    def remove_secrets(self) -> None:
        """Delete the secrets, because the server that issued them no longer accepts them."""
        for path in (self.path / "host.resume", *(self.path / "bots").glob("*.resume")):
            path.unlink(missing_ok=True)

    def write(self, name: str, text: str, *, mode: int = 0o644, durable: bool = True) -> Path:
        """Write a file in the directory atomically."""
        return write_atomically(self.path / name, text, mode=mode, durable=durable)


class TournamentDirectory(RunDirectory):
    """The paths in a tournament's directory, and access to its small files."""

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
        """Return the path of an entrant's log."""
        return self.path / "bots" / f"{safe_filename(name)}.log"

    def secret_path(self, name: str) -> Path:
        """Return the path of an entrant's secret."""
        return self.path / "bots" / f"{safe_filename(name)}.resume"

    def create(self, base: Path) -> None:
        """Create the directories; the tournament's paths are relative to `base`.

        Other users cannot read them, since entrants may run as other users of this machine.
        """
        for directory in (self.path, self.path / "bots", self.records, self.reports):
            directory.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        origin = Origin(base=os.path.relpath(base.resolve(), self.path.resolve()))
        self.write("origin.json", origin.model_dump_json() + "\n")

    def base(self) -> Path:
        """Return the base directory of the tournament's relative paths."""
        try:
            origin = Origin.model_validate_json((self.path / "origin.json").read_bytes())
        except (OSError, ValidationError):
            return self.path.resolve().parent
        return (self.path / origin.base).resolve()

    def tournament(self) -> Tournament:
        """Return the tournament in the journal; raises `NoTournamentError`, `JournalError`."""
        try:
            reading = entries.FORMAT.parse(self.journal.read_bytes())
        except FileNotFoundError:
            raise NoTournamentError(
                f"{self.path}: expected a tournament's directory, with journal.jsonl"
            ) from None
        if reading.header is None:
            raise NoTournamentError(
                f"{self.journal}: the tournament has not started; pass the tournament file"
            )
        return Tournament.model_validate(reading.header.config)

    def with_seed(self, tournament: Tournament) -> Tournament:
        """Return a tournament with the seed from this directory's journal, or with a new seed.

        A seed in the configuration is kept. Raises `JournalError`.
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
        """Return an entrant's secret, None if there is none."""
        try:
            return self.secret_path(name).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def save_secret(self, name: str, secret: str) -> None:
        """Save an entrant's secret."""
        self.write(f"bots/{safe_filename(name)}.resume", secret + "\n", mode=0o600)

    def save_organizer(self, secret: str) -> None:
        """Save the secret of the private server, which changes with each start."""
        self.write("organizer.token", secret + "\n", mode=0o600)


def other_directories(directories: Iterable[Path]) -> Iterator[Path]:
    """Yield the tournaments' directories that are directly inside `directories`."""
    for directory in directories:
        with contextlib.suppress(OSError):
            yield from (path.parent for path in sorted(directory.glob("*/journal.jsonl")))


def safe_filename(name: str) -> str:
    """Return a unique file name for an entrant's name, with code points for special characters.

    It is unique even if the file system ignores case, since names never differ only in case.
    """
    return "".join(
        c if c.isascii() and (c.isalnum() or c in "-_.") else f"%{ord(c):x}" for c in name
    )
