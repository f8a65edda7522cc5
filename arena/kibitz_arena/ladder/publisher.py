"""The publisher of a ladder: rates the entrants as games end and writes the page and the feed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.feed import Feed, build_feed
from kibitz_arena.ladder.page import render_page
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.ratings import EntrantRating, rate_entrants
from kibitz_arena.runner.publication import Publication

SHARE: Final = 0.05
"""The maximum share of one core for rating and writing. Each update rates all games again."""
REFRESH_MS: Final = 15_000
"""The maximum time between writes, in milliseconds.

Each end of a game causes a write, but pauses can end and reports can arrive when no game ends.
"""


class Publisher:
    """Keeps the ratings and the public files up to date.

    `here` returns the entrants present, and `now` the time in milliseconds since 1970. `tell`
    receives a line if the files cannot be written; the ladder continues.
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
        self.publication = Publication(
            self._marks,
            self._publish,
            share=SHARE,
            what="page and feed are",
            tell=tell,
        )
        self._ratings: Mapping[str, EntrantRating] = {}
        self._rated = 0
        """The number of games in the current ratings."""

    @property
    def ratings(self) -> Mapping[str, EntrantRating]:
        return self._ratings

    def rating(self, entrant: str) -> float:
        """Return the rating of an entrant for pairing; new entrants get the mean."""
        known = self._ratings.get(entrant)
        if known is not None:
            return known.rating
        anchors = self._state.ladder.anchors
        middle = sum(anchors.values()) / len(anchors) if anchors else self._state.ladder.mean
        return anchors.get(entrant, middle)

    def _marks(self) -> object:
        """Return a value that changes whenever the page and the feed have to be rewritten."""
        refresh = self._now() // REFRESH_MS
        return self._state.played, len(self._state.outstanding), {*self._here()}, refresh

    async def _publish(self) -> None:
        """Rate all games and write the files."""
        await asyncio.to_thread(self.rate)
        await asyncio.to_thread(self._write, self.feed())

    def rate(self) -> None:
        """Rate all finished games; safe in a thread, because games are only ever appended."""
        ladder = self._state.ladder
        games = self._state.rated[:]
        if len(games) == self._rated and self._ratings:
            return
        entrants = [*self._state.entrants]
        self._ratings = rate_entrants(entrants, games, ladder.anchors, ladder.mean)
        self._rated = len(games)

    def feed(self) -> Feed:
        """Return the current feed."""
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
