"""Line output: matches as text or JSON lines, for pipes and logs.

    [evening] match 3 chinese-checkers  12 ● greedy-hand 3-14  clock 0:59
    [evening] match 3 chinese-checkers  ● greedy-hand wins, goal, 118 plies

With `as_json` every line is a JSON object with the same facts. Its `kind` is that of a record entry
(`move`, `flag`, `resign`, ...) or, for the match itself, `start`, `result` or `gone`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from kibitz_clients.matches import clock_format, fetch, recorded_match
from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.fetch import RecordFetcher
from kibitz_clients.matches.match_source import fetch_events, fetch_timeline
from kibitz_clients.matches.timeline import Frame, MatchInfo, Timeline
from kibitz_clients.wording import descriptions, tables
from kibitz_games.core.game import Game
from kibitz_protocol import printable
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.wire.clocks import until_flag
from kibitz_protocol.wire.lobbies import HouseTrouble, LobbyView, MatchBrief
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.wire.recordfile import RecordError
from kibitz_protocol.wire.records import UNDECIDED, Commented, Moved, Result, Setup
from kibitz_protocol.wire.refusals import Code

LineSink = Callable[[str], None]
"""A callback that gets one line, without the line break."""


async def follow_lines(
    client: AbstractAsyncContextManager[Client],
    games: Mapping[str, Game],
    out: LineSink,
    *,
    match: str | None = None,
    lobby: str | None = None,
    as_json: bool = False,
    fetch: RecordFetcher = fetch.fetch_record,
) -> bool:
    """Write the events of a match, or of all matches of a lobby, until they are over.

    Then write a table of the results. Returns True if all matches ended and none was aborted by the
    server or the operator. Raises `KibitzError`, and `ValueError` unless exactly one of `match` and
    `lobby` is given.
    """
    if (match is None) == (lobby is None):
        raise ValueError("expected either a match or a lobby to follow")
    async with client as connection:
        course = _MatchStream(connection, games, out, as_json, lobby, fetch)
        await course.start(match)
        if course.is_over:
            return course.finish()
        async for message in connection.news():
            await course.handle(message)
            if course.is_over:
                break
    return course.finish()


def write_record_lines(
    path: str | os.PathLike[str],
    games: Mapping[str, Game],
    out: LineSink,
    *,
    as_json: bool = False,
    seat: int | None = None,
    ply: int = 0,
) -> None:
    """Write the events of a recorded match as `seat` saw it, or all of them if None.

    Skips the events of the first `ply` plies. Raises `RecordError`, `OSError`, and `ValueError` for
    a seat or a ply that the match does not have.
    """
    recorded = recorded_match.load_record(path, games, seat)
    timeline = recorded.timeline
    writer = LineWriter(games, as_json)
    if ply:
        writer.skip(timeline, recorded_match.frame_at_ply(timeline, ply).seq)
    for line in () if as_json else _engine_lines(recorded.record.setup):
        out(line)
    for line in writer.new_lines(timeline):
        out(line)
    if not as_json and timeline.result is not None:
        for line in descriptions.result_lines(timeline.info, timeline.result):
            out(f"  {line}")


def _engine_lines(setup: Setup) -> Iterator[str]:
    """Yield a line for each engine named in the record."""
    for seat, engine in enumerate(setup.engines or (), start=1):
        if engine is not None:
            yield f"seat {seat} is played by {descriptions.engine_text(engine)}"


@dataclass
class LineWriter:
    """Formats frames of matches as lines; skips frames that it has already formatted."""

    games: Mapping[str, Game]
    as_json: bool = False
    lobby_names: dict[str, str] = field(default_factory=dict)
    """The names of lobbies by key; if a name is missing, lines show the key."""
    # The last frame written of each match, and whether its result was written.
    _written: dict[str, int] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)
    _failures: dict[str, list[HouseTrouble]] = field(default_factory=dict)
    _stops: dict[str, str] = field(default_factory=dict)

    def new_lines(self, timeline: Timeline) -> list[str]:
        """Return the lines for the frames of a timeline not yet written."""
        match = timeline.info.match
        lines = [] if match in self._written else [self._start_line(timeline)]
        written = self._written.setdefault(match, -1)
        for frame in timeline.frames:
            if frame.seq > written:
                lines += self._frame_lines(timeline, frame)
                self._written[match] = frame.seq
        if timeline.result is not None and match not in self._ended:
            self._ended.add(match)
            lines.append(self._result_line(timeline, timeline.result))
        return lines

    def skip(self, timeline: Timeline, seq: int) -> None:
        """Skip the frames up to and including `seq`."""
        self._written[timeline.info.match] = seq

    def ended_line(self, brief: MatchBrief) -> str:
        """Return the line about a finished match that was not followed."""
        timeline = Timeline(MatchInfo.from_brief(brief))
        assert brief.result is not None, "the match must be finished"
        return self._result_line(timeline, brief.result)

    def lobby_trouble(self, view: LobbyView) -> list[str]:
        """Return the lines about problems in a lobby, each only once."""
        return [*self._house_bot_failures(view), *self._stop_of(view)]

    def _stop_of(self, view: LobbyView) -> list[str]:
        known, self._stops[view.lobby] = self._stops.get(view.lobby, ""), view.stopped
        if not view.stopped or view.stopped == known:
            return []
        if self.as_json:
            fields = {"kind": "stopped", "lobby": view.lobby, "reason": view.stopped}
            return [json.dumps(fields, ensure_ascii=False)]
        return [f"[{view.settings.name}] {descriptions.stopped_programme(view.stopped)}"]

    def _house_bot_failures(self, view: LobbyView) -> list[str]:
        known = self._failures.get(view.lobby, [])
        self._failures[view.lobby] = view.house_trouble
        fresh = [trouble for trouble in view.house_trouble if trouble not in known]
        if self.as_json:
            about = {"kind": "house_trouble", "lobby": view.lobby}
            return [
                json.dumps(about | trouble.model_dump(), ensure_ascii=False) for trouble in fresh
            ]
        return [
            f"[{view.settings.name}] {descriptions.house_bot_failure(trouble)}" for trouble in fresh
        ]

    def lost_line(self, match: str, why: str) -> str:
        """Return the line about a match that cannot be followed."""
        if self.as_json:
            return json.dumps({"kind": "gone", "match": match, "why": why})
        return f"match {match} is no longer available: {printable.line(why)}"

    def _prefix(self, timeline: Timeline) -> str:
        facts = timeline.info
        lobby = self.lobby_names.get(facts.lobby or "", facts.lobby or "-")
        return f"[{printable.line(lobby)}] match {facts.number} {facts.game}"

    def _start_line(self, timeline: Timeline) -> str:
        facts = timeline.info
        if self.as_json:
            return self._json(
                timeline,
                "start",
                players=[player.name for player in facts.seats],
                options=facts.options,
                time_control=str(facts.time_control),
            )
        players, clock = descriptions.player_labels(facts), facts.time_control
        return f"{self._prefix(timeline)}  begins: {players}  (clock {clock})"

    def _frame_lines(self, timeline: Timeline, frame: Frame) -> list[str]:
        entry = frame.entry
        if entry is None or not frame.is_step:
            return []
        game = self.games.get(timeline.info.game)
        seat = descriptions.acting_seat(frame)
        step = descriptions.step_text(game, frame)
        if self.as_json:
            return [
                self._json(
                    timeline,
                    entry.kind,
                    seq=frame.seq,
                    ply=frame.ply,
                    seat=seat,
                    author=entry.author.name if isinstance(entry, Commented) else None,
                    text=entry.text if isinstance(entry, Commented) else step,
                    action=entry.action if isinstance(entry, Moved) else None,
                    elapsed_ms=entry.elapsed_ms if isinstance(entry, Moved) else None,
                    clocks_ms=self._clocks(timeline, frame),
                    comment=frame.comment.model_dump(exclude_none=True) if frame.comment else None,
                )
            ]
        ply = f"{frame.ply:>3}" if frame.is_turn else "   "
        if seat is not None:
            name = descriptions.player_label(seat, timeline.info.seats[seat])
        else:
            name = "comment" if isinstance(entry, Commented) else "match"
        line = f"{self._prefix(timeline)}  {ply} {name} {step}"
        return [line + self._clock(timeline, frame, seat) + self._comment(frame)]

    def _clock(self, timeline: Timeline, frame: Frame, seat: int | None) -> str:
        if seat is None or frame.clocks is None or not frame.is_turn:
            return ""
        reading = clock_format.read_clock(timeline.info.time_control, frame.clocks[seat])
        return f"  clock {reading.text}" if reading else ""

    def _comment(self, frame: Frame) -> str:
        return f"  {{{descriptions.comment_text(frame.comment)}}}" if frame.comment else ""

    def _clocks(self, timeline: Timeline, frame: Frame) -> list[int] | None:
        if frame.clocks is None:
            return None
        control = timeline.info.time_control
        return [until_flag(control, clock) for clock in frame.clocks]

    def _result_line(self, timeline: Timeline, result: Result) -> str:
        if self.as_json:
            return self._json(
                timeline,
                "result",
                players=[player.name for player in timeline.info.seats],
                result=result.model_dump(mode="json", exclude_none=True),
                record=timeline.record or None,
            )
        game = self.games.get(timeline.info.game)
        summary = descriptions.result_summary(timeline.info, result, game)
        return f"{self._prefix(timeline)}  {summary}"

    def _json(self, timeline: Timeline, kind: str, **facts: object) -> str:
        about = {
            "kind": kind,
            "match": timeline.info.match,
            "lobby": timeline.info.lobby,
            "number": timeline.info.number,
            "game": timeline.info.game,
        }
        given = {name: value for name, value in facts.items() if value is not None}
        return json.dumps(about | given, ensure_ascii=False)


class _MatchStream:
    """Follows one match, or all matches of a lobby, until they are over."""

    def __init__(
        self,
        connection: Client,
        games: Mapping[str, Game],
        out: LineSink,
        as_json: bool,
        lobby: str | None,
        fetch: RecordFetcher,
    ) -> None:
        self._connection = connection
        self._out = out
        self._lobby = lobby
        self._fetch = fetch
        self._state = ClientState(games)
        self._writer = LineWriter(games, as_json)
        # The requested matches, and all matches of the lobby that are over.
        self._requested: set[str] = set()
        self._ended: dict[str, MatchBrief] = {}
        self._closed = False

    async def start(self, match: str | None) -> None:
        if self._lobby is not None:
            await self._connection.join(self._lobby, role="spectator")
            for brief in (await self._connection.hall.matches(self._lobby)).matches:
                self._note_end(brief) if brief.result else await self._watch(brief)
        if match is not None:
            self._requested.add(match)
            try:
                await self._connection.watch(match)
            except RefusedError as error:
                if error.code is not Code.OVER:
                    raise
                await self._write_record(match)

    async def _write_record(self, match: str) -> None:
        timeline = await fetch_timeline(self._connection, self._fetch, self._state, match)
        self._state.matches[match] = timeline
        self._write_new(timeline)

    def _write_new(self, timeline: Timeline) -> None:
        for line in self._writer.new_lines(timeline):
            self._out(line)
        if timeline.result is not None:
            self._ended[timeline.info.match] = timeline.info.to_brief(timeline.result)

    async def handle(self, message: News | MatchLost) -> None:
        """Apply one message, fetch missing earlier events, and write the new lines."""
        # Text has no ticking clocks, so the time of a message does not matter.
        self._state.apply(message, 0)
        match message:
            case LobbyNews(lobby=view):
                self._writer.lobby_names[view.lobby] = view.settings.name
                for line in self._writer.lobby_trouble(view):
                    self._out(line)
                for brief in view.live.values():
                    await self._watch(brief)
            case MatchStarted(match=brief):
                await self._watch(brief)
            case MatchEnded(match=brief) if brief.lobby == self._lobby:
                self._note_end(brief)
            case LobbyClosed(lobby=lobby) if lobby == self._lobby:
                self._closed = True
            case MatchLost(match=gone, message=why):
                self._out(self._writer.lost_line(gone, why))
            case _:
                pass
        for timeline in self._state.matches.values():
            while await fetch_events(self._connection, self._state, timeline.info.match):
                pass
            self._write_new(timeline)

    @property
    def is_over(self) -> bool:
        """Whether all requested matches and the lobby, if any, have ended."""
        if self._requested - self._state.lost.keys() - self._finished():
            return False
        if self._lobby is None or self._closed:
            return True
        view = self._state.lobbies.get(self._lobby)
        return view is not None and view.state in {"finished", "closed"}

    def finish(self) -> bool:
        """Write the table of results; return what `follow_lines` returns."""
        ended = list(self._ended.values())
        if not self._writer.as_json and ended:
            self._out("")
            ended_by_number = sorted(ended, key=lambda brief: brief.number)
            for line in tables.results_table(ended_by_number):
                self._out(line)
        causes = [brief.result.cause for brief in ended if brief.result]
        return self._ended.keys() >= self._requested and UNDECIDED.isdisjoint(causes)

    def _note_end(self, brief: MatchBrief) -> None:
        """Store the end of a match; write a line about it unless its events have been written."""
        if brief.match not in self._ended and brief.match not in self._requested:
            self._out(self._writer.ended_line(brief))
        self._ended.setdefault(brief.match, brief)

    async def _watch(self, brief: MatchBrief) -> None:
        if brief.match in self._requested or not brief.watchable or brief.lobby != self._lobby:
            return None
        self._requested.add(brief.match)
        try:
            await self._connection.watch(brief.match)
        except RefusedError as error:
            if error.code is Code.OVER:  # over before the request arrived
                with contextlib.suppress(OSError, RecordError):
                    return await self._write_record(brief.match)
            self._state.lost[brief.match] = error.message
            self._out(self._writer.lost_line(brief.match, descriptions.explain_error(error)))

    def _finished(self) -> set[str]:
        return {match for match, timeline in self._state.matches.items() if timeline.over}
