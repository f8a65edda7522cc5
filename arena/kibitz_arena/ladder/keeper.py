"""The keeper of a ladder: pairs free entrants, requests their games, and records the outcomes.

A keeper works on one lobby and one journal, and can be restarted with both at any time. After a
restart it requests the journal's outstanding games again with the same tags, and the server answers
with their outcomes.

The keeper pairs entrants that are free, connected and ready. An entrant is busy only if it has a
game that is running, or that can start because all its players are present. A game with absent
players waits on the server and does not block the other players.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import (
    Entered,
    Entry,
    GameCancelled,
    GameEnded,
    GameRequested,
    ended_entry,
)
from kibitz_arena.ladder.hosting import settings as lobby_settings
from kibitz_arena.ladder.journal_file import LadderJournal
from kibitz_arena.ladder.pairing import Candidate, Names, Terms, pair, seating
from kibitz_arena.ladder.state import LadderState, PlayedGame
from kibitz_arena.runner.arranged_lobby import (
    ArrangedLobby,
    LobbyGoneError,
    uninterrupted,
)
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import (
    Arrangement,
    HouseSeat,
    LobbySettings,
    LobbyView,
    MatchBrief,
    Member,
)
from kibitz_protocol.wire.refusals import Code

STEP_SECONDS: Final = 0.25
"""The interval between pairings while an entrant is free, in seconds; otherwise four times as
long."""
UNABLE_SECONDS: Final = 30.0
"""How long the players of a rejected game are not paired, in seconds."""
MAX_REQUESTS: Final = 15_000
"""The ladder moves to a new lobby after this many games. The server allows 20,000 per lobby."""
MAX_VERSION: Final = 40
"""The maximum length of the version in an entrant's name; the rest is cut off."""
ABSENT_SECONDS: Final = 1.0
"""How long the players of a game are not paired if it was rejected because one of them had left. By
then, a lobby update shows who left."""
TRANSIENT_REFUSALS: Final = frozenset({Code.RATE_LIMITED, Code.UNAVAILABLE, Code.INTERNAL})
"""Refusals after which the same request is retried a little later."""
GAME_REFUSALS: Final = frozenset(
    {Code.NO_SUCH_PLAYER, Code.BAD_SEATS, Code.BAD_OPTION, Code.WRONG_STATE, Code.LIMIT}
)
"""Refusals that cancel the game: the server does not know its tag and will not play it."""
LOBBY_REFUSALS: Final = frozenset({Code.NO_SUCH_LOBBY, Code.CLOSED, Code.DAMAGED})
"""Refusals that mean that the lobby no longer exists."""

Tell = Callable[[str], None]


def entrant_name(member: Member, view: LobbyView) -> str:
    """Return the entrant's name for a member: ``name@version``, or a house bot's personality."""
    if member.kind == "house":
        seat = view.settings.seats[member.seat]
        return seat.personality if isinstance(seat, HouseSeat) else member.name
    version = member.version[:MAX_VERSION]
    return f"{member.name}@{version}" if version else member.name


def differs(there: LobbySettings, wanted: LobbySettings) -> bool:
    """Return whether a lobby's seats, clock or rated flag differ from the ladder's settings."""
    clocks = [[item.time_control for item in programme.programme] for programme in (there, wanted)]
    return clocks[0] != clocks[1] or (there.seats, there.rated) != (wanted.seats, wanted.rated)


class LadderKeeper:
    """Runs a ladder in one lobby.

    `keep` returns after `stop` is called. `now` returns the time in milliseconds since 1970, and
    `rating` the current rating of an entrant. `on_ended` receives each game that counts, and `tell`
    the log lines for people. `in_thread` runs functions that wait for the disk; `draw` creates
    seeds.
    """

    def __init__(
        self,
        host: Client,
        key: str,
        journal: LadderJournal,
        *,
        now: Callable[[], int],
        rating: Callable[[str], float],
        on_ended: Callable[[PlayedGame], None],
        tell: Tell,
        in_thread: Callable[[Callable[[bytes], None], bytes], Awaitable[None]] = asyncio.to_thread,
        draw: Callable[[], int | str] = lambda: secrets.token_hex(32),
    ) -> None:
        self._host = host
        self._key = key
        self._lobby = ArrangedLobby(
            host, key, lambda: self.state.outstanding.keys(), self._apply_view
        )
        self._journal = journal
        self._now = now
        self._rating = rating
        self._on_ended = on_ended
        self._tell = tell
        self._in_thread = in_thread
        self._draw = draw
        self._here: dict[str, Member] = {}
        """Members that are connected and ready, by entrant."""
        self._free_since: dict[str, float] = {}
        self._unable_until: dict[str, float] = {}
        self._outdated = False
        """Whether the lobby was opened with an earlier configuration of the ladder."""
        self._stopping = False

    @property
    def state(self) -> LadderState:
        return self._journal.state

    @property
    def ladder(self) -> Ladder:
        return self.state.ladder

    @property
    def here(self) -> Mapping[str, Member]:
        """The members that are in the lobby, connected and ready, by entrant."""
        return self._here

    def stop(self) -> None:
        """Request no more games, and end once the running games have ended."""
        self._stopping = True
        self._lobby.wake()

    async def keep(self) -> None:
        """Run the ladder until `stop` is called and no game is running.

        Games that wait for an absent entrant remain outstanding. Raises `LobbyGoneError`, `OSError`
        from the journal, and errors that end the connection.
        """
        await self._lobby.play(self._step, self._is_done)

    def _is_done(self) -> bool:
        return self._stopping and not self._lobby.over and not self._live

    @property
    def _live(self) -> list[GameRequested]:
        """Outstanding games that are running or can start at any moment."""
        return [
            game
            for game in self.state.outstanding.values()
            if game.tag in self._lobby.started or all(name in self._here for name in game.entrants)
        ]

    async def _step(self) -> None:
        if await self._write_ended():
            return
        if self._lobby.closed is not None:
            raise LobbyGoneError(f"the ladder's lobby no longer exists: {self._lobby.closed}")
        await self._start_lobby()
        if self._lobby.take_poll():
            games = self.state.outstanding.values()
            await self._arrange([game for game in games if game.tag not in self._lobby.over])
        if not self._lobby.running or not await self._request_games():
            # Try again later: by then an entrant may have waited longer than `patience`.
            await self._lobby.wait(STEP_SECONDS if self._free_since else 4 * STEP_SECONDS)

    # The lobby

    async def _start_lobby(self) -> None:
        """Start the lobby if it is gathering; an arranged lobby can start with any members."""
        view = self._lobby.view
        if view is not None and view.state == "gathering":
            try:
                await self._host.hosting.start(self._key)
            except RefusedError as error:
                if error.code is not Code.WRONG_STATE:  # already started; an update will follow
                    self._tell(f"cannot start the lobby: {error}")
        elif self._is_spent and not self.state.outstanding and not self._stopping:
            self._tell("the ladder continues in a new lobby")
            await self._host.hosting.close_lobby(self._key)

    @property
    def _is_spent(self) -> bool:
        """Whether this lobby is full or has outdated settings."""
        return self.state.requested_there >= MAX_REQUESTS or self._outdated

    # Pairing

    async def _request_games(self) -> bool:
        """Pair free entrants and request their games; return whether there were any."""
        here = self._candidates()
        room = 0 if self._stopping or self._is_spent else self.ladder.at_once - len(self._live)
        if room <= 0:
            return False
        terms = Terms(self.ladder.seats, self.ladder.patience, self.ladder.spread)
        groups = pair(here, self.state.met, terms, room)
        games = [self._game(group, offset) for offset, group in enumerate(groups)]
        if games:
            await self._write([*self._newcomers(groups), *games])
            await self._arrange(games)
        return bool(games)

    def _candidates(self) -> list[Candidate]:
        """Return the entrants in the lobby that are not paused, with the waiting time of free
        ones."""
        moment, now = asyncio.get_running_loop().time(), self._now()
        busy = {name for game in self._live for name in game.entrants}
        there = [
            name
            for name in self._here
            if not self.state.paused(name, now) and self._unable_until.get(name, 0.0) <= moment
        ]
        free = [name for name in there if name not in busy]
        self._free_since = {name: self._free_since.get(name, moment) for name in free}
        return [
            Candidate(
                name,
                self._rating(name),
                moment - self._free_since[name] if name in self._free_since else None,
                self._here[name].kind == "house",
            )
            for name in there
        ]

    def _game(self, names: Names, offset: int) -> GameRequested:
        """Return the next game of a group; `offset` is its position in this request."""
        group = frozenset(names)
        played = self.state.games_of(group)
        seed = self.state.block_seed(group)
        seed = self._draw() if seed is None else seed
        seats = seating(group, played, seed)
        return GameRequested(
            at_ms=self._now(),
            tag=f"g{self.state.requested + 1 + offset}",
            entrants=list(seats),
            players=[self._here[name].player for name in seats],
            block=played // self.ladder.seats,
            seed=seed,
        )

    # The games

    async def _arrange(self, games: Sequence[GameRequested]) -> None:
        """Request new and outstanding games, and process those that are over.

        If the server refuses several games, request them one by one.
        """
        if not games:
            return
        try:
            await self._lobby.arrange([*map(self._arrangement, games)])
        except RefusedError as error:
            await self._apply_refusal(games, error)

    async def _apply_refusal(self, games: Sequence[GameRequested], error: RefusedError) -> None:
        if error.code in TRANSIENT_REFUSALS:
            self._tell(f"the server refuses games; retrying soon: {error}")
            self._lobby.poll_in(1)
        elif error.code in LOBBY_REFUSALS:
            self._lobby.closed = str(error)
        elif error.code not in GAME_REFUSALS:
            raise error
        elif len(games) > 1:
            for game in games:
                await self._arrange([game])
        else:
            await self._give_up(games[0], error)

    async def _give_up(self, game: GameRequested, error: RefusedError) -> None:
        """Cancel a game that the server neither knows nor accepts."""
        self._tell(f"{game.tag} will not be played: {error}")
        await self._write([GameCancelled(at_ms=self._now(), tag=game.tag, detail=str(error)[:200])])
        absent = error.code is Code.NO_SUCH_PLAYER
        until = asyncio.get_running_loop().time() + (ABSENT_SECONDS if absent else UNABLE_SECONDS)
        self._unable_until |= dict.fromkeys(game.entrants, until)

    def _arrangement(self, game: GameRequested) -> Arrangement:
        item = self.ladder.item(game.block, game.seed)
        return Arrangement(tag=game.tag, item=item, players=game.players)

    # Updates

    def _apply_view(self, view: LobbyView) -> None:
        if self._lobby.view is None:
            self._outdated = differs(view.settings, lobby_settings(self.ladder))
        ready = [member for member in view.by_seat() if member.connected and member.ready]
        self._here = {entrant_name(member, view): member for member in ready}

    async def _write_ended(self) -> bool:
        """Record finished games; return whether there were any."""
        over = dict(self._lobby.over)
        ended = [self._ended(tag, brief) for tag, brief in over.items()]
        if not ended:
            return False
        before = self.state.played
        await self._write(ended)
        self._lobby.forget(over.keys())
        for game in self.state.last_results:
            if game.number > before:
                self._on_ended(game)
        for entry in ended:
            if isinstance(entry, GameCancelled):
                self._tell(f"{entry.tag} does not count: {entry.detail}")
        return True

    def _ended(self, tag: str, brief: MatchBrief) -> GameEnded | GameCancelled:
        if brief.result is None:
            return GameCancelled(at_ms=self._now(), tag=tag, detail="a player had left")
        return ended_entry(self._now(), tag, brief.match, brief.result)

    def _newcomers(self, groups: Iterable[Names]) -> Iterable[Entered]:
        """Yield an entry for each entrant that gets its first game."""
        for name in (name for group in groups for name in group):
            if name not in self.state.entrants:
                member = self._here[name]
                of = name if member.kind == "house" else member.name
                yield Entered(at_ms=self._now(), entrant=name, name=of, player=member.kind)

    async def _write(self, entries: Sequence[Entry]) -> None:
        """Append to the journal and wait for the disk, even if this task is canceled."""
        lines = self._journal.fold(*entries)
        await uninterrupted(self._in_thread(self._journal.write, lines))
