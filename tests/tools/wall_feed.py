"""A synthetic feed of many live matches, for measuring how fast pages draw them.

The messages are real: each game is played randomly in this process and encoded as stage and paints.
A page receives them from a fake WebSocket, so that measurements do not include a server; the page
decodes each message from its text as usual.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kibitz.builtin_games import load_games
from kibitz_games.core.drawing import stage_of
from kibitz_games.core.position import Position
from tests.tools.paints import paint_between

SCRIPT = Path(__file__).parent / "web" / "wall_feed.js"
PLIES = 30
"""The number of plies of a game before it restarts."""
CLOCK = {"main_ms": 60_000, "bank_ms": 0, "periods": 0}
CONTROL = {
    "move_ms": 0, "main_ms": 60_000, "increment_ms": 0, "bank_ms": 0, "periods": 0, "period_ms": 0
}  # fmt: skip


@cache
def course(game: str, seed: int) -> dict[str, Any]:
    """Return a match's snapshot and the events after it, without its key."""
    rules = load_games("plain")[game]
    position, rng = Position(rules, seed=seed), random.Random(seed)
    names = [f"player {seat + 1}" for seat in range(position.seats or 2)]
    scene = position.scene()
    snapshot = {
        "type": "snapshot", "why": "watching", "lobby": "L1", "number": 1, "game": game,
        "rules_version": 1, "options": {}, "seq": 0, "ply": 0, "view": {},
        "seats": [{"player": name, "name": name, "kind": "bot"} for name in names],
        "to_act": position.to_act, "time_control": CONTROL, "clocks": [CLOCK] * len(names),
        "conduct": {"grace_ms": 1, "on_leave": "forfeit", "max_illegal": 1},
        "spectating": {"mode": "public", "delay_plies": 0, "delay_ms": 0}, "commitment": "",
        "stage": stage_of(scene),
    }  # fmt: skip
    events = []
    for seq in range(1, PLIES + 1):
        if position.outcome is not None:
            break
        seat = position.to_act
        position.push(rng.choice(list(position.legal)))
        before, scene = scene, position.scene()
        entry = {"seq": seq, "at_ms": seq, "kind": "move", "ply": seq - 1, "seat": seat,
                 "action": {}, "elapsed_ms": 1}  # fmt: skip
        events.append({
            "type": "event", "ply": seq, "to_act": position.to_act, "entry": entry,
            "patch": paint_between(before, scene), "clocks": [CLOCK] * len(names),
        })  # fmt: skip
    return {"snapshot": snapshot, "events": events}


def feed_script(games: Sequence[str], boards: int, events_per_second: float) -> str:
    """Return the script that feeds `boards` matches with events to a page."""
    courses = [course(game, seed) for game in games for seed in range(3)]
    plan = {
        "courses": courses,
        "boards": boards,
        "eventsPerSecond": events_per_second,
        "games": [{"name": game, "title": game, "summary": "", "seats": [2]} for game in games],
    }
    return f"const PLAN = {json.dumps(plan)};\n{SCRIPT.read_text(encoding='utf-8')}"
