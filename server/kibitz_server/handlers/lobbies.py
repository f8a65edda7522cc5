"""Requests about lobbies: hosting, joining, leaving, and the commands of members and hosts."""

from __future__ import annotations

from functools import partial
from typing import Final

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.lobbies import LobbySettings
from kibitz_protocol.wire.messages import Done
from kibitz_protocol.wire.records import Branch, BranchStart
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.archive import Archive
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.handlers.answering import Answers, answered_by
from kibitz_server.handlers.hosting import Hosting, charge_kinds
from kibitz_server.lobby import commands
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.settings import branch_item_problem, branch_problem
from kibitz_server.net.peer import Peer

BRANCH_COST: Final = 4.0
"""The additional rate-limit cost of hosting a branch, whose record the server reads."""


class LobbyHandlers:
    """Passes requests about lobbies to their runners."""

    def __init__(
        self,
        registry: Registry,
        archive: Archive,
        hosting: Hosting,
        substitutes: Substitutes,
        answers: Answers,
    ) -> None:
        self._registry = registry
        self._archive = archive
        self._hosting = hosting
        self._substitutes = substitutes
        self._answers = answers

    def host(self, peer: Peer, identity: Identity, request: messages.Host) -> None:
        if self._answers.host_again(peer, identity, request.id):
            return
        settings = request.settings
        if settings.branch is None:
            work = partial(self._host_loaded, peer, identity, request.id, settings)
        else:
            work = partial(self._host_branch, peer, identity, request.id, settings, settings.branch)
        games = {item.game for item in settings.programme}
        self._answers.when_loaded(peer, identity, request.id, games, work)

    def _host_loaded(
        self,
        peer: Peer,
        identity: Identity,
        request: int,
        settings: LobbySettings,
        start: BranchStart | None = None,
    ) -> None:
        """Open a lobby whose games are loaded; `start` is that of its branch."""
        if not charge_kinds(peer, request, settings.programme):
            return
        problem = self._hosting.host_problem(settings, identity, peer)
        if problem is not None:
            self._answers.refuse_to_host(peer, request, problem)
            return
        if self._hosting.charge_opening(peer, identity, request):
            self._hosting.open(identity.player, settings, peer, request, start=start)

    def _host_branch(
        self,
        peer: Peer,
        identity: Identity,
        request: int,
        settings: LobbySettings,
        branch: Branch,
    ) -> None:
        """Read the record of a finished match, and open a lobby that continues from it."""
        problem = branch_problem(settings) or self._hosting.limits_problem(settings, identity, peer)
        if problem is not None:
            self._answers.refuse_to_host(peer, request, problem)
            return
        if not peer.charge(BRANCH_COST, request):
            return

        async def read_and_open() -> None:
            setup, start = await self._archive.branch_start(peer, identity, branch)
            [item] = settings.programme
            flaw = branch_item_problem(item, setup)
            if flaw is not None:
                peer.refuse(request, *flaw)
            elif not peer.leaving:
                item = item.model_copy(update={"options": start.options})
                played = settings.model_copy(update={"programme": [item]})
                self._host_loaded(peer, identity, request, played, start)

        self._answers.later(peer, request, read_and_open)

    def join(self, peer: Peer, identity: Identity, request: messages.Join) -> None:
        lobby = self._answers.find_lobby(peer, request.id, request.lobby)
        if lobby is None:
            return
        if self._substitutes.expects(identity.key):
            peer.answer(Done(re=request.id))
        elif request.role == "spectator":
            self._enter_as_spectator(lobby, peer, identity, request)
        else:
            with answered_by(lobby, peer, request.id):
                lobby.join(peer, identity, request.invite, request.id)

    def _enter_as_spectator(
        self, lobby: LobbyRunner, peer: Peer, identity: Identity, request: messages.Join
    ) -> None:
        if not lobby.stored or not lobby.shown.may_watch(identity.key):
            peer.refuse(request.id, Code.NOT_WATCHABLE, "this lobby does not admit spectators")
            return
        peer.answer(Done(re=request.id))
        lobby.news.watch(peer)

    def leave(self, peer: Peer, identity: Identity, request: messages.Leave) -> None:
        lobby = self._find(peer, identity, request)
        if lobby is None:
            return
        if identity.key not in lobby.engine.state.seats.members and lobby.news.unwatch(peer):
            lobby.hold_answer(peer, request.id, partial(peer.answer, Done(re=request.id)))
            return
        lobby.command(commands.Leave(identity.key), peer, request.id)

    def arrange(self, peer: Peer, identity: Identity, request: messages.Arrange) -> None:
        lobby = self._registry.lobbies.get(request.lobby)
        hosts = lobby is not None and lobby.engine.state.host.player == identity.key
        games = {match.item.game for match in request.matches} if hosts else set()
        work = partial(self._arrange_loaded, peer, identity, request)
        self._answers.when_loaded(peer, identity, request.id, games, work)

    def _arrange_loaded(self, peer: Peer, identity: Identity, request: messages.Arrange) -> None:
        lobby = self._answers.find_lobby(peer, request.id, request.lobby)
        if lobby is None:
            return
        state = lobby.engine.state
        if identity.key == state.host.player:  # the lobby itself refuses everybody else
            fresh = [match.item for match in request.matches if match.tag not in state.round.tags]
            if not charge_kinds(peer, request.id, fresh):
                return
            problem = self._hosting.arrangement_problem(state, request.matches)
            if problem is not None:
                peer.refuse(request.id, *problem)
                return
        hidden = {name for name, game in self._hosting.games.items() if game.info.hidden}
        arrange = commands.Arrange(identity.key, request.matches, hidden)
        lobby.command(arrange, peer, request.id)

    def rematch(self, peer: Peer, identity: Identity, request: messages.Rematch) -> None:
        lobby = self._find(peer, identity, request)
        if lobby is None:
            return
        problem = self._hosting.rematch_problem(lobby.engine.state)
        if problem is not None:
            peer.refuse(request.id, *problem)
            return
        lobby.command(commands.Rematch(identity.key), peer, request.id)

    # --- requests that the lobby itself checks ------------------------------------------------

    def kick(self, peer: Peer, identity: Identity, request: messages.Kick) -> None:
        self._command(peer, identity, request, commands.Kick(identity.key, request.player))

    def ready(self, peer: Peer, identity: Identity, request: messages.Ready) -> None:
        self._command(peer, identity, request, commands.Ready(identity.key, request.ready))

    def start(self, peer: Peer, identity: Identity, request: messages.Start) -> None:
        self._command(peer, identity, request, commands.Start(identity.key))

    def close(self, peer: Peer, identity: Identity, request: messages.Close) -> None:
        self._command(peer, identity, request, commands.Close(identity.key))

    def _command(
        self,
        peer: Peer,
        identity: Identity,
        request: messages.Kick | messages.Ready | messages.Start | messages.Close,
        command: commands.Command,
    ) -> None:
        lobby = self._find(peer, identity, request)
        if lobby is not None:
            lobby.command(command, peer, request.id)

    def _find(
        self,
        peer: Peer,
        identity: Identity,
        request: messages.Leave
        | messages.Kick
        | messages.Ready
        | messages.Start
        | messages.Rematch
        | messages.Close,
    ) -> LobbyRunner | None:
        """Return the lobby that a request would change.

        If the lobby is not open, or the request was resent, this answers the request and returns
        None.
        """
        key, id = request.lobby, request.id
        lobby = self._registry.lobbies.get(key)
        known = lobby or self._registry.closing.get(key)
        if known is not None and known.answer_again(peer, id):
            return None
        if lobby is None:
            self._answers.for_closed(peer, identity, id, "lobby", key)
        return lobby
