"""The troubleshooting page: every message on it exists in the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.generate import sources
from kibitz_protocol.wire.refusals import Code

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "troubleshooting.md"
"""Messages worded by the operating system."""
_ROW = re.compile(r"^\| `([^`]+)`", re.MULTILINE)
_CODE = re.compile(r"^([a-z_]+): ")


def messages() -> list[str]:
    return _ROW.findall(PAGE.read_text())


def texts() -> Iterator[str]:
    """Yield every string of the sources, with placeholders as three dots."""
    for _, tree in sources.trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "..."
                    for part in node.values
                )
            elif isinstance(node, ast.Constant):
                value = node.value
                yield value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def parts(message: str) -> list[str]:
    """Return the constant parts of a message, without its code."""
    found = _CODE.match(message)
    if found and found[1] in {*Code}:
        message = message[found.end() :]
    return [part.strip(" :'") for part in message.split("...")]


def test_every_message_on_the_page_is_in_the_sources() -> None:
    known = "\n".join([*texts(), (ROOT / "Makefile").read_text()])
    shown = messages()
    assert len(shown) > 30
    missing = [each for each in shown if not all(part in known for part in parts(each))]
    assert missing == []
