"""A finished match from its record: the same frames that its viewers saw live.

A record holds entries, not views; the game's own rules fold them, so a record that does not
follow the rules is found at the line where it leaves them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from kibitz_clients import clockface, svg, words
from kibitz_clients.follow import Facts, Frame, Timeline
from kibitz_games.api import OVER, Game, GameError
from kibitz_games.play import Play
from kibitz_games.scene import Scene
from kibitz_protocol.clocks import Clock
from kibitz_protocol.messages import Event
from kibitz_protocol.recordfile import Record, RecordError, read_record
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Moved,
    Resigned,
    Setup,
)
from kibitz_protocol.values import Fields


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record, the game that it is of, and its frames."""

    game: Game
    record: Record
    timeline: Timeline


def load(path: str | os.PathLike[str], games: Mapping[str, Game]) -> Recorded:
    """Read a record file and fold it.

    Raises `RecordError` with path, line and what was expected there, and `OSError`.
    """
    record = read_record(path, torn=True)
    game = games.get(record.setup.game)
    if game is None:
        known = ", ".join(sorted(games))
        raise RecordError(str(path), 1, f"game: expected one of {known}, not {record.setup.game!r}")
    return Recorded(game, record, fold(game, record, str(path)))


def fold(game: Game, record: Record, path: str = "record") -> Timeline:
    """Return the frames of a record; `path` is what errors name."""
    timeline = Timeline(Facts.of_setup(record.setup))
    try:
        table = _Table(game, record.setup)
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
    return timeline


def events(game: Game, record: Record) -> Iterator[Event]:
    """Yield the events that a viewer who may see everything was sent."""
    table = _Table(game, record.setup)
    for entry in record.entries:
        yield table.take(entry)


def export_svg(
    path: str | os.PathLike[str], games: Mapping[str, Game], ply: int | None = None
) -> str:
    """Return a picture of a recorded match after `ply` plies (the end when None) as SVG.

    Raises `RecordError`, `OSError`, and `ValueError` for a ply that the match does not have.
    """
    recorded = load(path, games)
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


class _Table:
    """The rules at one recorded match: entries in, events out."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self._game = game
        self._setup = setup
        seats = len(setup.seats)
        self._play = Play(game, game.Options.model_validate(setup.options), seats, deal=setup.deal)
        self._ply = 0
        self._over = False
        self._flagged = False
        control = setup.time_control
        self._clocks = [clockface.full(control)] * seats if control.limited else None

    @property
    def to_act(self) -> int:
        return OVER if self._over else self._play.to_act

    def view(self) -> Fields:
        return self._game.dump(self._game.full_view(self._play.state))

    def take(self, entry: Entry) -> Event:
        """Apply an entry. Raises `GameError` or `ValidationError` where the rules forbid it."""
        if self.to_act == OVER:
            raise GameError(f"expected no entry after the end, not {entry.kind!r}")
        seen = self._apply(entry)
        view = self.view() if seen else None
        return Event.model_construct(
            match=self._setup.match,
            ply=self._ply,
            to_act=self.to_act,
            entry=entry,
            view=view,
            clocks=None if self._clocks is None else list(self._clocks),
        )

    def _apply(self, entry: Entry) -> bool:
        """Return whether the entry changed what is seen of the game."""
        match entry:
            case Moved():
                self._move(entry)
            case Flagged(seat=seat):
                self._flagged = True
                self._set_clock(seat, Clock())
                return False
            case Resigned(seat=seat):
                self._drop(seat)
            case Forfeited(seat=seat, cause=cause):
                self._abandon() if cause is Cause.ABANDONED else self._drop(seat)
            case Aborted():
                self._over = True
            case _:
                return False
        return True

    def _move(self, entry: Moved) -> None:
        if (entry.ply, entry.seat) != (self._ply, self.to_act):
            raise GameError(
                f"expected ply {self._ply} of seat {self.to_act}, "
                f"not ply {entry.ply} of seat {entry.seat}"
            )
        self._play.apply(self._game.Move.model_validate(entry.action))
        self._ply += 1
        self._charge(entry)

    def _charge(self, entry: Moved) -> None:
        if self._clocks is None:
            return
        charged = 0 if self._flagged else entry.elapsed_ms - entry.allowance_ms
        self._flagged = False
        left = clockface.spend(self._setup.time_control, self._clocks[entry.seat], charged)
        self._set_clock(entry.seat, left)

    def _set_clock(self, seat: int, clock: Clock) -> None:
        if self._clocks is not None:
            self._clocks = [*self._clocks[:seat], clock, *self._clocks[seat + 1 :]]

    def _drop(self, seat: int) -> None:
        self._play.drop(seat)
        self._over = not self._game.info.drops
        self._flagged = False

    def _abandon(self) -> None:
        for seat in range(len(self._setup.seats)):
            if self._play.to_act != OVER:
                self._play.drop(seat)
        self._over = True


def _sentence(error: GameError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        return f"{path}: {first['msg']}" if path else first["msg"]
    return str(error)
