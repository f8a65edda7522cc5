"""`kibitz arena --workers`: tournaments on processes and on Ray, with killed workers.

Two runs of a tournament of seeded bots are *the same* if their journals have the same `ended` lines
and the tables computed from them are bit-identical. The lines may differ in order, times (`at_ms`,
`used_ms`), the keys that servers give to matches, and the paths made of them.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from kibitz_arena import entries
from kibitz_arena.entries import GameEnded
from tests.tools.command import Kibitz, Running

SECONDS = 900
FIRST = """
from kibitz import Bot

class First(Bot):
    def choose(self, turn):
        return turn.legal[0]
"""
EVENT = """
name: cup
game: line-nim:free=12
blocks: BLOCKS
seed: 7
entrants:
  - {name: Ada, bot: "line-nim/random:seed=1"}
  - {name: Bob, bot: "line-nim/random:seed=2"}
"""
_OF_A_RUN = {"at_ms", "used_ms", "match", "record", "report"}


def write_event(kibitz: Kibitz, blocks: int, entrants: str = "") -> None:
    text = EVENT.replace("BLOCKS", str(blocks)) + entrants
    (kibitz.directory / "cup.yaml").write_text(text)


def ended(folder: Path) -> list[GameEnded]:
    try:
        found = entries.FORMAT.parse((folder / "journal.jsonl").read_bytes()).entries
    except FileNotFoundError:
        return []
    return [each for each in found if isinstance(each, GameEnded)]


def journal_lines(folder: Path) -> list[str]:
    """Return the sorted `ended` lines without the fields that differ between any two runs."""
    return sorted(each.model_dump_json(exclude=_OF_A_RUN) for each in ended(folder))


def require_same(one: Path, other: Path) -> None:
    assert journal_lines(one) == journal_lines(other)
    first, second = (json.loads((each / "results.json").read_text()) for each in (one, other))
    for line, same in zip(first["standings"], second["standings"], strict=True):
        del line["used_ms"], same["used_ms"]
        assert line == same
    assert first["crosstable"] == second["crosstable"]


def until_ended(running: Running, folder: Path, count: int) -> None:
    while len(ended(folder)) < count:
        assert running.process.poll() is None, running.log.read_text()
        time.sleep(0.05)


def until_said(running: Running, words: str) -> None:
    while words not in running.log.read_text():
        assert running.process.poll() is None, running.log.read_text()
        time.sleep(0.05)


def workers_of(running: Running, word: str) -> list[psutil.Process]:
    """Return a command's descendants with a word in their command line, except exiting ones."""
    found = []
    for each in psutil.Process(running.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if word in " ".join(each.cmdline()):
                found.append(each)
    return found


def run(kibitz: Kibitz, *words: str) -> None:
    done = kibitz.run("arena", *words, "-q", seconds=SECONDS)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_killed_worker_costs_its_blocks_only(kibitz: Kibitz) -> None:
    (kibitz.directory / "first.py").write_text(FIRST)
    write_event(kibitz, 3, "  - {name: Dan, bot: first.py}\n")
    folder = kibitz.directory / "two"
    with kibitz.start("arena", "cup.yaml", "--dir", "two", "--workers", "2") as arena:
        until_ended(arena, folder, 4)
        before = {each.tag for each in ended(folder)}
        workers_of(arena, "kibitz.workers.worker")[0].send_signal(signal.SIGKILL)
        arena.rest(SECONDS)
        assert arena.process.returncode == 0, arena.log.read_text()
        assert "a worker was lost" in arena.log.read_text()
    tags = [each.tag for each in ended(folder)]
    assert len(tags) == len({*tags}) == 18
    assert before <= {*tags}
    assert all((folder / (each.record or "")).is_file() for each in ended(folder))
    run(kibitz, "cup.yaml", "--dir", "one")
    require_same(folder, kibitz.directory / "one")


@pytest.mark.slow
def test_a_killed_coordinator_leaves_no_process_and_goes_on(kibitz: Kibitz) -> None:
    write_event(kibitz, 8)
    folder = kibitz.directory / "cup.arena"
    with kibitz.start("arena", "cup.yaml", "--workers", "2") as arena:
        until_ended(arena, folder, 2)
        below = psutil.Process(arena.process.pid).children(recursive=True)
        assert workers_of(arena, "kibitz.workers.worker")
        arena.send(signal.SIGKILL)
        arena.rest()
    _, alive = psutil.wait_procs(below, timeout=30)
    assert not alive
    run(kibitz, "cup.yaml", "--workers", "2")
    tags = [each.tag for each in ended(folder)]
    assert len(tags) == len({*tags}) == 16


@contextmanager
def two_ray_nodes() -> Iterator[tuple[str, Any, Any]]:
    """Run a head without CPUs and two nodes with one each; yield address, cluster, a node."""
    cluster_utils = pytest.importorskip(
        "ray.cluster_utils", reason="Ray is not installed: pip install 'kibitz[cluster]'"
    )
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        cluster.add_node(num_cpus=1)
        node = cluster.add_node(num_cpus=1)
        yield f"ray://{cluster.address}", cluster, node
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_an_event_on_ray_is_that_of_one_machine(kibitz: Kibitz) -> None:
    (kibitz.directory / "first.py").write_text(FIRST)
    write_event(kibitz, 2, "  - {name: Dan, bot: first.py}\n")
    with two_ray_nodes() as (address, _, _):
        run(kibitz, "cup.yaml", "--dir", "ray", "--workers", address)
    assert len(ended(kibitz.directory / "ray")) == 12
    run(kibitz, "cup.yaml", "--dir", "one")
    require_same(kibitz.directory / "ray", kibitz.directory / "one")


TRAINING = "tanks/neuroevolution:population=4,games=4,generations=2,test=4"


def test_training_with_workers_leaves_the_same_bits(kibitz: Kibitz) -> None:
    for out, words in (("one", ["--threads", "1"]), ("two", ["--workers", "2"])):
        done = kibitz.run("train", TRAINING, "--seed", "5", "--out", out, *words, seconds=SECONDS)
        assert done.returncode == 0, done.stderr
    one, two = (kibitz.directory / each / "journal.jsonl" for each in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.slow
def test_two_hundred_blocks_over_two_ray_nodes_are_those_of_one_machine(kibitz: Kibitz) -> None:
    write_event(kibitz, 200)
    folder = kibitz.directory / "ray"
    os.environ.pop("RAY_ADDRESS", None)
    with two_ray_nodes() as (address, cluster, node):
        words = ["arena", "cup.yaml", "--dir", "ray", "--workers", address]
        with kibitz.start(*words) as arena:
            until_ended(arena, folder, 60)
            cluster.remove_node(node, allow_graceful=False)  # kill -9 of the node's processes
            cluster.add_node(num_cpus=1)
            until_ended(arena, folder, 160)
            until_said(arena, "a worker was lost")
            arena.send(signal.SIGKILL)
            arena.rest()
        assert len(ended(folder)) < 400
        run(kibitz, *words[1:])
    tags = [each.tag for each in ended(folder)]
    assert len(tags) == len({*tags}) == 400
    run(kibitz, "cup.yaml", "--dir", "one")
    require_same(folder, kibitz.directory / "one")
