"""Verifies that a correct server could have written a record.

The checks need only the file. They cover the hash chain over its lines, the commitment to the seed
and the start drawn from the seed. They replay every move, and check the clocks, the reason of every
drop-out, and the result. In games with hidden information they also check what each seat was sent.

Only the footer has a hash. A record without a footer is incomplete: its names, settings and moves
cannot be verified, and `verify` says so. A forged record that follows all rules passes, for example
with another name or with another legal move that leads to the same end. Only a comparison with the
server's own record detects it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError
from kibitz_protocol.wire.clocks import until_flag
from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.lag import allowance
from kibitz_protocol.wire.recordfile import Record, RecordError, read_record
from kibitz_protocol.wire.records import (
    Branch,
    Cause,
    Commented,
    Entry,
    Flagged,
    Footer,
    Forfeited,
    Left,
    Moved,
    Origin,
    Replaced,
    Returned,
    SeatResult,
    Setup,
)
from kibitz_protocol.wire.values import seed_number
from kibitz_server.match.branch import opening_entry
from kibitz_server.match.sent_digest import fold
from kibitz_server.match.state import MatchState, in_opening
from kibitz_server.match.visibility import MatchViews


class Discrepancy(ValueError):
    """A flaw that no correct server would have written; the message is a sentence."""


class IncompleteRecord(ValueError):
    """The record has no end but is otherwise valid; the message is a sentence."""


@dataclass(frozen=True)
class Verified:
    """A valid record."""

    match: str
    entries: int
    hash: str
    """The hash in the footer: the end of the hash chain."""
    branch: Branch | None = None
    """The position from which the match continues, as the record claims."""


def verify(path: str | os.PathLike[str], games: Mapping[str, Game]) -> Verified:
    """Check the record file at `path`.

    Raises `IncompleteRecord` for a record without an end, `Discrepancy` for a flaw, and
    `RecordError` for an invalid file or wrong hashes, all `ValueError`; and `OSError` like `open`.
    """
    return verify_record(read_record(path, torn=True), games, str(path))


def verify_record(record: Record, games: Mapping[str, Game], path: str = "record") -> Verified:
    """Check a loaded record; error messages name `path`."""
    match = _start(record, games, path)
    views = MatchViews(match)
    for line, entry in enumerate(record.entries, start=2):
        if match.result is not None:
            raise RecordError(path, line, "expected only the footer after the end")
        try:
            _check_entry(match, entry)
            fold(views, [entry])
        except (ValueError, GameError) as error:
            raise RecordError(path, line, _sentence(error)) from None
    if record.footer is None:
        raise IncompleteRecord(
            f"{path}:{len(record.entries) + 2}: expected a footer, found the end of the file: the"
            " record is incomplete and cannot be verified"
        )
    _check_end(record, record.footer, match, path)
    _check_sent(record, record.footer, match, path)
    setup = record.setup
    return Verified(setup.match, len(record.entries), record.footer.hash, setup.branch)


def _sentence(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    return str(error)


def _start(record: Record, games: Mapping[str, Game], path: str) -> MatchState:
    """Return the match at its start, which must be the one drawn from the seed."""
    setup = record.setup
    game = games.get(setup.game)
    if game is None:
        raise RecordError(path, 1, f"game: expected one of {', '.join(games)}, not {setup.game!r}")
    try:
        match = MatchState(game, setup)
        options = match.game.Options.from_wire(setup.options)
    except (ValueError, GameError) as error:
        raise RecordError(path, 1, _sentence(error)) from None
    if setup.seed:
        _check_secrets(setup, path)
        seed = setup.seed if setup.branch is None else _seed_of(setup.branch, path)
        drawn = dict(match.game.deal(options, len(setup.seats), seed_number(seed)))
        if drawn != dict(setup.deal):
            raise RecordError(path, 1, "deal: expected the start drawn from the seed")
    elif record.footer is not None:
        raise RecordError(path, 1, "seed: expected the seed of a finished match")
    return match


def _seed_of(origin: Origin, path: str) -> str:
    """Return the seed that a branch shares with its origin."""
    if not re.fullmatch("[0-9a-f]{64}", origin.seed):
        raise RecordError(
            path, 1, f"branch.seed: expected 64 hexadecimal digits, not {origin.seed!r}"
        )
    return origin.seed


def _check_secrets(setup: Setup, path: str) -> None:
    """Refuse secrets short enough to guess; the commitment to them was already checked."""
    for name, text in (("seed", setup.seed), ("nonce", setup.nonce)):
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise RecordError(path, 1, f"{name}: expected 64 hexadecimal digits, not {text!r}")


def _check_end(record: Record, footer: Footer, match: MatchState, path: str) -> None:
    last = len(record.entries) + 2
    if match.result is None:
        raise RecordError(path, last, "expected no footer: the match is not over")
    claimed, reached = footer.result, match.result
    for name in ("plies", "cause", "reason"):
        was, should = getattr(claimed, name), getattr(reached, name)
        if was != should:
            raise RecordError(path, last, f"result.{name}: expected {should!r}, not {was!r}")
    for seat, (was, should) in enumerate(zip(claimed.seats, reached.seats, strict=True)):
        _check_seat_result(f"result of seat {seat + 1}", was, should, path, last)


def _check_sent(record: Record, footer: Footer, match: MatchState, path: str) -> None:
    """Check that each seat was sent exactly the data that it may see, by comparing digests."""
    claimed = footer.sent
    line = len(record.entries) + 2
    if not match.game.info.hidden:
        if claimed is not None:
            raise RecordError(
                path, line, "sent: expected none in a game without hidden information"
            )
        return
    if claimed is None or len(claimed) != len(match.sent):
        raise RecordError(path, line, f"sent: expected {len(match.sent)} digests")
    for seat, (was, should) in enumerate(zip(claimed, match.sent, strict=True), start=1):
        if was != should:
            raise RecordError(
                path, line, f"sent: the data sent to seat {seat} differs from what it may see"
            )


def _check_seat_result(
    where: str, claimed: SeatResult, reached: SeatResult, path: str, line: int
) -> None:
    for name in SeatResult.model_fields:
        was, should = getattr(claimed, name), getattr(reached, name)
        if was != should:
            raise RecordError(path, line, f"{where}: {name}: expected {should!r}, not {was!r}")


# --- single entries, each checked against the match before it ---------------------------------


def _check_entry(match: MatchState, entry: Entry) -> None:
    """Raise `Discrepancy` for an entry whose numbers or reason do not fit the match.

    `MatchState.apply` checks the rules of the game and the order of entries.
    """
    if in_opening(match):
        _check_opening(match, entry)
        return
    match entry:
        case Moved():
            _check_move(match, entry)
        case Flagged():
            _check_flag(match, entry)
        case Forfeited():
            _check_forfeit(match, entry)
        case Left():
            grace = 0 if entry.reason in ("left", "kicked") else match.setup.conduct.grace_ms
            _expect("grace_ms", entry.grace_ms, grace)
        case Returned():
            if entry.seat not in match.away and not entry.takeover:
                raise Discrepancy(f"seat {entry.seat + 1} returns but was not away")
        case Replaced():
            if match.setup.conduct.on_leave != "replace":
                raise Discrepancy("a player is replaced, but the match allows no replacements")
        case Commented():
            if entry.ply > match.ply:
                raise Discrepancy(f"ply: expected at most {match.ply}, not {entry.ply}")
        case _:
            pass


def _check_opening(match: MatchState, entry: Entry) -> None:
    """Raise `Discrepancy` for an entry that does not only repeat a ply of the branch's origin."""
    move = entry.action if isinstance(entry, Moved) else None
    if entry != opening_entry(match, move):
        ply = match.setup.branch.ply if match.setup.branch is not None else 0
        raise Discrepancy(f"expected only moves without times in the first {ply} plies of a branch")


def _check_move(match: MatchState, entry: Moved) -> None:
    if entry.id is None:
        if not match.flagged:
            raise Discrepancy("id: expected the number of the player's request")
        return
    _expect("elapsed_ms", entry.elapsed_ms, _since_open(match, entry.at_ms, entry.wait_ms))
    most = allowance(entry.elapsed_ms, entry.elapsed_ms, match.lag_left[match.to_act])
    _check_standstill(match, entry)
    if entry.allowance_ms > most:
        raise Discrepancy(f"allowance_ms: expected at most {most}, not {entry.allowance_ms}")


def _since_open(match: MatchState, at_ms: int, wait_ms: int) -> int:
    """Return how long the turn had lasted at `at_ms`; it began `wait_ms` after `match.turn_at`."""
    return max(0, at_ms - match.turn_at - wait_ms)


def _check_standstill(match: MatchState, entry: Moved | Flagged) -> None:
    lag = entry.lag_ms or 0
    if lag and not match.forgives(lag, entry.at_ms):
        raise Discrepancy(
            f"lag_ms: expected an abort, not {lag}: the match does not forgive so much lag"
        )


def _check_flag(match: MatchState, entry: Flagged) -> None:
    _check_standstill(match, entry)
    most = entry.at_ms - match.turn_at
    if entry.elapsed_ms > most:
        raise Discrepancy(f"elapsed_ms: expected at most {most}, not {entry.elapsed_ms}")
    if match.clocks is not None and match.to_act >= 0:
        least = until_flag(match.setup.time_control, match.clocks[match.to_act])
        if entry.elapsed_ms < least:
            raise Discrepancy(f"elapsed_ms: expected at least {least}, not {entry.elapsed_ms}")


def _check_forfeit(match: MatchState, entry: Forfeited) -> None:
    gone = match.away.get(entry.seat)
    late = match.flagged and entry.seat == match.to_act
    if entry.cause is Cause.TIME and not late:
        raise Discrepancy(f"seat {entry.seat + 1} is out of time, but its flag has not fallen")
    if entry.cause in (Cause.DISCONNECT, Cause.ABANDONED) and not late:
        if gone is None:
            raise Discrepancy(f"seat {entry.seat + 1} forfeits for its absence, but was not away")
        if entry.at_ms < gone.until_ms:
            raise Discrepancy(
                f"at_ms: expected at least {gone.until_ms}, the end of the grace period"
            )


def _expect(name: str, was: int, should: int) -> None:
    if was != should:
        raise Discrepancy(f"{name}: expected {should}, not {was}")
