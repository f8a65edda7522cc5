"""The directory of a ladder: its journal, its secret, its public files, and reports.

Files:

    journal.jsonl    the journal (see `entries`)
    host.resume      the secret with which the keeper reconnects as the host (mode 0600)
    public/          public files: index.html, ladder.json
    reports/         why a seat dropped out of a match, for its player
"""

from __future__ import annotations

from pathlib import Path

from kibitz_arena.runner.directory import RunDirectory


class LadderDirectory(RunDirectory):
    """The paths in a ladder's directory, and the small files that are read and written whole."""

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
        """Make the directories."""
        for directory in (self.path, self.public, self.reports):
            directory.mkdir(parents=True, exist_ok=True)

    def write_public(self, page: str, feed: str) -> None:
        """Write the public files."""
        self.write("public/ladder.json", feed, durable=False)
        self.write("public/index.html", page, durable=False)
