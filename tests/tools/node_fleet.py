"""A fleet that survives node failures: its players play continuously and can be paused.

Each player records when its turn arrived, so that the checker can compute its thinking time. A
paused fleet has no moves in transit, so the log and the players' notes can be compared during
matches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities, YourTurn
from kibitz_protocol.wire.records import Conduct
from tests.tools.fleet import Fleet, FleetPlayer
from tests.tools.node_history import ClientNotes

GRACE_MS = 600_000
"""A grace period so long that no player loses its seat because of faults."""


@dataclass
class NodeFleet(Fleet):
    """The players of some lobbies with the same programme."""

    think_s: float = 0.1
    """The mean thinking time in seconds."""
    resting: bool = False
    moving: int = 0
    """The number of moves sent but not answered yet."""
    lobbies: list[str] = field(default_factory=list)
    thought_ms: dict[tuple[str, int], float] = field(default_factory=dict)
    acknowledged_at: dict[str, float] = field(default_factory=dict)
    """When each player's last move was acknowledged."""

    async def all_play(self) -> float:
        """Wait until every player has made a new move; return the seconds it took."""
        began = time.monotonic()

        def all_have() -> bool:
            at = self.acknowledged_at
            return all(at.get(each.client.player, 0.0) > began for each in self.players)

        await self.until(all_have)
        return time.monotonic() - began

    async def rest(self) -> None:
        """Make no more moves, and wait for the answers to pending ones."""
        self.resting = True
        await self.until(lambda: self.moving == 0)

    def notes(self) -> ClientNotes:
        return ClientNotes(self.seats, self.history, self.thought_ms)


class NodePlayer(FleetPlayer):
    """A player that thinks before its moves, and makes none while the fleet rests."""

    fleet: NodeFleet

    def __init__(self, fleet: NodeFleet, client: Client, number: int) -> None:
        self._told: dict[tuple[str, int], float] = {}
        super().__init__(fleet, client, number)

    def on_news(self, news: object) -> None:
        if isinstance(news, YourTurn):
            self._told.setdefault((news.match, news.ply), time.monotonic())
        super().on_news(news)

    async def _move(self, turn: YourTurn) -> None:
        fleet = self.fleet
        await asyncio.sleep(fleet.think_s * 2 * self._random.random())
        if fleet.resting:
            return
        thought_s = time.monotonic() - self._told[turn.match, turn.ply]
        fleet.thought_ms[turn.match, turn.ply] = thought_s * 1000
        fleet.moving += 1
        try:
            await super()._move(turn)
        finally:
            fleet.moving -= 1
        fleet.acknowledged_at[self.client.player] = time.monotonic()


@asynccontextmanager
async def node_fleet(
    url: str,
    pairs: int,
    item: ProgrammeItem,
    *,
    seed: int = 1,
    think_s: float = 0.1,
    patience: float = 300.0,
) -> AsyncIterator[NodeFleet]:
    """Open `pairs` two-player lobbies with one match at a time, and let their players play."""
    fleet = NodeFleet(seed, think_s=think_s)
    async with AsyncExitStack() as stack:

        async def enter(name: str) -> Client:
            client = Client(
                url,
                name=name,
                capabilities=Capabilities(at_once=4),
                agent="fleet",
                opening=patience,
                patience=patience,
            )
            return await stack.enter_async_context(client)

        try:
            for number in range(pairs):
                clients = [await enter(f"node {number}.{seat}") for seat in range(item.seats)]
                for client in clients:
                    fleet.players.append(NodePlayer(fleet, client, len(fleet.players)))
                fleet.lobbies.append(await _gather(f"node {number}", clients, item))
            yield fleet
        finally:
            fleet.resting = True
            await asyncio.gather(*(member.stop() for member in fleet.members))


async def _gather(name: str, clients: list[Client], item: ProgrammeItem) -> str:
    settings = LobbySettings(
        name=name,
        seats=[OpenSeat()] * item.seats,
        programme=[item],
        at_once=1,
        conduct=Conduct(grace_ms=GRACE_MS),
    )
    lobby = (await clients[0].hosting.host(settings)).lobby
    assert lobby is not None
    for client in clients:
        await client.join(lobby)
    for client in clients:
        await client.ready(lobby)
    return lobby
