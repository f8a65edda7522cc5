from __future__ import annotations

import signal

from kibitz.builtin_games import load_games
from kibitz.local.demo_programme import DEMO
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz

SECONDS = 120


def matches_of(item: ProgrammeItem) -> int:
    """Return the number of matches of an item; by default one match or one block."""
    return item.games or (item.seats if load_games("plain")[item.game].info.balanced else 1)


MATCHES = {game.name: sum(map(matches_of, game.items)) for game in DEMO}


def test_without_a_terminal_the_demo_plays_to_its_end(kibitz: Kibitz) -> None:
    done = kibitz.run("demo", "--records", "here", seconds=SECONDS)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    paths = [*(kibitz.directory / "here").glob("*.jsonl")]
    records = [read_record(path) for path in paths]
    assert all(record.footer is not None for record in records)
    assert all(
        path.name == f"{record.setup.game}-{record.setup.match}.jsonl"
        for path, record in zip(paths, records, strict=True)
    )
    for game, number in MATCHES.items():
        assert [record.setup.game for record in records].count(game) == number
        assert f"ready: {game} has started" in done.stdout
        lines = done.stdout.splitlines()
        assert sum(line.startswith(f"[{game}] match") and " ends: " in line for line in lines) == (
            number
        )
    assert f"{sum(MATCHES.values())} records are in here/" in done.stdout
    assert done.stdout.count("player") >= len(DEMO)


def test_after_ctrl_c_the_running_matches_finish(kibitz: Kibitz) -> None:
    with kibitz.start("demo", "--records", "here") as demo:
        demo.until("match 1 begins")
        demo.send(signal.SIGINT)
        said = demo.rest(SECONDS)
    assert demo.process.returncode == 130, demo.log.read_text()
    records = [read_record(path) for path in (kibitz.directory / "here").glob("*.jsonl")]
    assert 0 < len(records) < sum(MATCHES.values())
    assert all(record.footer is not None for record in records)
    assert f"{len(records)} records are in here/" in said
