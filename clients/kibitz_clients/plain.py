"""The course of play as lines of text, for pipes, logs and people without a terminal.

    [evening] match 3 chinese-checkers  12 ● greedy-hand 3-14  clock 0:59
    [evening] match 3 chinese-checkers  ● greedy-hand wins, goal, 118 plies

With `as_json` every line is a JSON object of the same facts: `kind` says which, the kinds of
record entries (`move`, `flag`, `resign`, ...) and `start`, `result`, `gone` for the match.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from kibitz_clients import canvas, clockface, fetch, palette, replay, words
from kibitz_clients.fetch import Fetch
from kibitz_clients.follow import Facts, Frame, Gallery, Timeline
from kibitz_clients.link import Link
from kibitz_games.api import Game, GameError
from kibitz_protocol import printable
from kibitz_protocol.errors import RefusedError
from kibitz_protocol.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.recordfile import RecordError
from kibitz_protocol.records import Cause, Moved, Result, SeatResult
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import HouseTrouble, LobbyBrief, LobbyView, MatchBrief
from kibitz_protocol.session import Gone, News

Out = Callable[[str], None]
"""Takes one line, without its end."""


async def follow(
    client: AbstractAsyncContextManager[Link],
    games: Mapping[str, Game],
    out: Out,
    *,
    match: str | None = None,
    lobby: str | None = None,
    as_json: bool = False,
    fetch: Fetch = fetch.record,
) -> bool:
    """Write the course of a match, or of all matches of a lobby, until they are over.

    Writes a table of the results last. Returns whether every match came to an end that the
    server did not cause. Raises `KibitzError`, and `ValueError` where neither is named.
    """
    if (match is None) == (lobby is None):
        raise ValueError("expected either a match or a lobby to follow")
    async with client as link:
        course = _Course(link, games, out, as_json, lobby, fetch)
        await course.begin(match)
        if course.over:
            return course.close()
        async for message in link.news():
            await course.take(message)
            if course.over:
                break
    return course.close()


def record(
    path: str | os.PathLike[str],
    games: Mapping[str, Game],
    out: Out,
    *,
    as_json: bool = False,
    seat: int | None = None,
) -> None:
    """Write the course of a recorded match as `seat` saw it, or all of it when None.

    Raises `RecordError`, `OSError`, and `ValueError` for a seat that the match does not have.
    """
    timeline = replay.load(path, games, seat).timeline
    teller = Teller(games, as_json)
    for line in teller.news(timeline):
        out(line)
    if not as_json and timeline.result is not None:
        for line in words.verdict(timeline.facts, timeline.result):
            out(f"  {line}")


def position(game: Game, frame: Frame, *, color: bool = False, width: int = 80) -> Text | str:
    """Return the board of a frame with its text, for a console when `color`."""
    scene = replay.scene(game, frame)
    picture = canvas.draw(scene, canvas.fit(scene, width, 22))
    below = "\n".join(scene.text)
    return picture.text().append(f"\n{below}") if color else f"{picture.plain()}\n{below}"


@dataclass
class Teller:
    """Turns frames of matches into lines; each frame is told once."""

    games: Mapping[str, Game]
    as_json: bool = False
    lobby_names: dict[str, str] = field(default_factory=dict)
    """What lobbies are called; by their code where the name is not known."""
    # How far each match was told, and whether its result was.
    _told: dict[str, int] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)
    _trouble: dict[str, list[HouseTrouble]] = field(default_factory=dict)

    def news(self, timeline: Timeline) -> list[str]:
        """Return the lines about what a timeline holds and was not told yet."""
        match = timeline.facts.match
        lines = [] if match in self._told else [self._start(timeline)]
        told = self._told.setdefault(match, -1)
        for frame in timeline.frames:
            if frame.seq > told:
                lines += self._frame(timeline, frame)
                self._told[match] = frame.seq
        if timeline.result is not None and match not in self._ended:
            self._ended.add(match)
            lines.append(self._result(timeline, timeline.result))
        return lines

    def brief(self, brief: MatchBrief) -> str:
        """Return the line about a match of which only the end is known."""
        timeline = Timeline(Facts.of_brief(brief))
        assert brief.result is not None, "a match without an end has nothing to tell"
        return self._result(timeline, brief.result)

    def house_trouble(self, view: LobbyView) -> list[str]:
        """Return the lines about house bots that failed and were not told yet."""
        known = self._trouble.get(view.lobby, [])
        self._trouble[view.lobby] = view.house_trouble
        fresh = [each for each in view.house_trouble if each not in known]
        if self.as_json:
            about = {"kind": "house_trouble", "lobby": view.lobby}
            return [json.dumps(about | each.model_dump(), ensure_ascii=False) for each in fresh]
        return [f"[{view.settings.name}] {words.house_trouble(each)}" for each in fresh]

    def gone(self, match: str, why: str) -> str:
        """Return the line about a match that cannot be followed."""
        if self.as_json:
            return json.dumps({"kind": "gone", "match": match, "why": why})
        return f"match {match} is gone: {printable.line(why)}"

    def _head(self, timeline: Timeline) -> str:
        facts = timeline.facts
        lobby = self.lobby_names.get(facts.lobby or "", facts.lobby or "-")
        return f"[{printable.line(lobby)}] match {facts.number} {facts.game}"

    def _start(self, timeline: Timeline) -> str:
        facts = timeline.facts
        if self.as_json:
            return self._json(
                timeline,
                "start",
                players=[player.name for player in facts.seats],
                options=facts.options,
                time_control=str(facts.time_control),
            )
        clock = facts.time_control
        return f"{self._head(timeline)}  begins: {words.players(facts)}  (clock {clock})"

    def _frame(self, timeline: Timeline, frame: Frame) -> list[str]:
        entry = frame.entry
        if entry is None or not frame.visible:
            return []
        game = self.games.get(timeline.facts.game)
        seat = words.doer(frame)
        said = words.step(game, frame)
        if self.as_json:
            return [
                self._json(
                    timeline,
                    entry.kind,
                    seq=frame.seq,
                    ply=frame.ply,
                    seat=seat,
                    text=said,
                    action=entry.action if isinstance(entry, Moved) else None,
                    elapsed_ms=entry.elapsed_ms if isinstance(entry, Moved) else None,
                    clocks_ms=self._clocks(timeline, frame),
                    comment=frame.comment.model_dump(exclude_none=True) if frame.comment else None,
                )
            ]
        ply = f"{frame.ply:>3}" if frame.acted else "   "
        name = words.player(seat, timeline.facts.seats[seat]) if seat is not None else "match"
        line = f"{self._head(timeline)}  {ply} {name} {said}"
        return [line + self._clock(timeline, frame, seat) + self._comment(frame)]

    def _clock(self, timeline: Timeline, frame: Frame, seat: int | None) -> str:
        if seat is None or frame.clocks is None or not frame.acted:
            return ""
        reading = clockface.read(timeline.facts.time_control, frame.clocks[seat])
        return f"  clock {reading.text}" if reading else ""

    def _comment(self, frame: Frame) -> str:
        return f"  {{{words.comment(frame.comment)}}}" if frame.comment else ""

    def _clocks(self, timeline: Timeline, frame: Frame) -> list[int] | None:
        if frame.clocks is None:
            return None
        control = timeline.facts.time_control
        return [clockface.until_flag(control, clock) for clock in frame.clocks]

    def _result(self, timeline: Timeline, result: Result) -> str:
        if self.as_json:
            return self._json(
                timeline,
                "result",
                players=[player.name for player in timeline.facts.seats],
                result=result.model_dump(mode="json", exclude_none=True),
                record=timeline.record or None,
            )
        return f"{self._head(timeline)}  {words.winner(timeline.facts, result)}"

    def _json(self, timeline: Timeline, kind: str, **facts: object) -> str:
        about = {
            "kind": kind,
            "match": timeline.facts.match,
            "lobby": timeline.facts.lobby,
            "number": timeline.facts.number,
            "game": timeline.facts.game,
        }
        given = {name: value for name, value in facts.items() if value is not None}
        return json.dumps(about | given, ensure_ascii=False)


class _Course:
    """Follows what it is to follow, and knows when that is over."""

    def __init__(
        self,
        link: Link,
        games: Mapping[str, Game],
        out: Out,
        as_json: bool,
        lobby: str | None,
        fetch: Fetch,
    ) -> None:
        self._link = link
        self._out = out
        self._lobby = lobby
        self._fetch = fetch
        self._gallery = Gallery(games)
        self._teller = Teller(games, as_json)
        # Matches that were asked for, and how each one that is over ended.
        self._asked: set[str] = set()
        self._ended: dict[str, MatchBrief] = {}
        self._closed = False

    async def begin(self, match: str | None) -> None:
        if self._lobby is not None:
            await self._link.join(self._lobby, role="spectator")
            for brief in (await self._link.matches(self._lobby)).matches:
                self._end(brief) if brief.result else await self._watch(brief)
        if match is not None:
            self._asked.add(match)
            try:
                await self._link.watch(match)
            except RefusedError as error:
                if error.code is not Code.OVER:
                    raise
                await self._tell_record(match)

    async def _tell_record(self, match: str) -> None:
        record = await self._fetch(self._link.url, match)
        game = self._gallery.games.get(record.setup.game)
        if game is None:
            raise GameError(f"this client does not know the game {record.setup.game!r}")
        timeline = replay.fold(game, record, f"the record of {match}")
        self._gallery.matches[match] = timeline
        self._tell(timeline)

    def _tell(self, timeline: Timeline) -> None:
        for line in self._teller.news(timeline):
            self._out(line)
        if timeline.result is not None:
            self._ended[timeline.facts.match] = timeline.facts.brief(timeline.result)

    async def take(self, message: News | Gone) -> None:
        """Fold one message, fetch what is missing before it, and write what is new."""
        # Text has no ticking clocks, so the time of a message does not matter.
        self._gallery.fold(message, 0)
        match message:
            case LobbyNews(lobby=view):
                self._teller.lobby_names[view.lobby] = view.settings.name
                for line in self._teller.house_trouble(view):
                    self._out(line)
                for brief in view.live:
                    await self._watch(brief)
            case MatchStarted(match=brief):
                await self._watch(brief)
            case MatchEnded(match=brief) if brief.lobby == self._lobby:
                self._end(brief)
            case LobbyClosed(lobby=lobby) if lobby == self._lobby:
                self._closed = True
            case Gone(match=gone, message=why):
                self._out(self._teller.gone(gone, why))
            case _:
                pass
        for timeline in self._gallery.matches.values():
            await self._complete(timeline)
            self._tell(timeline)

    @property
    def over(self) -> bool:
        """Whether all that was followed has ended."""
        if self._asked - self._gallery.gone.keys() - self._finished():
            return False
        if self._lobby is None or self._closed:
            return True
        view = self._gallery.lobbies.get(self._lobby)
        return view is not None and view.state in {"finished", "closed"}

    def close(self) -> bool:
        """Write the table of results, and return whether all is well."""
        ended = list(self._ended.values())
        if not self._teller.as_json and ended:
            self._out("")
            for line in results(ended):
                self._out(line)
        causes = [brief.result.cause for brief in ended if brief.result]
        return self._ended.keys() >= self._asked and Cause.INFRASTRUCTURE not in causes

    def _end(self, brief: MatchBrief) -> None:
        """Note how a match ended, and tell it where its course is not followed."""
        if brief.match not in self._ended and brief.match not in self._asked:
            self._out(self._teller.brief(brief))
        self._ended.setdefault(brief.match, brief)

    async def _watch(self, brief: MatchBrief) -> None:
        if brief.match in self._asked or not brief.watchable or brief.lobby != self._lobby:
            return None
        self._asked.add(brief.match)
        try:
            await self._link.watch(brief.match)
        except RefusedError as error:
            if error.code is Code.OVER:  # it was shorter than the way to the server and back
                with contextlib.suppress(OSError, RecordError):
                    return await self._tell_record(brief.match)
            self._gallery.gone[brief.match] = error.message
            self._out(self._teller.gone(brief.match, words.explain(error)))

    async def _complete(self, timeline: Timeline) -> None:
        """Fetch the entries before the first one that was told."""
        match = timeline.facts.match
        while (wanted := timeline.wanted()) is not None:
            try:
                answer = await self._link.history(match, *wanted)
                self._gallery.fill(match, answer.events, wanted)
            except RefusedError:
                self._gallery.fill(match, (), wanted)

    def _finished(self) -> set[str]:
        return {match for match, timeline in self._gallery.matches.items() if timeline.over}


# ---------------------------------------------------------------------------------- tables


def results(briefs: Iterable[MatchBrief]) -> list[str]:
    """Return a table: one line a match, with ranks, plies and what ended it."""
    rows = []
    for brief in sorted(briefs, key=lambda brief: brief.number):
        result = brief.result
        if result is None:
            continue
        order = sorted(range(len(brief.seats)), key=lambda seat: result.seats[seat].rank)
        places = [_place(brief.seats[seat].name, result.seats[seat]) for seat in order]
        row = [str(brief.number), brief.game, str(result.plies), words.ending(result)]
        rows.append([*row, "  ".join(places)])
    return table(("match", "game", "plies", "end", "places"), rows)


def _place(name: str, ended: SeatResult) -> str:
    why = f" ({ended.cause})" if ended.cause else ""
    return f"{ended.rank}. {name}{why}"


def lobbies(briefs: Sequence[LobbyBrief], *, as_json: bool = False) -> list[str]:
    """Return a table of lobbies, or one JSON object a line."""
    if as_json:
        return [brief.model_dump_json() for brief in briefs]
    rows = [
        [
            brief.lobby,
            brief.name,
            brief.state,
            f"{brief.members}/{brief.places}",
            brief.joinable,
            brief.host,
            ", ".join(brief.games),
        ]
        for brief in briefs
    ]
    return table(("code", "name", "state", "seats", "join", "host", "games"), rows)


def matches(briefs: Sequence[MatchBrief], *, as_json: bool = False) -> list[str]:
    """Return a table of matches, or one JSON object a line."""
    if as_json:
        return [brief.model_dump_json(exclude_none=True) for brief in briefs]
    rows = [
        [
            brief.match,
            brief.lobby or "",
            str(brief.number),
            brief.game,
            str(brief.ply),
            words.ending(brief.result) if brief.result else "running",
            "  ".join(f"{palette.glyph(s)} {who.name}" for s, who in enumerate(brief.seats)),
        ]
        for brief in briefs
    ]
    return table(("match", "lobby", "no", "game", "ply", "state", "players"), rows)


WIDTH: Final = 80
"""The columns of a terminal that tables fit in."""
_NARROW: Final = 24
"""A last column of fewer columns stands on lines of its own."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return lines with columns as wide as their widest cell.

    Where that is wider than a terminal, the last column goes on below itself, or on lines of
    its own where there is too little room for it beside the others.
    """
    lines = [tuple(heads), *(tuple(map(printable.line, row)) for row in rows)]
    widths = [max(cell_len(line[column]) for line in lines) for column in range(len(heads))]
    before = sum(width + 2 for width in widths[:-1])
    indent = before if WIDTH - before >= min(_NARROW, widths[-1]) else 4
    made = []
    for line in lines:
        cells = zip(line[:-1], widths[:-1], strict=True)
        start = "".join(cell + " " * (width - cell_len(cell) + 2) for cell, width in cells)
        first, *more = _folded(line[-1], WIDTH - indent)
        made += [start + first] if indent == before else [start, " " * indent + first]
        made += [" " * indent + piece for piece in more]
    return [line.rstrip() for line in made]


def _folded(text: str, width: int) -> Iterator[str]:
    """Break a text at its double spaces, or else at spaces; a longer word stays whole."""
    gap = "  " if "  " in text else " "
    line = ""
    for piece in text.split(gap):
        if line and cell_len(line + gap + piece) > width:
            yield line
            line = piece
        else:
            line = f"{line}{gap}{piece}" if line else piece
    yield line
