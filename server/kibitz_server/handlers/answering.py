"""Answers to slow requests, and to requests for lobbies and matches that are not in memory."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from kibitz_protocol.wire.messages import Redirect
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.archive import Archive, RequestDeclined
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.jobs import QueueFull
from kibitz_server.directory.other_nodes import BetweenNodes, Elsewhere
from kibitz_server.directory.rules import Rules
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.settings import SettingsProblem
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import UnusableDatabase
from kibitz_server.storage.quarantine import SetAside
from kibitz_server.storage.streams import Kind

LOG = logging.getLogger("kibitz.handlers")
MAX_WAITING: Final = 8
"""The number of a player's requests that may wait for game rules to load."""
RULES_RETRY_MS: Final = 2000
"""The retry delay for a player with too many waiting requests."""


@contextmanager
def answered_by(lobby: LobbyRunner, peer: Peer, request: int) -> Iterator[None]:
    """A context manager for a request that a lobby answers now or later.

    After an exception it answers the request, unless the lobby will do that.
    """
    try:
        yield
    except Exception:
        LOG.exception("lobby %s: a request failed", lobby.key)
        lobby.pending.fail(peer, request)


class Answers:
    """Answers requests that a handler cannot carry out at once."""

    def __init__(
        self,
        directory: Directory,
        archive: Archive,
        tickets: Tickets,
        rules: Rules,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._directory = directory
        self._archive = archive
        self._tickets = tickets
        self._rules = rules
        self._spawn = spawn

    def later(self, peer: Peer, request: int, work: Callable[[], Awaitable[None]]) -> None:
        """Carry out a slow request in a task; if that raises, refuse the request."""

        async def answered() -> None:
            try:
                await work()
            except RequestDeclined as declined:
                peer.refuse(request, declined.code, str(declined))
            except SetAside as damaged:
                peer.refuse(request, Code.DAMAGED, str(damaged))
            except QueueFull as full:
                peer.refuse(
                    request, Code.RATE_LIMITED, str(full), retry_after_ms=full.retry_after_ms
                )
            except BetweenNodes as error:
                peer.fail(request, Code.UNAVAILABLE, str(error))
            except UnusableDatabase as error:
                LOG.warning("request %d must be retried: %s", request, error)
                peer.fail(request, Code.UNAVAILABLE, "the database cannot be read at the moment")
            except Exception:
                LOG.exception("request %d failed", request)
                peer.fail(request)

        self._spawn(answered)

    def when_loaded(
        self,
        peer: Peer,
        identity: Identity,
        request: int,
        games: Collection[str],
        work: Callable[[], None],
    ) -> None:
        """Carry out a request once the rules of `games` are loaded; usually that is at once.

        At most `MAX_WAITING` requests per player may wait. Requests that have waited run one per
        iteration of the event loop, so that they do not block others.
        """
        rules, player = self._rules, identity.key
        if rules.are_loaded(games):
            work()
            return
        if rules.waiting[player] >= MAX_WAITING:
            peer.refuse(
                request,
                Code.RATE_LIMITED,
                f"you already have {MAX_WAITING} requests waiting for rules to load; try again"
                " soon",
                retry_after_ms=RULES_RETRY_MS,
            )
            return
        rules.waiting[player] += 1

        async def wait() -> None:
            try:
                await rules.load(games)
                async with rules.turns:
                    await asyncio.sleep(0)
                    if not peer.leaving:
                        work()
            finally:
                rules.waiting -= Counter((player,))

        self.later(peer, request, wait)

    def refuse_to_host(self, peer: Peer, request: int, problem: SettingsProblem) -> None:
        """Refuse to open a lobby because of a limit, once the lobbies that count are on disk."""
        refuse = partial(peer.refuse, request, *problem)
        lobbies = reversed(self._directory.registry.lobbies.values())
        newest = next((lobby for lobby in lobbies if not lobby.stored), None)
        if newest is None or problem[0] is not Code.LIMIT:
            refuse()
        else:
            newest.hold_answer(peer, request, refuse)

    def host_again(self, peer: Peer, identity: Identity, request: int) -> bool:
        """Answer a resent request that has already opened a lobby; return False for others."""
        key = peer.request_key(request)
        for lobby in self._directory.registry.lobbies_of(identity.key) if key is not None else ():
            if lobby.engine.state.opened.request == key:
                lobby.hold_answer(peer, request, partial(lobby.answer_host, peer, request))
                return True
        return False

    # --- lobbies and matches elsewhere ----------------------------------------------------

    def find_lobby(self, peer: Peer, request: int, key: str) -> LobbyRunner | None:
        """Return an open lobby; refuse the request if there is none."""
        lobby = self._directory.registry.lobbies.get(key)
        if lobby is None:
            self.refuse_missing(peer, request, "lobby", key)
        return lobby

    def refuse_missing(self, peer: Peer, request: int, kind: Kind, key: str) -> None:
        """Refuse a request about an unknown target; redirect if another node has it.

        In a cluster this queries the database.
        """
        if self._directory.nodes is None:
            peer.refuse(request, *self.missing(kind, key))
            return

        async def look_up() -> None:
            if not await self.redirect(peer, request, key):
                peer.refuse(request, *self.missing(kind, key))

        self.later(peer, request, look_up)

    def for_closed(
        self, peer: Peer, identity: Identity, request: int, kind: Kind, key: str
    ) -> None:
        """Answer a request to change a lobby or match that is not in memory.

        If its log contains the request, the request was resent and gets the original answer.
        Otherwise it is refused.
        """
        if peer.request_key(request) is None:
            self.refuse_missing(peer, request, kind, key)
            return

        async def look_up() -> None:
            if await self.redirect(peer, request, key):
                return
            done = await self._archive.former_answer(peer, identity, request, kind, key)
            if done is None:
                peer.refuse(request, *self.missing(kind, key))
            else:
                peer.answer(done)

        self.later(peer, request, look_up)

    def missing(self, kind: Kind, key: str) -> tuple[Code, str]:
        """Return the refusal for a lobby or match that does not exist or was set aside."""
        if self._directory.quarantine.reason(key) is not None:
            return Code.DAMAGED, str(SetAside(key))
        if kind == "lobby":
            return Code.NO_SUCH_LOBBY, f"no lobby {key!r}"
        return Code.NO_SUCH_MATCH, f"no running match {key!r}"

    async def redirect(self, peer: Peer, request: int, key: str) -> bool:
        """Redirect a request if the target is on another node; return whether it is.

        Queries the database, and raises the errors of `Directory.find_elsewhere`.
        """
        place = await self._directory.find_elsewhere(key)
        if place is not None:
            self.refuse_elsewhere(peer, request, place)
        return place is not None

    def refuse_elsewhere(
        self, peer: Peer, request: int, place: Elsewhere, player: str | None = None
    ) -> None:
        """Refuse a request about a lobby on another node, with that node's URL.

        Players with a lobby or a seat here are told to leave it first. `player` is the player who
        is saying hello, if any.
        """
        if player is None:
            player = "" if peer.identity is None else peer.identity.key
        stays = self._directory.registry.is_busy(player)
        ticket = None if stays else self._tickets.issue(player, place.node.life, place.lobby)
        hint = (
            "you have a lobby or a seat on this node: leave it, then try again" if stays else None
        )
        peer.refuse(
            request,
            Code.ELSEWHERE,
            f"lobby {place.lobby} is on node {place.node.name}, {place.node.url}",
            hint=hint,
            redirect=None if ticket is None else Redirect(url=place.node.url, ticket=ticket),
        )
