"""`kibitz seek`: find opponents who seek the same match or accept this seek."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from kibitz.builtin_games import player_counts
from kibitz.options import connection, notation
from kibitz.options import match as options_match
from kibitz.options.connection import fresh_option, identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz.options.notation import GameChoice
from kibitz.options.saved_sessions import Tell
from kibitz.options.session import play_in_terminal
from kibitz.output import tell
from kibitz.process.event_loop import run
from kibitz_bots.number_types import COUNT
from kibitz_clients.wording import tables
from kibitz_protocol.client.client import Connector
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbyBrief, ProgrammeItem, SeekTerms

_HEADS = ("code", "by", "game", "clock", "seats", "rated", "options")


@click.command(short_help="Find opponents for a game.")
@click.argument("game", required=False, type=notation.GAME, metavar="[GAME[:OPTIONS]]")
@click.option(
    "--players",
    type=click.IntRange(2, 16),
    help="Players per match; by default the game's minimum.",
)
@options_match.games_option
@options_match.clock_option
@click.option("--rated", is_flag=True, help="Count for the server's ratings; needs an account.")
@click.option(
    "--wait",
    "wait_s",
    default=300,
    show_default=True,
    type=click.IntRange(10, 3600),
    metavar="S",
    help="How long to wait for an opponent, and for a rematch.",
)
@click.option("--bot", metavar="BOT", help="Let this bot play: a house bot or a file.")
@click.option(
    "--rounds",
    default=1,
    show_default=True,
    type=COUNT,
    help="How many times the bot plays, by rematches or new seeks.",
)
@fresh_option
@server_option
@identity_options
@json_option
def seek(game: GameChoice | None, as_json: bool, **given: Any) -> None:
    """Play GAME with another player who seeks the same match, now or as soon as one appears.

    Others see an open seek with this command and in the list of lobbies. They accept it by seeking
    the same match or with `kibitz join CODE`. After the match any player may ask for a rematch (m
    in the terminal). Without GAME, the command lists the open seeks.

    \b
    kibitz seek
    kibitz seek five-in-a-row:size=10 --tc 60+1
    kibitz seek line-nim --bot mybot.py --rounds 3
    """
    server = given["server"]
    if game is None:
        client = connection.client(server, given["name"], given["token_file"])
        briefs = ask(client, lambda asked: asked.hall.lobbies()).lobbies
        return print_lines(seek_lines(briefs, as_json=as_json), as_json=as_json)
    terms = SeekTerms(item=_item(game, given), rated=given["rated"])
    if given["bot"] is not None:
        os.execv(sys.executable, bot_command(terms, given))
    return _play_in_terminal(terms, given)


def seek_lines(briefs: Sequence[LobbyBrief], *, as_json: bool) -> list[str]:
    """Return a line for each seek that can still be joined."""
    open_ = [
        (brief, brief.seek)
        for brief in briefs
        if brief.seek is not None and brief.state == "gathering" and brief.members < brief.places
    ]
    if as_json:
        return [brief.model_dump_json() for brief, _ in open_]
    rows = [
        (
            brief.lobby,
            brief.host,
            terms.item.game,
            str(terms.item.time_control),
            f"{brief.members}/{brief.places}",
            "yes" if terms.rated else "no",
            " ".join(f"{key}={value}" for key, value in terms.item.options.items()),
        )
        for brief, terms in open_
    ]
    return tables.format_table(_HEADS, rows) if rows else ["no open seeks"]


def _item(game: GameChoice, given: dict[str, Any]) -> ProgrammeItem:
    clock: TimeControl = given["tc"]
    offered = [count for count in player_counts(game.name) or (2,) if count > 1]
    seats = given["players"] or min(offered, default=2)
    return ProgrammeItem(
        game=game.name,
        options=game.options,
        seats=seats,
        games=given["each"],
        rotate=options_match.rotates(game.name, given["each"], rotate=True),
        time_control=clock,
    )


def bot_command(terms: SeekTerms, given: Mapping[str, Any]) -> list[str]:
    """Return the `kibitz connect` command line that seeks and plays with the bot."""
    words = [sys.executable, "-P", "-m", "kibitz", "connect", given["bot"]]
    words += ["--seek", terms.model_dump_json(), "--seek-wait", str(given["wait_s"])]
    words += ["--server", given["server"], "--rounds", str(given["rounds"])]
    words += ["--name", given["name"]] if given["name"] else []
    return words + (["--token-file", str(given["token_file"])] if given["token_file"] else [])


def _play_in_terminal(terms: SeekTerms, given: dict[str, Any]) -> None:
    """Seek as a human player, and open the lobby in the terminal."""
    server = given["server"]

    def take_seat(connect: Connector, _: Tell) -> tuple[Connector, str]:
        async def sought() -> str:
            async with connect() as client:
                done = await client.seek(terms, wait_s=given["wait_s"])
            assert done.lobby is not None, "a seek is answered with its lobby"
            return done.lobby

        lobby = run(sought())
        tell(f"lobby {lobby}; others join with: kibitz join {lobby} --server {server}")
        return connect, lobby

    play_in_terminal(
        server,
        given["name"],
        given["token_file"],
        fresh=given["fresh"],
        instead="use --bot to let a bot play",
        take_seat=take_seat,
    )
