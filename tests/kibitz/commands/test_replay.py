from __future__ import annotations

import io
import sys

import pytest

from kibitz.options.record import is_screen

STREAMS = ("stdin", "stdout", "stderr")


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("elsewhere", [None, *STREAMS])
def test_a_screen_needs_a_terminal_for_keys_and_pictures(
    elsewhere: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in STREAMS:
        monkeypatch.setattr(sys, name, Stream(name != elsewhere))
    assert is_screen(plain=False) == (elsewhere is None)
    assert not is_screen(plain=True)
