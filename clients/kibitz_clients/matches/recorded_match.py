"""A finished match from its record: the same frames that its viewers saw live.

A record contains entries, not views. The game's own rules replay them, so an invalid record fails
at the first line that breaks the rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from kibitz_clients.matches.game_files import read_match
from kibitz_clients.matches.timeline import Frame, MatchInfo, Timeline
from kibitz_clients.matches.viewer_events import Replayer, Viewpoint
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.recordfile import Record, RecordError


@dataclass(frozen=True, slots=True)
class LoadedRecord:
    """A record, its game, and its frames."""

    game: Game
    record: Record
    timeline: Timeline


def load_record(
    path: str | os.PathLike[str], games: Mapping[str, Game], seat: int | None = None
) -> LoadedRecord:
    """Read a record file, or one of another program (`game_files`), and replay it.

    The frames show the match as `seat` saw it, by default everything. Raises `RecordError` with
    path, line and what was expected there, `OSError`, and `ValueError` for a seat that the match
    does not have.
    """
    record = read_match(path, lambda: games, torn=True)
    game = games.get(record.setup.game)
    if game is None:
        known = ", ".join(sorted(games))
        raise RecordError(str(path), 1, f"game: expected one of {known}, not {record.setup.game!r}")
    return LoadedRecord(game, record, build_timeline(game, record, str(path), seat))


def build_timeline(
    game: Game, record: Record, path: str = "record", viewpoint: Viewpoint = None
) -> Timeline:
    """Return the frames of a record as seen from a viewpoint; `path` is used in errors."""
    timeline = Timeline(MatchInfo.of(record.setup))
    try:
        table = Replayer(game, record.setup, viewpoint)
    except (GameError, ValidationError) as error:
        raise RecordError(path, 1, f"setup: {_sentence(error)}") from None
    timeline.set_start(table.view(), table.to_act)
    for line, entry in enumerate(record.entries, start=2):
        try:
            event = table.apply(entry)
        except (GameError, ValidationError) as error:
            raise RecordError(path, line, _sentence(error)) from None
        timeline.event(event, event.entry.at_ms)
    if record.footer is not None:
        timeline.result = record.footer.result
        timeline.away = {}
    timeline.seed = record.setup.seed
    if game.info.hidden:
        timeline.viewpoint = viewpoint
        timeline.frames_seen_by = lambda other: build_timeline(game, record, path, other).frames
    return timeline


def events(game: Game, record: Record, viewpoint: Viewpoint = None) -> Iterator[Event]:
    """Yield the events that a viewer receives; by default the viewer sees everything."""
    table = Replayer(game, record.setup, viewpoint)
    for entry in record.entries:
        yield table.apply(entry)


def frame_at_ply(timeline: Timeline, ply: int | None) -> Frame:
    """Return the first frame with `ply` plies played, or the newest."""
    if ply is None:
        return timeline.newest
    for frame in timeline.frames:
        if frame.ply == ply:
            return frame
    raise ValueError(f"expected a ply from 0 to {timeline.newest.ply}, not {ply}")


def _sentence(error: GameError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    return str(error)
