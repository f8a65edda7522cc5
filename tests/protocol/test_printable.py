"""The filter for terminals, logs and reports blocks dangerous text and changes nothing else."""

from __future__ import annotations

import io
import json
import logging
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol import printable

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "single CSI": "\x9b31m",
    "single OSC": "\x9d0;owned\x9c",
    "bell": "\x07",
    "backspace": "good\b\b\b\bbad",
    "carriage return": "long line\rforged",
    "line": "ada\n2026-01-01 INFO kibitz.hall all is well",
    "line separator": "ada\u2028forged\u2029forged\x85forged",
    "override": "\u202egnp.exe\u202c",
    "isolate": "\u2067abc\u2069",
    "zero width": "a\u200bd\u200ca\u200d\ufeff\u2060",
    "filler": "\u3164\u115f\u1160\uffa0\u2800",
    "tags": "\U000e0041\U000e007f",
    "surrogate": "\ud83d",
    "private": "\ue000",
    "pile": "z" + "\u0301" * 40,
    "delete": "\x7f\x00",
}
anything = st.text(st.characters(), max_size=60) | st.sampled_from(sorted(HOSTILE.values()))
texts = st.lists(anything, max_size=4).map("".join)


def dangers(text: str) -> list[str]:
    """Return the characters that a terminal would interpret or hide, by Unicode class."""
    return [c for c in text if c != " " and unicodedata.category(c)[0] in "CZ"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_hostile_becomes_visible(kind: str) -> None:
    shown = printable.line(HOSTILE[kind])
    assert not dangers(shown)
    assert shown.isprintable()
    assert len(shown) > 0


def test_what_people_write_stays_as_it_is() -> None:
    for text in (
        "",
        "ada",
        "Zoë Ångström",
        "李雷",
        "עברית",
        "नमस्ते",
        "e\u0301",
        "✈\ufe0f",
        "a  b",
        "…✓♛",
    ):
        assert printable.line(text) == text
    assert printable.line("one\u00a0two\u3000three\tfour") == "one two three four"
    assert printable.lines("one\ntwo\r\n\n") == "one\ntwo\n\n"
    assert printable.line("\x1b[31m\u202e") == "\\x1b[31m\\u202e"


@given(texts)
def test_a_line_is_one_line_of_safe_characters(text: str) -> None:
    shown = printable.line(text)
    assert not dangers(shown)
    assert all(map(printable.is_safe, shown))
    assert printable.line(shown) == shown
    assert len(shown.splitlines()) <= 1
    marks = "".join("m" if unicodedata.combining(c) else " " for c in shown)
    assert "m" * (printable.MAX_MARKS + 1) not in marks


@given(texts)
def test_lines_are_lines_of_safe_characters(text: str) -> None:
    shown = printable.lines(text)
    assert not any(map(dangers, shown.split("\n")))
    assert shown.count("\n") == text.count("\n")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_json_means_the_same_and_is_safe(value: Any, plain: bool, indent: int | None) -> None:
    written = printable.json(json.dumps(value, ensure_ascii=plain, indent=indent))
    assert json.loads(written) == value
    assert not any(map(dangers, written.split("\n")))


@given(texts, texts)
def test_each_message_of_a_log_is_one_line(message: str, other: str) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(printable.LogFormatter("%(levelname)s %(name)s %(message)s"))
    record = logging.LogRecord("kibitz.x", 30, __file__, 1, "said %s", (message,), None)
    handler.handle(record)
    assert stream.getvalue().count("\n") == 1
    assert not dangers(stream.getvalue().rstrip("\n"))
    try:
        raise ValueError(other)
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
        handler.handle(record)
    first, *rest = stream.getvalue().splitlines()[1:]
    assert first.startswith("WARNING kibitz.x said ")
    assert all(line.startswith("  ") for line in rest)
    assert not any(map(dangers, rest))
