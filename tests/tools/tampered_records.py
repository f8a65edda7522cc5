"""A record written by the server's engine, as JSON objects for tests to tamper with."""

from __future__ import annotations

import json
from typing import Any

from kibitz_games.core import registry
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.recordfile import record_lines
from kibitz_protocol.wire.records import Entry
from kibitz_server.match.commands import Append, Play
from kibitz_server.match.engine import MatchEngine
from tests.tools.planted_blunders import setup_of

TIMED = TimeControl(main_ms=10_000)
"""A clock that runs out in the second half of the match."""
THINKING_MS = 700


def played_record(control: TimeControl | None) -> list[dict[str, Any]]:
    """Return a match of number merge; with a `control`, a seat runs out of time."""
    game = registry.get("number-merge")
    setup = setup_of("number-merge", {"preset": "long"}, 5)
    if control is not None:
        setup = setup.model_copy(update={"time_control": control})
    engine = MatchEngine.new(game, setup)
    entries: list[Entry] = []
    now = 0

    def take(effects: list[Any]) -> None:
        entries.extend(effect.entry for effect in effects if isinstance(effect, Append))

    engine.open_turn(now)
    while (state := engine.state).result is None:
        if control is not None and state.ply >= 4:
            now = engine.open_turn(now) or now
            take(engine.tick(now))
            continue
        now += 20
        engine.open_turn(now)
        now += THINKING_MS
        action = game.encode(state.game_state, game.legal(state.game_state)[0]).to_wire()
        seat, ply = state.to_act, state.ply
        take(engine.handle(Play(seat=seat, id=ply + 1, ply=ply, action=action), now))
    lines = record_lines(setup, entries, engine.state.result)
    return [json.loads(line) for line in lines]
