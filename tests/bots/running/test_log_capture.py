"""Recording a bot's output."""

from __future__ import annotations

import io
import sys

from kibitz_bots.running.log_capture import (
    BURST,
    INTERVAL_MS,
    MAX_BATCH,
    MAX_PENDING,
    MAX_TOTAL,
    TRUNCATED,
    LogBuffer,
    captured_by,
    captured_stderr,
)


def test_lines_are_batched() -> None:
    notes = LogBuffer()
    notes.write("one\ntwo\nthr")
    assert notes.next_batch(0) == "one\ntwo"
    assert notes.next_batch(0) is None
    notes.write("ee\n")
    assert notes.next_batch(0) == "three"


def test_blank_lines_are_not_worth_a_note() -> None:
    notes = LogBuffer()
    notes.write("\n  \n")
    assert notes.next_batch(0) is None


def test_after_a_burst_one_note_an_interval() -> None:
    notes = LogBuffer()
    taken = 0
    for _ in range(2 * BURST):
        notes.write("line\n")
        taken += notes.next_batch(0) is not None
    assert taken == BURST
    assert notes.next_batch(INTERVAL_MS - 1) is None
    assert notes.next_batch(INTERVAL_MS) == "\n".join(["line"] * BURST)


def test_no_note_is_longer_than_the_protocol_allows() -> None:
    notes = LogBuffer()
    notes.write("x" * (2 * MAX_BATCH + 5) + "\n")
    batches = notes.flush()
    assert "".join(batches) == "x" * (2 * MAX_BATCH + 5)
    assert max(map(len, batches)) == MAX_BATCH


def test_flush_gives_the_unended_line_too() -> None:
    notes = LogBuffer()
    notes.write("a\nb")
    assert notes.flush() == ["a\nb"]
    assert notes.flush() == []


def test_what_waits_is_bounded_and_the_loss_is_told() -> None:
    notes = LogBuffer()
    for number in range(10_000):
        notes.write(f"{number}\n")
    text = "\n".join(notes.flush())
    head, _, rest = text.partition("\n")
    lines = rest.split("\n")
    assert head == f"({10_000 - len(lines)} lines dropped)"
    assert lines[-1] == "9999"
    assert len(rest) < MAX_PENDING


def test_a_match_has_a_last_note() -> None:
    notes = LogBuffer()
    batches: list[str] = []
    for _ in range(2 * MAX_TOTAL // MAX_BATCH):
        notes.write("y" * MAX_BATCH + "\n")
        batches += notes.flush()
    assert batches[-1] == TRUNCATED
    assert sum(map(len, batches)) <= MAX_TOTAL + MAX_BATCH


def test_stderr_goes_to_the_terminal_and_to_the_match_that_is_played() -> None:
    notes, before = LogBuffer(), sys.stderr
    sys.stderr = terminal = io.StringIO()
    try:
        with captured_stderr():
            sys.stderr.write("between matches\n")
            with captured_by(notes):
                sys.stderr.write("in a match\n")
    finally:
        restored, sys.stderr = sys.stderr, before
    assert restored is terminal
    assert terminal.getvalue() == "between matches\nin a match\n"
    assert notes.flush() == ["in a match"]
