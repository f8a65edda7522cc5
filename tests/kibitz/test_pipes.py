"""Output to a pipe whose reader is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest


@pytest.mark.e2e
@pytest.mark.parametrize("words", [("game", "list"), ("bot", "list"), ("game", "show", "tanks")])
def test_a_closed_pipe_ends_a_command_without_a_word(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kibitz", *words],
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == b""
