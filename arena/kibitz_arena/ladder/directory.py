"""The directory of a ladder: journal, secret, public files and reports.

Files:

    journal.jsonl    the journal (see `entries`)
    host.resume      the secret for reconnecting as the host (mode 0600)
    public/          public files: index.html, ladder.json
    reports/         reports on why players dropped out of a match
"""

from __future__ import annotations

from pathlib import Path

from kibitz_arena.runner.directory import RunDirectory


class LadderDirectory(RunDirectory):
    """The paths in a ladder's directory, and access to its small files."""

    @property
    def public(self) -> Path:
        return self.path / "public"

    @property
    def feed(self) -> Path:
        return self.public / "ladder.json"

    @property
    def page(self) -> Path:
        return self.public / "index.html"

    def create(self) -> None:
        """Create the directories."""
        for directory in (self.path, self.public, self.reports):
            directory.mkdir(parents=True, exist_ok=True)

    def write_public(self, page: str, feed: str) -> None:
        """Write the public files."""
        self.write("public/ladder.json", feed, durable=False)
        self.write("public/index.html", page, durable=False)
