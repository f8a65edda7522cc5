"""Write the generated pages: `python -m docs.generate`; `--check` reports stale ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import docs.generate
from benchmarks import first_minutes as minutes
from benchmarks import install_sizes as sizes
from benchmarks.experiments import coverage, outcomes, table
from benchmarks.strength import cases, results, tables
from docs.generate import (
    bots,
    configuration,
    environments,
    exit_statuses,
    experiments,
    first_minutes,
    install_sizes,
    messages,
    metrics,
    package_picture,
    strength,
    tournament_files,
    variables,
    web_types,
)
from docs.generate import protocol_schema as schema
from kibitz.builtin_games import load_games
from kibitz.commands.serve import SETTINGS

DOCS = Path(docs.generate.__file__).parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, or compare them; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a page is stale"
    )
    check = parser.parse_args(argv).check
    changed = {path: text for path, text in pages().items() if _text(path) != text}
    for path, text in changed.items():
        if check:
            print(f"out of date: {path}", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path}")
    return 1 if check and changed else 0


def pages() -> Mapping[Path, str]:
    """Return the up-to-date text of every generated page."""
    games = load_games("plain")
    found = {
        DOCS / "strength.md": strength.page(
            results.load(), cases.tournaments(), tables.load_results()
        ),
        DOCS / "experiments.md": experiments.page(
            table.EXPERIMENTS, table.REPORTS, table.current(outcomes.load()), coverage.load()
        ),
        DOCS / "reference" / "house-bots.md": bots.page(games, results.load()),
        DOCS / "reference" / "configuration.md": configuration.page(SETTINGS),
        DOCS / "reference" / "exit-statuses.md": exit_statuses.page(),
        DOCS / "reference" / "metrics.md": metrics.page(),
        DOCS / "reference" / "tournament-files.md": tournament_files.page(),
        DOCS / "reference" / "variables.md": variables.page(),
        DOCS / "reference" / "messages.md": messages.messages_page(schema.messages_schema()),
        **schema.documents(DOCS / "protocol"),
        **web_types.files(),
        DOCS / "images" / "packages.svg": package_picture.picture(),
        DOCS / "reference" / "records.md": messages.records_page(schema.record_schema()),
    }
    learning = DOCS / "how-to" / "learning.md"
    found[learning] = environments.page(learning.read_text(encoding="utf-8"), games)
    install = DOCS / "how-to" / "install.md"
    text = first_minutes.page(install.read_text(encoding="utf-8"), minutes.load_results())
    found[install] = install_sizes.page(text, sizes.load_results())
    for name in games:
        path = DOCS / "games" / f"{name}.md"
        found[path] = bots.game_page(path.read_text(encoding="utf-8"), name)
    return found


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
