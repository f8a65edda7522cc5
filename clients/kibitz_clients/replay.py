"""A finished match from its record: the same frames that its viewers saw live.

A record holds entries, not views; the game's own rules fold them, so a record that does not
follow the rules is found at the line where it leaves them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from kibitz_clients import svg, words
from kibitz_clients.follow import Facts, Frame, Timeline
from kibitz_clients.refold import Eyes, Refold
from kibitz_games.api import Game, GameError
from kibitz_games.scene import Scene
from kibitz_protocol.messages import Event
from kibitz_protocol.recordfile import Record, RecordError, read_record


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record, the game that it is of, and its frames."""

    game: Game
    record: Record
    timeline: Timeline


def load(
    path: str | os.PathLike[str], games: Mapping[str, Game], seat: int | None = None
) -> Recorded:
    """Read a record file and fold it, as `seat` saw the match; by default everything is shown.

    Raises `RecordError` with path, line and what was expected there, `OSError`, and
    `ValueError` for a seat that the match does not have.
    """
    record = read_record(path, torn=True)
    game = games.get(record.setup.game)
    if game is None:
        known = ", ".join(sorted(games))
        raise RecordError(str(path), 1, f"game: expected one of {known}, not {record.setup.game!r}")
    return Recorded(game, record, fold(game, record, str(path), seat))


def fold(game: Game, record: Record, path: str = "record", eyes: Eyes = None) -> Timeline:
    """Return the frames of a record as somebody saw them; `path` is what errors name."""
    timeline = Timeline(Facts.of_setup(record.setup))
    try:
        table = Refold(game, record.setup, eyes)
    except (GameError, ValidationError) as error:
        raise RecordError(path, 1, f"setup: {_sentence(error)}") from None
    timeline.begin(table.view(), table.to_act)
    for line, entry in enumerate(record.entries, start=2):
        try:
            event = table.take(entry)
        except (GameError, ValidationError) as error:
            raise RecordError(path, line, _sentence(error)) from None
        timeline.event(event, event.entry.at_ms)
    if record.footer is not None:
        timeline.result = record.footer.result
        timeline.away = {}
    timeline.seed = record.setup.seed
    if game.info.hidden:
        timeline.eyes = eyes
        timeline.looks = lambda other: fold(game, record, path, other).frames
    return timeline


def events(game: Game, record: Record, eyes: Eyes = None) -> Iterator[Event]:
    """Yield the events that a viewer was sent; by default one who may see everything."""
    table = Refold(game, record.setup, eyes)
    for entry in record.entries:
        yield table.take(entry)


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
    recorded = load(path, games, seat)
    frame = at_ply(recorded.timeline, ply)
    return svg.render(scene(recorded.game, frame), _caption(recorded, frame))


def at_ply(timeline: Timeline, ply: int | None) -> Frame:
    """Return the first frame with `ply` plies played, or the newest."""
    if ply is None:
        return timeline.newest
    for frame in timeline.frames:
        if frame.ply == ply:
            return frame
    raise ValueError(f"expected a ply from 0 to {timeline.newest.ply}, not {ply}")


def scene(game: Game, frame: Frame) -> Scene:
    """Draw what a frame shows; nothing where the viewer does not know it."""
    if frame.view is None:
        return Scene("square", (), (), ("this position is not known",))
    return game.scene(game.View.model_validate(frame.view))


def _caption(recorded: Recorded, frame: Frame) -> svg.Caption:
    timeline = recorded.timeline
    facts, result = timeline.facts, timeline.result
    ended = result is not None and frame.seq == timeline.newest.seq
    line = f"{len(facts.seats)} players, ply {frame.ply} of {timeline.newest.ply}"
    if timeline.eyes is not None:
        line += f", {words.eyes(facts, timeline.eyes)}"
    notes = []
    for ended_so in result.seats if result and ended else ():
        why = f", {words.CAUSES[ended_so.cause]}" if ended_so.cause else ""
        notes.append(words.ordinal(ended_so.rank) + why)
    if not ended:
        notes = ["to move" if seat == frame.to_act else "" for seat in range(len(facts.seats))]
    return svg.Caption(
        title=recorded.game.info.title,
        subtitle=f"{line} · {words.ending(result)}" if result and ended else line,
        players=[who.name for who in facts.seats],
        notes=notes,
    )


def _sentence(error: GameError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        return f"{path}: {first['msg']}" if path else first["msg"]
    return str(error)
