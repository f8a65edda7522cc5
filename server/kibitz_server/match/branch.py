"""Branches: matches that repeat the first plies of a finished match, and continue from there.

The log of a branch begins with one entry for each repeated ply: a move, or a flag if the game skips
the turns of seats without time. These entries have no times, ids and comments, and do not change
the clocks, so that all clocks start full. Everything else treats a branch like any other match.

A branch has a seed of its own, because the seed of a finished match is public. It repeats the deal,
which must therefore not contain secrets: the record of the finished match has revealed them.
"""

from __future__ import annotations

from collections.abc import Iterable

from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire.records import (
    BranchStart,
    Entry,
    Flagged,
    Forfeited,
    Moved,
    Resigned,
    Setup,
)
from kibitz_protocol.wire.values import Action
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.sent_digest import fold
from kibitz_server.match.state import MatchState


class CannotBranch(ValueError):
    """No match can continue from this ply; `str()` is a sentence for people."""


def branch_start(game: Game, setup: Setup, entries: Iterable[Entry], ply: int) -> BranchStart:
    """Return the first `ply` plies of a finished match, for another match to repeat.

    Raises `CannotBranch`, and `BrokenLog` for entries that do not fit the setup.
    """
    if game.info.hidden and setup.deal:
        raise CannotBranch(
            f"{game.info.title} deals secrets at the start, which the record has revealed"
        )
    match = MatchState(game, setup)
    moves: list[Action | None] = []
    for entry in entries:
        if match.ply == ply:
            break
        if isinstance(entry, Resigned | Forfeited):
            seat = f"seat {entry.seat + 1}"
            raise CannotBranch(f"expected at most {match.ply}, where {seat} dropped out, not {ply}")
        match.apply(entry)
        if match.ply > len(moves):
            moves.append(entry.action if isinstance(entry, Moved) else None)
    over = game.to_act(match.game_state) == TERMINAL
    if over or match.ply < ply:
        last = match.ply - over
        raise CannotBranch(f"expected at most {last}, the last turn of the match, not {ply}")
    return BranchStart(
        rules_version=setup.rules_version,
        options=setup.options,
        deal=setup.deal,
        seed=setup.seed if setup.branch is None else setup.branch.seed,
        moves=moves,
    )


def replay_opening(
    game: Game, setup: Setup, moves: Iterable[Action | None]
) -> tuple[MatchEngine, list[Entry]]:
    """Return a new match after the plies that it repeats, and the entries of these plies.

    Takes up to two seconds for long matches with hidden information. Raises `BrokenLog`.
    """
    engine = MatchEngine.new(game, setup)
    opening: list[Entry] = []
    for move in moves:
        opening.append(opening_entry(engine.state, move))
        fold(engine.views, opening[-1:])
    return engine, opening


def opening_entry(match: MatchState, move: Action | None) -> Moved | Flagged:
    """Return the entry that repeats a move, or a skipped turn, at the present ply of a branch."""
    seq, ply, seat = match.seq + 1, match.ply, match.to_act
    if move is None:
        return Flagged(seq=seq, at_ms=0, ply=ply, seat=seat, elapsed_ms=0)
    return Moved(seq=seq, at_ms=0, ply=ply, seat=seat, action=move)
