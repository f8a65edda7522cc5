"""What a start costs with matches that are not over, with their checkpoints and without.

    python -m benchmarks.restart [--matches N] [--plies N ...] [--game NAME]

A database is filled with unfinished matches, as a server that was killed leaves them, and a server
is started with it in a process of its own, which says how much CPU time it took until it listened.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kibitz.builtin_games import load_games
from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.recordfile import seed_commitment
from kibitz_protocol.wire.records import Entry, Player, Setup
from kibitz_server.app import Config, running
from kibitz_server.match import checkpoint, code_digest
from kibitz_server.match.commands import Append, Play
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.state import MatchState
from kibitz_server.storage.store import SQLiteStore
from kibitz_server.storage.streams import Stream

ROOT = Path(__file__).parent.parent
SEED = "00c0ffee00c0ffee"


def setup_of(game: Game, match: str) -> Setup:
    """Return the setup of a match of the fewest seats."""
    seats = game.info.seats[0]
    return Setup(
        match=match,
        game=game.info.name,
        rules_version=game.info.rules_version,
        options={},
        seats=[Player(player=f"p{n}", name=f"Player {n}", kind="bot") for n in range(seats)],
        deal=game.deal(game.Options(), seats, 1),
        seed=SEED,
        commitment=seed_commitment(SEED, ""),
        time_control=TimeControl.parse("100:00"),
        started="2026-01-02T03:04:05Z",
    )


def played(game: Game, plies: int) -> list[Entry]:
    """Return the entries of a match at random that is not over after so many plies."""
    for seed in range(100):
        source = random.Random(seed)
        match = MatchEngine.new(game, setup_of(game, "m"))
        entries: list[Entry] = []
        while match.state.ply < plies and match.state.to_act != TERMINAL:
            match.open_turn(0)
            state = match.state
            legal = game.legal(state.game_state)
            action = game.dump_moves(state.game_state, [source.choice(legal)])[0]
            play = Play(state.to_act, state.ply + 1, state.ply, action)
            effects = match.handle(play, 0).effects
            entries += [each.entry for each in effects if isinstance(each, Append)]
        if match.state.result is None:
            return entries
    raise SystemExit(f"no match of {game.info.name} at random lasts {plies} plies")


async def fill(path: Path, game: Game, matches: int, plies: int) -> None:
    """Write unfinished matches, with the checkpoints that their tables would have written."""
    entries = played(game, plies)
    lines = [encode(entry) for entry in entries]
    made = checkpoint.Checkpoints(code_digest.code_digest())
    store = SQLiteStore(path, asyncio.get_running_loop())
    for number in range(matches):
        setup = setup_of(game, f"m{number}")
        stream = Stream(0, setup.match, "match")
        store.create(stream, encode(setup), owner=None, waiter=None)
        due = _last_due(setup.match, len(lines), checkpoint.checkpoint_interval(matches))
        for seq, line in enumerate(lines, start=1):
            store.append(stream, seq, line, None)
            if seq == due:
                match = MatchState.restore(game, setup, entries[:seq])
                store.write_checkpoint(stream, made.write(match, stream.chain))
        await store.flush()
    await store.close()


def _last_due(match: str, last: int, interval: int) -> int:
    due = seq = 0
    while (seq := checkpoint.next_checkpoint(match, seq)) <= last:
        if checkpoint.is_due(seq, due, interval):
            due = seq
    return due


async def start(path: Path) -> float:
    """Start a server and return the seconds of CPU that it took until it listened."""
    known = load_games("compiled")
    for game in known.values():
        MatchEngine.new(game, setup_of(game, "warm"))
    before = time.process_time()
    async with running(Config(db=path), known) as server:
        spent = time.process_time() - before
        print(len(server.directory.matches), spent, flush=True)
    return spent


def measured(path: Path) -> tuple[int, float]:
    """Start a server in a process of its own; return its matches and its CPU time."""
    command = [sys.executable, "-m", "benchmarks.restart", "--start", str(path)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found, spent = done.stdout.split()
    return int(found), float(spent)


def compare(game: Game, matches: int, plies: int) -> None:
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder:
        path = Path(folder) / "with.db"
        asyncio.run(fill(path, game, matches, plies))
        bare = Path(folder) / "without.db"
        bare.write_bytes(path.read_bytes())
        with closing(sqlite3.connect(bare, isolation_level=None)) as db:
            db.execute("DELETE FROM checkpoint")
        for name, each in (("without checkpoints", bare), ("with checkpoints", path)):
            found, spent = measured(each)
            print(f"{found} matches of {plies} plies, {name}: {spent:.2f} s of CPU", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--matches", type=int, default=500)
    parser.add_argument("--plies", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--game", default="chinese-checkers")
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.start is not None:
        asyncio.run(start(given.start))
        return
    game = load_games("compiled")[given.game]
    for plies in given.plies:
        compare(game, given.matches, plies)


if __name__ == "__main__":
    main()
