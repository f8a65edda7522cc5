"""A finished match from its record: the same frames that its viewers saw live.

A record holds entries, not views; the game's own rules fold them, so a record that does not
follow the rules is found at the line where it leaves them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from kibitz_clients import descriptions
from kibitz_clients.game_files import read_match
from kibitz_clients.render.svg import document
from kibitz_clients.replayer import Replayer, Viewpoint
from kibitz_clients.timeline import Frame, MatchInfo, Timeline
from kibitz_games.core.game import Game, GameError
from kibitz_games.core.scene import Scene, with_names
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.recordfile import Record, RecordError
from kibitz_protocol.wire.records import Player


@dataclass(frozen=True, slots=True)
class LoadedRecord:
    """A record, the game that it is of, and its frames."""

    game: Game
    record: Record
    timeline: Timeline


def load_record(
    path: str | os.PathLike[str], games: Mapping[str, Game], seat: int | None = None
) -> LoadedRecord:
    """Read a record file, or one of another program (`game_files`), and replay it.

    It shows the match as `seat` saw it; by default everything is shown. Raises `RecordError` with
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
    """Return the frames of a record as somebody saw them; `path` is what errors name."""
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
    """Yield the events that a viewer was sent; by default one who may see everything."""
    table = Replayer(game, record.setup, viewpoint)
    for entry in record.entries:
        yield table.apply(entry)


def export_svg(
    path: str | os.PathLike[str],
    games: Mapping[str, Game],
    ply: int | None = None,
    seat: int | None = None,
) -> str:
    """Return a picture of a recorded match after `ply` plies (the end when None) as SVG.

    It shows what `seat` knew then, or everything when None. Raises `RecordError`, `OSError`,
    and `ValueError` for a ply or a seat that the match does not have.
    """
    return draw_svg(load_record(path, games, seat), ply)


def draw_svg(recorded: LoadedRecord, ply: int | None = None) -> str:
    """Return a picture of a record after `ply` plies as SVG; `ValueError` for one it lacks."""
    frame = frame_at_ply(recorded.timeline, ply)
    scene = frame_scene(recorded.game, frame, recorded.timeline.info.seats)
    return document.render_svg(scene, _caption(recorded, frame))


def frame_at_ply(timeline: Timeline, ply: int | None) -> Frame:
    """Return the first frame with `ply` plies played, or the newest."""
    if ply is None:
        return timeline.newest
    for frame in timeline.frames:
        if frame.ply == ply:
            return frame
    raise ValueError(f"expected a ply from 0 to {timeline.newest.ply}, not {ply}")


def frame_scene(game: Game, frame: Frame, players: Sequence[Player] = ()) -> Scene:
    """Draw what a frame shows, with the names of `players`, by seat, in its text.

    There is nothing on the board where the viewer does not know it.
    """
    if frame.view is None:
        return Scene("square", (), (), ("this position is not known",))
    scene = game.scene(game.View.model_validate(frame.view))
    labels = [
        descriptions.player_label(seat, who, scene.colours) for seat, who in enumerate(players)
    ]
    return with_names(scene, labels)


def _caption(recorded: LoadedRecord, frame: Frame) -> document.Caption:
    timeline = recorded.timeline
    facts, result = timeline.info, timeline.result
    ended = result is not None and frame.seq == timeline.newest.seq
    line = f"{len(facts.seats)} players, ply {frame.ply} of {timeline.newest.ply}"
    if timeline.viewpoint is not None:
        line += f", {descriptions.viewpoint_text(facts, timeline.viewpoint)}"
    notes = []
    for ended_so in result.seats if result and ended else ():
        why = f", {descriptions.CAUSE_TEXTS[ended_so.cause]}" if ended_so.cause else ""
        points = descriptions.points_text(ended_so)
        notes.append(descriptions.ordinal(ended_so.rank) + (f", {points}" if points else "") + why)
    if not ended:
        notes = ["to move" if seat == frame.to_act else "" for seat in range(len(facts.seats))]
    how = descriptions.ending_text(result, recorded.game) if result and ended else ""
    return document.Caption(
        title=recorded.game.info.title,
        subtitle=f"{line} · {how}" if how else line,
        players=[who.name for who in facts.seats],
        notes=notes,
    )


def _sentence(error: GameError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        return f"{path}: {first['msg']}" if path else first["msg"]
    return str(error)
