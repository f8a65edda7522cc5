"""The prose check reports exactly the sentences that it should."""

from __future__ import annotations

import pytest

from tests.tools.prose import docstrings, markdown, problem, sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "Who has no token may not host.",
        "What cannot be restored raises.",
        "Where the disk is full, nothing is written.",
        "Of those the newest is kept.",
        "Whoever restores a match goes on from there.",
        " ".join(["word"] * 41),
    ],
)
def test_sentences_to_rewrite_are_reported(sentence: str) -> None:
    assert problem(sentence) is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "Players without a token cannot host.",
        "Who moves first?",
        "Whole games are drawn.",
        "Offers of a draw expire.",
        " ".join(["word"] * 40),
    ],
)
def test_plain_sentences_are_not(sentence: str) -> None:
    assert problem(sentence) is None


def test_sentences_are_split_at_their_ends() -> None:
    assert sentences("One move. The next\none: `e4` wins, e.g. here.") == [
        "One move.",
        "The next one:",
        "`e4` wins, e.g. here.",
    ]


def test_all_docstrings_are_read_with_their_lines() -> None:
    source = '"""Head."""\nclass A:\n  """A class.\n\n  Its rest.\n  """\n  x = 1\n  """A field."""'
    assert list(docstrings(source)) == [
        (1, "Head."),
        (3, "A class."),
        (5, "Its rest."),
        (8, "A field."),
    ]


def test_only_prose_of_a_document_is_read() -> None:
    text = (
        "# Who wins\n\nProse\ngoes on.\n\n- One\n- Two\n\n| a | b |\n\n```\nWhat code\n```\nLast.\n"
    )
    assert list(markdown(text)) == [(3, "Prose goes on."), (6, "One"), (7, "Two"), (14, "Last.")]
