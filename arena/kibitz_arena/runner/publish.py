"""The files of results in a tournament's directory, and the page beside them or elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from kibitz_arena.report import export
from kibitz_arena.report.html import render_html
from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory, write_atomically


def publish(results: Results, folder: TournamentDirectory, html: Path | None) -> None:
    """Write the results into the event's directory, and the page to `html` too."""
    folder.write("results.json", export.results_json(results))
    folder.write("results.csv", export.ratings_csv(results))
    folder.write("games.csv", export.games_csv(results))
    folder.write("results.html", render_html(results, _records(results, folder, folder.path)))
    if html is not None:
        write_atomically(html, render_html(results, _records(results, folder, html.parent)))


def _records(results: Results, folder: TournamentDirectory, seen_from: Path) -> dict[str, str]:
    """Return the paths of the records that are there, from a page's folder, by tag."""
    here = seen_from.resolve()
    return {
        game.tag: Path(os.path.relpath((folder.path / game.record).resolve(), here)).as_posix()
        for game in results.games
        if game.record is not None and (folder.path / game.record).is_file()
    }
