"""A connection's requests to a match, other than moves; each is answered exactly once.

An answer describes the match at that moment, so it waits until that state is on disk. A match that
is being reloaded refuses requests as `unavailable`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kibitz_protocol.wire.messages import Done, Move, Rejoin
from kibitz_protocol.wire.messages import Resign as ResignRequest
from kibitz_protocol.wire.records import Cause, Player
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_server.match.budget import RETURNS
from kibitz_server.match.commands import (
    Abort,
    AddComment,
    Command,
    Forfeit,
    Leave,
    Note,
    Play,
    Refuse,
    Resign,
    Return,
)
from kibitz_server.match.runner import NO_SEAT_HERE, MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.net.connections import same_program
from kibitz_server.net.peer import Peer
from kibitz_server.storage.pending import HeldAnswer


def answer_late_move(runner: MatchRunner, peer: Peer, move: Move) -> None:
    """Answer a move in a finished match; a resent move gets its original answer."""
    player = peer.identity
    seat = None if player is None else seat_in(runner.engine.state.players, player.key)
    if seat is None:
        _refuse_unseated(runner, peer, move.id, "you had no seat in this match")
    else:
        play = Play(seat, move.id, move.ply, move.action, move.comment)
        runner.command(play, peer, move.id)


def resign(runner: MatchRunner, peer: Peer, request: ResignRequest) -> None:
    """Resign the player's seat, by choice or because its program failed."""
    if runner.seats.seat_of(peer) in runner.engine.state.taken_over:
        cause, detail = Cause.TAKEOVER, "resigned by a connection that had taken over the seat"
    elif request.fault is not None:
        cause, detail = Cause(request.fault), request.detail
    else:
        _seat_command(runner, peer, request.id, Resign)
        return
    _seat_command(runner, peer, request.id, lambda seat: Forfeit(seat, cause, detail))


def leave(runner: MatchRunner, peer: Peer, request: int) -> None:
    """Take the player out of the match for good."""
    _seat_command(runner, peer, request, lambda seat: Leave(seat, "left"))


def note(runner: MatchRunner, peer: Peer, request: int, text: str) -> None:
    """Add a note to the player's own record."""
    _seat_command(runner, peer, request, lambda seat: Note(seat, text))


def comment(runner: MatchRunner, peer: Peer, request: int, author: Player, text: str) -> None:
    """Add the comment of a player or a spectator."""

    def command(runner: MatchRunner) -> Command | None:
        seat = runner.seats.seat_of(peer)
        if seat is None and peer not in runner.watchers:
            message = "you neither play nor watch this match on this connection"
            peer.refuse(request, Code.WRONG_STATE, message, hint="watch the match first")
            return None
        ply = runner.shown.ply if seat is None else runner.engine.state.ply
        return AddComment(author, seat, ply, text)

    _carry_out(runner, peer, request, command)


def abort(runner: MatchRunner, peer: Peer, request: int, reason: str) -> None:
    """Abort the match on the operator's behalf; it does not count."""
    _carry_out(runner, peer, request, lambda runner: Abort(reason, operator=True))


def answer_again(runner: MatchRunner, peer: Peer, request: int) -> bool:
    """Answer a resent request that the match has already carried out; return False for others."""
    key = peer.request_key(request)
    entry = None if key is None else runner.engine.state.requests.get(key)
    if entry is None:
        return False
    runner.hold_answer(peer, request, partial(peer.answer, Done(re=request, seq=entry)), entry)
    return True


def _refuse_unseated(runner: MatchRunner, peer: Peer, request: int, message: str) -> None:
    """Refuse a request from a connection without a seat, once all entries are on disk."""
    runner.hold_answer(peer, request, partial(peer.refuse, request, Code.NOT_SEATED, message))


def _seat_command(
    runner: MatchRunner, peer: Peer, request: int, command: Callable[[int], Command]
) -> None:
    """Carry out a seat's command and answer it when it is durable."""

    def of_seat(runner: MatchRunner) -> Command | None:
        seat = runner.seats.seat_of(peer)
        if seat is None:
            _refuse_unseated(runner, peer, request, NO_SEAT_HERE)
            return None
        return command(seat)

    _carry_out(runner, peer, request, of_seat)


def _carry_out(
    runner: MatchRunner, peer: Peer, request: int, make: Callable[[MatchRunner], Command | None]
) -> None:
    """Carry out a command and answer it when it is durable.

    `make` returns the command, or refuses the request and returns None.
    """
    if runner.closed:
        runner.pending.turn_away(peer, request)
        return
    command = make(runner)
    if command is None:
        return
    key, state = peer.request_key(request), runner.engine.state
    before = state.seq
    effects = runner.command(command, peer, request, key)
    if effects is None or any(isinstance(effect, Refuse) for effect in effects):
        return
    entry = None if key is None else state.requests.get(key)
    if entry is None and state.seq > before:
        entry = state.seq
    runner.hold_answer(peer, request, partial(peer.answer, Done(re=request, seq=entry)), state.seq)


def rejoin(runner: MatchRunner, peer: Peer, player: str, request: Rejoin) -> None:
    """Give a seat to its player's newest connection.

    If the older connection is open and belongs to another program, the log records the takeover:
    anyone with a player's secret can take its seat, but not without a trace.
    """

    seat = seat_in(runner.engine.state.players, player)
    if seat is None:
        _refuse_unseated(runner, peer, request.id, "you have no seat in this match")
        return
    if runner.closed:
        runner.pending.turn_away(peer, request.id)
        return
    former = runner.seats.peers[seat]
    if former is not None and former.leaving:
        former = None
    takeover = former is not None and not same_program(former, peer)
    returns = takeover or seat in runner.engine.state.away
    if returns and not _may_return(runner, seat, peer, request.id):
        return
    runner.seats.claim(seat, peer)
    if former is not None and former is not peer:
        former.close(CloseCode.REPLACED, "a newer connection took the seat")
    if returns:
        runner.command(Return(seat, player, takeover))

    def answer() -> None:
        peer.answer(Done(re=request.id))
        runner.admit(seat, peer, "rejoined")

    runner.pending.when_settled(HeldAnswer(peer, request.id, answer))


def _may_return(runner: MatchRunner, seat: int, peer: Peer, request: int) -> bool:
    """Return whether a player may reconnect to a seat once more; if not, refuse the request."""
    wait_ms = runner.engine.return_wait_ms(seat, runner.context.clock())
    if wait_ms is None:
        message = f"this seat has reached the limit of {RETURNS.most} reconnects per match"
        peer.refuse(request, Code.LIMIT, message, hint="")
        return False
    return not peer.must_wait(request, wait_ms, "this seat has reconnected too often")


def refuse_over(match: str, peer: Peer, request: int) -> None:
    """Refuse to show a finished match."""
    peer.refuse(
        request,
        Code.OVER,
        "the match is over",
        hint=f"its record is at /records/{match}.jsonl",
    )


def watch(runner: MatchRunner, peer: Peer, request: int) -> None:
    """Admit a spectator who is entitled to watch."""
    if runner.closed:
        runner.pending.turn_away(peer, request)
        return
    peer.subscriptions[runner.key] = runner

    def answer() -> None:
        if runner.shown.result is not None:  # the match ended while this waited
            if peer.subscriptions.get(runner.key) is runner:
                del peer.subscriptions[runner.key]
            refuse_over(runner.key, peer, request)
            return
        peer.answer(Done(re=request))
        if runner.key in peer.subscriptions:  # otherwise the spectator has stopped watching
            runner.admit_spectator(peer)

    runner.pending.when_settled(HeldAnswer(peer, request, answer))
