"""`kibitz host`: a lobby and its programme on a running server."""

from __future__ import annotations

import json
import sys
from typing import Any, Literal

import click

from kibitz import connection, notation, report
from kibitz.connection import identity_options, server_option
from kibitz.course import Course
from kibitz.notation import GameChoice
from kibitz.running import draining, run
from kibitz_protocol.client import Client
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.records import Conduct
from kibitz_protocol.rooms import LobbySettings, ProgrammeItem, SeatSpec


def programme(
    games: tuple[GameChoice, ...],
    seats: int,
    numbers: tuple[int, ...],
    each: int,
    clock: TimeControl,
    seed: int | None,
    rotate: bool,
) -> list[ProgrammeItem]:
    """Return an item for each game and each number of players; all the seats where none is said."""
    return [
        ProgrammeItem(
            game=game.name,
            options=game.options,
            seats=number,
            games=each,
            rotate=rotate,
            time_control=clock,
            seed=seed,
        )
        for game in games
        for number in (numbers or (seats,))
    ]


@click.command(short_help="Open a lobby with a programme of matches.")
@click.argument("games", nargs=-1, required=True, type=notation.GAME, metavar="GAME[:OPTIONS]...")
@click.option(
    "--seats",
    default="open,open",
    show_default=True,
    type=notation.SEATS,
    help="open, house=GAME/BOT or name=NAME, with commas; 3xopen for three.",
)
@click.option("--players", multiple=True, type=click.IntRange(1, 16), help="Seats of a match.")
@click.option("--games", "each", default=1, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--tc", default="none", type=notation.TIME_CONTROL, help="10+0.1, move=1, none, ...")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of each item's first match.")
@click.option("--rotate/--fixed", default=True, help="Whether seats change from match to match.")
@click.option("--at-once", default=4, show_default=True, type=click.IntRange(1, 1000))
@click.option("--title", default="lobby", show_default=True, help="The lobby's name.")
@click.option("--unlisted", is_flag=True, help="Do not show the lobby in lists.")
@click.option("--invite", "joinable", flag_value="invite", help="Only with the invite code.")
@click.option("--closed", "joinable", flag_value="closed", help="Only for reserved seats.")
@click.option("--unwatched", is_flag=True, help="No spectators in the lobby.")
@click.option(
    "--spectate",
    default="public",
    show_default=True,
    metavar="MODE",
    help="What spectators see: off, public, referee, shoulder=SEAT.",
)
@click.option("--delay", metavar="N|Ns", help="How late they see it: 3 plies, or 10s.")
@click.option("--grace", default=60.0, show_default=True, help="Seconds that a lost seat is kept.")
@click.option("--stand-in", metavar="BOT", help="House bot that plays on for who stays away.")
@click.option("--wait/--no-wait", default=True, help="Follow the programme to its end.")
@server_option
@identity_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def host(games: tuple[GameChoice, ...], as_json: bool, wait: bool, **given: Any) -> None:
    """Open a lobby that plays each GAME, and follow it to its end.

    \b
    kibitz host chinese-checkers --seats open,house=chinese-checkers/greedy-hand
    kibitz host chinese-checkers:size=3 --seats 6xopen --players 2 --players 6 --games 10
    """
    settings = _settings(games, given)
    client = connection.client(given["server"], given["name"], given["token_file"])
    sys.exit(run(_host(client, settings, as_json=as_json, wait=wait)))


def _settings(games: tuple[GameChoice, ...], given: dict[str, Any]) -> LobbySettings:
    seats: list[SeatSpec] = given["seats"]
    joinable: Literal["open", "invite", "closed"] = given["joinable"] or "open"
    try:
        return LobbySettings(
            name=given["title"],
            listed=not given["unlisted"],
            joinable=joinable,
            watchable=not given["unwatched"],
            seats=seats,
            programme=programme(
                games,
                len(seats),
                given["players"],
                given["each"],
                given["tc"],
                given["seed"],
                given["rotate"],
            ),
            at_once=given["at_once"],
            conduct=_conduct(given["grace"], given["stand_in"]),
            spectating=notation.spectating(given["spectate"], given["delay"]),
        )
    except ValueError as error:
        raise click.UsageError(notation.sentence(error)) from None


def _conduct(grace: float, stand_in: str | None) -> Conduct:
    leave: Literal["forfeit", "replace"] = "replace" if stand_in else "forfeit"
    return Conduct(grace_ms=int(grace * 1000), on_leave=leave, stand_in=stand_in)


async def _host(client: Client, settings: LobbySettings, *, as_json: bool, wait: bool) -> int:
    """Open the lobby, tell how to come in, and follow it; return the exit status."""
    async with client:
        opened = await client.host(settings)
        assert opened.lobby is not None
        course = Course(opened.lobby)
        invite = opened.invite if settings.joinable == "invite" else None
        _opened(course.lobby, invite, client.url, as_json=as_json)
        if not wait:
            return 0
        await client.join(course.lobby, role="spectator")
        async with draining(lambda: course.close(client)):
            async for line in course.follow(client):
                if not as_json:
                    click.echo(line)
        await course.close(client)  # so that the bots need not wait for a rematch
        _over(course, as_json=as_json)
    return 1 if report.abnormal(course.matches) else 0


def _opened(lobby: str, invite: str | None, url: str, *, as_json: bool) -> None:
    if as_json:
        return click.echo(json.dumps({"lobby": lobby, "invite": invite}))
    code = f" --invite {invite}" if invite else ""
    click.echo(f"lobby {lobby} is open; come in with")
    click.echo(f"  kibitz bot mybot.py --server {url} --lobby {lobby}{code}")
    click.echo(f"  kibitz join {lobby} --server {url}{code}")
    return click.echo(f"  kibitz watch {lobby} --server {url}")


def _over(course: Course, *, as_json: bool) -> None:
    click.echo(json.dumps(course.summary()) if as_json else f"\n{course.tables()}")
