"""Requests about matches: rejoining, resigning, notes and comments, and their past."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kibitz_protocol import printable
from kibitz_protocol.wire import messages
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.directory.archive import Archive
from kibitz_server.directory.directory import Directory
from kibitz_server.handlers.answering import Answers
from kibitz_server.match import requests as match_requests
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer


class MatchHandlers:
    """Passes requests about matches to their runners, or to the archive."""

    def __init__(
        self,
        directory: Directory,
        archive: Archive,
        accounts: Accounts,
        connections: Connections,
        answers: Answers,
    ) -> None:
        self._directory = directory
        self._archive = archive
        self._accounts = accounts
        self._connections = connections
        self._answers = answers

    def rejoin(self, peer: Peer, identity: Identity, request: messages.Rejoin) -> None:
        key = request.match
        match = self._directory.registry.find_match(key)
        if match is None:

            def come_back(match: MatchRunner) -> None:
                self._directory.registry.keep_finished(match)
                match_requests.rejoin(match, peer, identity.key, request)

            self._with_finished(peer, request.id, key, come_back)
            return
        if (
            seat_in(match.engine.state.players, identity.key) is not None
            and match.engine.state.result is None
        ):
            peer.subscriptions[match.key] = match
        match_requests.rejoin(match, peer, identity.key, request)

    def resign(self, peer: Peer, identity: Identity, request: messages.Resign) -> None:
        match = self._find(peer, identity, request)
        if match is not None:
            match_requests.resign(match, peer, request)

    def leave(self, peer: Peer, identity: Identity, request: messages.LeaveMatch) -> None:
        match = self._find(peer, identity, request)
        if match is not None:
            match_requests.leave(match, peer, request.id)

    def note(self, peer: Peer, identity: Identity, request: messages.Note) -> None:
        match = self._find(peer, identity, request)
        if match is None:
            return
        wait_ms = self._connections.charge_note(identity, len(request.text))
        if not peer.must_wait(request.id, wait_ms, "too many notes"):
            match_requests.note(match, peer, request.id, request.text)

    def _find(
        self,
        peer: Peer,
        identity: Identity,
        request: messages.Resign
        | messages.LeaveMatch
        | messages.Note
        | messages.AddComment
        | messages.Abort,
    ) -> MatchRunner | None:
        """Return the match that a request would change.

        If the match is not in memory, or the request was resent, this answers the request and
        returns None.
        """
        match = self._directory.registry.find_match(request.match)
        if match is None:
            self._answers.for_closed(peer, identity, request.id, "match", request.match)
        elif not match_requests.answer_again(match, peer, request.id):
            return match
        return None

    # --- past events and reports --------------------------------------------------------------

    def move_after_end(self, peer: Peer, move: messages.Move) -> None:
        """Answer a move in a finished match; it may be a resent move."""
        match = self._directory.registry.recently_finished.get(move.match)
        if match is not None:
            match_requests.answer_late_move(match, peer, move)
            return
        self._with_finished(
            peer,
            move.id,
            move.match,
            lambda match: match_requests.answer_late_move(match, peer, move),
        )

    def _with_finished(
        self, peer: Peer, request: int, key: str, then: Callable[[MatchRunner], None]
    ) -> None:
        """Load a finished match that is not in memory, and continue with it."""

        async def load() -> None:
            if peer.identity is not None:
                then(await self._archive.finished(peer, peer.identity, key))

        self._answer_here(peer, request, key, load)

    def _answer_here(
        self, peer: Peer, request: int, key: str, work: Callable[[], Awaitable[None]]
    ) -> None:
        """Carry out a request about a match, or redirect it to the node that plays the match."""
        is_here = key in self._directory.registry.matches or self._is_followed(peer, key)

        async def carry_out() -> None:
            if is_here or not await self._answers.redirect(peer, request, key):
                await work()

        self._answers.later(peer, request, carry_out)

    def _is_followed(self, peer: Peer, key: str) -> bool:
        """Return whether this node can show the whole past of another node's match.

        It can if the connection watches the match here, or if the match is over.
        """
        tails = self._directory.tails
        if tails is None:
            return False
        tail = tails.get(key)
        return tails.is_over(key) or (tail is not None and peer in tail.watchers)

    def comment(self, peer: Peer, identity: Identity, request: messages.AddComment) -> None:
        match = self._find(peer, identity, request)
        if match is None:
            return
        text = printable.line(request.text).strip()
        if not text:
            peer.refuse(request.id, Code.MALFORMED, "a comment must not be empty", hint="")
            return
        wait_ms = self._connections.charge_comment(peer, identity)
        if not peer.must_wait(request.id, wait_ms, "too many comments"):
            match_requests.comment(match, peer, request.id, identity.player, text)

    def abort(self, peer: Peer, identity: Identity, request: messages.Abort) -> None:
        if not self._accounts.is_operator(identity):
            message = "only accounts named by the server's operator may abort matches"
            hint = "the operator can name accounts with `kibitz serve --operator NAME`"
            peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=hint)
            return
        match = self._find(peer, identity, request)
        if match is not None:
            reason = printable.line(request.reason).strip() or "the operator ended the match"
            match_requests.abort(match, peer, request.id, reason)

    def report(self, peer: Peer, identity: Identity, request: messages.AskReport) -> None:
        async def tell() -> None:
            peer.answer(await self._archive.report(peer, identity, request))

        self._answer_here(peer, request.id, request.match, tell)

    def history(self, peer: Peer, identity: Identity, request: messages.History) -> None:
        async def tell() -> None:
            peer.answer(await self._archive.history(peer, identity, request))

        self._answer_here(peer, request.id, request.match, tell)
