"""`kibitz match shadow`: ask a bot for its move at every turn of a seat of a running match."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options.analysis import EXIT_FAULT, comparing, loaded_bot, ms_option
from kibitz.options.connection import identity_options, server_option
from kibitz.options.record import SEAT, require_seat, seat_from_zero
from kibitz.output import echo, echo_json
from kibitz.process.event_loop import run

if TYPE_CHECKING:
    from kibitz.analysis.shadow import ShadowAnswer
    from kibitz_bots.spec import BotFactory
    from kibitz_games.core.game import Game
    from kibitz_protocol.client.client import Client


@click.command(short_help="Ask a bot for its move at each turn of a live match.")
@click.argument("bot", metavar="BOT")
@click.option(
    "--match", required=True, metavar="ID", help="The match, as listed by `kibitz match list`."
)
@click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    required=True,
    help="The seat, counted from 1.",
)
@ms_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@server_option
@identity_options
def shadow(
    bot: str,
    match: str,
    seat: int,
    ms: int,
    as_json: bool,
    server: str,
    name: str | None,
    token_file: Path | None,
) -> None:
    """Print the move that BOT would play at each turn of --seat while the match runs.

    The bot sees what spectators see. In games with hidden information this works only if the host
    lets spectators look over the shoulder of that seat. The bot's answers are not sent to the
    server. The exit status is 3 if the bot crashed or did not answer with a legal move.
    """
    with comparing():
        client = connection.client(server, name, token_file, views="every")
        failed = run(_follow(client, match, seat, loaded_bot(bot), ms, as_json))
    sys.exit(EXIT_FAULT if failed else 0)


async def _follow(
    connecting: Client, match: str, seat: int, factory: BotFactory, ms: int, as_json: bool
) -> int:
    """Follow a match; return the number of turns at which the bot failed."""
    from kibitz.analysis.seated_bot import prepare_for
    from kibitz.analysis.shadow import Shadow
    from kibitz.analysis.watched_match import WatchedMatch, snapshot_of
    from kibitz_protocol.wire.lobbies import ProgrammeItem

    games: Mapping[str, Game] = load_games("compiled")
    async with connecting as client:
        snapshot = await snapshot_of(client, match)
        require_seat(seat, len(snapshot.seats))
        watched = WatchedMatch(games[snapshot.game], snapshot, seat)
        item = ProgrammeItem(
            game=snapshot.game, options=snapshot.options, seats=len(snapshot.seats)
        )
        prepare_for(factory(), item)
        asked = Shadow(watched, factory(), ms)
        async for answer in asked.follow(snapshot, client.news()):
            echo_json(_json(answer)) if as_json else echo(_line(answer))
    failed = sum(not answer.legal for answer in asked.answers)
    if not as_json:
        agreed = sum(answer.agrees for answer in asked.answers)
        trouble = f"; failures of the bot: {failed}" if failed else ""
        echo(f"{agreed} of {len(asked.answers)} answers match the move played{trouble}")
    return failed


def _line(answer: ShadowAnswer) -> str:
    from kibitz_clients.wording.descriptions import value_text

    value = value_text(answer.comment)
    played = answer.played or "nothing"
    outcome = f"as played: {played}" if answer.agrees else f"{answer.answer}; played: {played}"
    return f"{answer.ply:>4}  {outcome}  {value}"


def _json(answer: ShadowAnswer) -> str:
    comment = answer.comment.model_dump(exclude_none=True)
    return json.dumps(
        {
            "ply": answer.ply,
            "answer": answer.answer,
            "legal": answer.legal,
            "played": answer.played,
            "agrees": answer.agrees,
            **comment,
        }
    )
