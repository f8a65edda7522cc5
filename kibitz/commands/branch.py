"""`kibitz record branch`: continue a match from any ply with another bot in one seat."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options.analysis import (
    EXIT_FAULT,
    bot_option,
    comparing,
    loaded_bot,
    ms_option,
    record_argument,
)
from kibitz.options.connection import identity_options, server_option
from kibitz.options.output_path import OutputPath
from kibitz.options.record import SEAT, require_seat, seat_from_zero
from kibitz.output import echo, echo_json
from kibitz.process.event_loop import run
from kibitz.text import progress_bar
from kibitz_bots.number_types import NATURAL, SEED

if TYPE_CHECKING:
    from kibitz.analysis.branch import BranchOutcome, BranchPlan
    from kibitz_games.core.game import Game
    from kibitz_protocol.client.client import Client
    from kibitz_protocol.wire.recordfile import Record
    from kibitz_server.match.state import MatchState


@click.command(short_help="Continue a match from any ply with another bot.")
@record_argument
@click.option("--ply", type=NATURAL, required=True, help="Begin after this many plies.")
@click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    required=True,
    help="The seat whose player is replaced, counted from 1.",
)
@bot_option("--with", "bot", required=True, help="The bot that plays in that seat.")
@bot_option(
    "--others",
    multiple=True,
    required=True,
    help="Bots of the other seats: one for all, or one for each in seat order.",
)
@click.option(
    "--games",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Games to play.",
)
@ms_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed.")
@click.option(
    "--records",
    type=OutputPath(directory=True),
    help="Write the record of each game into this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@server_option
@identity_options
def branch(
    source: str,
    ply: int,
    seat: int,
    bot: str,
    others: tuple[str, ...],
    games: int,
    ms: int,
    seed: int,
    records: Path | None,
    as_json: bool,
    server: str,
    name: str | None,
    token_file: Path | None,
) -> None:
    """Continue RECORD from --ply many times with BOT in --seat, and count the results.

    RECORD is a file, a finished match on a server, or a running one without hidden information. The
    games run in this process, without clocks. The same --seed gives the same games unless a bot's
    play depends on time. Games in which another seat failed are not counted. The exit status is 3
    if a bot crashed or did not answer with a legal move.

    \b
    kibitz record branch lost.jsonl --ply 12 --seat 2 --with mybot.py --others line-nim/solver
    """
    from kibitz.analysis import branch as games_from_ply

    with comparing():
        client = connection.client(server, name, token_file, views="every")
        start, record = _start(source, client, ply)
        require_seat(seat, len(start.players))
        plan = games_from_ply.BranchPlan(
            ply=ply,
            bots=games_from_ply.plan_seats(start, seat, bot, others),
            seat=seat,
            games=games,
            ms=ms,
            seed=seed,
        )
        for spec in {*plan.bots.values()}:
            loaded_bot(spec, start.setup.game)
        _make_folder(records, record)
        with progress_bar.shown() as progress:
            outcome = games_from_ply.branch(
                start,
                plan,
                record=record,
                records=records,
                on_game=lambda number, result: progress.progress(
                    number, games, f"place {result.seats[seat].rank}"
                ),
            )
    if as_json:
        echo_json(json.dumps(_fields(plan, outcome)))
    else:
        for line in _lines(plan, outcome):
            echo(line)
    sys.exit(EXIT_FAULT if outcome.faults else 0)


def _make_folder(records: Path | None, record: Record | None) -> None:
    """Create the folder of `--records`, which requires a finished match."""
    if records is None:
        return
    if record is None:
        raise ValueError("--records needs a finished match")
    records.mkdir(parents=True, exist_ok=True)


def _start(source: str, client: Client, ply: int) -> tuple[MatchState, Record | None]:
    """Return the match after `ply` plies, and its record if it comes from a file or is over."""
    from kibitz.analysis import record_source
    from kibitz.analysis.recorded_turns import game_of, turn_at

    games = load_games("compiled")
    if record_source.is_file(source):
        record = record_source.read(source)
        return turn_at(game_of(record, games), record, ply).before, record
    return run(_start_at_server(source, client, ply, games))


async def _start_at_server(
    match: str, connecting: Client, ply: int, games: Mapping[str, Game]
) -> tuple[MatchState, Record | None]:
    from kibitz.analysis.recorded_turns import game_of, turn_at
    from kibitz.analysis.watched_match import match_at, snapshot_of
    from kibitz_clients.matches.fetch import fetch_record
    from kibitz_protocol.client.errors import RefusedError

    async with connecting as client:
        try:
            snapshot = await snapshot_of(client, match)
        except RefusedError as error:
            if error.code != "over":
                raise
        else:
            return await match_at(client, games[snapshot.game], snapshot, ply), None
    record = await fetch_record(connecting.url, match)
    return turn_at(game_of(record, games), record, ply).before, record


def _lines(plan: BranchPlan, outcome: BranchOutcome) -> list[str]:
    games, counted = plan.games, len(outcome.scores)
    number = f"{games} games" if counted == games else f"{counted} of {games} games counted"
    places = ", ".join(f"place {rank}: {count}" for rank, count in sorted(outcome.ranks.items()))
    lines = [
        f"{plan.bots[plan.seat]} in seat {plan.seat + 1} from ply {plan.ply}, {number}:"
        f" {_score(outcome)}",
        f"{places or 'no places'}; {len(outcome.lines)} different games",
    ]
    for seat, counts in sorted(outcome.faults.items()):
        faults = ", ".join(f"{cause} {count}" for cause, count in sorted(counts.items()))
        lines.append(f"failed: {plan.bots[seat]} in seat {seat + 1}: {faults}")
    if outcome.recorded is not None:
        was = outcome.recorded.seats[plan.seat]
        lines.append(f"in the match the seat scored {was.score:.3f}, place {was.rank}")
    return lines


def _score(outcome: BranchOutcome) -> str:
    if not outcome.scores:
        return "no score because another seat failed in every game"
    low, high = outcome.interval
    return f"score {outcome.mean:.3f} ({low:.3f} to {high:.3f})"


def _fields(plan: BranchPlan, outcome: BranchOutcome) -> dict[str, object]:
    was = outcome.recorded.seats[plan.seat] if outcome.recorded else None
    return {
        "ply": plan.ply,
        "seat": plan.seat,
        "bots": {str(seat): spec for seat, spec in sorted(plan.bots.items())},
        "games": plan.games,
        "ms": plan.ms,
        "seed": plan.seed,
        "counted": len(outcome.scores),
        "score": outcome.mean if outcome.scores else None,
        "interval": list(outcome.interval) if outcome.scores else None,
        "places": {str(rank): count for rank, count in sorted(outcome.ranks.items())},
        "different_games": len(outcome.lines),
        "faults": {str(seat): dict(counts) for seat, counts in sorted(outcome.faults.items())},
        "recorded_score": None if was is None else was.score,
    }
