"""A match as text for one of its viewers: players, recent steps, the board, legal moves.

Names and comments are untrusted data: they are shown on one line, with unprintable characters
escaped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from pydantic import ValidationError

from kibitz_clients.matches.timeline import Frame, Timeline
from kibitz_clients.wording import descriptions
from kibitz_clients.wording.move_input import MoveOption
from kibitz_clients.wording.short_names import shown_name
from kibitz_games.core.game import TERMINAL, Game, GameError
from kibitz_games.core.text_view import scene_text
from kibitz_protocol.wire.messages import YourTurn

MOST_STEPS: Final = 12
"""The maximum number of steps to list, newest last."""
MOST_MOVES: Final = 300
"""The maximum number of legal moves to list with a board; `legal_text` lists all."""


def match_text(timeline: Timeline, game: Game | None, now: int) -> str:
    """Return a match as its viewer sees it, without the legal moves."""
    facts, frame = timeline.info, timeline.newest
    where = f", number {facts.number} of lobby {facts.lobby}" if facts.lobby else ""
    names = player_names(timeline)
    players = "; ".join(f"seat {seat}: {name}" for seat, name in enumerate(names, 1))
    lines = [f"match {facts.match}: {facts.game}{where}; {players}"]
    lines += [f"since your last move: {step}" for step in _steps(timeline, game, names)]
    lines += [_state(timeline, game, names), *_clocks(timeline, names, now)]
    lines += [_board(frame, game, names)]
    return "\n".join(filter(None, lines))


def turn_text(turn: YourTurn, options: Sequence[MoveOption]) -> str:
    """Return the legal moves of a turn in the game's notation, abridged."""
    return legal_text(turn, options[:MOST_MOVES]) + (
        f" ... and {len(options) - MOST_MOVES} more; legal_moves lists all"
        if len(options) > MOST_MOVES
        else ""
    )


def legal_text(turn: YourTurn, options: Sequence[MoveOption]) -> str:
    """Return all legal moves of a turn, or the rule if this client cannot list them."""
    if options:
        return f"legal moves: {' '.join(option.text for option in options)}"
    if turn.legal_rule:
        return f"legal moves: {turn.legal_rule} ({turn.legal_count} of them)"
    return f"legal moves as JSON: {json.dumps(turn.legal)}"


def result_text(timeline: Timeline, game: Game | None) -> str:
    """Return how a match ended, a line for each seat; empty while it runs."""
    if timeline.result is None:
        return ""
    lines = descriptions.result_lines(timeline.info, timeline.result)
    summary = descriptions.result_summary(timeline.info, timeline.result, game)
    return f"match {timeline.info.match} is over: {summary} ({'; '.join(lines)})"


def player_names(timeline: Timeline) -> list[str]:
    """Return the players' names by seat, with ``(you)`` after the viewer's own."""
    facts = timeline.info
    names = [shown_name(player.name, player.kind) for player in facts.seats]
    return [f"{name} (you)" if seat == facts.you else name for seat, name in enumerate(names)]


def _state(timeline: Timeline, game: Game | None, names: Sequence[str]) -> str:
    if timeline.result is not None:
        return result_text(timeline, game)
    frame = timeline.newest
    if frame.to_act == TERMINAL:
        return f"{frame.ply} plies; the match is over"
    if frame.to_act == timeline.info.you:
        return f"{frame.ply} plies; it is your turn"
    return f"{frame.ply} plies; it is {names[frame.to_act]}'s turn"


def _steps(timeline: Timeline, game: Game | None, names: Sequence[str]) -> list[str]:
    """Return the steps after the viewer's own last move, oldest first."""
    you = timeline.info.you

    def is_later(frame: Frame) -> bool:
        return not (frame.is_turn and descriptions.acting_seat(frame) == you)

    frames = [frame for frame in timeline.steps if frame.entry is not None][-MOST_STEPS:]
    later = [*takewhile(is_later, reversed(frames))]
    return [_step(frame, game, names) for frame in reversed(later)]


def _step(frame: Frame, game: Game | None, names: Sequence[str]) -> str:
    seat = descriptions.acting_seat(frame)
    text = descriptions.step_text(game, frame)
    return text if seat is None else f"{names[seat]}: {text}"


def _clocks(timeline: Timeline, names: Sequence[str], now: int) -> list[str]:
    readings = timeline.clock_readings(now)
    texts = [
        f"{name} {reading.text}"
        for name, reading in zip(names, readings, strict=False)
        if reading is not None
    ]
    return [f"clocks: {'; '.join(texts)}"] if texts and not timeline.over else []


def _board(frame: Frame, game: Game | None, names: Sequence[str]) -> str:
    if frame.view is None:
        return ""
    if game is not None:
        try:
            return scene_text(game.scene(game.View.model_validate(frame.view)), names)
        except (GameError, ValidationError):
            pass  # from a newer version of the game than the installed one
    return f"position as JSON: {json.dumps(frame.view)}"
