"""The information gate: builds everything that viewers receive about a match.

A viewer is a seat, `PUBLIC` or `REFEREE`. The game's `view` decides what a viewer may know of a
state. The rules of `kibitz_protocol.wire.visibility`, which are the same for every game, decide
what the viewer may know of an entry. When the match is over, everybody is a referee. Forensic
reports (`match/report.py`) are available only then. A player's report shows everything about its
own seat, including notes and refused moves. The lobby's host gets reports on every seat, to find
out what went wrong in an event.

A move is sent as an `event` to everybody and as a `your_turn` to the next player. Each connection
chooses in `hello` how much of the view these contain (`WantedViews`). In open games an event is the
entry, and the view is computed only for the next turn. In games with hidden information the event
contains the difference between two views of one viewer, so it reveals no more than these views.
Both messages are assembled from parts that are already encoded as JSON, such as the entry's line in
the log. If several receivers get the same frame, it is encoded once. The bytes equal those of
`codec.encode` for the same message, as `tests/server/match/test_visibility.py` checks.

    state before --advance(entry)--> EntryView: the entry, and the states around it
                                       |  StateViews: the view of each viewer, computed on request
                                       |  (the next `advance` replaces them; they keep a copy of the
                                       v   state unless `release` has declared them unused)
                                     event, frame
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, TypeVar, cast

from pydantic_core import to_json

from kibitz_games.core.drawing import differing_parts, stage_of
from kibitz_games.core.game import Game, Model, State
from kibitz_games.core.scene import Scene
from kibitz_protocol.wire.clocks import Clock, clocks_json, until_flag
from kibitz_protocol.wire.codec import encode, encode_entry
from kibitz_protocol.wire.drawing import Pick, Stage
from kibitz_protocol.wire.frames import text_frame
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import Event, Finished, Snapshot, YourTurn
from kibitz_protocol.wire.records import Branch, Commented, Entry, Moved, Noted, Setup
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import (
    EVENT_FIELDS,
    PUBLIC,
    REFEREE,
    Viewer,
    WantedViews,
    comments_are_live,
    redact,
    spectators_entry,
    spectators_see_as,
    view_changing,
)
from kibitz_server.match.state import MatchState

LOG = logging.getLogger("kibitz.match")
_T = TypeVar("_T")
MAX_LEGAL_LISTED: Final = 512
"""The longest list of legal actions that `your_turn` contains. If there are more, it only has their
number.

A game that describes its legal actions in words (`GameInfo.legal_rule`) has no list.
"""

_NO_SCENE: Final = Scene("square", (), text=("the position cannot be drawn",))


@dataclass(slots=True)
class _Viewpoint:
    """One viewer's view of one state, in each form requested so far."""

    model: Model | None = None
    """The view as the game's model, which shares no data with the state."""
    view: Fields | None = None
    """The view in wire form."""
    json: bytes | None = None
    scene: Scene | None = None
    stage_json: bytes | None = None


@dataclass(slots=True)
class StateViews:
    """The views of one state, each computed on first use and cached.

    The state belongs to a running match: call `freeze` before it changes.
    """

    game: Game
    state: State
    _open: _Viewpoint | None = None
    """The view shared by all viewers, if the game has no hidden information."""
    _seen: dict[Viewer, _Viewpoint] | None = None
    """The view of each viewer, if the game has hidden information."""
    _clocks: tuple[Sequence[Clock] | None, bytes] = (None, b"")
    """The last encoded clocks and their JSON, which two messages per move share."""

    def of(self, viewer: Viewer) -> Fields:
        """Return the view of `viewer` in wire form."""
        seen = self._viewpoint(viewer)
        if seen.view is None:
            seen.view = self._model(viewer, seen).to_wire()
        return seen.view

    def scene(self, viewer: Viewer) -> Scene:
        """Return the view of `viewer` as a scene. If the game raises, the scene is an error
        message."""
        seen = self._viewpoint(viewer)
        if seen.scene is None:
            seen.scene = self._draw(viewer, seen)
        return seen.scene

    def stage(self, viewer: Viewer) -> Stage:
        """Return the drawing of the view of `viewer` in wire form."""
        return cast(Stage, stage_of(self.scene(viewer)))

    def stage_json(self, viewer: Viewer) -> bytes:
        """Return the drawing of the view of `viewer` as JSON; cached for many new spectators."""
        seen = self._viewpoint(viewer)
        if seen.stage_json is None:
            seen.stage_json = to_json(self.stage(viewer))
        return seen.stage_json

    def json(self, viewer: Viewer) -> bytes:
        """Return the view of `viewer` as JSON."""
        seen = self._viewpoint(viewer)
        if seen.json is None:
            if seen.view is not None:
                seen.json = to_json(seen.view)
            elif self.game.info.hidden:
                seen.json = self._model(viewer, seen).to_json()
            else:
                seen.json = self.game.view_json(self.state, None)
        return seen.json

    def json_of_clocks(self, clocks: Sequence[Clock]) -> bytes:
        """Return clocks as JSON; cached, as lists of clocks never change (`MatchState.clocks`)."""
        if clocks is not self._clocks[0]:
            self._clocks = clocks, clocks_json(clocks)
        return self._clocks[1]

    def freeze(self) -> None:
        """Make sure that views requested later still show this state."""
        open_view = self._open
        if open_view is None or open_view.model is None:
            self.state = self.state.copy()

    def _viewpoint(self, viewer: Viewer) -> _Viewpoint:
        """Return the viewpoint of a viewer; without hidden information all viewers share one."""
        if not self.game.info.hidden:
            seen = self._open
            if seen is None:
                seen = self._open = _Viewpoint()
            return seen
        if self._seen is None:
            self._seen = {}
        seen = self._seen.get(viewer)
        if seen is None:
            seen = self._seen[viewer] = _Viewpoint()
        return seen

    def _draw(self, viewer: Viewer, seen: _Viewpoint) -> Scene:
        try:
            return self.game.scene(self._model(viewer, seen))
        except Exception:  # a match must continue even if a view cannot be drawn
            LOG.exception("cannot draw a view of %s", self.game.info.name)
            return _NO_SCENE

    def _model(self, viewer: Viewer, seen: _Viewpoint) -> Model:
        if seen.model is None:
            game = self.game
            if not game.info.hidden or viewer == PUBLIC:
                seen.model = game.view(self.state, None)
            elif viewer == REFEREE:
                seen.model = game.referee_view(self.state)
            else:
                seen.model = game.view(self.state, viewer)
        return seen.model


@dataclass(slots=True)
class EntryView:
    """One entry and the match right after it, for every viewer."""

    match: str
    entry: Entry
    ply: int
    to_act: int
    clocks: Sequence[Clock] | None
    after: StateViews | None
    """The views right after the entry; None if it did not change the game's state."""
    before: StateViews | None
    """The views right before the entry. None if no patch can be requested: the game has no hidden
    information and nobody wants drawings, or the entry did not change the game's state.
    """
    hidden: bool
    """Whether the game has hidden information."""
    alike: bool
    """Whether the entry is the same for every viewer."""
    live: bool
    """Whether spectators see comments at once (`comments_are_live`)."""
    _without_comments: EntryView | None = None
    """The entry without the comments that spectators may not see."""
    _frames: dict[object, bytes] | None = None
    """The encoded frames, by `WantedViews` and, unless `alike`, by viewer."""

    def view(self, viewer: Viewer) -> Fields | None:
        """Return the view of `viewer` right after the entry; None if the entry changed nothing."""
        return None if self.after is None else self.after.of(viewer)

    def patch(self, viewer: Viewer, wanted: WantedViews) -> Fields | None:
        """Return the merge patch for what `viewer` sees, or None if nothing visible has changed.

        It applies to the stage for viewers that want drawings, and to the view for others.
        """
        if self.before is None or self.after is None:
            assert self.after is None, "no view was drawn before the entry"
            return None
        if wanted == "drawn":
            scenes = self.before.scene(viewer), self.after.scene(viewer)
            return difference(*differing_parts(*scenes)) or None
        return difference(self.before.of(viewer), self.after.of(viewer)) or None

    def entry_json(self, viewer: Viewer) -> bytes:
        """Return the entry as `viewer` may see it, as JSON."""
        return encode_entry(redact(self.entry, viewer, self.hidden))

    def event(self, viewer: Viewer, wanted: WantedViews = "turn") -> Event:
        """Return the event of this entry for `viewer`."""
        shape = EVENT_FIELDS[self.hidden][wanted]
        values = {
            "type": "event",
            "match": self.match,
            "ply": self.ply,
            "to_act": self.to_act,
            "entry": redact(self.entry, viewer, self.hidden),
            "view": self.view(viewer) if shape == "view" else None,
            "patch": self.patch(viewer, wanted) if shape == "patch" else None,
            "clocks": self.clocks,
        }
        return construct(Event, values)

    def spectator_event(self, viewer: Viewer, wanted: WantedViews = "turn") -> Event:
        """Return the event for spectators with the view of `viewer`.

        Spectators get no notes, but they get comments that seats do not get.
        """
        shown = self._for_spectators(viewer)
        return shown.event(spectators_see_as(shown.entry, viewer), wanted)

    def frame(self, viewer: Viewer, wanted: WantedViews = "turn", line: bytes = b"") -> bytes:
        """Return the event for `viewer` as a frame; `line` is the entry's line, if available."""
        shape = EVENT_FIELDS[self.hidden][wanted]
        part = wanted if shape == "patch" else shape
        key: object = part if self.alike else (viewer, part)
        frames = self._frames
        if frames is None:
            frames = self._frames = {}
        frame = frames.get(key)
        if frame is None:
            frame = frames[key] = text_frame(self._json(viewer, wanted, shape, line))
        return frame

    def spectator_frames(
        self, viewer: Viewer | None, wanted: Collection[WantedViews], line: bytes = b""
    ) -> dict[WantedViews, bytes]:
        """Return the frames for spectators with the view of `viewer`, by `WantedViews`."""
        if viewer is None or not wanted:
            return {}
        shown, seen = self, viewer
        if not self.alike:
            shown = self._for_spectators(viewer)
            seen = spectators_see_as(shown.entry, viewer)
            line = line if shown is self else b""
        return {wanted_views: shown.frame(seen, wanted_views, line) for wanted_views in set(wanted)}

    def _for_spectators(self, viewer: Viewer) -> EntryView:
        """Return the form of the entry for spectators with the view of `viewer`."""
        if self._without_comments is not None and viewer != REFEREE:
            return self._without_comments
        entry = spectators_entry(self.entry, viewer, self.live)
        if entry is self.entry:
            return self
        alike = not depends_on_viewer(entry, self.hidden)
        shown = replace(self, entry=entry, alike=alike, _frames=None)
        self._without_comments = shown
        return shown

    def _json(
        self,
        viewer: Viewer,
        wanted: WantedViews,
        shape: Literal["view", "patch"] | None,
        line: bytes,
    ) -> bytes:
        # If the entry is the same for all viewers, use its line from the log (`depends_on_viewer`).
        entry = self.entry if self.alike else redact(self.entry, viewer, self.hidden)
        if not line or entry is not self.entry:
            line = encode_entry(entry)
        after, clocks = self.after, self.clocks
        seen = b""
        if shape is not None:
            if after is not None and shape == "view":
                seen = b',"view":' + after.json(viewer)
            elif shape == "patch" and (patch := self.patch(viewer, wanted)) is not None:
                seen = b',"patch":' + to_json(patch)
        if clocks is not None:
            written = clocks_json(clocks) if after is None else after.json_of_clocks(clocks)
            seen = b'%b,"clocks":%b' % (seen, written)
        return b'{"type":"event","match":"%b","ply":%d,"to_act":%d,"entry":%b%b}' % (
            self.match.encode(),
            self.ply,
            self.to_act,
            line,
            seen,
        )


def depends_on_viewer(entry: Entry, hidden: bool) -> bool:
    """Return whether two viewers may see `entry` differently.

    `hidden` is whether the game has hidden information. If the result is False, `redact` returns
    the entry itself for every viewer, so one encoded event serves all of them.
    """
    if hidden or type(entry) is Noted:
        return True
    if type(entry) is Moved:  # most are
        return entry.comment is not None
    return type(entry) is Commented and entry.audience != "everybody"


class MatchViews:
    """The views of a match: of each new entry, and of the current state."""

    __slots__ = ("_live", "_present", "_rule", "_turn", "_view_changing", "drawn", "state")

    def __init__(self, state: MatchState, *, drawn: bool = False) -> None:
        self.state = state
        """Only `advance` changes it."""
        self.drawn = drawn
        """Whether viewers may request patches of drawings."""
        self._present: StateViews | None = None
        """The views of the current state, if they have been requested."""
        setup, info = state.setup, state.game.info
        self._view_changing = view_changing(flag_skips=info.on_flag == "skip")
        """The types of the entries that change views."""
        self._live = comments_are_live(setup)
        self._turn = b'{"type":"your_turn","match":"%b","game":"%b","seat":' % (
            setup.match.encode(),
            setup.game.encode(),
        )
        """The encoded start of each `your_turn`."""
        self._rule = _rule_field(info.legal_rule) if info.legal_rule else b""
        """The encoded field of each `your_turn` with the game's `legal_rule`, if it has one."""

    def advance(self, entry: Entry, action: int | None = None) -> EntryView:
        """Apply an entry and return its views, which are computed on first use.

        `action` is its decoded action, if available. Raises `BrokenLog`.
        """
        state = self.state
        game = state.game
        hidden = game.info.hidden
        compared = hidden or self.drawn
        before: StateViews | None = None
        changed = type(entry) in self._view_changing
        if changed:
            before = self.present() if compared else self._present
            if before is not None:
                before.freeze()
            self._present = None
        state.apply(entry, action)
        return EntryView(
            state.setup.match,
            entry,
            state.ply,
            state.to_act,
            state.clocks,
            self.present() if changed else None,
            before if compared else None,
            hidden,
            not depends_on_viewer(entry, hidden),
            self._live,
        )

    def present(self) -> StateViews:
        """Return the views of the current state."""
        if self._present is None:
            self._present = StateViews(self.state.game, self.state.game_state)
        return self._present

    def release(self) -> None:
        """Discard the current views, because everybody has received them.

        Call it only if no code will request them any more. It saves a copy of the state, which
        views need to show the old state after the next change. With hidden information or drawings
        this does nothing, because patches need these views.
        """
        if not (self.state.game.info.hidden or self.drawn):
            self._present = None

    def view(self, viewer: Viewer) -> Fields:
        """Return what `viewer` sees of the current state: everything, if the match is over."""
        return self.present().of(self._viewpoint(viewer))

    def begin_drawing(self, viewer: Viewer) -> Stage:
        """Return a drawing of the view of `viewer`, and from now on provide patches for it."""
        self.drawn = True
        return self.present().stage(self._viewpoint(viewer))

    def _viewpoint(self, viewer: Viewer) -> Viewer:
        """Return `viewer`, or the referee once the match is over."""
        return viewer if self.state.result is None else REFEREE

    # --- messages -----------------------------------------------------------------------------

    def snapshot(
        self,
        viewer: Viewer,
        why: Literal["started", "rejoined", "watching", "lagged"],
        you: int | None = None,
        left_ms: int | None = None,
        wanted: WantedViews = "turn",
    ) -> Snapshot:
        """Return the whole match as `viewer` sees it; the next event is ``seq + 1``.

        `left_ms` is the time left of an open turn (`MatchEngine.left_ms`).
        """
        state = self.state
        setup, origin = state.setup, state.setup.branch
        values = {
            "type": "snapshot",
            "why": why,
            "match": setup.match,
            "lobby": setup.lobby,
            "number": setup.number,
            "block": setup.block,
            "game": setup.game,
            "rules_version": setup.rules_version,
            "options": setup.options,
            "seats": list(state.players),
            "away": sorted(state.away),
            "you": you,
            "seq": state.seq,
            "ply": state.ply,
            "to_act": state.to_act,
            "view": self.view(viewer),
            "time_control": setup.time_control,
            "clocks": state.clocks,
            "left_ms": state.left_ms if left_ms is None else left_ms,
            "conduct": setup.conduct,
            "spectating": setup.spectating,
            "commitment": setup.commitment,
            "result": state.result,
            "branch": None if origin is None else Branch(match=origin.match, ply=origin.ply),
            "stage": self.begin_drawing(viewer) if wanted == "drawn" else None,
        }
        return construct(Snapshot, values)

    def snapshot_frame(
        self,
        snapshot: Snapshot,
        viewer: Viewer,
        wanted: WantedViews,
        shown: StateViews | None = None,
    ) -> bytes:
        """Return a snapshot as a frame, with its drawing if wanted.

        `shown` are the views of the state in the snapshot; None for the current state.
        """
        written = encode(snapshot)
        if wanted == "drawn":
            self.drawn = True
            seen = self.present() if shown is None else shown
            stage = seen.stage_json(self._viewpoint(viewer) if shown is None else viewer)
            written = b'%b,"stage":%b}' % (written[:-1], stage)
        return text_frame(written)

    def your_turn(self, left_ms: int | None = None, wanted: WantedViews = "turn") -> YourTurn:
        """Return the `your_turn` of the seat to act; `left_ms` is the time left of an open turn."""
        return YourTurn.model_validate_json(self.turn_json(left_ms, wanted))

    def _picks(self, legal: Sequence[int]) -> list[Pick] | None:
        game, state = self.state.game, self.state.game_state
        moves = [game.encode(state, action) for action in legal]
        try:
            return [
                {"cells": [*game.notation.cells(move)], "action": move.to_wire()} for move in moves
            ]
        except Exception:  # an error here affects only this player, as when drawing a view
            LOG.exception("cannot list the picks of %s", game.info.name)
            return None

    def _picks_field(self) -> tuple[bytes, int]:
        """Return the field with the legal actions of a turn with drawings, and their number."""
        legal = self.state.game.legal(self.state.game_state)
        picks = self._picks(legal)
        return b"" if picks is None else b',"picks":' + to_json(picks), len(legal)

    def new_turn_frame(self, wanted: WantedViews = "turn") -> bytes:
        """Return the `your_turn` of a new turn as a frame, and `release` the views."""
        frame = self.turn_frame(None, wanted)
        self.release()
        return frame

    def turn_frame(self, left_ms: int | None = None, wanted: WantedViews = "turn") -> bytes:
        """Return `your_turn` as a frame."""
        return text_frame(self.turn_json(left_ms, wanted))

    def turn_json(self, left_ms: int | None = None, wanted: WantedViews = "turn") -> bytes:
        """Return `your_turn` as JSON; the picks are those of all legal actions."""
        state, views = self.state, self.present()
        game, seat, clocks = state.game, state.to_act, state.clocks
        if left_ms is None and clocks is not None and state.result is None:
            left_ms = until_flag(state.control, clocks[seat])
        drawn = wanted == "drawn"
        seen = b"" if drawn or wanted == "none" else b',"view":' + views.json(seat)
        if drawn:
            listed, count = self._picks_field()
        elif self._rule:
            listed, count = b"", game.count_legal(state.game_state)
        else:
            listed, count = game.legal_json(state.game_state, MAX_LEGAL_LISTED)
            listed = b',"legal":' + listed if listed else b""
        return b'%b%d,"ply":%d%b%b%b,"legal_count":%d%b%b}' % (
            self._turn,
            seat,
            state.ply,
            seen,
            listed,
            self._rule,
            count,
            b"" if clocks is None else b',"clocks":' + views.json_of_clocks(clocks),
            b"" if left_ms is None else b',"left_ms":%d' % left_ms,
        )

    def finished(self, record: str, wanted: WantedViews = "turn") -> Finished:
        """Return the `finished` message; `record` is the path of the record on the server."""
        state = self.state
        assert state.result is not None, "the match is not over"
        revealing = wanted == "drawn" and state.game.info.hidden
        nothing: Fields = {}
        values = {
            "type": "finished",
            "match": state.setup.match,
            "lobby": state.setup.lobby,
            "seq": state.seq,
            "result": state.result,
            "view": self.shown_at_end(lambda: self.view(REFEREE), nothing),
            "stage": self.shown_at_end(lambda: self.present().stage(REFEREE), None)
            if revealing
            else None,
            "seed": state.setup.seed,
            "nonce": state.setup.nonce,
            "record": record,
        }
        return construct(Finished, values)

    def shown_at_end(self, show: Callable[[], _T], nothing: _T) -> _T:
        """Call `show` with the last position and return the result, or `nothing` if it raises."""
        try:
            return show()
        except Exception:
            LOG.exception("cannot show the end of match %s", self.state.setup.match)
            return nothing

    def finished_frame(self, record: str, wanted: WantedViews = "turn") -> bytes:
        """Return `finished` as a frame; an open game's view is encoded without its model."""
        state = self.state
        if state.game.info.hidden or state.result is None:
            return text_frame(encode(self.finished(record, wanted)))
        lobby = state.setup.lobby
        return text_frame(
            b'{"type":"finished","match":"%b"%b,"seq":%d,"result":%b,"view":%b,"seed":%b,"nonce":%b,"record":%b}'
            % (
                state.setup.match.encode(),
                b"" if lobby is None else b',"lobby":"%b"' % lobby.encode(),
                state.seq,
                encode(state.result),
                self.shown_at_end(lambda: self.present().json(REFEREE), b"{}"),
                to_json(state.setup.seed),
                to_json(state.setup.nonce),
                to_json(record),
            )
        )


@lru_cache(maxsize=256)  # shared by all matches of a game
def _rule_field(rule: str) -> bytes:
    return b',"legal_rule":' + to_json(rule)


def replay(game: Game, setup: Setup, entries: Iterable[Entry]) -> Iterator[EntryView]:
    """Yield the views of each entry of a log. Raises `BrokenLog`."""
    views = MatchViews(MatchState(game, setup), drawn=True)
    for entry in entries:
        yield views.advance(entry)
