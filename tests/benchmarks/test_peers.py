from __future__ import annotations

from benchmarks.peers.__main__ import COLUMNS, Row, page


def row(server: str, value: float) -> Row:
    return Row(server, *[value] * (len(COLUMNS) - 1))


def test_the_page_has_a_line_of_medians_for_each_server() -> None:
    rows = [row("kibitz", 3), row("ws", 1), row("kibitz", 9), row("ws", 2), row("kibitz", 4)]
    text = page(rows, "Colyseus is left out.", 3)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines[1:] == [
        "| kibitz | 4 | 4 | 4 | 4.00 | 4.0 | 4.0 | 4.0 |",
        "| ws | 2 | 2 | 2 | 1.50 | 1.5 | 1.5 | 1.5 |",
    ]
    assert "medians of 3 interleaved rounds" in text
    assert "one short round" in page(rows, "", 1)
    assert "Colyseus is left out." in text
