"""`kibitz sprt`: a sequential test of two engines in one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.local.engine_pairs import EngineLimit, EnginePairs, PlayedPair
from kibitz.local.sprt_log import SprtLog
from kibitz.options import notation
from kibitz.options.notation import GameChoice
from kibitz.options.output_path import OutputPath
from kibitz.output import echo, tell
from kibitz_arena.openings import read_openings
from kibitz_arena.sprt import Sprt
from kibitz_arena.tournament import StopRule
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_bots.loading import load
from kibitz_bots.number_types import COUNT, SEED, FiniteRange
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.wire.values import Options

NODES = 3000
SHOWN_EVERY = 20
"""The number of pairs after which the state of the test is printed."""


@click.command(short_help="Test whether one engine is stronger than another.")
@click.argument("game", type=notation.GAME)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--elo",
    nargs=2,
    type=FiniteRange(-1000, 1000),
    default=(0.0, 10.0),
    show_default=True,
    metavar="ELO0 ELO1",
    help="The two hypotheses: A is stronger than B by ELO0, or by ELO1.",
)
@click.option("--nodes", type=COUNT, help=f"Positions per move; {NODES} unless --seconds is given.")
@click.option(
    "--seconds",
    type=FiniteRange(0.001, 3600),
    help="Processor time per move, instead of --nodes.",
)
@click.option(
    "--openings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with openings, such as one of Gomocup's.",
)
@click.option(
    "--plies",
    type=click.IntRange(0, 100),
    default=6,
    show_default=True,
    help="Random plies before each pair of games, without --openings.",
)
@click.option(
    "--pairs", type=COUNT, default=20_000, show_default=True, help="Stop after this many pairs."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the openings.")
@click.option(
    "--threads", type=COUNT, default=os.cpu_count() or 1, help="Games at a time; one per core."
)
@click.option(
    "--log",
    type=OutputPath(),
    help="Write every game to this file; if the file exists, continue its test.",
)
def sprt(
    game: GameChoice,
    a: str,
    b: str,
    elo: tuple[float, float],
    nodes: int | None,
    seconds: float | None,
    openings: Path | None,
    plies: int,
    pairs: int,
    seed: int,
    threads: int,
    log: Path | None,
) -> None:
    """Play pairs of games between the engines A and B until it is clear which hypothesis holds.

    Both games of a pair have the same opening, with the seats swapped. The engines are house bots
    that search, such as five-in-a-row/threat:table=4, or files with a search of your own. They play
    in this process, each with the same number of positions or the same processor time for a move.
    The test is pentanomial: it counts pairs, and accepts a wrong hypothesis in at most 5% of all
    tests.

    \b
    kibitz sprt five-in-a-row:size=15 five-in-a-row/threat five-in-a-row/alphabeta
    kibitz sprt connect-four connect-four/alphabeta connect-four/mcts --seconds 0.05 --elo -5 5
    """
    if nodes and seconds:
        raise click.UsageError("give --nodes or --seconds, not both")
    rules = _game(game)
    plan = EnginePairs(
        game=rules,
        options=game.options,
        engines=(_engine(a), _engine(b)),
        limit=EngineLimit(seconds=seconds) if seconds else EngineLimit(nodes=nodes or NODES),
        openings=_openings(rules, game.options, openings),
        random_plies=plies,
        seed=seed,
    )
    rule = _stop_rule(a, b, elo)
    try:
        plan.check()
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    kept = SprtLog(log, _terms(plan, rule)) if log else None
    try:
        test = _run(plan, Sprt(rule), kept, pairs, threads)
    finally:
        if kept:
            kept.close()
    echo(state_line(test))
    echo(_verdict(test, a, b))


def _terms(plan: EnginePairs, rule: StopRule) -> dict[str, object]:
    """Return the settings that must be equal in a log and in the test that continues it."""
    return {
        "game": plan.game.info.name,
        "options": plan.options,
        "a": rule.better[0],
        "b": rule.better[1],
        "elo": [rule.elo0, rule.elo1],
        "nodes": plan.limit.nodes,
        "seconds": plan.limit.seconds,
        "openings": [dict(overlay) for overlay in plan.openings],
        "plies": plan.random_plies,
        "seed": plan.seed,
    }


def _run(plan: EnginePairs, test: Sprt, log: SprtLog | None, pairs: int, threads: int) -> Sprt:
    """Play pairs until the test is decided or enough are played; return the test."""
    for points in log.points if log else ():
        test.add(sum(points) / 2)
    for pair in _played(plan, range(test.result.blocks, pairs), threads):
        if test.result.decided:
            break
        test.add(sum(pair.points) / 2)
        if log:
            log.add(pair)
        if test.result.blocks % SHOWN_EVERY == 0:
            tell(state_line(test))
    return test


def _played(plan: EnginePairs, numbers: range, threads: int) -> Iterator[PlayedPair]:
    """Yield the pairs in their order; at most `threads` of them are played at a time."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = iter(numbers)
        running = [pool.submit(plan.play, number) for number in islice(waiting, threads)]
        while running:
            pair = running.pop(0).result()
            running += [pool.submit(plan.play, number) for number in islice(waiting, 1)]
            yield pair


def state_line(test: Sprt) -> str:
    """Format the state of a test in one line."""
    counted = test.pentanomial
    return (
        f"{counted.pairs} pairs: Elo {counted.elo}, normalized {counted.normalized_elo}, "
        f"LLR {test.result.llr:.2f} ({test.lower:.2f}, {test.upper:.2f}), "
        f"pairs by points {list(counted.counts)}"
    )


def _verdict(test: Sprt, a: str, b: str) -> str:
    """Return a sentence that says which hypothesis was accepted."""
    result = test.result
    if not result.decided:
        return "not decided: continue with more --pairs and the same --log"
    elo = result.elo1 if result.state == "accepted H1" else result.elo0
    return f"{result.state}: {a} is {elo:+g} Elo stronger than {b}"


def _game(choice: GameChoice) -> Game:
    """Return the rules of a game for two seats, or refuse others."""
    games = load_games("compiled")
    if choice.name not in games:
        raise click.UsageError(f"unknown game {choice.name!r}; `kibitz game list` lists them")
    if 2 not in games[choice.name].info.seats or games[choice.name].info.hidden:
        raise click.UsageError(f"{choice.name} is not a game for two without hidden information")
    return games[choice.name]


def _engine(spec: str) -> EngineBot:
    """Return the engine of the bot `spec`; refuse bots that do not search."""
    bot = load(spec)()
    if not isinstance(bot, EngineBot):
        raise click.UsageError(f"{spec!r} is not an engine; choose a bot that searches")
    return bot


def _openings(game: Game, options: Options, path: Path | None) -> list[Options]:
    if path is None:
        return []
    try:
        return read_openings(game, options, 2, path.name, path.read_bytes())
    except (GameError, ValueError) as error:
        raise click.ClickException(f"{path}: {error}") from error


def _stop_rule(a: str, b: str, elo: tuple[float, float]) -> StopRule:
    if not elo[0] < elo[1]:
        raise click.UsageError("--elo: expected ELO0 below ELO1")
    return StopRule(better=(a, b), elo0=elo[0], elo1=elo[1])
