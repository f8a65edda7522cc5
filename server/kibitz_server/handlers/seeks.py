"""The request `seek`: finds opponents with the same terms, or waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.lobbies import SeekTerms
from kibitz_protocol.wire.messages import Capabilities, Done
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.other_nodes import Elsewhere
from kibitz_server.handlers.answering import Answers, answered_by
from kibitz_server.handlers.hosting import Hosting
from kibitz_server.lobby import commands, seeks
from kibitz_server.lobby.admission import seat_for
from kibitz_server.lobby.capabilities import unable_reason
from kibitz_server.lobby.commands import Refusal
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.settings import SettingsProblem
from kibitz_server.net.peer import Peer


class SeekHandler:
    """Answers `seek` with the lobby in which the player plays or waits."""

    def __init__(
        self,
        directory: Directory,
        hosting: Hosting,
        answers: Answers,
    ) -> None:
        self._directory = directory
        self._hosting = hosting
        self._answers = answers

    def seek(self, peer: Peer, identity: Identity, request: messages.Seek) -> None:
        """Join the lobby of a player with the same terms, or open a lobby that waits for one."""
        work = partial(self._seek_loaded, peer, identity, request)
        self._answers.when_loaded(peer, identity, request.id, [request.terms.item.game], work)

    def _seek_loaded(self, peer: Peer, identity: Identity, request: messages.Seek) -> None:
        if self._answers.host_again(peer, identity, request.id):
            return
        terms = request.terms
        own = self._own_seek(identity)
        if own is not None:
            self._answer_own(own, peer, identity, request)
            return
        problem = self._problem(identity, peer, terms)
        if problem is not None:
            peer.refuse(request.id, *problem)
            return
        seek = next(self._open_seeks(peer, identity, terms), None)
        if seek is not None:
            with answered_by(seek, peer, request.id):
                if seek.join(peer, identity, None, request.id):
                    self._leave_finished(identity)
            return
        elsewhere = self._seek_elsewhere(terms)
        if elsewhere is not None:
            self._answers.refuse_elsewhere(peer, request.id, elsewhere)
            return
        settings = seeks.seek_settings(identity.player.name, terms)
        problem = self._hosting.host_problem(settings, identity, peer)
        if problem is not None:
            self._answers.refuse_to_host(peer, request.id, problem)
            return
        if not self._hosting.charge_opening(peer, identity, request.id):
            return
        lobby = self._hosting.open(
            identity.player, settings, peer, request.id, seek_s=request.wait_s
        )
        with answered_by(lobby, peer, request.id):
            lobby.command(_join(peer, identity))
            self._leave_finished(identity)

    def _answer_own(
        self, own: LobbyRunner, peer: Peer, identity: Identity, request: messages.Seek
    ) -> None:
        """Answer a player who is already seeking, once that seek is on disk."""

        def answer() -> None:
            terms = seeks.terms_of(own.engine.state)
            if seeks.same_terms(self._hosting.games, terms, request.terms):
                peer.answer(Done(re=request.id, lobby=own.key))
            else:
                message = f"a player can have only one seek at a time; yours is lobby {own.key}"
                peer.refuse(request.id, Code.LIMIT, message)

        own.hold_answer(peer, request.id, answer)

    def _own_seek(self, identity: Identity) -> LobbyRunner | None:
        """Return the seek in which the player waits or plays."""
        for lobby in self._seeks_of(identity):
            if lobby.engine.state.phase in ("gathering", "running"):
                return lobby
        return None

    def _leave_finished(self, identity: Identity) -> None:
        """Take a player out of its finished seeks, because it starts a new one."""
        for lobby in self._seeks_of(identity):
            if lobby.engine.state.phase == "finished":
                lobby.command(commands.Leave(identity.key))

    def _seeks_of(self, identity: Identity) -> list[LobbyRunner]:
        return [
            lobby
            for lobby in self._directory.registry.lobbies_of(identity.key)
            if lobby.engine.state.opened.seek_s is not None
            and identity.key in lobby.engine.state.seats.members
        ]

    def _problem(self, identity: Identity, peer: Peer, terms: SeekTerms) -> SettingsProblem | None:
        """Return why this player cannot seek with these terms, or None."""
        if not self._hosting.ready():
            return Code.UNAVAILABLE, "the server cannot start anything new at the moment"
        if terms.item.seed is not None:
            return (
                Code.BAD_OPTION,
                "terms.item.seed: must not be set, because no player may know the deal",
            )
        if terms.item.seats < 2:
            return Code.BAD_SEATS, "terms.item.seats: must be at least two"
        settings = seeks.seek_settings(identity.player.name, terms)
        problem = self._hosting.rated_problem(settings, account=identity.account)
        if problem is not None:
            code, sentence = problem
            return code, sentence.replace("settings.programme.0", "terms.item")
        reason = unable_reason(terms.item, _capabilities(peer))
        return (
            None
            if reason is None
            else (Code.BAD_SEATS, f"you cannot play with these terms: {reason}")
        )

    def _open_seeks(
        self, peer: Peer, identity: Identity, terms: SeekTerms
    ) -> Iterator[LobbyRunner]:
        """Yield the seeks with the same terms that this player may join, oldest first."""
        join = _join(peer, identity)
        for lobby in list(self._directory.registry.lobbies.values()):
            state = lobby.engine.state
            if lobby.closed or not seeks.is_open(state):
                continue
            here = state.host.player in lobby.engine.presence.connected
            if (
                here
                and seeks.same_terms(self._hosting.games, seeks.terms_of(state), terms)
                and _admits(lobby, join)
            ):
                yield lobby

    def _seek_elsewhere(self, terms: SeekTerms) -> Elsewhere | None:
        """Return a lobby on another node where a player waits with the same terms."""
        others = self._directory.others
        for line in others.listed():
            brief = line.brief
            if brief is None or brief.state != "gathering" or brief.members == brief.places:
                continue
            if seeks.same_terms(self._hosting.games, brief.seek, terms):
                return others.lobby(line.lobby)
        return None


def _capabilities(peer: Peer) -> Capabilities:
    return peer.capabilities or Capabilities()


def _join(peer: Peer, identity: Identity) -> commands.Join:
    return commands.Join(identity.player, _capabilities(peer), account=identity.account)


def _admits(lobby: LobbyRunner, join: commands.Join) -> bool:
    try:
        seat_for(lobby.engine.state, join)
    except Refusal:
        return False
    return True
