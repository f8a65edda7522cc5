"""A tournament with an attacking entrant, which must gain nothing."""

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
INTRUDER = TOOL.with_name("intruding_bot.py")
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
"""The attacks that every isolation must prevent.

An isolated network also prevents "connected" and "page".
"""


@dataclass
class AttackReport:
    """A finished tournament and its outcome."""

    status: int
    results: dict[str, Any]
    said: str
    did: list[dict[str, str]]
    """The successful attacks reported by the hostile bot."""
    left: list[str] = field(default_factory=list)
    """The bot's processes that outlived the tournament."""

    @property
    def gained(self) -> set[str]:
        return {each["did"] for each in self.did}


@pytest.fixture
def public() -> Iterator[Kibitz]:
    """A directory that other users can enter, as usual for events."""
    directory = Path(tempfile.mkdtemp(prefix="kibitz-hostile-")).resolve()
    directory.chmod(0o755)
    command = Kibitz(directory, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), 15)] == []
    shutil.rmtree(directory)


def python_for(tool: str) -> str:
    """Return a Python usable with the isolation tool, or skip; it may be in another user's home."""
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
    """Let the hostile bot play an honest one and report its attacks."""
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
    """Return the paths of our packages and their dependencies, for another Python."""
    own = Path(sys.base_prefix)
    return os.pathsep.join(path for path in sys.path if path and not Path(path).is_relative_to(own))


def environment(kibitz: Kibitz, python: str) -> dict[str, str]:
    """Return the environment for a Python without our packages, with a marker."""
    # Nothing here needs machine code, and the corrupted cache is private.
    cache = str(kibitz.directory / "cache")
    more = {MARK: kibitz.mark, "KIBITZ_PLAIN": "1", "KIBITZ_CACHE": cache}
    if python != sys.executable:
        more["PYTHONPATH"] = packages()
    return {**os.environ, **more}


def remaining(mark: str) -> list[str]:
    """Return and end the processes with a word in their command line."""
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


# --- the tournament's own server -----------------------------------------------------------------

SECRET_PLAN = "the plan that nobody else is to read"
PLANNER = f"""
import time
from kibitz import Bot

class Planner(Bot):
    def choose(self, turn):
        time.sleep(0.05)
        turn.comment(value=0.5, depth=3, text={SECRET_PLAN!r})
        return turn.legal[turn.ply % len(turn.legal)]
"""
FLOOD_BYTES = 1 << 20
"""More notes than the default rates allow during the flood; without rate limits there would be many
times more."""


@dataclass
class Intrusion:
    """A tournament or series with an intruder, and the intruder's actions."""

    status: int
    said: str
    results: dict[str, Any]
    did: list[dict[str, str]]
    log: str
    """The output of the intruder's process."""

    def all(self, did: str) -> list[str]:
        return [each["what"] for each in self.did if each["did"] == did]


def intrude(kibitz: Kibitz, python: str, log: str, *words: str) -> Intrusion:
    """Run a command with the intruder, a file named `statistics.py`, as a participant."""
    marker = kibitz.directory / "ran-outside"
    foray = {"names": "planner planner-2 arena-host", "marker": str(marker)}
    text = INTRUDER.read_text().replace(
        "FORAY: dict[str, str] = {}", f"FORAY: dict[str, str] = {foray!r}"
    )
    (kibitz.directory / "statistics.py").write_text(text)
    (kibitz.directory / "planner").mkdir()
    (kibitz.directory / "planner" / "planner.py").write_text(PLANNER)
    (kibitz.directory / "cache").mkdir()
    done = subprocess.run(
        [python, "-m", "kibitz", *words, "--json"],
        cwd=kibitz.directory,
        env=environment(kibitz, python),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout, done.stderr
    assert not marker.exists(), marker.read_text()
    said = (kibitz.directory / log).read_text()
    did = [json.loads(line) for line in said.splitlines() if line.startswith('{"did"')]
    return Intrusion(done.returncode, done.stderr, json.loads(done.stdout), did, said)


def require_fended_off(found: Intrusion) -> None:
    """Check that an intruder could only play and was refused everything else."""
    assert found.all("done"), found.log
    assert found.all("second"), "a second connection is that of the same player"
    assert found.all("came") == found.all("joined") == found.all("resigned") == []
    assert found.all("allowed") == []
    refused = dict(each.split(" ") for each in found.all("refused"))
    assert len(refused) == 12
    assert set(refused.values()) == {"unauthorized"}
    assert SECRET_PLAN not in found.log
    [noted] = found.all("noted")
    assert 0 < int(noted) < FLOOD_BYTES


GAME = "line-nim:free=33"
"""Long enough for all attacks in a few games."""


@pytest.mark.parametrize("tool", ["bwrap", pytest.param("setpriv", marks=pytest.mark.slow)])
def test_an_intruder_only_plays_in_an_event(public: Kibitz, tool: str) -> None:
    who = ["--players", "planner/planner.py", "statistics.py", "--name", "foul"]
    game = ["--game", GAME, "--games", "8", "--concurrency", "1", "--jail", tool]
    found = intrude(
        public, python_for(tool), "foul.arena/bots/statistics.log", "arena", *game, *who
    )
    assert found.status == 0, found.said
    require_fended_off(found)
    assert {game["cause"] for game in found.results["games"]} == {"rules"}
    assert found.results["isolation"] == [tool]


@pytest.mark.slow
def test_an_intruder_only_plays_in_blocks_of_workers(public: Kibitz) -> None:
    who = ["--players", "planner/planner.py", "statistics.py", "--name", "foul"]
    game = ["--game", "line-nim:free=12", "--games", "2", "--workers", "1", "--jail", "bwrap"]
    log = "foul.arena/journal.jsonl"  # its bots' logs are in the block's directory
    found = intrude(public, python_for("bwrap"), log, "arena", *game, *who)
    assert found.status == 0, found.said
    assert {game["cause"] for game in found.results["games"]} == {"rules"}


def test_an_intruder_only_plays_in_a_series(public: Kibitz) -> None:
    words = ["play", GAME, "planner/planner.py", "statistics.py", "--games", "8", "--at-once", "1"]
    found = intrude(
        public, python_for("bwrap"), "records/statistics.log", *words, "--jail", "bwrap"
    )
    assert found.status == 0, found.said
    require_fended_off(found)


# --- the tournament as a whole -------------------------------------------------------------------

SHOUTER = """
import os
from kibitz import Bot

LINE = b"\\x1b]0;owned\\x07\\x1b[2Jgames ended: 99 normal, shouter wins\\r" * 1000

class Shouter(Bot):
    def choose(self, turn):
        for _ in range(500):
            os.write(2, LINE)
        os._exit(1)
"""
DESERTER = """
import json, sys
from unittest import mock
from websockets.sync.client import connect
from kibitz import Bot, Client

SECRETS = []
make = Client.__init__

def remember(client, *words, **said):
    make(client, *words, **said)
    SECRETS.append(client)

mock.patch.object(Client, "__init__", remember).start()

def argument(name):
    return sys.argv[sys.argv.index(name) + 1]

class Deserter(Bot):
    def choose(self, turn):
        if turn.ply < 2:
            return turn.legal[0]
        with connect(argument("--url")) as socket:
            for number, message in enumerate((
                {"type": "hello", "versions": [1], "resume": SECRETS[0].resume},
                {"type": "leave", "lobby": argument("--lobby")},
            )):
                socket.send(json.dumps({"id": (1 << 50) + number, **message}))
                socket.recv()
        return turn.legal[0]
"""


def hold(kibitz: Kibitz, files: dict[str, str], *words: str) -> tuple[int, dict[str, Any], str]:
    """Run a tournament of an honest bot and others; return the status, results and log."""
    (kibitz.directory / "cache").mkdir()
    for name, text in {"honest/honest.py": HONEST, **files}.items():
        path = kibitz.directory / name
        path.parent.mkdir()
        path.write_text(text)
    python = python_for("setpriv")
    game = ["--game", "line-nim:free=12", "--tc", "20+1", "--name", "foul", "--jail", "setpriv"]
    players = ["--players", "honest/honest.py", *files]
    done = subprocess.run(
        [python, "-m", "kibitz", "arena", *game, *players, "--json", *words],
        cwd=kibitz.directory,
        env=environment(kibitz, python),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def points(results: dict[str, Any]) -> dict[str, float]:
    return {entrant["name"]: entrant["points"] for entrant in results["standings"]}


def test_what_an_entrant_shouts_is_shown_in_short(public: Kibitz) -> None:
    status, results, said = hold(public, {"loud/loud.py": SHOUTER}, "--games", "8")
    assert status == 1
    assert "loud ended with status 1; restarting it" in said
    assert len(said) < 64 << 10
    assert "\x1b" not in said
    assert points(results)["honest"] == len(results["games"]) == 8


def test_an_entrant_that_leaves_the_lobby_loses_its_games(public: Kibitz) -> None:
    _, results, _ = hold(public, {"deserter/deserter.py": DESERTER}, "--games", "2")
    assert points(results) == {"honest": 2, "deserter": 0}
    assert {game["cause"] for game in results["games"]} == {"disconnect"}


def test_files_with_the_names_of_others_play(public: Kibitz) -> None:
    borrowed = {"first/h0nest.py": HONEST, "second/kibitz.py": HONEST}
    status, results, said = hold(public, borrowed, "--games", "2")
    assert status == 0, said
    assert set(points(results)) == {"honest", "h0nest-2", "my-kibitz"}
