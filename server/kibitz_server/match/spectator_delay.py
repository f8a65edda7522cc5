"""Spectator delay: tracks the earlier state that spectators of a delayed match see."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kibitz_protocol.wire.messages import Snapshot
from kibitz_protocol.wire.records import Left, Player, Replaced, Returned
from kibitz_protocol.wire.visibility import Viewer
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView, MatchViews


class DelayedView:
    """The state that delayed spectators see, and the newer entries that wait for them."""

    __slots__ = (
        "_current_ply",
        "_shown",
        "_spectating",
        "_viewer",
        "_waiting",
        "away",
        "ply",
        "seats",
        "seq",
        "shown",
    )

    def __init__(self, state: MatchState, viewer: Viewer) -> None:
        setup = state.setup
        start = state if state.seq == 0 else MatchState(state.game, setup)
        self._spectating = setup.spectating
        self._viewer = viewer
        self._waiting: deque[tuple[int, EntryView]] = deque()
        self._current_ply = start.ply
        """The newest ply of the match, including entries that still wait."""
        self.seq = 0
        self.ply = start.ply
        self.away: frozenset[int] = frozenset()
        self.seats: tuple[Player, ...] = tuple(setup.seats)
        self.shown = MatchViews(start).present()
        """The views of the state that spectators see."""
        self.shown.of(viewer)  # computed now, before the match continues
        self._shown: dict[str, object] = {"to_act": start.to_act, "clocks": start.clocks}

    def restore(self, views: Iterable[EntryView], now: int) -> None:
        entries = list(views)
        newest = entries[-1].entry.at_ms if entries else 0
        for view in entries:
            self.add(view, now - (newest - view.entry.at_ms))
        self.take_due(now)

    def add(self, view: EntryView, now: int) -> None:
        view.view(self._viewer)  # computed now, before the match continues
        self._current_ply = view.ply
        self._waiting.append((now + self._spectating.delay_ms, view))

    def take_due(self, now: int) -> list[EntryView]:
        """Return the entries that may be shown now, and advance the shown state past them."""
        shown: list[EntryView] = []
        plies = self._spectating.delay_plies
        while self._waiting:
            due, view = self._waiting[0]
            if due > now or view.ply > self._current_ply - plies:
                break
            self._waiting.popleft()
            self._advance(view)
            shown.append(view)
        return shown

    def take_rest(self) -> list[EntryView]:
        views = [view for _, view in self._waiting]
        self._waiting.clear()
        return views

    def deadline(self) -> int | None:
        if not self._waiting:
            return None
        due, view = self._waiting[0]
        plies = self._spectating.delay_plies
        return due if view.ply <= self._current_ply - plies else None

    def rewind(self, snapshot: Snapshot) -> Snapshot:
        """Turn a snapshot of the current state into one of the shown state."""
        moment = {
            "seq": self.seq,
            "ply": self.ply,
            "away": sorted(self.away),
            "seats": list(self.seats),
            "result": None,
            "left_ms": None,
            "view": self.shown.of(self._viewer),
            **self._shown,
        }
        return snapshot.model_copy(update=moment)

    def _advance(self, view: EntryView) -> None:
        self.seq = view.entry.seq
        self.ply = view.ply
        self._shown["to_act"] = view.to_act
        self._shown["clocks"] = view.clocks
        if view.after is not None:
            self.shown = view.after
        match view.entry:
            case Left(seat=seat):
                self.away |= {seat}
            case Returned(seat=seat):
                self.away -= {seat}
            case Replaced(seat=seat, player=player):
                self.away -= {seat}
                self.seats = (*self.seats[:seat], player, *self.seats[seat + 1 :])
            case _:
                pass
