"""Pictures of a frame of a match: a scene with the players' names, and SVG."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_clients.matches.recorded_match import LoadedRecord, frame_at_ply
from kibitz_clients.matches.timeline import Frame
from kibitz_clients.render.svg import document
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene, with_names
from kibitz_protocol.wire.records import Player


def draw_svg(recorded: LoadedRecord, ply: int | None = None) -> str:
    """Return an SVG of a record after `ply` plies; raises `ValueError` for a wrong ply."""
    frame = frame_at_ply(recorded.timeline, ply)
    scene = frame_scene(recorded.game, frame, recorded.timeline.info.seats)
    return document.render_svg(scene, _caption(recorded, frame))


def frame_scene(game: Game, frame: Frame, players: Sequence[Player] = ()) -> Scene:
    """Draw a frame, with the names of `players`, by seat, in its text.

    The board is empty if the viewer did not receive the position.
    """
    if frame.view is None:
        return Scene("square", (), (), ("unknown position",))
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
    if result and ended:
        notes = [*map(descriptions.seat_note, result.seats)]
    else:
        notes = ["to move" if seat == frame.to_act else "" for seat in range(len(facts.seats))]
    how = descriptions.ending_text(result, recorded.game) if result and ended else ""
    return document.Caption(
        title=recorded.game.info.title,
        subtitle=f"{line} · {how}" if how else line,
        players=[who.name for who in facts.seats],
        notes=notes,
    )
