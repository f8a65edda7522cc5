"""`kibitz arena` as run by users: complete events, interruptions of all kinds, and failing bots."""

from __future__ import annotations

import contextlib
import csv
import json
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_arena.entries import FORMAT, GameEnded
from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz, Running
from tests.tools.server_process import free_port

RANDOM, GREEDY = "line-nim/random", "line-nim/greedy"
GAME = "line-nim:free=12"
SECONDS = 300
"""The timeout for a complete tournament on a busy machine."""

SLOW = """
import time
from kibitz import Bot

class Slow(Bot):
    def choose(self, turn):
        time.sleep(0.03)
        return turn.legal[turn.ply % len(turn.legal)]
"""
CRASHING = """
from kibitz import Bot

class Crashing(Bot):
    def choose(self, turn):
        return turn.legal[0] if turn.ply < 4 else 1 / 0
"""
DYING = """
import os
from kibitz import Bot

class Dying(Bot):
    def choose(self, turn):
        os._exit(3)
"""
HOARDER = """
from kibitz import Bot

class Hoarder(Bot):
    def choose(self, turn):
        self.hoard = [bytearray(64 << 20) for _ in range(32)]
        return turn.legal[0]
"""
CUP = """
name: cup
game: line-nim:free=12
blocks: 3
deals: game
entrants:
  - {name: Ada, bot: slow.py}
  - {name: Bob, bot: slow.py}
  - {name: Cyd, bot: slow.py}
  - {name: Dan, bot: line-nim/random}
"""
GAMES = 6 * 3 * 2
"""The number of games in the cup: each pair plays three blocks of two."""


def event(kibitz: Kibitz, *words: str) -> tuple[int, dict[str, Any], str]:
    """Run a tournament; return the exit status, results and output."""
    done = kibitz.run("arena", *words, "--json", seconds=SECONDS)
    return done.returncode, json.loads(done.stdout), done.stderr


def ends(path: Path) -> list[GameEnded]:
    """Return the finished games of a journal."""
    with contextlib.suppress(FileNotFoundError):
        return [
            each for each in FORMAT.parse(path.read_bytes()).entries if isinstance(each, GameEnded)
        ]
    return []


def until_ended(arena: Running, path: Path, more: int) -> None:
    """Wait until more games of a tournament have ended, before it is over."""
    wanted = len(ends(path)) + more
    while len(ends(path)) < wanted:
        assert arena.process.poll() is None, arena.log.read_text()
        time.sleep(0.05)


def require_even(results: dict[str, Any], each: int) -> None:
    """Require that all entrants played equally often in every seat."""
    assert {line["games"] for line in results["standings"]} == {each}
    seats = Counter(
        (name, seat) for game in results["games"] for seat, name in enumerate(game["players"])
    )
    count = len(results["standings"])
    assert sorted(seats.values()) == [each // 2] * (2 * count)


def test_an_event_of_flags_leaves_all_results(kibitz: Kibitz) -> None:
    who = ["--players", RANDOM, "--players", GREEDY, "line-nim/random:seed=3"]
    words = ["--game", GAME, *who, "--games", "2", "--tc", "5+0.1", "--name", "small"]
    status, results, said = event(kibitz, *words)
    assert status == 0, said
    require_even(results, 4)
    folder = kibitz.directory / "small.arena"
    assert json.loads((folder / "results.json").read_text()) == results
    page = (folder / "results.html").read_text()
    with (folder / "games.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for row in rows:
        assert read_record(folder / row["record"]).footer is not None
        assert f'href="{row["record"]}"' in page
    assert not list((folder / "reports").iterdir())
    again = event(kibitz, *words)
    assert again[:2] == (0, results), "what is over is not played again"


@pytest.fixture
def cup(kibitz: Kibitz) -> Path:
    """The file of a slow tournament, and its bots."""
    (kibitz.directory / "slow.py").write_text(SLOW)
    (kibitz.directory / "cup.yaml").write_text(CUP)
    return kibitz.directory / "cup.arena"


def test_an_event_that_is_cut_off_three_times_loses_nothing(kibitz: Kibitz, cup: Path) -> None:
    path = cup / "journal.jsonl"
    for signals in ([signal.SIGINT], [signal.SIGKILL], [signal.SIGINT, signal.SIGINT]):
        with kibitz.start("arena", "cup.yaml", "--concurrency", "2") as arena:
            until_ended(arena, path, 4)
            arena.send(signals[0])
            if len(signals) > 1:
                while "again to stop at once" not in arena.log.read_text().split("going on")[-1]:
                    time.sleep(0.02)
                arena.send(signals[1])
            arena.rest(SECONDS)
            assert arena.process.returncode == (-9 if signals[0] == signal.SIGKILL else 130)
            if signals[0] != signal.SIGKILL:
                assert "continue with: kibitz arena cup.arena" in arena.log.read_text()
        assert 0 < len(ends(path)) < GAMES
    before = [line for line in path.read_bytes().splitlines() if b'"ended"' in line]
    status, results, said = event(kibitz, str(cup))
    assert status == 0, said
    assert (results["played"], results["interruptions"]) == (GAMES, 3)
    require_even(results, GAMES // 2)
    after = [line for line in path.read_bytes().splitlines() if b'"ended"' in line]
    assert after[: len(before)] == before, "what had ended stays as it was"
    tags = Counter(entry.tag for entry in ends(path))
    assert set(tags.values()) == {1}
    assert len(tags) == GAMES
    assert len({entry.match for entry in ends(path)}) == GAMES
    records = {game["record"] for game in results["games"]}
    assert len(records) == GAMES
    assert all(read_record(cup / record).footer is not None for record in records)


@pytest.mark.slow
def test_another_event_does_not_go_on_in_the_same_place(kibitz: Kibitz, cup: Path) -> None:
    with kibitz.start("arena", "cup.yaml") as arena:
        until_ended(arena, cup / "journal.jsonl", 1)
        other = kibitz.run("arena", "cup.yaml")
        assert other.returncode == 1
        assert "another process is running this tournament" in other.stderr
        arena.send(signal.SIGTERM)
        arena.rest(SECONDS)
    text = (kibitz.directory / "cup.yaml").read_text()
    (kibitz.directory / "cup.yaml").write_text(text.replace("blocks: 3", "blocks: 4"))
    done = kibitz.run("arena", "cup.yaml")
    assert done.returncode == 1
    assert "blocks is 4 and was 3" in done.stderr


@pytest.mark.slow
def test_who_crashes_or_dies_loses_and_the_event_goes_on(kibitz: Kibitz) -> None:
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    (kibitz.directory / "dying.py").write_text(DYING)
    who = ["--players", RANDOM, "crashing.py", "dying.py"]
    status, results, said = event(kibitz, "--game", GAME, *who, "--games", "2", "--name", "ill")
    assert status == 1, said
    require_even(results, 4)
    causes = {line["name"]: line["causes"] for line in results["standings"]}
    assert causes["random"] == {}
    assert causes["dying"] == {"crash": 4}
    assert causes["crashing"].keys() <= {"crash"}
    assert "dying ended with status 3; restarting it" in said
    ill = kibitz.directory / "ill.arena"
    for game in results["games"]:
        report = (ill / game["report"]).read_text()
        assert f"kibitz record retry ill.arena/{game['record']}" in report
    assert "division by zero" in "".join(
        (ill / game["report"]).read_text() for game in results["games"]
    )
    assert (
        "a seat was at fault in 6 games; last report: ill.arena/reports/"
        in kibitz.run("arena", "ill.arena").stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--players", "broken.py"], "No module named 'nosuchmodule'"),
        (["--wait", "4", "--", "sleep", "600"], "sleep not ready in 4 seconds"),
        (["--", "false"], "false ended with status 1"),
    ],
    ids=["broken", "never connects", "ends at once"],
)
def test_who_cannot_begin_is_named(kibitz: Kibitz, words: list[str], sentence: str) -> None:
    (kibitz.directory / "broken.py").write_text("import nosuchmodule\n")
    done = kibitz.run("arena", "--game", GAME, "--players", RANDOM, *words, seconds=SECONDS)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert "continue with: kibitz arena" in done.stderr


@pytest.mark.slow
def test_limits_hold_for_the_bots_of_an_event(kibitz: Kibitz) -> None:
    (kibitz.directory / "hoarder.py").write_text(HOARDER)
    who = ["--players", RANDOM, "hoarder.py"]
    words = ["--game", GAME, *who, "--games", "2", "--memory", "600", "--name", "fat"]
    status, results, said = event(kibitz, *words)
    assert status == 1, said
    assert [each["causes"] for each in results["standings"]] == [{}, {"crash": 2}]
    report = kibitz.directory / "fat.arena" / results["games"][0]["report"]
    assert "MemoryError" in report.read_text()


RATED = """
name: rated
game: line-nim
time-control: 60+1
games: 4
rated: true
entrants:
  - {name: ada, bot: line-nim/greedy, token-file: ada.token}
  - {name: bob, bot: crashing.py, token-file: bob.token}
  - {name: far, remote: true}
"""


@pytest.mark.slow
def test_a_rated_event_on_a_running_server(kibitz: Kibitz) -> None:
    """One entrant is remote, all have accounts, the rating list counts, the host gets reports."""
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    (kibitz.directory / "rated.yaml").write_text(RATED)
    with ExitStack() as stack:
        serve = ["serve", "--port", "0", "--db", "kibitz.db", "--json"]
        url = stack.enter_context(kibitz.start(*serve)).json()["url"]
        for name in ("host", "ada", "bob", "far"):
            made = kibitz.run("token", "new", name, "--bot", "--db", "kibitz.db", "--json")
            token = json.loads(made.stdout)["token"]
            (kibitz.directory / f"{name}.token").write_text(token)
        event = ("rated.yaml", "--token-file", "host.token")
        arena = stack.enter_context(kibitz.start("arena", *event, "--server", url, "--json"))
        while "far joins with: " not in arena.log.read_text():
            assert arena.process.poll() is None
            time.sleep(0.05)
        line = arena.log.read_text().split("far joins with: kibitz connect BOT ")[1].splitlines()[0]
        lobby = line.split()[3]
        assert line == f"--server {url} --lobby {lobby} --name far"
        come = ["--server", url, "--lobby", lobby, "--token-file", "far.token"]
        far = stack.enter_context(kibitz.start("connect", RANDOM, *come))
        results = json.loads(arena.rest(SECONDS))
        assert arena.process.returncode == 1, arena.log.read_text()
        far.rest()
        assert far.process.returncode == 0
        require_even(results, 8)
        assert [line["what"] for line in results["standings"] if line["name"] == "far"] == [
            "remote"
        ]
        crashed = next(game for game in results["games"] if "crash" in game["causes"])
        report = kibitz.directory / "rated.arena" / crashed["report"]
        assert "ZeroDivisionError" in report.read_text()
        ladder = json.loads(
            kibitz.run("ladder", "rated", "line-nim", "--server", url, "--json").stdout
        )
        assert {each["name"]: each["matches"] for each in ladder["lines"]} == {
            "ada": 8,
            "bob": 8,
            "far": 8,
        }


@pytest.mark.slow
def test_the_arena_and_then_its_server_are_killed_and_nothing_is_lost(
    kibitz: Kibitz, cup: Path
) -> None:
    path, port = cup / "journal.jsonl", free_port()
    url = f"ws://127.0.0.1:{port}"
    serve = ["serve", "--port", str(port), "--db", "kibitz.db", "--json"]
    with ExitStack() as stack:
        server = stack.enter_context(kibitz.start(*serve))
        assert server.json()["url"] == url
        with kibitz.start("arena", "cup.yaml", "--server", url) as arena:
            until_ended(arena, path, 4)
            arena.send(signal.SIGKILL)
            arena.rest()
        arena = stack.enter_context(kibitz.start("arena", str(cup), "--json"))
        until_ended(arena, path, 4)
        server.send(signal.SIGKILL)
        server.rest()
        stack.enter_context(kibitz.start(*serve)).json()
        results = json.loads(arena.rest(SECONDS))
        assert arena.process.returncode == 0, arena.log.read_text()
    assert (results["played"], results["interruptions"]) == (GAMES, 1)
    require_even(results, GAMES // 2)
    tags = Counter(entry.tag for entry in ends(path))
    assert (len(tags), {*tags.values()}) == (GAMES, {1})
