"""The table of measured strength: its text, and that the docs have the one that was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import __main__ as command
from benchmarks.strength import outcome, table, targets
from tests.benchmarks.strength import samples

GOLDEN = Path(__file__).parent / "goldens" / "table.md"
PAGE = f"# Bots\n\n{table.BEGIN}\nxyzzy\n{table.END}\n\n## More\n"


def shown() -> list[table.Named]:
    two = samples.outcome(2, blocks=10, claims=["Ada is better than Bob", "Bob wins at least 5%"])
    three = samples.outcome(3, blocks=2, format="free-for-all", seats=3, time_control="1+0.1")
    return [("cup", two), ("bowl", three)]


def test_the_text() -> None:
    assert table.text(shown()) == GOLDEN.read_text(encoding="utf-8")


def test_who_never_met_has_no_figures() -> None:
    gauntlet = samples.outcome(3, blocks=2, format="gauntlet")
    rows = table.text([("cup", gauntlet)]).splitlines()
    bob = next(row for row in rows if row.startswith("| Bob"))
    assert bob.count("| · |") == bob.count("| – |") == 1
    assert "0-0-0" not in bob


def test_it_stands_between_the_marks_and_nothing_else_changes() -> None:
    page = table.written(PAGE, shown())
    assert page.startswith(f"# Bots\n\n{table.BEGIN}\n\n### chinese-checkers\n")
    assert page.endswith(f"|\n\n{table.END}\n\n## More\n")
    assert "xyzzy" not in page
    assert table.written(page, shown()) == page


@pytest.mark.parametrize("page", ["# Bots\n", f"{table.BEGIN}\n", f"{table.END}\n"])
def test_a_page_without_marks_is_refused(page: str) -> None:
    with pytest.raises(table.NoMarks):
        table.written(page, shown())


def test_the_page_of_the_docs_is_what_was_kept(tmp_path: Path) -> None:
    copy = tmp_path / "bots.md"
    text = command.PAGE.read_text(encoding="utf-8")
    copy.write_text(text, encoding="utf-8")
    command.render(copy, targets.every())
    assert copy.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", targets.names())
def test_what_is_kept_is_what_the_event_has_shown(name: str) -> None:
    """Whoever changes an event has to play it again: python -m benchmarks.strength NAME --write."""
    (target,) = targets.chosen([name])
    found = outcome.kept(target.kept)
    assert found is None or found.of_event(target.event)


def test_nothing_is_kept_of_events_that_are_gone() -> None:
    assert {path.stem for path in targets.HERE.glob("*.json")} <= set(targets.names())
