"""A match as somebody follows it: a line of frames that grows while they step through it.

Everything here is sans-I/O. Messages are folded in; what is missing (a spectator comes late,
a connection was lost) is named by `Timeline.wanted` for the caller to ask the server for, and
`Timeline.fill` puts it in. `now` is an integer of milliseconds of the caller's clock.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from kibitz_clients import clockface
from kibitz_clients.clockface import Reading
from kibitz_games.api import OVER, Game, GameError
from kibitz_protocol.clocks import Clock, TimeControl
from kibitz_protocol.messages import (
    Event,
    Finished,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.records import (
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
from kibitz_protocol.rooms import LobbyView, MatchBrief
from kibitz_protocol.session import Gone, News
from kibitz_protocol.values import Fields, Options

FILL = 200
"""How many events are asked for at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is fixed about a match, except that a seat's player may be replaced."""

    match: str
    lobby: str | None
    number: int
    game: str
    options: Options
    seats: tuple[Player, ...]
    time_control: TimeControl
    you: int | None = None
    rules_version: int | None = None
    """Under which the match is played, None where that was not said yet."""

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot) -> Facts:
        return cls(
            match=snapshot.match,
            lobby=snapshot.lobby,
            number=snapshot.number,
            game=snapshot.game,
            options=snapshot.options,
            seats=tuple(snapshot.seats),
            time_control=snapshot.time_control,
            you=snapshot.you,
            rules_version=snapshot.rules_version,
        )

    @classmethod
    def of_brief(cls, brief: MatchBrief) -> Facts:
        return cls(
            match=brief.match,
            lobby=brief.lobby,
            number=brief.number,
            game=brief.game,
            options={},
            seats=tuple(brief.seats),
            time_control=brief.time_control,
        )

    def brief(self, result: Result | None) -> MatchBrief:
        """Return the match as lists show it."""
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

    @classmethod
    def of_setup(cls, setup: Setup) -> Facts:
        return cls(
            match=setup.match,
            lobby=setup.lobby,
            number=setup.number,
            game=setup.game,
            options=setup.options,
            seats=tuple(setup.seats),
            time_control=setup.time_control,
            rules_version=setup.rules_version,
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """A match right after entry `seq`, as one viewer sees it.

    `entry` is None for the start and for the state in which a late viewer found the match;
    `view` is None where the viewer does not know it.
    """

    seq: int
    ply: int
    to_act: int
    view: Fields | None
    entry: Entry | None = None
    clocks: tuple[Clock, ...] | None = None
    mover: int | None = None
    """The seat that has moved, where the entry is hidden but a turn has passed."""

    @property
    def comment(self) -> Comment | None:
        return self.entry.comment if isinstance(self.entry, Moved) else None

    @property
    def visible(self) -> bool:
        """Whether there is anything to see in stepping to it."""
        return self.mover is not None or not isinstance(self.entry, Hidden | Noted)

    @property
    def acted(self) -> bool:
        """Whether the entry was somebody's turn: a move, seen or not, or a turn that passed."""
        skipped = isinstance(self.entry, Flagged) and self.ply > self.entry.ply
        return skipped or self.mover is not None or isinstance(self.entry, Moved)


class Timeline:
    """The frames of one match, oldest first, with everything that goes with the newest."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.result: Result | None = None
        self.record: str = ""
        """Where the finished match's record is, on the server's HTTP side."""
        self.seed: str = ""
        self.away: dict[int, int | None] = {}
        """Seats whose players are gone, and when their grace ends, where that is known."""
        self.eyes: int | None = None
        """Through whose eyes a record is seen (`refold.Eyes`); everything is shown when None."""
        self.looks: Callable[[int | None], list[Frame]] | None = None
        """Returns the frames as somebody else saw them, where that is known and may differ."""
        self._frames: dict[int, Frame] = {}
        self._order: list[int] = []
        # Numbers that the server does not give out: they are not asked for again.
        self._lost: set[int] = set()
        # When the present turn began, as far as this client knows.
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
        return [frame for frame in self.frames if frame.visible]

    @property
    def over(self) -> bool:
        return self.result is not None

    def frame(self, seq: int) -> Frame | None:
        return self._frames.get(seq)

    def readings(self, now: int, frame: Frame | None = None) -> list[Reading | None]:
        """Return how every seat's clock reads; the newest frame's count down with `now`."""
        shown = frame or self.newest
        control = self.facts.time_control
        clocks = shown.clocks or (clockface.full(control),) * len(self.facts.seats)
        running = shown.seq == self.newest.seq and not self.over
        elapsed = now - self._turn_began if running else 0
        return [
            clockface.read(control, clock, elapsed if seat == shown.to_act else 0)
            for seat, clock in enumerate(clocks)
        ]

    # ---------------------------------------------------------------------------- folding

    def snapshot(self, snapshot: Snapshot, now: int) -> None:
        """Go on from here; frames that are known already stay."""
        self.facts = Facts.of_snapshot(snapshot)
        self.result = snapshot.result
        self.away = {seat: self.away.get(seat) for seat in snapshot.away}
        known = self._frames.get(snapshot.seq)
        frame = Frame(
            snapshot.seq,
            snapshot.ply,
            snapshot.to_act,
            snapshot.view,
            known.entry if known else None,
            _tuple(snapshot.clocks),
        )
        if known is None or self.newest.seq != snapshot.seq or known.to_act != frame.to_act:
            self._turn_began = now
        self._set_left(snapshot.left_ms, snapshot.clocks, snapshot.to_act, now)
        self._put(frame)

    def event(self, event: Event, now: int) -> None:
        """Add what has just happened."""
        before = self.newest if self._order else None
        self._put(self._framed(event))
        self._heed(event.entry, now)
        if before is None or (before.ply, before.to_act) != (event.ply, event.to_act):
            self._turn_began = now

    def turn(self, turn: YourTurn, now: int) -> None:
        """Set the own clock by the server's word."""
        self._set_left(turn.left_ms, turn.clocks, turn.seat, now)

    def _set_left(self, left: int | None, clocks: list[Clock] | None, seat: int, now: int) -> None:
        """Set when the present turn began, by what the server says is left of it."""
        if left is not None and clocks is not None and seat != OVER:
            whole = clockface.until_flag(self.facts.time_control, clocks[seat])
            self._turn_began = now - (whole - left)

    def finished(self, finished: Finished) -> None:
        """Take the result; the last frame now shows what was hidden."""
        self.result = finished.result
        self.record, self.seed = finished.record, finished.seed
        self.away = {}
        last = self._frames.get(finished.seq)
        if last is not None:
            self._put(replace(last, view=finished.view, to_act=OVER))

    def look(self, eyes: int | None) -> None:
        """See the match through other eyes; `looks` must be there."""
        if self.looks is None:
            raise AssertionError("only a record knows what others saw")
        self._replace(self.looks(eyes))
        self.eyes = eyes

    def reveal(self, recorded: Timeline) -> None:
        """Take over what the record of this match shows, now that it is over."""
        self._replace(recorded.frames)
        self.eyes, self.looks = recorded.eyes, recorded.looks

    def _replace(self, frames: Iterable[Frame]) -> None:
        self._frames = {frame.seq: frame for frame in frames}
        self._order = sorted(self._frames)

    def begin(self, view: Fields, to_act: int) -> None:
        """Add the start of the match, before its first entry."""
        self._put(Frame(0, 0, to_act, view, None, _start_clocks(self.facts)))
        self._carry_views()

    # ------------------------------------------------------------------ what was missed

    def wanted(self) -> tuple[int, int] | None:
        """Return the first number and the count of the oldest events that are not known."""
        known = itertools.chain(
            (seq for seq in self._order if seq and self._frames[seq].entry is not None), ()
        )
        have = set(known) | self._lost
        newest = self._order[-1] if self._order else 0
        first = next((seq for seq in range(1, newest + 1) if seq not in have), None)
        if first is None:
            return None
        after = next((seq for seq in range(first, newest + 1) if seq in have), newest + 1)
        return first, min(after - first, FILL)

    def fill(self, events: Iterable[Event], wanted: tuple[int, int]) -> None:
        """Put in the answer to `wanted`; what it does not contain is not asked for again."""
        first, count = wanted
        for event in sorted(events, key=lambda event: event.entry.seq):
            if event.entry.seq <= self._order[-1]:
                self._put(self._framed(event))
        asked = range(first, first + count)
        self._lost |= {seq for seq in asked if not self._is_whole(seq)}
        self._carry_views()

    def _is_whole(self, seq: int) -> bool:
        frame = self._frames.get(seq)
        return frame is not None and frame.entry is not None

    def _carry_views(self) -> None:
        """Where an entry changed nothing that is seen, the view before it still holds."""
        for before, seq in itertools.pairwise(self._order):
            if self._frames[seq].view is None and seq == before + 1:
                self._frames[seq] = replace(self._frames[seq], view=self._frames[before].view)

    # ------------------------------------------------------------------------- internals

    def _framed(self, event: Event) -> Frame:
        entry = event.entry
        view = event.view
        if view is None:
            here, before = self._frames.get(entry.seq), self._frames.get(entry.seq - 1)
            view = here.view if here else before.view if before else None
        return Frame(entry.seq, event.ply, event.to_act, view, entry, _tuple(event.clocks))

    def _put(self, frame: Frame) -> None:
        if frame.seq not in self._frames:
            bisect.insort(self._order, frame.seq)
        self._frames[frame.seq] = frame
        self._find_mover(frame.seq)
        self._find_mover(frame.seq + 1)

    def _find_mover(self, seq: int) -> None:
        """Notice that a hidden entry was a move: a turn has passed with it."""
        frame, before = self._frames.get(seq), self._frames.get(seq - 1)
        if frame is None or before is None or not isinstance(frame.entry, Hidden):
            return
        if frame.ply > before.ply:
            self._frames[seq] = replace(frame, mover=before.to_act)

    def _heed(self, entry: Entry, now: int) -> None:
        match entry:
            case Left(seat=seat, grace_ms=grace):
                self.away[seat] = now + grace
            case Returned(seat=seat) | Forfeited(seat=seat) | Resigned(seat=seat):
                self.away.pop(seat, None)
            case Replaced(seat=seat, player=player):
                self.away.pop(seat, None)
                seats = list(self.facts.seats)
                seats[seat] = player
                self.facts = replace(self.facts, seats=tuple(seats))
            case _:
                pass


class Playhead:
    """Where a viewer stands on a timeline: at a frame, or live, which moves with the newest."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._seq: int | None = None

    @property
    def live(self) -> bool:
        return self._seq is None

    @property
    def frame(self) -> Frame:
        """The frame to show."""
        found = None if self._seq is None else self.timeline.frame(self._seq)
        return found or self._last()

    @property
    def position(self) -> tuple[int, int]:
        """The number of the shown step, from 0, and of the last one."""
        steps = self.timeline.steps
        at = bisect.bisect_right([step.seq for step in steps], self.frame.seq) - 1
        return max(0, at), len(steps) - 1

    def back(self) -> None:
        earlier = [step for step in self.timeline.steps if step.seq < self.frame.seq]
        if earlier:
            self._seq = earlier[-1].seq

    def forward(self) -> None:
        """Step on; from the last frame on, live."""
        later = [step for step in self.timeline.steps if step.seq > self.frame.seq]
        self._seq = later[0].seq if len(later) > 1 else None

    def first(self) -> None:
        """Go to the oldest step; where there is no other, that is live."""
        steps = self.timeline.steps
        if steps:
            self.go(steps[0].seq)

    def go_live(self) -> None:
        self._seq = None

    def go(self, seq: int) -> None:
        """Show the frame `seq`; the newest one is live."""
        self._seq = None if seq == self._last().seq else seq

    def _last(self) -> Frame:
        steps = self.timeline.steps
        return steps[-1] if steps else self.timeline.newest


@dataclass
class Gallery:
    """Everything that one connection has been told: matches, lobbies, turns to take."""

    games: Mapping[str, Game]
    matches: dict[str, Timeline] = field(default_factory=dict)
    lobbies: dict[str, LobbyView] = field(default_factory=dict)
    turns: dict[str, YourTurn] = field(default_factory=dict)
    briefs: dict[str, MatchBrief] = field(default_factory=dict)
    """Matches of the lobbies, in the order in which they began."""
    gone: dict[str, str] = field(default_factory=dict)
    """Matches that could not be found again, and why."""

    def fold(self, message: News | Gone, now: int) -> None:
        """Take in one message."""
        match message:
            case Snapshot(match=match):
                timeline = self.matches.setdefault(match, Timeline(Facts.of_snapshot(message)))
                timeline.snapshot(message, now)
                self._begin(timeline)
                self._drop_stale_turn(match)
            case Event(match=match) if match in self.matches:
                self.matches[match].event(message, now)
                self._drop_stale_turn(match)
            case YourTurn(match=match):
                self.turns[match] = message
                if match in self.matches:
                    self.matches[match].turn(message, now)
            case Finished(match=match):
                self.turns.pop(match, None)
                if match in self.matches:
                    self.matches[match].finished(message)
            case LobbyNews(lobby=lobby):
                self.lobbies[lobby.lobby] = lobby
                self.briefs |= {brief.match: brief for brief in lobby.live}
            case MatchStarted(match=brief) | MatchEnded(match=brief):
                self.briefs[brief.match] = brief
            case LobbyClosed(lobby=key):
                self.lobbies.pop(key, None)
            case Gone(match=match):
                self.gone[match] = message.message
            case _:
                pass

    def fill(self, match: str, events: Iterable[Event], wanted: tuple[int, int]) -> None:
        """Put in earlier events of a match, and its start once they reach back to it."""
        timeline = self.matches[match]
        timeline.fill(events, wanted)
        self._begin(timeline)

    def next_match(self, lobby: str, after: int) -> MatchBrief | None:
        """Return the running match of a lobby that follows number `after`, going round."""
        running = [
            brief
            for brief in self.briefs.values()
            if brief.lobby == lobby and brief.result is None and brief.number != after
        ]
        running.sort(key=lambda brief: (brief.number < after, brief.number))
        return running[0] if running else None

    def _begin(self, timeline: Timeline) -> None:
        game = self.games.get(timeline.facts.game)
        if game is not None and timeline.frame(0) is None and timeline.frame(1) is not None:
            start = opening(game, timeline.facts)
            if start is not None:
                timeline.begin(*start)

    def _drop_stale_turn(self, match: str) -> None:
        turn = self.turns.get(match)
        newest = self.matches[match].newest
        if turn is not None and (newest.ply != turn.ply or newest.to_act != turn.seat):
            del self.turns[match]


def opening(game: Game, facts: Facts) -> tuple[Fields, int] | None:
    """Return a match's start and the seat to act, or None where chance has dealt it."""
    try:
        if facts.rules_version is not None:
            game = game.under(facts.rules_version)
        options = game.Options.read(facts.options)
        if game.info.hidden or game.deal(options, len(facts.seats), 0):
            return None
        state = game.start(options, len(facts.seats), {})
        return game.dump(game.view(state, None)), game.to_act(state)
    except (GameError, ValueError):
        return None


def _start_clocks(facts: Facts) -> tuple[Clock, ...] | None:
    if not facts.time_control.limited:
        return None
    return (clockface.full(facts.time_control),) * len(facts.seats)


def _tuple(clocks: list[Clock] | None) -> tuple[Clock, ...] | None:
    return None if clocks is None else tuple(clocks)
