"""The check of figures finds measured numbers without a source, and only these."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools import figures

PAGE = figures.ROOT / "docs" / "how-to" / "page.md"
STRENGTH = "The score is 12.3%."


def reasons(text: str, path: Path = PAGE) -> list[tuple[str, str]]:
    return [(finding.text, finding.reason) for finding in figures.check(text, path)]


def test_no_document_has_figures_without_a_source() -> None:
    found = [
        f"{path.relative_to(figures.ROOT)}:{each.line}: {each.text}: {each.reason}"
        for path in figures.documents()
        for each in figures.check(path.read_text(encoding="utf-8"), path)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It scores 97% and wins 57-13-30.", ["97%", "57-13-30"]),
        ("Three replies beat two 19-1.", ["19-1"]),
        ("| load | 20,000 moves/s |", ["20,000 moves/s"]),
        ("about 1,000 moves\nper second", ["1,000 moves per second"]),
        ("It takes 0.05 s, or 53 µs.", ["0.05 s", "53 µs"]),
        ("a gain of +35 Elo", ["+35 Elo"]),
        ("It is 2.5 times faster.", ["2.5 times faster"]),
        ("342 points on average, a mean score of .98", ["342 points on average", ".98"]),
    ],
)
def test_numbers_that_look_measured_are_figures(text: str, found: list[str]) -> None:
    assert figures.figures(text) == found
    assert reasons(text) == [(figure, "no source") for figure in found]


@pytest.mark.parametrize(
    "text",
    [
        "a rating with its 95% interval",
        "`Ada scores at least 95%` in 10 games",
        "[a page](../games/won-3-1.md) of 2026-11-27",
        "Python 3.11, kibitz 0.1.0, RFC 6455",
        "within 30 s, at most 16 KiB, 2 to 6 seats",
        "the 9x9 board, moves `3-14` and 3-14a",
        "```\ngreedy 97% 10-0-0\n```",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    assert reasons(text) == []


def test_a_linked_page_of_evidence_must_contain_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "strength.md").write_text(STRENGTH)
    (tmp_path / "docs" / "other.md").write_text(STRENGTH)
    page = tmp_path / "docs" / "page.md"
    assert reasons("It [scores](strength.md#tanks) 12.3%.", page) == []
    assert reasons("It [scores](strength.md) 12.4%.", page) == [("12.4%", "not in the linked page")]
    assert reasons("It [scores](other.md) 12.3%.", page) == [("12.3%", "no source")]
    assert reasons("[Strength](strength.md)\n\nIt scores 12.3%.", page) == [("12.3%", "no source")]
    assert reasons("<!-- figures: rounded from strength.md -->\nAbout 12%.", page) == []
    wrong = [("rounded from other.md", "is not a source")]
    assert reasons("<!-- figures: rounded from other.md -->\nAbout 12%.", page) == wrong


MEASURED = "<!-- figures: measured by `python -m x` at 0123456789ab, 2030-05-31 -->"


@pytest.mark.parametrize(
    ("comment", "accepted"),
    [
        (MEASURED, True),
        ("<!-- figures: definitions -->", True),
        ("<!-- figures: measured by `python -m x` -->", False),
        ("<!-- figures: known -->", False),
    ],
)
def test_a_comment_covers_its_section(comment: str, accepted: bool) -> None:
    text = f"# Page\n\n## One\n\n{comment}\n\nIt scores 97%.\n\n## Two\n\nIt scores 98%.\n"
    found = reasons(text)
    assert ("97%", "no source") not in found
    assert ("98%", "no source") in found
    assert len(found) == (1 if accepted else 2)


def test_a_comment_below_the_title_covers_the_page() -> None:
    assert reasons(f"# Page\n\n{MEASURED}\n\n## One\n\nIt scores 97%.\n") == []


def test_generated_regions_are_skipped() -> None:
    region = "<!-- bots: `python -m docs.generate` writes what is between the marks -->"
    text = f"{region}\n\n97%\n\n<!-- bots end -->\n\n98%\n"
    assert reasons(text) == [("98%", "no source")]


def test_the_check_lists_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text("One.\n\nIt scores 97%.\n")
    assert figures.main() == 1
    assert capsys.readouterr().out == "README.md:3: 97%: no source\n"
    (tmp_path / "README.md").write_text("It scores well.\n")
    assert figures.main() == 0
