"""Match records that contain every kind of event, created by the server's engine."""

from __future__ import annotations

import random
from typing import Any

from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.recordfile import Record, RecordExport, parse_record
from kibitz_protocol.wire.records import Conduct, Entry, Setup
from kibitz_server.match.commands import (
    AddComment,
    Append,
    Command,
    Leave,
    Note,
    Play,
    Resign,
    Return,
)
from kibitz_server.match.engine import MatchEngine
from tests.tools.planted_blunders import setup_of

MOST_STEPS = 4000
CONTROLS = (TimeControl(), TimeControl(main_ms=60_000, increment_ms=100), TimeControl(move_ms=900))


def honest_record(name: str, seed: int, *, played_by: Game | None = None) -> Record:
    """Return a match of random moves with flags, absences, notes, comments and resignations.

    A match that is too long remains unfinished. `played_by` are the server's rules, if they differ
    from the common ones.
    """
    rng = random.Random(f"{name}/{seed}")
    engine = MatchEngine.new(played_by or registry.get(name), _setup(name, seed, rng))
    entries: list[Entry] = []
    now = 0
    for _ in range(MOST_STEPS):
        if engine.state.result is not None:
            break
        now += rng.randrange(30)
        engine.open_turn(now)
        due = engine.deadline
        now += rng.randrange(400) if rng.random() < 0.95 else 2_000
        if due is not None and due <= now:
            effects = engine.tick(now)
        else:
            effects = engine.handle(_command(engine, rng), now)
        entries += [effect.entry for effect in effects if isinstance(effect, Append)]
    state = engine.state
    export = RecordExport(encode(state.setup))
    lines = [export.head, *(export.entries([encode(entry)]) for entry in entries)]
    if state.result is not None:
        lines.append(export.footer(state.result, [*state.sent] or None))
    return parse_record(lines)


def _setup(name: str, seed: int, rng: random.Random) -> Setup:
    game = registry.get(name)
    seats = rng.choice(game.info.seats)
    options = {"size": 2} if name == "chinese-checkers" else {}
    setup = setup_of(name, options, seed, seats)
    changes: dict[str, Any] = {
        "time_control": rng.choice(CONTROLS),
        "conduct": Conduct(grace_ms=1_000),
    }
    return setup.model_copy(update=changes)


def _command(engine: MatchEngine, rng: random.Random) -> Command:
    state = engine.state
    seat = rng.randrange(len(state.players))
    if rng.random() < 0.9:
        legal = state.game.legal(state.game_state)
        action = state.game.encode(state.game_state, rng.choice(legal)).to_wire()
        request, ply = state.ply + 1, state.ply
        return Play(
            seat=state.to_act, id=request, ply=ply, action=action, rtt_ms=rng.randrange(200)
        )
    return rng.choice(
        (
            Leave(seat=seat, reason=rng.choice(("disconnect", "crash", "left"))),
            Return(seat=seat),
            Return(seat=seat),
            Note(seat=seat, text="a line"),
            AddComment(author=state.players[seat], seat=seat, ply=state.ply, text="well"),
            Resign(seat=seat) if rng.random() < 0.1 else Return(seat=seat),
        )
    )
