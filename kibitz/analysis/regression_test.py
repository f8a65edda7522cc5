"""Generates a pytest file that sends a bot a recorded turn again and expects a different move."""

from __future__ import annotations

import json
from pathlib import Path

from kibitz.analysis.decisive_move import DecisiveMove

_TEXT = '''\
"""Written by `kibitz record bisect`: a move that decided match {match} against seat {seat}."""

import json
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_name({record!r})
BOT = {bot!r}
PLAYED = json.loads({played!r})


def test_the_move_at_ply_{ply}_is_not_played_again() -> None:
    """It was {played_text}; after {better} the seat does better."""
    asked = [sys.executable, "-m", "kibitz", "record", "retry", str(RECORD), BOT]
    asked += ["--seat", "{seat}", "--ply", "{ply}", "--all"]
    answer = subprocess.run(
        asked, cwd=RECORD.parent, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert json.loads(answer.stdout.splitlines()[0]) != PLAYED
'''


def regression_test(decisive: DecisiveMove, match: str, record: Path, bot: str) -> str:
    """Return the source of a test of `bot`, to be run beside the file `record`.

    The test runs `kibitz record retry`, which sends all earlier turns first.
    """
    return _TEXT.format(
        match=match,
        seat=decisive.turn.seat + 1,
        ply=decisive.turn.ply,
        record=record.name,
        bot=bot,
        played=json.dumps(decisive.turn.played.action),
        played_text=_one_line(decisive.played),
        better=_one_line(decisive.better),
    )


def _one_line(text: str) -> str:
    """Return text that is safe in a docstring."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")
