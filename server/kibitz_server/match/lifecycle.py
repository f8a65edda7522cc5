"""Starts matches, continues them after a restart or reload, and seats substitutes.

All functions use the commands of `match.runner`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Literal

from kibitz_protocol.wire.records import Cause, Player
from kibitz_server.match.commands import Abort, Leave, Note, Replace, Return
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.net.peer import Peer

LOG = logging.getLogger("kibitz.match")


def start(match: MatchRunner, seated: Callable[[Player], Peer | None]) -> None:
    """Start a new match with the players who are connected.

    Its setup need not be on disk yet.
    """
    for seat, player in enumerate(match.engine.state.players):
        peer = seated(player)
        if peer is not None:
            _give_seat(match, seat, peer, "started")
    for seat, peer in enumerate(match.seats.peers):
        if peer is None:
            match.command(Leave(seat, "disconnect"))


def resume(match: MatchRunner, former: MatchRunner | None = None) -> None:
    """Continue a match that was restored from its log.

    After a restart no player has reconnected yet. Otherwise the match takes over the connections of
    `former`, the runner that it replaces, and sends them the current state. If that runner failed
    because of an exception, the match ends here.
    """
    match.seats.unclaim()
    if former is not None:
        match.failures = former.failures
        match.engine.go_on_from(former.engine, match.context.clock(), match.context.lag())
        match.seats.unclaimed = former.seats.unclaimed
    _finish_interrupted(match)
    if former is not None:
        _take_over_connections(match, former)
    if match.failures > match.MAX_FAILURES:
        abort(match, "internal error")
    state, restart = match.engine.state, former is None
    for seat, peer in enumerate(match.seats.peers):
        away = seat in state.away
        if peer is None and not away and seat not in state.departed:
            match.command(Leave(seat, "disconnect", restart=restart))
            restart = False
        elif peer is not None and away:
            match.command(Return(seat))
    if former is None:
        return
    if match.pending.settled:
        match.send_turn(match.context.clock())
    for command in former.deferred:
        match.command(command)


def _give_seat(
    match: MatchRunner, seat: int, peer: Peer, why: Literal["started", "rejoined"]
) -> None:
    """Give a seat to a connection; it gets a snapshot once all entries are durable."""
    match.seats.peers[seat] = peer
    match.pending.when_settled(partial(match.admit, seat, peer, why))


def _take_over_connections(match: MatchRunner, former: MatchRunner) -> None:
    for seat, peer in enumerate(former.seats.peers):
        if peer is not None and not peer.leaving:
            _give_seat(match, seat, peer, "rejoined")
    for peer in former.watchers:
        peer.send_queue.caught_up(former.spectators)
        match.pending.when_settled(partial(match.admit_spectator, peer))


def replace(match: MatchRunner, seat: int, player: Player, cause: Cause, peer: Peer) -> bool:
    """Seat a substitute; return whether the seat was still available."""
    if match.closed:
        return False  # once reloaded, the match requests a substitute again
    match.command(Replace(seat, player, cause))
    state = match.engine.state
    if state.result is not None or state.players[seat] != player:
        return False
    match.seats.mark_claimed(seat)
    _give_seat(match, seat, peer, "started")
    return True


def house_bot_ended(match: MatchRunner, player: str, last_words: str) -> None:
    """Handle the end of a house bot's process; its last output goes into the record."""
    seat = seat_in(match.engine.state.players, player)
    if seat is None or match.engine.state.result is not None:
        return
    if last_words:
        match.command(Note(seat, last_words[-2000:], is_own=False))
    match.command(Leave(seat, "crash"))


def is_unfinished(match: MatchRunner, player: str) -> bool:
    """Return whether the player still plays here, or has not received the end yet.

    While entries wait for the disk, the match counts as unfinished, even if its state has a result.
    """
    seat = match.shown.seat_of(player)
    if seat is None:
        return False
    state = match.engine.state
    settled = match.pending.settled and state.seq <= match.stream.durable and not match.closed
    return not settled or (seat not in state.departed and state.result is None)


def abort(match: MatchRunner, detail: str) -> None:
    """End a match that the server cannot continue."""
    if match.engine.state.result is None:
        match.command(Abort(detail))


def _finish_interrupted(match: MatchRunner) -> None:
    """Run the timers that are due, or finish ending the match if a crash interrupted that."""
    result = match.engine.state.result
    if result is None:
        if match.failures <= match.MAX_FAILURES:
            match.tick()
        return
    if not match.stream.closed:
        try:
            match.close_log(result, match)
        except Exception:
            LOG.exception("match %s failed", match.key)
            match.fail()
