"""The directory of a ladder: its journal, its secret, what others are told, and reports.

journal.jsonl    the journal (see `entries`)
host.resume      the secret with which the keeper comes back as the host of the lobby (mode 0600)
public/          what may be shown to anybody: index.html, ladder.json
reports/         why a seat dropped out of a match, for those who lost that way
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
        """Write what anybody may see."""
        self.write("public/ladder.json", feed, durable=False)
        self.write("public/index.html", page, durable=False)
