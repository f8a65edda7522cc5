"""What a bot prints, on its way to the record."""

from __future__ import annotations

import io
import sys

from kibitz_bots.notes import (
    BATCH,
    BURST,
    ENOUGH,
    INTERVAL_MS,
    KEPT,
    TOTAL,
    Notes,
    captured_stderr,
    playing,
)


def test_lines_are_batched() -> None:
    notes = Notes()
    notes.write("one\ntwo\nthr")
    assert notes.take(0) == "one\ntwo"
    assert notes.take(0) is None
    notes.write("ee\n")
    assert notes.take(0) == "three"


def test_blank_lines_are_not_worth_a_note() -> None:
    notes = Notes()
    notes.write("\n  \n")
    assert notes.take(0) is None


def test_after_a_burst_one_note_an_interval() -> None:
    notes = Notes()
    taken = 0
    for _ in range(2 * BURST):
        notes.write("line\n")
        taken += notes.take(0) is not None
    assert taken == BURST
    assert notes.take(INTERVAL_MS - 1) is None
    assert notes.take(INTERVAL_MS) == "\n".join(["line"] * BURST)


def test_no_note_is_longer_than_the_protocol_allows() -> None:
    notes = Notes()
    notes.write("x" * (2 * BATCH + 5) + "\n")
    batches = notes.flush()
    assert "".join(batches) == "x" * (2 * BATCH + 5)
    assert max(map(len, batches)) == BATCH


def test_flush_gives_the_unended_line_too() -> None:
    notes = Notes()
    notes.write("a\nb")
    assert notes.flush() == ["a\nb"]
    assert notes.flush() == []


def test_what_waits_is_bounded_and_the_loss_is_told() -> None:
    notes = Notes()
    for number in range(10_000):
        notes.write(f"{number}\n")
    text = "\n".join(notes.flush())
    head, _, rest = text.partition("\n")
    lines = rest.split("\n")
    assert head == f"({10_000 - len(lines)} lines left out)"
    assert lines[-1] == "9999"
    assert len(rest) < KEPT


def test_a_match_has_a_last_note() -> None:
    notes = Notes()
    batches: list[str] = []
    for _ in range(2 * TOTAL // BATCH):
        notes.write("y" * BATCH + "\n")
        batches += notes.flush()
    assert batches[-1] == ENOUGH
    assert sum(map(len, batches)) <= TOTAL + BATCH


def test_stderr_goes_to_the_terminal_and_to_the_match_that_is_played() -> None:
    notes, before = Notes(), sys.stderr
    sys.stderr = terminal = io.StringIO()
    try:
        with captured_stderr():
            sys.stderr.write("between matches\n")
            with playing(notes):
                sys.stderr.write("in a match\n")
    finally:
        restored, sys.stderr = sys.stderr, before
    assert restored is terminal
    assert terminal.getvalue() == "between matches\nin a match\n"
    assert notes.flush() == ["in a match"]
