"""Measure the resource use of house bots, and how well they keep to their time.

    python -m benchmarks.bots [NAME ...] [--game GAME] [--moves N] [--json FILE]

Measures the named personalities, or all of them:

- seconds and CPU time until the bot is ready, with a warm cache of machine code;
- memory after `--moves` moves, in total and excluding memory shared with other processes;
- the worst overrun of a turn's time budget;
- the delay of answers to pings while the bot thinks.

The bots play on the test server of `kibitz bot check`, with 0.2 s per move. Results depend on the
machine and its other load. The exit status is 1 if a bot did not play.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from kibitz import builtin_games
from kibitz.conformance.bot_process import BotCommand, TestedBot, running_bot
from kibitz.conformance.match import ConformanceMatch
from kibitz.conformance.results import FailedError
from kibitz.conformance.server import ConformanceServer, start_conformance_server
from kibitz.text import game_guide
from kibitz_bots.catalog import PERSONALITIES, Personality, named
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem

CONTROL = TimeControl.parse("move=0.2")
MOVES = 50
START_S = 120.0
"""The startup timeout of a bot, in seconds."""
PATIENCE_S = 30.0
"""The timeout of a move in seconds, independent of its clock."""
PING_S = 0.02
"""The interval of pings, in seconds."""
READY_S, MEMORY_MB, LATE_MS, PONG_MS = 2.0, 150.0, 10.0, 50.0
"""The expected maxima; larger values are marked."""
LATE = re.compile(r"budget \d+ ms, sent (-?\d+\.\d) ms after it")
"""The log line of a move; see `kibitz_bots.running.match_session.TIMING_FORMAT`."""


@dataclass
class Figures:
    """The figures of one bot."""

    name: str
    ready_s: float = 0.0
    cpu_s: float = 0.0
    """The CPU time used during `ready_s`; the rest was waiting, for example for other processes."""
    memory_mb: float = 0.0
    private_mb: float = 0.0
    """The memory that is not shared with other processes."""
    moves: int = 0
    late_ms: float = 0.0
    """The worst overrun; 0 if there was none."""
    pong_ms: float = 0.0
    """The longest delay of an answer to a ping."""
    pong_median_ms: float = 0.0
    trouble: str = ""
    """The reason why the bot did not finish its games."""


async def measure(bot: Personality, game: Game, moves: int) -> Figures:
    """Start a bot, let it play `moves` moves, and stop it."""
    figures = Figures(bot.name)
    seats = game_guide.seats_for(game, {}, bot.seats or None) or game.info.seats[0]
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder:
        log = Path(folder) / "bot.log"
        how = BotCommand((bot.name, "-v"), "house")
        async with start_conformance_server({game.info.name: game}) as stage:
            stage.programme = [ProgrammeItem(game=bot.game, seats=seats, time_control=CONTROL)]
            began = time.perf_counter()
            async with running_bot(how, stage.url, log) as tested:
                try:
                    await _ready(stage, tested)
                    figures.ready_s = time.perf_counter() - began
                    spent = psutil.Process(tested.process.pid).cpu_times()
                    figures.cpu_s = spent.user + spent.system
                    await _play(stage, game, seats, moves, figures)
                except (FailedError, TimeoutError) as error:
                    figures.trouble = f"{error or type(error).__name__}"
                _weigh(tested, figures)
        late = [float(figure) for figure in LATE.findall(log.read_text(errors="replace"))]
    figures.moves = len(late)
    figures.late_ms = max([0.0, *late])
    return figures


async def _ready(stage: ConformanceServer, tested: TestedBot) -> None:
    """Wait until the bot is ready; fail if its process exits first."""
    ready = asyncio.create_task(stage.ready.wait())
    ended = asyncio.create_task(tested.process.wait())
    try:
        async with asyncio.timeout(START_S):
            await asyncio.wait((ready, ended), return_when=asyncio.FIRST_COMPLETED)
    finally:
        ready.cancel()
        ended.cancel()
    if not stage.ready.is_set():
        raise FailedError("the bot to be ready", f"the process exited\n{tested.output()}")


async def _play(
    stage: ConformanceServer, game: Game, seats: int, moves: int, figures: Figures
) -> None:
    """Play against a random player until the bot has made `moves` moves; ping it meanwhile."""
    pongs: list[float] = []
    pinging = asyncio.create_task(_ping(stage, pongs))
    played = 0
    try:
        while played < moves:
            visit = ConformanceMatch(
                stage,
                game,
                key=f"b{stage.next_number()}",
                seats=seats,
                seat=played % seats,
                seed=played,
                control=CONTROL,
                timeout_s=PATIENCE_S,
            )
            visit.stop_after = moves - played
            await visit.play()
            played += max(1, visit.turns)
    finally:
        pinging.cancel()
    if pongs:
        figures.pong_ms, figures.pong_median_ms = max(pongs), statistics.median(pongs)


async def _ping(stage: ConformanceServer, pongs: list[float]) -> None:
    """Record how long answers to pings take, in milliseconds."""
    while True:
        began = time.perf_counter()
        await stage.flush()
        pongs.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(PING_S)


def _weigh(tested: TestedBot, figures: Figures) -> None:
    if tested.process.returncode is None:
        memory = psutil.Process(tested.process.pid).memory_full_info()
        figures.memory_mb, figures.private_mb = memory.rss / 2**20, memory.uss / 2**20


def chosen(names: Sequence[str], game: str | None) -> list[Personality]:
    """Return the personalities to measure; raises `SpecError` for an unknown name."""
    if names:
        return [named(name) for name in names]
    return [
        personality for personality in PERSONALITIES.values() if game in (None, personality.game)
    ]


HEADS = ("bot", "ready s", "cpu s", "MB", "private", "moves", "late ms", "pong ms", "median")


def row(figures: Figures) -> list[str]:
    """Return the cells of a row; values above the expected maxima get an exclamation mark."""
    return [
        figures.name,
        _marked(figures.ready_s, READY_S, 2),
        f"{figures.cpu_s:.2f}",
        _marked(figures.memory_mb, MEMORY_MB, 0),
        f"{figures.private_mb:.0f}",
        str(figures.moves),
        _marked(figures.late_ms, LATE_MS, 1),
        _marked(figures.pong_ms, PONG_MS, 1),
        f"{figures.pong_median_ms:.1f}",
    ]


def _marked(value: float, most: float, places: int) -> str:
    return f"{value:.{places}f}" + (" !" if value > most else "")


def _line(cells: Sequence[str]) -> str:
    return f"{cells[0]:<36}" + "".join(f"{cell:>10}" for cell in cells[1:])


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--game", help="measure only the bots of this game")
    parser.add_argument("--moves", type=int, default=MOVES)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    games = builtin_games.load_games("plain")
    bots = chosen(options.names, options.game)
    print(_line(HEADS))
    measured = []
    for bot in bots:
        warm = [sys.executable, "-m", "kibitz", "bot", "warm", bot.name]
        subprocess.run(warm, check=True, stdout=subprocess.DEVNULL)
        measured.append(asyncio.run(measure(bot, games[bot.game], options.moves)))
        print(_line(row(measured[-1])), measured[-1].trouble, flush=True)
    if options.json:
        options.json.write_text(
            json.dumps([asdict(bot_result) for bot_result in measured], indent=1) + "\n"
        )
    return 1 if any(bot_result.trouble for bot_result in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
