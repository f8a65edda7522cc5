"""A match as a viewer follows it: a growing list of frames that the viewer can step through.

Everything here is sans-I/O. Messages are applied as they arrive. `Timeline.missing` names events
that are missing after a late start or a lost connection, the caller requests them from the server,
and `Timeline.fill_missing` inserts them. `now` is the caller's clock in integer milliseconds.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kibitz_clients.matches import clock_format
from kibitz_clients.matches.clock_format import ClockReading
from kibitz_games.core.game import TERMINAL
from kibitz_protocol.wire.clocks import Clock, TimeControl, full_clock, until_flag
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import Event, Finished, Snapshot, YourTurn
from kibitz_protocol.wire.records import (
    Comment,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
    Setup,
)
from kibitz_protocol.wire.values import Fields, Options

MAX_HISTORY_REQUEST = 200
"""The most events per request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchInfo:
    """The facts of a match that do not change, except that a player may be replaced."""

    match: str
    lobby: str | None
    number: int
    game: str
    options: Options
    seats: tuple[Player, ...]
    time_control: TimeControl
    you: int | None = None
    rules_version: int | None = None
    """The version of the rules in this match, None if unknown."""

    @classmethod
    def of(cls, source: Snapshot | Setup) -> MatchInfo:
        return cls(
            match=source.match,
            lobby=source.lobby,
            number=source.number,
            game=source.game,
            options=source.options,
            seats=tuple(source.seats),
            time_control=source.time_control,
            you=source.you if isinstance(source, Snapshot) else None,
            rules_version=source.rules_version,
        )

    @classmethod
    def from_brief(cls, brief: MatchBrief) -> MatchInfo:
        return cls(
            match=brief.match,
            lobby=brief.lobby,
            number=brief.number,
            game=brief.game,
            options={},
            seats=tuple(brief.seats),
            time_control=brief.time_control,
        )

    def to_brief(self, result: Result | None) -> MatchBrief:
        """Return the match in the short form that lists of matches use."""
        return MatchBrief(
            match=self.match,
            lobby=self.lobby,
            number=self.number,
            game=self.game,
            seats=list(self.seats),
            ply=result.plies if result else 0,
            time_control=self.time_control,
            result=result,
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """A match right after entry `seq`, as seen by one viewer.

    `entry` is None for the start of the match, and for the first frame of a viewer who joined
    later. `view` is None if the viewer did not receive the position.
    """

    seq: int
    ply: int
    to_act: int
    view: Fields | None
    entry: Entry | None = None
    clocks: tuple[Clock, ...] | None = None
    mover: int | None = None
    """The seat that moved, if the entry is a hidden move."""

    @property
    def comment(self) -> Comment | None:
        return self.entry.comment if isinstance(self.entry, Moved) else None

    @property
    def is_step(self) -> bool:
        """Whether stepping to this frame shows anything new."""
        return self.mover is not None or not isinstance(self.entry, Hidden | Noted)

    @property
    def is_turn(self) -> bool:
        """Whether the entry was a turn: a move, visible or not, or a skipped turn."""
        skipped = isinstance(self.entry, Flagged) and self.ply > self.entry.ply
        return skipped or self.mover is not None or isinstance(self.entry, Moved)


class Timeline:
    """The frames of one match, oldest first, with the live state of the newest."""

    def __init__(self, info: MatchInfo) -> None:
        self.info = info
        self.result: Result | None = None
        self.record: str = ""
        """The HTTP path of the finished match's record on the server."""
        self.seed: str = ""
        self.away: dict[int, int | None] = {}
        """Seats whose players are disconnected, and the end of their grace period if known."""
        self.viewpoint: int | None = None
        """The viewpoint on a record (`viewer_events.Viewpoint`); None shows everything."""
        self.frames_seen_by: Callable[[int | None], list[Frame]] | None = None
        """Returns the frames from another viewpoint; None if there are none or all are equal."""
        self._frames: dict[int, Frame] = {}
        self._order: list[int] = []
        # The numbers of events that the server refused; they are not requested again.
        self._unavailable: set[int] = set()
        # The start of the current turn, if known.
        self._turn_began = 0

    # ---------------------------------------------------------------------------- reading

    @property
    def newest(self) -> Frame:
        return self._frames[self._order[-1]]

    @property
    def frames(self) -> list[Frame]:
        """All frames, oldest first."""
        return [self._frames[seq] for seq in self._order]

    @property
    def steps(self) -> list[Frame]:
        """The frames that a viewer steps through."""
        return [frame for frame in self.frames if frame.is_step]

    @property
    def over(self) -> bool:
        return self.result is not None

    def frame(self, seq: int) -> Frame | None:
        return self._frames.get(seq)

    def clock_readings(self, now: int, frame: Frame | None = None) -> list[ClockReading | None]:
        """Return every seat's clock reading; clocks of the newest frame depend on `now`."""
        shown = frame or self.newest
        control = self.info.time_control
        clocks = shown.clocks or (full_clock(control),) * len(self.info.seats)
        running = shown.seq == self.newest.seq and not self.over
        elapsed = now - self._turn_began if running else 0
        return [
            clock_format.read_clock(control, clock, elapsed if seat == shown.to_act else 0)
            for seat, clock in enumerate(clocks)
        ]

    # ---------------------------------------------------------------------------- updates

    def snapshot(self, snapshot: Snapshot, now: int) -> None:
        """Continue from a snapshot; known frames are kept."""
        self.info = MatchInfo.of(snapshot)
        self.result = snapshot.result
        self.away = {seat: self.away.get(seat) for seat in snapshot.away}
        known = self._frames.get(snapshot.seq)
        frame = Frame(
            snapshot.seq,
            snapshot.ply,
            snapshot.to_act,
            snapshot.view,
            known.entry if known else None,
            _as_tuple(snapshot.clocks),
        )
        if known is None or self.newest.seq != snapshot.seq or known.to_act != frame.to_act:
            self._turn_began = now
        self._set_left(snapshot.left_ms, snapshot.clocks, snapshot.to_act, now)
        self._insert(frame)

    def event(self, event: Event, now: int) -> None:
        """Add a new event."""
        before = self.newest if self._order else None
        self._insert(self._frame_of(event))
        self._apply_entry(event.entry, now)
        if before is None or (before.ply, before.to_act) != (event.ply, event.to_act):
            self._turn_began = now

    def turn(self, turn: YourTurn, now: int) -> None:
        """Set the player's own clock from `your_turn`."""
        self._set_left(turn.left_ms, turn.clocks, turn.seat, now)

    def _set_left(self, left: int | None, clocks: list[Clock] | None, seat: int, now: int) -> None:
        """Set the start of the current turn from the remaining time sent by the server."""
        if left is not None and clocks is not None and seat != TERMINAL:
            whole = until_flag(self.info.time_control, clocks[seat])
            self._turn_began = now - (whole - left)

    def finished(self, finished: Finished) -> None:
        """Set the result; the last frame now shows hidden information."""
        self.result = finished.result
        self.record, self.seed = finished.record, finished.seed
        self.away = {}
        last = self._frames.get(finished.seq)
        if last is not None:
            # `finished.view` is empty if the game's code failed on the server.
            self._insert(replace(last, view=finished.view or last.view, to_act=TERMINAL))

    def set_viewpoint(self, viewpoint: int | None) -> None:
        """Show the match as another viewer saw it; `frames_seen_by` must be set."""
        if self.frames_seen_by is None:
            raise AssertionError("only a record has other viewpoints")
        self._replace(self.frames_seen_by(viewpoint))
        self.viewpoint = viewpoint

    def unmask(self, recorded: Timeline) -> None:
        """Replace hidden frames by those of the finished match's record."""
        self._replace(recorded.frames)
        self.viewpoint, self.frames_seen_by = recorded.viewpoint, recorded.frames_seen_by

    def _replace(self, frames: Iterable[Frame]) -> None:
        self._frames = {frame.seq: frame for frame in frames}
        self._order = sorted(self._frames)

    def set_start(self, view: Fields, to_act: int) -> None:
        """Add the start of the match, before its first entry."""
        self._insert(Frame(0, 0, to_act, view, None, _initial_clocks(self.info)))
        self._carry_views_forward()

    # ------------------------------------------------------------------ missing events

    def missing(self) -> tuple[int, int] | None:
        """Return the first number and the length of the oldest gap; None if no event is missing."""
        known = itertools.chain(
            (seq for seq in self._order if seq and self._frames[seq].entry is not None), ()
        )
        have = set(known) | self._unavailable
        newest = self._order[-1] if self._order else 0
        first = next((seq for seq in range(1, newest + 1) if seq not in have), None)
        if first is None:
            return None
        after = next((seq for seq in range(first, newest + 1) if seq in have), newest + 1)
        return first, min(after - first, MAX_HISTORY_REQUEST)

    def fill_missing(self, events: Iterable[Event], wanted: tuple[int, int]) -> None:
        """Insert the events received for `wanted`; those still missing are not requested again."""
        first, count = wanted
        for event in sorted(events, key=lambda event: event.entry.seq):
            if event.entry.seq <= self._order[-1]:
                self._insert(self._frame_of(event))
        asked = range(first, first + count)
        self._unavailable |= {seq for seq in asked if not self._has_entry(seq)}
        self._carry_views_forward()

    def _has_entry(self, seq: int) -> bool:
        frame = self._frames.get(seq)
        return frame is not None and frame.entry is not None

    def _carry_views_forward(self) -> None:
        """Reuse the previous view for frames whose entry changed nothing visible."""
        for before, seq in itertools.pairwise(self._order):
            if self._frames[seq].view is None and seq == before + 1:
                self._frames[seq] = replace(self._frames[seq], view=self._frames[before].view)

    # ------------------------------------------------------------------------- internals

    def _frame_of(self, event: Event) -> Frame:
        entry = event.entry
        view = event.view
        if view is None:
            here, before = self._frames.get(entry.seq), self._frames.get(entry.seq - 1)
            view = here.view if here else before.view if before else None
        return Frame(entry.seq, event.ply, event.to_act, view, entry, _as_tuple(event.clocks))

    def _insert(self, frame: Frame) -> None:
        if frame.seq not in self._frames:
            bisect.insort(self._order, frame.seq)
        self._frames[frame.seq] = frame
        self._find_mover(frame.seq)
        self._find_mover(frame.seq + 1)

    def _find_mover(self, seq: int) -> None:
        """Mark a hidden entry as a move if it passed the turn."""
        frame, before = self._frames.get(seq), self._frames.get(seq - 1)
        if frame is None or before is None or not isinstance(frame.entry, Hidden):
            return
        if frame.ply > before.ply:
            self._frames[seq] = replace(frame, mover=before.to_act)

    def _apply_entry(self, entry: Entry, now: int) -> None:
        match entry:
            case Left(seat=seat, grace_ms=grace):
                self.away[seat] = now + grace
            case Returned(seat=seat) | Forfeited(seat=seat) | Resigned(seat=seat):
                self.away.pop(seat, None)
            case Replaced(seat=seat, player=player):
                self.away.pop(seat, None)
                seats = list(self.info.seats)
                seats[seat] = player
                self.info = replace(self.info, seats=tuple(seats))
            case _:
                pass


class TimelineCursor:
    """A viewer's position on a timeline: a frame, or live, which follows the newest."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._seq: int | None = None

    @property
    def is_live(self) -> bool:
        return self._seq is None

    @property
    def frame(self) -> Frame:
        """The frame to show."""
        chosen = None if self._seq is None else self.timeline.frame(self._seq)
        return chosen or self._last_step()

    @property
    def position(self) -> tuple[int, int]:
        """The index of the current step, from 0, and of the last one."""
        steps = self.timeline.steps
        at = bisect.bisect_right([step.seq for step in steps], self.frame.seq) - 1
        return max(0, at), len(steps) - 1

    def step_back(self) -> None:
        earlier = [step for step in self.timeline.steps if step.seq < self.frame.seq]
        if earlier:
            self._seq = earlier[-1].seq

    def step_forward(self) -> None:
        """Go to the next step; after the last one, go live."""
        later = [step for step in self.timeline.steps if step.seq > self.frame.seq]
        self._seq = later[0].seq if len(later) > 1 else None

    def go_to_first(self) -> None:
        """Go to the oldest step, or go live if it is the only one."""
        steps = self.timeline.steps
        if steps:
            self.go_to(steps[0].seq)

    def go_live(self) -> None:
        self._seq = None

    def go_to(self, seq: int) -> None:
        """Show the frame `seq`, or go live if it is the newest."""
        self._seq = None if seq == self._last_step().seq else seq

    def _last_step(self) -> Frame:
        steps = self.timeline.steps
        return steps[-1] if steps else self.timeline.newest


def _initial_clocks(facts: MatchInfo) -> tuple[Clock, ...] | None:
    if not facts.time_control.limited:
        return None
    return (full_clock(facts.time_control),) * len(facts.seats)


def _as_tuple(clocks: list[Clock] | None) -> tuple[Clock, ...] | None:
    return None if clocks is None else tuple(clocks)
