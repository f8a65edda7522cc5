from __future__ import annotations

from typing import Any

import pytest

from kibitz_arena.yaml_positions import Document, DocumentError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5:00", "5:00"),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("007", 7),
        ("-3", -3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("2030-05-31", "2030-05-31"),
        ("10+0.1", "10+0.1"),
        ("~", None),
        ("'7'", "7"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
    ],
)
def test_scalars_are_what_a_person_means(text: str, value: Any) -> None:
    found = Document.read(text).value
    assert found == value
    assert type(found) is type(value)


def test_every_value_has_its_line() -> None:
    document = Document.read("a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert document.lines[("b",)] == 2
    assert document.lines["b", 1] == 4
    assert document.lines["b", 1, "c"] == 4


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("a: 1\na: 2", 2, "duplicate key 'a', first on line 1"),
        ("a: 1\nb: [", 2, "expected YAML"),
        ("a: &x\n  b: *x", 1, "an alias refers to a value that contains it"),
        ("? [a]\n: b", 1, "expected a plain string as a key"),
        ("a: !python/object:os.system x", 1, "expected YAML"),
    ],
)
def test_what_is_not_wanted_is_refused_with_its_line(text: str, line: int, sentence: str) -> None:
    with pytest.raises(DocumentError, match=sentence) as caught:
        Document.read(text)
    assert caught.value.line >= line


def test_aliases_that_multiply_are_refused() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 8)]
    with pytest.raises(DocumentError, match="at most 100000 values"):
        Document.read("\n".join(rows))
