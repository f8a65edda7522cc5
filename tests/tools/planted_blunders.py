"""Records of solved games in which one seat throws away a won match with a single blunder."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kibitz.analysis.seated_bot import SeatedBot
from kibitz_bots.loading import load
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import Record, seed_commitment
from kibitz_protocol.wire.records import Comment, Entry, Footer, Moved, Player, Setup
from kibitz_server.match.state import MatchState

SEED = f"{7:016x}"


@dataclass(frozen=True)
class Planted:
    """A record and the position of its blunder."""

    record: Record
    seat: int
    ply: int


def setup_of(name: str, options: Mapping[str, Any], seed: int, seats: int = 2) -> Setup:
    """Return the setup of a match without a clock."""
    game = registry.get(name)
    chosen = game.Options.from_wire(dict(options))
    text = f"{seed:064x}"
    return Setup(
        match=f"planted-{seed}",
        game=name,
        rules_version=game.info.rules_version,
        options=chosen.to_wire(),
        seats=[
            Player(player=f"p{each}", name=f"player {each}", kind="bot")
            for each in range(1, seats + 1)
        ],
        deal=dict(game.deal(chosen, seats, seed)),
        seed=text,
        nonce=text[::-1],
        commitment=seed_commitment(text, text[::-1]),
        started="2026-01-01T00:00:00.000+00:00",
    )


def planted_blunder(
    name: str, options: Mapping[str, Any], solver: str, ms: int, seed: int
) -> Planted:
    """Return a match of two solvers in which the winning one plays a losing move once.

    Raises `LookupError` if no winning seat ever had a losing move in the match.
    """
    rng = random.Random(seed)
    match = MatchState(registry.get(name), setup_of(name, options, seed))
    entries: list[Entry] = []
    planted: tuple[int, int] | None = None
    while match.result is None:
        action, comment = _answer(solver, match, ms)
        losing = _losing_moves(match, solver, ms, comment) if planted is None else []
        if losing and rng.random() < 0.5:
            planted = match.to_act, match.ply
            action = rng.choice(losing)
        entries.append(_moved(match, action))
        match.apply(entries[-1])
    if planted is None:
        raise LookupError(f"nothing to plant in match {seed} of {name}")
    footer = Footer(result=match.result, hash="")
    return Planted(Record(match.setup, tuple(entries), footer, ""), *planted)


def _losing_moves(
    match: MatchState, solver: str, ms: int, comment: Comment
) -> list[dict[str, Any]]:
    """Return the losing moves if the seat to act has a proven win, else none."""
    if not _is_won(comment):
        return []
    return [action for action in _legal(match) if _loses(match, action, solver, ms)]


def _loses(match: MatchState, action: dict[str, Any], solver: str, ms: int) -> bool:
    seat, after = match.to_act, match.copy()
    after.apply(_moved(after, action))
    if after.result is not None:
        return after.result.seats[seat].score == 0.0
    return after.to_act != seat and _is_won(_answer(solver, after, ms)[1])


def _is_won(comment: Comment) -> bool:
    return comment.value is not None and comment.value > 0.5


def _legal(match: MatchState) -> list[dict[str, Any]]:
    state = match.game_state
    game = match.game
    return [game.encode(state, action).to_wire() for action in game.legal(state)]


def _answer(solver: str, match: MatchState, ms: int) -> tuple[dict[str, Any], Comment]:
    action, comment = SeatedBot(load(solver)(), match, match.to_act, ms, "planting").answer(match)
    assert comment is not None
    return action, comment


def _moved(match: MatchState, action: dict[str, Any]) -> Moved:
    return Moved(
        seq=match.seq + 1,
        at_ms=match.at_ms,
        ply=match.ply,
        seat=match.to_act,
        action=action,
        id=match.ply + 1,
    )
