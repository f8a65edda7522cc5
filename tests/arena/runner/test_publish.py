"""The result files, and the links in the HTML page."""

from __future__ import annotations

from pathlib import Path

from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.publish import publish, replay_page
from tests.arena import samples


def test_the_page_links_records_that_are_there_and_pages_beside_them(tmp_path: Path) -> None:
    results, folder = _event(tmp_path)
    first, second, third = (tmp_path / "records" / f"{name}.jsonl" for name in "abc")
    for path in (first, second, replay_page(second), replay_page(third)):
        path.write_text("x", encoding="utf-8")
    elsewhere = tmp_path / "pages" / "event.html"
    elsewhere.parent.mkdir()
    publish(results, folder, elsewhere)
    page = (tmp_path / "results.html").read_text(encoding="utf-8")
    assert page.count(">record</a>") == 2
    assert page.count('<a href="records/b.html">watch</a>') == 1
    assert page.count(">watch</a>") == 1
    assert '<a href="../records/b.html">watch</a>' in elsewhere.read_text(encoding="utf-8")


def _event(path: Path) -> tuple[Results, TournamentDirectory]:
    """Return results in which three games have a record."""
    results = samples.league()
    paths = [f"records/{name}.jsonl" for name in "abc"]
    games = [
        game.model_copy(update={"record": paths[place] if place < len(paths) else None})
        for place, game in enumerate(results.games)
    ]
    (path / "records").mkdir()
    return results.model_copy(update={"games": games}), TournamentDirectory(path)
