"""`kibitz host`: a lobby and its programme on a running server."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from kibitz import connection, notation, report, terms
from kibitz.box import players
from kibitz.connection import identity_options, server_option
from kibitz.course import Course
from kibitz.notation import GameChoice
from kibitz.running import draining, run
from kibitz_protocol.client import Client
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.records import Conduct
from kibitz_protocol.rooms import HouseSeat, LobbySettings, ProgrammeItem, SeatSpec


def programme(
    games: Sequence[GameChoice],
    seats: Sequence[SeatSpec],
    numbers: Sequence[int],
    each: int | None,
    clock: TimeControl,
    seed: int | None,
    rotate: bool,
) -> list[ProgrammeItem]:
    """Return an item for each game and each number of players that it is for.

    Where no numbers are said it is one item a game, for as many of the seats as can play it.
    Raises `ValueError` for a number that none of the games is for, and a game for none of them.
    """
    _require_players(games, numbers)
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
        for number in (_offered(game, numbers) or [most_seats(game.name, seats)])
    ]


def most_seats(game: str, seats: Sequence[SeatSpec]) -> int:
    """Return the largest number of players of `game` for whom there are seats.

    A house bot plays its own game only. It is all who can play where the game is not known
    here, or none of its numbers fits: then the server says what it expected.
    """
    able = sum(1 for seat in seats if _plays(seat, game))
    offered = players(game)
    return max((number for number in offered or () if number <= able), default=able or len(seats))


def _plays(seat: SeatSpec, game: str) -> bool:
    return not isinstance(seat, HouseSeat) or seat.personality.startswith(f"{game}/")


def _offered(game: GameChoice, numbers: Sequence[int]) -> list[int]:
    """Return which of the numbers a game is for; all where it is not known here."""
    known = players(game.name)
    return [number for number in numbers if known is None or number in known]


def _require_players(games: Sequence[GameChoice], numbers: Sequence[int]) -> None:
    said = " or ".join(map(str, numbers))
    for game in games:
        if numbers and not _offered(game, numbers):
            expected = ", ".join(map(str, players(game.name) or ()))
            raise ValueError(f"{game.name} is for {expected} players, not {said}")
    for number in numbers:
        if not any(_offered(game, [number]) for game in games):
            raise ValueError(f"none of the games is for {number} players")


@click.command(short_help="Open a lobby with a programme of matches.")
@click.argument("games", nargs=-1, required=True, type=notation.GAME, metavar="GAME[:OPTIONS]...")
@click.option(
    "--seats",
    default="open,open",
    show_default=True,
    type=notation.SEATS,
    help="open, house=GAME/BOT or name=NAME, with commas; 3xopen for three.",
)
@click.option(
    "--players",
    multiple=True,
    type=click.IntRange(1, 16),
    help="Seats of a match; as many as can be filled if not said.",
)
@terms.games_option
@terms.clock_option
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of each item's first match.")
@terms.rotate_option
@click.option("--at-once", default=4, show_default=True, type=click.IntRange(1, 1000))
@click.option("--title", default="lobby", show_default=True, help="The lobby's name.")
@click.option("--rated", is_flag=True, help="Count the matches on the server's ladder.")
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
@terms.strict_option
@click.option("--wait/--no-wait", default=True, help="Follow the programme to its end.")
@click.option(
    "--records",
    type=click.Path(path_type=Path, file_okay=False),
    help="Fetch the record of every match into this directory.",
)
@server_option
@identity_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def host(
    games: tuple[GameChoice, ...], as_json: bool, wait: bool, records: Path | None, **given: Any
) -> None:
    """Open a lobby that plays each GAME, and follow it to its end.

    `kibitz games NAME` explains a game and its options.

    \b
    kibitz host chinese-checkers --seats open,house=chinese-checkers/greedy-hand
    kibitz host chinese-checkers:size=3 --seats 6xopen --players 2 --players 6 --games 10
    """
    settings = _settings(games, given)
    client = connection.client(given["server"], given["name"], given["token_file"])
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    sys.exit(run(_host(client, settings, records, as_json=as_json, wait=wait)))


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
                seats,
                given["players"],
                given["each"],
                given["tc"],
                given["seed"],
                given["rotate"],
            ),
            at_once=given["at_once"],
            rated=given["rated"],
            conduct=_conduct(given["grace"], given["stand_in"], strict=given["strict"]),
            spectating=notation.spectating(given["spectate"], given["delay"]),
        )
    except ValueError as error:
        raise click.UsageError(notation.sentence(error)) from None


def _conduct(grace: float, stand_in: str | None, *, strict: bool) -> Conduct:
    leave: Literal["forfeit", "replace"] = "replace" if stand_in else "forfeit"
    return Conduct(
        grace_ms=int(grace * 1000),
        on_leave=leave,
        stand_in=stand_in,
        max_illegal=terms.most_illegal(strict=strict),
    )


async def _host(
    client: Client, settings: LobbySettings, records: Path | None, *, as_json: bool, wait: bool
) -> int:
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
        if records is not None:
            await course.fetch(client.url, records)
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
