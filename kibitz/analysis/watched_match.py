"""A running match as a spectator sees it: its turns as SDK objects, and a copy to continue.

It uses only the messages to that spectator. In games with hidden information they do not contain
the whole state of the match, but they may contain everything that one seat sees, if the host lets
spectators look over its shoulder.
"""

from __future__ import annotations

import time
from dataclasses import replace

from kibitz_bots.budget import Budget
from kibitz_bots.sdk import Match, Turn
from kibitz_games.core.game import Game, State
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.messages import Snapshot
from kibitz_protocol.wire.records import Setup
from kibitz_protocol.wire.values import Fields
from kibitz_server.match.state import MatchState

PAGE = 200
"""The number of events per request."""


class NotWatchable(ValueError):
    """The spectator cannot see the required information; the message says what is needed."""


class WatchedMatch:
    """The turns of one seat of a running match, from its views.

    Raises `NotWatchable` if the views do not show what `seat` sees, or if the match has no such
    seat.
    """

    def __init__(self, game: Game, snapshot: Snapshot, seat: int) -> None:
        if not 0 <= seat < len(snapshot.seats):
            raise NotWatchable(f"expected a seat from 1 to {len(snapshot.seats)}, not {seat + 1}")
        shown = snapshot.spectating
        if game.info.hidden and (shown.mode, shown.seat) != ("shoulder", seat):
            raise NotWatchable(
                f"{game.info.name} has hidden information: expected a match whose spectators look"
                f" over the shoulder of seat {seat + 1}"
            )
        self.game = game.at_version(snapshot.rules_version)
        self.seat = seat
        self._match = replace(
            Match.of(snapshot.model_copy(update={"you": seat})), time_control=TimeControl()
        )

    @property
    def match(self) -> Match:
        """The match as a bot in the seat sees it."""
        return self._match

    def turn(self, ply: int, view: Fields, ms: int) -> Turn:
        """Return the turn of the seat after `ply` plies, with `ms` milliseconds to think."""
        game = self.game
        seen = view
        if not game.info.hidden:
            seen = game.view(state_of(game, view), self.seat).to_wire()
        rule = game.info.legal_rule or None
        budget = Budget(ms, None, time.monotonic())
        return Turn(match=self._match, ply=ply, observation=seen, budget=budget, rule=rule)


def state_of(game: Game, view: Fields) -> State:
    """Return a state consistent with a view, which is the actual state if nothing is hidden."""
    return game.sample(game.View.model_validate(view), 0)


async def snapshot_of(client: Client, match: str) -> Snapshot:
    """Watch a match and return its snapshot. Raises `KibitzError` if that is refused."""
    await client.watch(match)
    async for message in client.news():
        if isinstance(message, Snapshot) and message.match == match:
            return message
    raise NotWatchable(f"the server shut down before it sent match {match}")


async def match_at(client: Client, game: Game, snapshot: Snapshot, ply: int | None) -> MatchState:
    """Return a copy of a running match after `ply` plies, or in its current state.

    `client` must watch the match, and must have connected with ``views="every"``. Raises
    `NotWatchable` for a game with hidden information, and for a ply that is not visible.
    """
    if game.info.hidden:
        raise NotWatchable(
            f"{game.info.name} has hidden information: wait for the end of the match"
        )
    if ply is None or ply == snapshot.ply:
        return _match_from(game, snapshot, snapshot.view, snapshot.ply)
    if ply > snapshot.ply:
        raise NotWatchable(f"expected a ply up to {snapshot.ply}, not {ply}")
    first, more = 1, True
    while more:
        page = await client.history(snapshot.match, first, PAGE)
        for event in page.events:
            if event.ply == ply and event.view is not None:
                return _match_from(game, snapshot, event.view, ply)
        first, more = first + PAGE, page.more
    raise NotWatchable(f"expected a ply that spectators can see, not {ply}")


def _match_from(game: Game, snapshot: Snapshot, view: Fields, ply: int) -> MatchState:
    setup = Setup(
        match=snapshot.match,
        game=snapshot.game,
        rules_version=snapshot.rules_version,
        options=snapshot.options,
        seats=snapshot.seats,
        seed="",
        commitment=snapshot.commitment,
        conduct=snapshot.conduct,
        spectating=snapshot.spectating,
        started="",
    )
    match = MatchState(game, setup, state_of(game.at_version(snapshot.rules_version), view))
    match.ply = ply
    return match
