"""Bots' comments, and which parts are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_bots.comments import MOST_BYTES, readable_comment
from kibitz_protocol.wire.records import Comment
from tests.tools.numbers import Tensor


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


class Unreadable:
    def __float__(self) -> float:
        raise ZeroDivisionError

    def __repr__(self) -> str:
        raise OSError


GOOD: list[tuple[object, Comment | None]] = [
    (None, None),
    ({}, None),
    ({"value": None}, None),
    ({"value": np.float32(1.5), "nodes": np.int64(7)}, Comment(value=1.5, nodes=7)),
    ({"depth": Tensor(3), "line": ("a", "b")}, Comment(depth=3, line=["a", "b"])),
    (Comment(text="hm"), Comment(text="hm")),
]
BAD: dict[str, tuple[object, str]] = {
    "inf": ({"value": float("inf")}, "value: "),
    "minus inf": ({"value": -np.inf}, "value: "),
    "nan": ({"value": float("nan")}, "value: "),
    "huge": ({"value": 10**400}, "value: "),
    "word": ({"value": "best"}, "value: "),
    "unreadable": ({"value": Unreadable()}, "value: "),
    "array": ({"value": np.ones(3)}, "value: "),
    "below 0": ({"depth": -1}, "depth: "),
    "half": ({"depth": 2.5}, "depth: "),
    "beyond 53 bits": ({"nodes": 2**70}, "nodes: "),
    "long text": ({"text": "x" * 201}, "text: "),
    "lone surrogate": ({"text": "\ud800"}, "text: "),
    "lone surrogate in a line": ({"line": ["\ud800"]}, "line: "),
    "no list": ({"line": 5}, "line: "),
    "text for a line": ({"line": "e4"}, "line: "),
    "long line": ({"line": ["a"] * 33}, "line: "),
    "deep line": ({"line": deep()}, "line: "),
    "deep text": ({"text": deep()}, "text: "),
    "too many bytes": (
        {"line": ["\u20ac" * 200] * 32},
        f"line: the comment would exceed {MOST_BYTES}",
    ),
    "unknown": ({"mood": 1}, "'mood': expected one of value, "),
    "no name": ({5: 1}, "5: expected one of value, "),
    "words": ("good", "expected an object with value, "),
    "number": (5, "expected an object with value, "),
    "list": ([1], "expected an object with value, "),
    "deep": (deep(), "expected an object with value, "),
    "unvalidated": (Comment.model_construct(value=float("nan")), "value: "),
}


@pytest.mark.parametrize(("said", "sent"), GOOD)
def test_a_good_comment_is_sent_whole(said: object, sent: Comment | None) -> None:
    assert readable_comment(said) == (sent, [])


@pytest.mark.parametrize("case", BAD)
def test_a_bad_field_is_left_out_with_a_reason_and_the_others_are_sent(case: str) -> None:
    said, reason = BAD[case]
    comment, faults = readable_comment(said)
    assert comment is None
    [fault] = faults
    assert fault.startswith(reason)
    assert len(fault) < 400
    assert fault.isprintable()
    if isinstance(said, dict):
        whole, faults = readable_comment({"text": "so"} | said if "text" not in said else said)
        assert whole == (None if "text" in said else Comment(text="so"))
        assert len(faults) == 1
