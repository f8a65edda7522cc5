"""The filter for untrusted text before it goes to a terminal, a log or a report.

A name, a comment, a refusal or the output of a program may contain escape sequences that move a
terminal's cursor, change its title or forge its lines. It may also contain invisible characters,
characters that override the writing direction, and line breaks that forge log lines. This module
replaces each with a visible escape, as in a Python string (``\\x1b``, ``\\u202e``), so that no text
is lost.

    line(text)       one line, such as a name, a comment, a cell of a table
    lines(text)      the same for a text of several lines, which are kept
    json(text)       JSON, with the same characters written as JSON's own escapes: exact
    LogFormatter     lines of a log, one for each message
    replace_unencodable()  makes the standard streams write ``?`` for what they cannot encode

The filtered characters are those of Unicode's class "other" (control, format, surrogate, private,
unassigned), line and paragraph separators, and the few invisible characters of other classes.
Spaces of all widths become a space. At most `MAX_MARKS` combining marks in a row are kept, because
a stack of marks covers the neighboring lines.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import unicodedata
from functools import lru_cache
from typing import Final

MAX_MARKS: Final = 4
"""The most combining marks shown on one character."""
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0xFE00, 0xFE0E)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
"""Invisible characters that Unicode classifies as letters or marks, without the two selectors
between text and picture (U+FE0E, U+FE0F)."""
_CACHE_SIZE: Final = 4096
"""How many characters' checks are cached. Limited because untrusted texts choose the characters."""
_PLAIN: Final = re.compile(r"[ -~]*")
"""The fast path for most texts: only printable ASCII."""


def line(text: str) -> str:
    """Return a text as one line of characters that are safe to show."""
    if _PLAIN.fullmatch(text):
        return text
    return _limit_marks("".join(map(_visible, text)))


def lines(text: str) -> str:
    """Return a text of several lines that are safe to show; tabs become spaces."""
    if _PLAIN.fullmatch(text):
        return text
    return "\n".join(line(part.expandtabs()) for part in text.replace("\r\n", "\n").split("\n"))


def json(text: str) -> str:
    """Return equivalent JSON with dangerous characters written as JSON's escapes."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_escaped(character) for character in text)


def replace_unencodable() -> None:
    """Make stdout and stderr replace characters that their encoding does not have.

    By default Python raises `UnicodeEncodeError` for those; cp1252, for example, has no chess
    pieces.
    """
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def encodable_json(text: str, encoding: str) -> str:
    """Return equivalent JSON with only characters that `encoding` has."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(
            character if character.isascii() else _json_escape(character) for character in text
        )
    return text


class LogFormatter(logging.Formatter):
    """A formatter with one line per message: untrusted text cannot add lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record; a traceback is added after it."""
        return line(super().formatMessage(record))

    def formatException(self, ei: object) -> str:
        """Return a traceback with each line indented and safe to show."""
        shown = lines(super().formatException(ei))  # type: ignore[arg-type]
        return "\n".join(f"  {row}" for row in shown.split("\n"))


@lru_cache(_CACHE_SIZE)
def is_safe(character: str) -> bool:
    """Return whether a character may be shown as it is."""
    if character in _INVISIBLE:
        return False
    return character == " " or (
        not unicodedata.category(character).startswith(("C", "Z")) and character.isprintable()
    )


@lru_cache(_CACHE_SIZE)
def _visible(character: str) -> str:
    if is_safe(character):
        return character
    if unicodedata.category(character) == "Zs" or character == "\t":
        return " "
    return character.encode("unicode_escape").decode("ascii")


@lru_cache(_CACHE_SIZE)
def _escaped(character: str) -> str:
    # Keep line ends and tabs: in valid JSON they are outside strings.
    if character in "\n\r\t" or is_safe(character):
        return character
    return _json_escape(character)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _limit_marks(text: str) -> str:
    """Cut off combining marks beyond `MAX_MARKS` on one character."""
    made: list[str] = []
    pile = 0
    for character in text:
        pile = pile + 1 if unicodedata.combining(character) else 0
        if pile <= MAX_MARKS:
            made.append(character)
    return "".join(made)
