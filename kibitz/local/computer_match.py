"""A match of the user against the computer in the terminal, on a private server."""

from __future__ import annotations

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options.notation import GameChoice
from kibitz.options.record import is_screen
from kibitz.options.session import exit_with
from kibitz.process.event_loop import run
from kibitz.process.private_server import private_server
from kibitz_bots.levels import levels
from kibitz_games.core import registry, rulebook
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, ProgrammeItem, ReservedSeat


def settings(game: GameChoice, level: int, control: TimeControl, name: str) -> LobbySettings:
    """Return the settings of a lobby for the user and the computer.

    The number of seats is the game's minimum. Raises `click.UsageError` if the game has no such
    level.
    """
    seats = min(registry.get(game.name).info.seats)
    ladder = levels(game.name, seats)
    if not 1 <= level <= len(ladder):
        there = f"levels 1 to {len(ladder)}" if ladder else "no levels: name bots to play against"
        raise click.UsageError(f"{game.name} has {there}")
    bots = [HouseSeat(personality=ladder[level - 1].bot) for _ in range(seats - 1)]
    item = ProgrammeItem(
        game=game.name,
        options=game.options,
        seats=seats,
        games=1,
        rotate=False,
        time_control=control,
    )
    return LobbySettings(
        name=f"{game.name}, level {level}",
        seats=[ReservedSeat(name=name), *bots],
        programme=[item],
        auto_start=True,
    )


def play_computer(game: GameChoice, level: int, control: TimeControl) -> None:
    """Play one match in the terminal; fail without a terminal."""
    if not is_screen(plain=False):
        raise click.UsageError("name BOTS, or run this in a terminal to play against the computer")
    name = connection.login()
    exit_with(run(_play(settings(game, level, control, name), name)))


async def _play(lobby: LobbySettings, name: str) -> str | None:
    """Host the lobby, take the seat, and show it; return the message that the screen ended with."""
    from kibitz_clients.tui.kibitz_app import KibitzApp

    async with private_server(options=["--pace", "0.5"]) as server:
        async with Client(server.url, name=name, kind="human", agent="kibitz") as client:
            key = (await client.hosting.host(lobby)).lobby
            assert key is not None, "a hosted lobby has a key"
            await client.join(key)
            await client.ready(key)
            resume = client.welcome.resume

        def connect() -> Client:
            return connection.client(
                server.url, name, None, resume=resume, seated=True, views="every"
            )

        return await KibitzApp(
            load_games("plain"),
            connect,
            lobby=key,
            play=True,
            follow=True,
            server_label=server.url,
            rules=rulebook.page,
        ).run_async()
