"""The result files in a tournament's directory, and the HTML page there or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kibitz_arena.report import export
from kibitz_arena.report.html import render_html
from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_protocol.atomic_write import write_atomically


def publish(results: Results, folder: TournamentDirectory, html: Path | None) -> None:
    """Write the results into the tournament's directory, and the page also to `html`.

    The page links to every game's record, and to its replay page if that exists next to the record.
    """
    folder.write("results.json", export.results_json(results))
    folder.write("results.csv", export.ratings_csv(results))
    folder.write("games.csv", export.games_csv(results))
    folder.write("results.html", _page(results, folder, folder.path))
    if html is not None:
        write_atomically(html, _page(results, folder, html.parent))


def replay_page(record: Path) -> Path:
    """Return the path of a record's replay page, which may not exist."""
    return record.with_suffix(".html")


def _page(results: Results, folder: TournamentDirectory, seen_from: Path) -> str:
    records = {
        game.tag: folder.path / game.record
        for game in results.games
        if game.record is not None and (folder.path / game.record).is_file()
    }
    pages = {tag: replay_page(path) for tag, path in records.items()}
    pages = {tag: path for tag, path in pages.items() if path.is_file()}
    return render_html(results, _paths(records, seen_from), _paths(pages, seen_from))


def _paths(files: Mapping[str, Path], seen_from: Path) -> dict[str, str]:
    """Return files' paths relative to a page's folder."""
    here = seen_from.resolve()
    return {
        tag: Path(os.path.relpath(path.resolve(), here)).as_posix() for tag, path in files.items()
    }
