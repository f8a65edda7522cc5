"""Bots that exceed their limits in real matches are ended, and the others continue."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.tools.command import Kibitz

HOARDER = """
from kibitz import Bot

class Hoarder(Bot):
    def choose(self, turn):
        self.hoard = [bytearray(64 << 20) for _ in range(32)]
        return turn.legal[0]
"""
PARENT = """
import subprocess, sys
from kibitz import Bot

class Parent(Bot):
    def on_match_start(self, match):
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        open("left.pid", "a").write(f"{left.pid}\\n")

    def choose(self, turn):
        return turn.legal[0]
"""
SPINNER = """
from kibitz import Bot

class Spinner(Bot):
    def choose(self, turn):
        while True:
            pass
"""


def played(kibitz: Kibitz, game: str, *words: str) -> dict[str, Any]:
    done = kibitz.run("play", game, *words, "--games", "1", "--json", seconds=120)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def seats(report: dict[str, Any]) -> list[dict[str, Any]]:
    [match] = report["matches"]
    found: list[dict[str, Any]] = match["result"]["seats"]
    return found


def test_who_hoards_memory_crashes_and_the_others_play_on(kibitz: Kibitz) -> None:
    (kibitz.directory / "hoarder.py").write_text(HOARDER)
    others = ["chinese-checkers/greedy-hand"] * 2
    game = "chinese-checkers:size=2"
    report = played(kibitz, game, "hoarder.py", *others, "--memory", "600", "--no-rotate")
    hoarder, *rest = seats(report)
    assert hoarder["cause"] == "crash"
    assert hoarder["detail"].startswith("MemoryError")
    assert [seat.get("cause") for seat in rest] == [None, None]
    [path] = report["reports"].values()
    written = (kibitz.directory / path).read_text()
    assert "MemoryError" in written
    assert "kibitz record retry records/" in written


@pytest.mark.slow
def test_who_uses_up_its_cpu_is_ended_and_says_so(kibitz: Kibitz) -> None:
    (kibitz.directory / "spinner.py").write_text(SPINNER)
    report = played(
        kibitz, "line-nim", "spinner.py", "line-nim/random", "--cpu", "5", "--no-rotate"
    )
    assert seats(report)[0]["cause"] == "disconnect"
    log = (kibitz.directory / "records" / "spinner.log").read_text()
    assert "it exceeded its CPU time limit of 5 s" in log


def test_what_a_bot_leaves_behind_is_gone(kibitz: Kibitz) -> None:
    (kibitz.directory / "parent.py").write_text(PARENT)
    # It writes to its own directory, which isolated processes cannot.
    played(kibitz, "line-nim", "parent.py", "line-nim/random", "--no-rotate", "--jail", "none")
    pids = [int(line) for line in Path(kibitz.directory / "left.pid").read_text().split()]
    assert len(pids) == 1
    give_up = time.monotonic() + 5
    while any(runs(pid) for pid in pids):
        assert time.monotonic() < give_up
        time.sleep(0.05)


def runs(pid: int) -> bool:
    """Return whether a process is running and not a zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
