"""The host of the demo: opens the lobbies of all games one by one, and follows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from kibitz.local.demo_programme import DemoGame
from kibitz.text import result_tables
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_clients.tui.screens.wall import Preparation
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.messages import LobbyNews
from kibitz_protocol.wire.refusals import Code

Tell = Callable[[str], None]


class DemoHost:
    """Plays the programmes of `games`; with `endless` each one repeats.

    `preparation` counts the games whose bots have joined. `tell` gets the lines about events.
    """

    def __init__(
        self,
        client: Client,
        games: Sequence[DemoGame],
        preparation: Preparation,
        tell: Tell,
        *,
        endless: bool,
    ) -> None:
        self.courses: dict[str, LobbyProgress] = {}
        """The progress of each opened lobby, by game."""
        self._client = client
        self._games = games
        self._preparation = preparation
        self._tell = tell
        self._endless = endless
        self._closing = False
        # Set at every message; tasks that wait for a lobby then recheck it.
        self._news = asyncio.Event()
        preparation.total = len(games)

    async def run(self) -> None:
        """Play until every programme is over or `close` is called."""
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(self._listen())
            await self._open_lobbies()
            await self._until(self._is_over)
            listening.cancel()

    async def close(self) -> None:
        """Start no new matches; running ones are finished."""
        self._closing = True
        self._news.set()
        for course in list(self.courses.values()):  # another lobby may be opened meanwhile
            await course.close(self._client)

    async def fetch(self, url: str, directory: Path) -> list[str]:
        """Store the records of the played matches; return their paths."""
        for course in self.courses.values():
            await course.fetch(url, directory)
        return [path for course in self.courses.values() for path in course.records.values()]

    def tables(self) -> str:
        """Return the standings of every played game."""
        played = {game: course for game, course in self.courses.items() if course.matches}
        return "\n\n".join(
            f"{game}\n{result_tables.standings_table(course.standings)}"
            for game, course in played.items()
        )

    async def _open_lobbies(self) -> None:
        """Open lobbies one at a time, so that starting bots do not compete for cores."""
        for game in self._games:
            self._preparation.doing = f"starting the bots of {game.name}"
            if self._closing:
                break
            opened = await self._client.hosting.host(game.settings())
            assert opened.lobby is not None
            course = LobbyProgress(opened.lobby)
            self.courses[game.name] = course
            if self._closing:  # it was opened while the others were being closed
                await course.close(self._client)
                break
            try:
                await self._client.join(opened.lobby, role="spectator")
            except RefusedError:
                if not self._closing:
                    raise
                break
            await self._until(lambda course=course: _has_begun(course) or self._closing)  # type: ignore[misc]
            self._preparation.done += 1
            done = f"{self._preparation.done}/{self._preparation.total}"
            self._tell(f"{done} ready: {game.name} has started")

    async def _listen(self) -> None:
        async for message in self._client.news():
            for game, course in list(self.courses.items()):
                for line in [*course.apply(message), *await course.catch_up(self._client)]:
                    self._tell(f"[{game}] {line}")
                if self._endless and _has_finished(message, course):
                    await self._rematch(course)
            self._news.set()

    async def _rematch(self, course: LobbyProgress) -> None:
        """Play a programme again; the message that it is over may arrive more than once."""
        try:
            await self._client.hosting.rematch(course.lobby)
        except RefusedError as error:
            if error.code is not Code.WRONG_STATE:
                raise

    def _is_over(self) -> bool:
        return all(course.over for course in self.courses.values())

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._news.clear()
            await self._news.wait()


def _has_finished(message: object, course: LobbyProgress) -> bool:
    return (
        isinstance(message, LobbyNews)
        and message.lobby.lobby == course.lobby
        and message.lobby.state == "finished"
    )


def _has_begun(course: LobbyProgress) -> bool:
    return course.over or (course.view is not None and course.view.state == "running")
