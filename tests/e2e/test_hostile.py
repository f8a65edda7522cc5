"""An event with an entrant that does anything but play: it must gain nothing by it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.tools.command import MARK, Kibitz, ended, marked

TOOL = Path(__file__).parent.parent / "tools" / "hostile_bot.py"
HONEST = """
import time
from kibitz import Bot

class Honest(Bot):
    def choose(self, turn):
        time.sleep(0.05)
        return turn.legal[turn.ply % len(turn.legal)]
"""
GAMES = 6
GAINED = {"read", "became", "resigned", "killed", "descriptor", "spoilt", "filled"}
"""What the hostile bot must not get done, whatever isolates it; with its own network neither
"connected" nor "page"."""


@dataclass
class AttackReport:
    """An event that was held, and what became of it."""

    status: int
    results: dict[str, Any]
    said: str
    did: list[dict[str, str]]
    """What the hostile bot says that it achieved."""
    left: list[str] = field(default_factory=list)
    """Its processes that outlived the event."""

    @property
    def gained(self) -> set[str]:
        return {each["did"] for each in self.did}


@pytest.fixture
def public() -> Iterator[Kibitz]:
    """A directory that other users may enter, as events usually are in."""
    directory = Path(tempfile.mkdtemp(prefix="kibitz-hostile-")).resolve()
    directory.chmod(0o755)
    command = Kibitz(directory, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), 15)] == []
    shutil.rmtree(directory)


def python_for(tool: str) -> str:
    """Return a Python that the tool works with, or skip: it may be in another user's home."""
    env = {**os.environ, "PYTHONPATH": packages()}
    why = ""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        code = (
            "from kibitz.process.isolation.backends import unusable;"
            f" print(unusable({tool!r}, [], []))"
        )
        with contextlib.suppress(OSError):
            done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True)
            if done.stdout.strip() == "None":
                return python
            why = why or done.stdout.strip()
    pytest.skip(f"{tool}: {why}")


def run_attack(
    kibitz: Kibitz, *words: str, kill: bool = True, python: str = sys.executable
) -> AttackReport:
    """Let the hostile bot play an honest one, and see what it did."""
    cache = kibitz.directory / "cache"
    cache.mkdir()
    mark = f"hostile-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        foray = {
            "near": str(kibitz.directory),
            "mark": mark,
            "port": str(listener.getsockname()[1]),
            "cache": str(cache),
            "kill": "yes" if kill else "",
        }
        text = TOOL.read_text().replace(
            "FORAY: dict[str, str] = {}", f"FORAY: dict[str, str] = {foray!r}"
        )
        (kibitz.directory / "hostile").mkdir()
        (kibitz.directory / "hostile" / "hostile.py").write_text(text)
        (kibitz.directory / "honest.py").write_text(HONEST)
        game = ["--game", "line-nim:free=33", "--games", str(GAMES), "--concurrency", "2"]
        who = ["--players", "honest.py", "--players", "hostile/hostile.py", "--name", "foul"]
        done = subprocess.run(
            [python, "-m", "kibitz", "arena", *game, *who, "--json", *words],
            cwd=kibitz.directory,
            env=environment(kibitz, python),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert "results" in done.stdout, done.stderr
    log = (kibitz.directory / "foul.arena" / "bots" / "hostile.log").read_text()
    did = [json.loads(line) for line in log.splitlines() if line.startswith('{"did"')]
    return AttackReport(done.returncode, json.loads(done.stdout), done.stderr, did, remaining(mark))


def packages() -> str:
    """Return where our packages are, and those that they need, for another Python."""
    own = Path(sys.base_prefix)
    return os.pathsep.join(path for path in sys.path if path and not Path(path).is_relative_to(own))


def environment(kibitz: Kibitz, python: str) -> dict[str, str]:
    """Return what a Python needs that has not our packages, and a mark."""
    # Nothing here needs machine code, and what is spoilt is not everybody's.
    cache = str(kibitz.directory / "cache")
    more = {MARK: kibitz.mark, "KIBITZ_PLAIN": "1", "KIBITZ_CACHE": cache}
    if python != sys.executable:
        more["PYTHONPATH"] = packages()
    return {**os.environ, **more}


def remaining(mark: str) -> list[str]:
    """Return the processes with a word in their command line, and end them."""
    time.sleep(0.2)
    found = []
    for process in psutil.process_iter():
        with_mark = False
        try:
            with_mark = mark in process.cmdline()
        except psutil.Error:
            continue
        if with_mark:
            found.append(" ".join(process.cmdline()))
            process.kill()
    return found


@pytest.mark.parametrize("tool", ["bwrap", pytest.param("setpriv", marks=pytest.mark.slow)])
def test_a_hostile_entrant_gains_nothing(public: Kibitz, tool: str) -> None:
    foray = run_attack(public, "--jail", tool, python=python_for(tool))
    assert foray.status == 0, foray.said
    assert foray.gained & GAINED == set(), foray.did
    assert {"forked", "done"} & foray.gained, "it did not even try"
    assert foray.left == []
    assert {game["termination"] for game in foray.results["games"]} == {"normal"}
    assert {game["cause"] for game in foray.results["games"]} == {"rules"}
    assert foray.results["isolation"] == [tool]
    assert f"isolated by {tool}" in foray.said
    if tool == "bwrap":
        assert foray.gained & {"connected", "page"} == set()


def test_without_isolation_nothing_outlives_the_event_and_it_is_said(public: Kibitz) -> None:
    foray = run_attack(public, "--jail", "none", kill=False)
    assert foray.left == []
    assert "forked" in foray.gained
    assert "entrants are trusted" in foray.said
    assert foray.results["isolation"] == ["none"]
