"""Error recovery: after an exception, a match is reloaded from its log or ends.

Other matches are not affected. A match must never disagree with its log. If an entry has changed
the match but could not be appended, the match is reloaded from disk. If match and log agree, the
match ends with the cause `infrastructure`. The engine carries out a command for that if it still
can; otherwise the final entry is written without the engine. If even that fails, the match stops
without an end, and the next start loads it from its log.
"""

from __future__ import annotations

import logging

from websockets.frames import CloseCode as Standard

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.records import Aborted, Cause
from kibitz_server.match.commands import Abort
from kibitz_server.match.result import match_result, rank_by_departure
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import StoreError

LOG = logging.getLogger("kibitz.match")


def recover(runner: MatchRunner) -> None:
    """Continue after an exception, as the module docstring describes."""
    if runner.closed:
        return
    if not runner.broken and not _log_agrees(runner):
        runner.broken = True
        _reload(runner)
        return
    if runner.engine.state.result is not None:
        if not runner.stream.closed:
            _abandon(runner)
        return
    try:
        runner.carry_out(Abort("internal error"))
    except Exception:
        LOG.exception("cannot abort match %s", runner.key)
        _end_in_log(runner)


def _log_agrees(runner: MatchRunner) -> bool:
    """Return whether the log has all entries of the match, including its end if it has ended."""
    state = runner.engine.state
    return state.seq == runner.stream.tail and (state.result is not None) == runner.stream.closed


def _end_in_log(runner: MatchRunner) -> None:
    """Write the final entry without the engine, which has failed to make it."""
    state = runner.engine.state
    outcome = rank_by_departure(len(state.players), [*state.departed])
    result = match_result(outcome, state.departed, Cause.INFRASTRUCTURE, state.ply)
    seq = runner.stream.tail + 1
    entry = Aborted(seq=seq, at_ms=state.at_ms, detail="internal error")
    state.result = result
    state.sent = ()  # this entry bypasses the code that updates the digests
    try:
        runner.context.store.append(runner.stream, seq, encode(entry), runner)
        runner.close_log(result)
    except Exception:
        LOG.exception("cannot end match %s", runner.key)
        _abandon(runner)


def _reload(runner: MatchRunner) -> None:
    """Reload the match from its log once all of it is on disk."""
    runner.suspend()
    error = StoreError("the match was ahead of its log")
    runner.pending.reload_when_durable(lambda: runner.context.log_lost(runner, error))


def _abandon(runner: MatchRunner) -> None:
    """Stop the match without an end; the next start loads it from its log."""
    LOG.error("match %s is abandoned; the next start resumes it", runner.key)
    runner.suspend()
    runner.pending.lost("the server cannot continue this match")
    runner.shown.result = runner.engine.state.result
    peers = runner.peers()
    runner.context.over(runner)
    for peer in peers:
        peer.close(Standard.INTERNAL_ERROR, "the server cannot continue this match")
