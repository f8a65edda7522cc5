from __future__ import annotations

import re
import signal

from kibitz.builtin_games import load_games
from kibitz.commands.demo import PROGRAMME
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz

SECONDS = 120


def matches_of(item: ProgrammeItem) -> int:
    """How many matches an item has; without a number it is one, or one block of them."""
    return item.games or (item.seats if load_games("plain")[item.game].info.balanced else 1)


def test_without_a_terminal_the_demo_plays_to_its_end(kibitz: Kibitz) -> None:
    done = kibitz.run("demo", "--records", "here", seconds=SECONDS)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    matches = sum(matches_of(item) for item in PROGRAMME)
    records = [read_record(path) for path in (kibitz.directory / "here").glob("*.jsonl")]
    assert len(records) == matches
    assert all(record.footer is not None for record in records)
    assert {record.setup.game for record in records} == set(load_games("plain"))
    assert f"{matches} records are in here/" in done.stdout
    began = [int(number) for number in re.findall(r"match (\d+) \S+  begins", done.stdout)]
    assert sorted(began) == list(range(1, matches + 1))
    assert re.search(r"^player +played +wins", done.stdout, re.M)


def test_after_ctrl_c_the_running_matches_finish(kibitz: Kibitz) -> None:
    with kibitz.start("demo", "--records", "here") as demo:
        demo.until("begins")
        demo.send(signal.SIGINT)
        said = demo.rest(SECONDS)
    assert demo.process.returncode == 0, demo.log.read_text()
    records = [read_record(path) for path in (kibitz.directory / "here").glob("*.jsonl")]
    assert 0 < len(records) < sum(matches_of(item) for item in PROGRAMME)
    assert all(record.footer is not None for record in records)
    assert f"{len(records)} records are in here/" in said
