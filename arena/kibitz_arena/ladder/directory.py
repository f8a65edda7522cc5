"""The directory of a ladder: its journal, its secret, what others are told, and reports.

journal.jsonl     the journal (see `journal`)
host.resume      the secret with which the keeper comes back as the host of the lobby (mode 0600)
public/          what may be shown to anybody: index.html, ladder.json
reports/         why a seat dropped out of a match, for those who lost that way
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kibitz_arena.runner.directory import HostSession, write_atomically


@dataclass(frozen=True)
class LadderDirectory:
    """The paths in a ladder's directory, and the small files that are read and written whole."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def public(self) -> Path:
        return self.path / "public"

    @property
    def feed(self) -> Path:
        return self.public / "ladder.json"

    @property
    def page(self) -> Path:
        return self.public / "index.html"

    @property
    def reports(self) -> Path:
        return self.path / "reports"

    def create(self) -> None:
        """Make the directories."""
        for directory in (self.path, self.public, self.reports):
            directory.mkdir(parents=True, exist_ok=True)

    def host_session(self, server: str) -> HostSession | None:
        """Return who hosts on a server, if that was saved; secrets of others are worth nothing."""
        try:
            session = HostSession.model_validate_json((self.path / "host.resume").read_bytes())
        except (FileNotFoundError, ValidationError):
            return None
        return session if session.server == server else None

    def save_host_session(self, resume: str, server: str) -> None:
        """Write down the secret of who hosts."""
        text = HostSession(resume=resume, server=server).model_dump_json()
        write_atomically(self.path / "host.resume", text + "\n", mode=0o600)

    def forget_host_session(self) -> None:
        """Throw the secret away: the server does not know it any more."""
        (self.path / "host.resume").unlink(missing_ok=True)

    def write_public(self, page: str, feed: str) -> None:
        """Write what anybody may see; there is never a part of it under its name."""
        for path, text in ((self.feed, feed), (self.page, page)):
            partial = path.with_name(f"{path.name}.part")
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
