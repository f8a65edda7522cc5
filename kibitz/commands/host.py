"""`kibitz host`: open a lobby with a programme on a running server."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from kibitz.builtin_games import player_counts
from kibitz.options import connection, notation
from kibitz.options import match as options_match
from kibitz.options import saved_sessions as sessions
from kibitz.options.connection import fresh_option, identity_options, server_option
from kibitz.options.notation import GameChoice
from kibitz.options.output_path import OutputPath
from kibitz.options.saved_sessions import HostedLobby, SavedSession
from kibitz.output import echo, echo_json, tell
from kibitz.process.event_loop import draining, run
from kibitz.text import result_tables
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_bots.number_types import DURATION, SEED
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.lobbies import (
    HouseSeat,
    LobbySettings,
    ProgrammeItem,
    SeatSpec,
)
from kibitz_protocol.wire.records import Branch, Conduct, Spectating

NOTE_S = 3.0
"""Seconds without an answer after which to say what the server is probably doing."""


def programme(
    games: Sequence[GameChoice],
    seats: Sequence[SeatSpec],
    numbers: Sequence[int],
    each: int | None,
    clock: TimeControl,
    seed: int | None,
    rotate: bool,
) -> list[ProgrammeItem]:
    """Return an item for each game and each player count in `numbers` that the game supports.

    Without `numbers` each game gets one item, with as many players as the lobby's seats allow.
    Raises `ValueError` for a count that no game supports, and for a game that supports none of the
    counts.
    """
    _require_players(games, numbers)
    return [
        ProgrammeItem(
            game=game.name,
            options=game.options,
            seats=number,
            games=each,
            rotate=options_match.rotates(game.name, each, rotate=rotate),
            time_control=clock,
            seed=seed,
        )
        for game in games
        for number in (_offered_counts(game, numbers) or [most_seats(game.name, seats)])
    ]


def most_seats(game: str, seats: Sequence[SeatSpec]) -> int:
    """Return the largest player count of `game` that the seats can fill.

    A house bot plays only its own game. If the game is unknown here or no count fits, the result is
    the number of seats that can play; the server then rejects a wrong count with a clear error.
    """
    able = sum(1 for seat in seats if _can_play(seat, game))
    offered = player_counts(game)
    return max((number for number in offered or () if number <= able), default=able or len(seats))


def _can_play(seat: SeatSpec, game: str) -> bool:
    return not isinstance(seat, HouseSeat) or seat.personality.startswith(f"{game}/")


def _offered_counts(game: GameChoice, numbers: Sequence[int]) -> list[int]:
    """Return the numbers that are player counts of the game; all if the game is unknown here."""
    known = player_counts(game.name)
    return [number for number in numbers if known is None or number in known]


def _require_players(games: Sequence[GameChoice], numbers: Sequence[int]) -> None:
    expected_counts = " or ".join(map(str, numbers))
    for game in games:
        if numbers and not _offered_counts(game, numbers):
            expected = ", ".join(map(str, player_counts(game.name) or ()))
            raise ValueError(f"{game.name} is for {expected} players, not {expected_counts}")
    for number in numbers:
        if not any(_offered_counts(game, [number]) for game in games):
            raise ValueError(f"none of the games is for {number} players")


@click.command(short_help="Open a lobby with a programme of matches.")
@click.argument("games", nargs=-1, required=True, type=notation.GAME, metavar="GAME[:OPTIONS]...")
@click.option(
    "--seats",
    default="open,open",
    show_default=True,
    type=notation.SEATS,
    help="Comma-separated: open, house=GAME/BOT or name=NAME; 3xopen means three open seats.",
)
@click.option(
    "--players",
    multiple=True,
    type=click.IntRange(1, 16),
    help="Players per match; by default as many as the seats allow.",
)
@options_match.games_option
@options_match.clock_option
@click.option(
    "--branch",
    type=notation.BRANCH,
    help="Play on from this ply of a finished match, with its options.",
)
@click.option("--seed", type=SEED, help="Random seed of each item's first match.")
@options_match.rotate_option
@options_match.at_once_option(4)
@click.option("--title", default="lobby", show_default=True, help="The lobby's name.")
@click.option("--rated", is_flag=True, help="Count for the server's ratings; needs an account.")
@click.option("--unlisted", is_flag=True, help="Hide the lobby from lists.")
@click.option(
    "--invite", "joinable", flag_value="invite", help="Admit only players with the invite code."
)
@click.option(
    "--closed", "joinable", flag_value="closed", help="Admit only players with a reserved seat."
)
@click.option("--unwatched", is_flag=True, help="Admit no spectators.")
@click.option(
    "--spectate",
    default="public",
    show_default=True,
    metavar="MODE",
    help="What spectators see: off, public, referee, or shoulder=SEAT (counted from 1).",
)
@click.option(
    "--delay",
    metavar="N|Ns",
    help="Delay for spectators: plies, such as 3, or seconds, such as 10s.",
)
@click.option(
    "--comments",
    type=click.Choice(["none", "after", "spectators", "everybody"]),
    default="after",
    show_default=True,
    help="Who sees the bots' comments on their moves before the end; none disables comments.",
)
@click.option(
    "--grace",
    type=DURATION,
    default=60.0,
    show_default=True,
    help="Seconds to keep the seat of a disconnected player.",
)
@click.option(
    "--lag-bank",
    type=click.IntRange(0, 60_000),
    metavar="MS",
    help="Milliseconds of network lag forgiven per seat at the start; 0 forgives none."
    f" The default is {Lag().bank_ms}, and each move adds {Lag().refill_ms}.",
)
@click.option("--stand-in", metavar="BOT", help="House bot that replaces a player who leaves.")
@options_match.strict_option
@click.option("--wait/--no-wait", default=True, help="Follow the programme to its end.")
@click.option(
    "--records",
    type=OutputPath(directory=True),
    help="Download the record of every match into this directory.",
)
@fresh_option
@server_option
@identity_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def host(
    games: tuple[GameChoice, ...], as_json: bool, wait: bool, records: Path | None, **given: Any
) -> None:
    """Open a lobby that plays each GAME, and follow it to its end.

    `kibitz game show NAME` explains a game and its options. If the terminal closes, the same
    command continues with the lobby it opened; --fresh opens a new one.

    \b
    kibitz host chinese-checkers --seats open,house=chinese-checkers/greedy-hand
    kibitz host connect-four --branch abc-1-1@12 --seats open,house=connect-four/mcts
    kibitz host chinese-checkers:size=3 --seats 6xopen --players 2 --players 6 --games 10
    """
    settings = _settings(games, given)
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    for game in games:
        if note := options_match.unbalanced_note(game.name, given["each"]):
            tell(note)
    house = _LobbyHost(settings, given, records, as_json=as_json)
    sys.exit(run(house.follow() if wait else house.open()))


def _settings(games: tuple[GameChoice, ...], given: dict[str, Any]) -> LobbySettings:
    seats: list[SeatSpec] = given["seats"]
    joinable: Literal["open", "invite", "closed"] = given["joinable"] or "open"
    branch: Branch | None = given["branch"]
    try:
        return LobbySettings(
            branch=branch,
            name=given["title"],
            listed=not given["unlisted"],
            joinable=joinable,
            watchable=not given["unwatched"],
            seats=seats,
            programme=programme(
                games,
                seats,
                given["players"],
                given["each"] if branch is None else 1,
                given["tc"],
                given["seed"],
                given["rotate"] and branch is None,
            ),
            at_once=given["at_once"],
            rated=given["rated"],
            conduct=_conduct(given["grace"], given["stand_in"], strict=given["strict"]),
            lag=_lag(given["lag_bank"]),
            spectating=_spectating(given, len(seats)),
        )
    except ValueError as error:
        raise click.UsageError(notation.error_message(error)) from None


def _spectating(given: dict[str, Any], seats: int) -> Spectating:
    spectating = notation.parse_spectating(given["spectate"], given["delay"], given["comments"])
    if spectating.seat is not None and spectating.seat >= seats:
        raise ValueError(f"expected shoulder=SEAT with a seat from 1 to {seats}")
    return spectating


def _conduct(grace: float, stand_in: str | None, *, strict: bool) -> Conduct:
    leave: Literal["forfeit", "replace"] = "replace" if stand_in else "forfeit"
    return Conduct(
        grace_ms=int(grace * 1000),
        on_leave=leave,
        stand_in=stand_in,
        max_illegal=options_match.max_illegal(strict=strict),
    )


def _lag(bank_ms: int | None) -> Lag:
    if bank_ms is None:
        return Lag()
    return Lag(bank_ms=bank_ms, refill_ms=Lag().refill_ms if bank_ms else 0)


class _LobbyHost:
    """A host that opens a lobby, or continues with the lobby of an earlier process."""

    def __init__(
        self, settings: LobbySettings, given: dict[str, Any], records: Path | None, *, as_json: bool
    ) -> None:
        self._settings = settings
        self._server: str = given["server"]
        self._name: str | None = given["name"]
        self._token_file: Path | None = given["token_file"]
        self._fresh: bool = given["fresh"]
        self._records = records
        self._as_json = as_json
        # Identifies the lobby in the saved session.
        self._key = hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:32]

    async def open(self) -> int:
        """Open the lobby and disconnect; the host's session is saved for `kibitz lobby`."""
        known = connection.account(self._token_file, self._server) is not None
        with self._saved_for_one() as saved:
            coming = sessions.connect_saved(saved, self._client, tell, account=known)
            async with coming as client:
                opened = await self._open_lobby(client)
                saved.store_hosted(opened.lobby, opened.lobby, opened.invite)
                self._opened(opened, client.url)
        return 0

    async def follow(self) -> int:
        """Open the lobby and follow it to its end; return the exit status."""
        known = connection.account(self._token_file, self._server) is not None
        with self._saved() as saved:
            returning = sessions.connect_saved(saved, self._client, tell, account=known)
            async with returning as client:
                course = LobbyProgress(await self._lobby(client, saved))
                await client.join(course.lobby, role="spectator")
                for brief in (await client.hall.matches(course.lobby)).matches:
                    course.add(brief)
                await self._attend(course, client)
                saved.drop_hosted(self._key)
                if self._name is None:
                    saved.forget()
        return 1 if result_tables.abnormal_endings(course.matches) else 0

    async def _attend(self, course: LobbyProgress, client: Client) -> None:
        async with draining(lambda: course.close(client)):
            async for line in course.follow(client):
                if not self._as_json:
                    echo(line)
        await course.close(client)  # otherwise the bots would wait for a rematch
        if self._records is not None:
            await course.fetch(client.url, self._records)
        _print_summary(course, as_json=self._as_json)

    def _client(self, resume: str | None) -> Client:
        return connection.client(self._server, self._name, self._token_file, resume=resume)

    def _saved_for_one(self) -> SavedSession:
        """Return the session for a lobby that is not followed: the named one or a new guest."""
        if self._name is not None and connection.account(self._token_file, self._server) is None:
            return self._saved()
        who = f"guest host {secrets.token_hex(16)}"
        return SavedSession(self._server, who, tell, fresh=True)

    def _saved(self) -> SavedSession:
        """Return the session of the given name, or a separate session for this lobby.

        So accounts, and guests without a name, can host a lobby from each of several terminals.
        """
        known = connection.account(self._token_file, self._server)
        if known is None and self._name is not None:
            return SavedSession(self._server, f"name {self._name}", tell, fresh=self._fresh)
        who = "guest" if known is None else sessions.account(known)
        return sessions.take_free_identity(
            self._server, f"{who} host {self._key}", tell, fresh=self._fresh
        )

    async def _lobby(self, client: Client, saved: SavedSession) -> str:
        """Return the lobby to follow: the earlier one if it is still open, else a new one."""
        before = saved.hosted(self._key)
        if before is not None and await _is_open(client, before.lobby):
            tell(f"welcome back, {client.name}: lobby {before.lobby} is still open")
            self._opened(before, client.url, again=True)
            return before.lobby
        if before is not None:
            tell(f"your earlier lobby {before.lobby} is closed; opening a new one")
            saved.drop_hosted(self._key)
        new = await self._open_lobby(client)
        saved.store_hosted(self._key, new.lobby, new.invite)
        self._opened(new, client.url)
        return new.lobby

    async def _open_lobby(self, client: Client) -> HostedLobby:
        loop = asyncio.get_running_loop()
        note = loop.call_later(NOTE_S, tell, "waiting for the server, which compiles a game once")
        try:
            opened = await client.hosting.host(self._settings)
        finally:
            note.cancel()
        assert opened.lobby is not None
        invite = opened.invite if self._settings.joinable == "invite" else None
        return HostedLobby(lobby=opened.lobby, invite=invite)

    def _opened(self, hosted: HostedLobby, url: str, *, again: bool = False) -> None:
        lobby, invite = hosted.lobby, hosted.invite
        if self._as_json:
            fields = {"lobby": lobby, "invite": invite} | ({"again": True} if again else {})
            return echo_json(json.dumps(fields))
        code = f" --invite {invite}" if invite else ""
        echo(f"lobby {lobby} is open; connect with")
        echo(f"  kibitz connect mybot.py --server {url} --lobby {lobby}{code}")
        echo(f"  kibitz join {lobby} --server {url}{code}")
        return echo(f"  kibitz watch {lobby} --server {url}")


async def _is_open(client: Client, lobby: str) -> bool:
    """Return whether this lobby is open."""
    briefs = (await client.hall.lobbies()).lobbies
    return any(brief.lobby == lobby and brief.state != "closed" for brief in briefs)


def _print_summary(course: LobbyProgress, *, as_json: bool) -> None:
    if as_json:
        echo_json(json.dumps(course.summary()))
    else:
        echo(f"\n{course.tables()}")
