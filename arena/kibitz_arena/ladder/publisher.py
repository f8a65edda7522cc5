"""The publisher of a ladder: rates the entrants as games end, and writes page and feed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Final

from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.feed import Feed, build_feed
from kibitz_arena.ladder.page import render_page
from kibitz_arena.ladder.rating import EntrantRating, rate_entrants
from kibitz_arena.ladder.state import LadderState

PAUSE_SECONDS: Final = 1.0
"""The least time from one writing to the next."""
SHARE: Final = 0.05
"""Of one core, what rating and writing may take: all games are rated at once each time."""
REFRESH_SECONDS: Final = 15.0
"""How often is written at least, for who has come and gone."""


class Publisher:
    """Keeps the ratings, and what others see, as the ladder is.

    `here` says who is there now, `now` the time of day in milliseconds since 1970. `tell` is given
    a line when the files cannot be written, which harms nothing else.
    """

    def __init__(
        self,
        state: LadderState,
        directory: LadderDirectory,
        server: str,
        *,
        here: Callable[[], Collection[str]],
        reports: Callable[[], Mapping[str, str]],
        now: Callable[[], int],
        tell: Callable[[str], None],
    ) -> None:
        self._state = state
        self._directory = directory
        self._server = server
        self._here = here
        self._reports = reports
        self._now = now
        self._tell = tell
        self._failed = False
        self._ratings: Mapping[str, EntrantRating] = {}
        self._rated = 0
        """How many games the ratings are made of."""

    @property
    def ratings(self) -> Mapping[str, EntrantRating]:
        return self._ratings

    def rating(self, entrant: str) -> float:
        """Return the rating of an entrant, for who pairs it; a newcomer's is in the middle."""
        known = self._ratings.get(entrant)
        if known is not None:
            return known.rating
        anchors = self._state.ladder.anchors
        middle = sum(anchors.values()) / len(anchors) if anchors else self._state.ladder.mean
        return anchors.get(entrant, middle)

    async def run(self) -> None:
        """Rate and write whenever games have ended, until this is cancelled."""
        while True:
            before = time.perf_counter()
            games = self._state.played
            await self.publish()
            spent = time.perf_counter() - before
            await self._wait(games, max(PAUSE_SECONDS, spent / SHARE))

    async def _wait(self, games: int, seconds: float) -> None:
        """Wait that long, and then for a game, or until it is time to write in any case."""
        await asyncio.sleep(seconds)
        waited = seconds
        while self._state.played == games and waited < REFRESH_SECONDS:
            await asyncio.sleep(PAUSE_SECONDS)
            waited += PAUSE_SECONDS

    async def publish(self) -> None:
        """Rate all games and write the files."""
        await asyncio.to_thread(self.rate)
        feed = self.feed()
        try:
            await asyncio.to_thread(self._write, feed)
        except OSError as error:
            if not self._failed:
                self._tell(f"page and feed are not up to date: {error}")
            self._failed = True
        else:
            self._failed = False

    def rate(self) -> None:
        """Rate all games that have ended; games are only ever added, so a thread may."""
        ladder = self._state.ladder
        games = self._state.rated[:]
        if len(games) == self._rated and self._ratings:
            return
        entrants = [*self._state.entrants]
        self._ratings = rate_entrants(entrants, games, ladder.anchors, ladder.mean)
        self._rated = len(games)

    def feed(self) -> Feed:
        """Return what others are told now."""
        return build_feed(
            self._state,
            self._ratings,
            here=self._here(),
            reports=self._reports(),
            server=self._server,
            at_ms=self._now(),
        )

    def _write(self, feed: Feed) -> None:
        self._directory.write_public(render_page(feed), feed.model_dump_json(exclude_none=True))
