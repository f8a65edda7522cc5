"""The wall: all matches of a lobby or a server at once, and a ticker of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from kibitz_clients.matches.timeline import MatchInfo
from kibitz_clients.palette import Palette
from kibitz_clients.tui import wall_slots
from kibitz_clients.tui.screens.base import BaseScreen
from kibitz_clients.tui.screens.dialogs import Keys
from kibitz_clients.tui.wall_slots import Slot, WallSlots
from kibitz_clients.tui.widgets.match_grid import MatchGrid, Tile
from kibitz_clients.wording import descriptions
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief

TILE_KEYS: Final = "123456789acdefghijklmorstuvwxyz"
"""The keys that open the boards, in order, without letters that have other functions."""
KEYS: Final = (
    ("1 2 3 ...", "open a board (or click it)"),
    ("b", "back to the wall"),
    ("space", "next page of boards"),
    ("F3", "dark or light colors"),
    ("q", "quit"),
)
_TICK_S: Final = 0.25
"""How often clocks are redrawn and the ticker moves, in seconds."""
_ASK_S: Final = 1.0
"""Seconds between two requests for the matches of a server."""
_RESULT_COLUMN_MS: Final = 250
"""How long the ticker takes per column, in milliseconds."""
_BAR: Final = 24
"""The width of the progress bar in columns."""


@dataclass
class Preparation:
    """The progress of background work, shown as a bar and updated by the worker."""

    total: int = 0
    done: int = 0
    doing: str = ""


@dataclass(frozen=True)
class WallPlan:
    """The content of a wall while no match has started."""

    games: Sequence[str] = ()
    """The names of games with a reserved board."""
    preparation: Preparation = field(default_factory=Preparation)


class WallScreen(BaseScreen):
    """The screen with a grid of boards, each of which opens with one key."""

    DEFAULT_CSS = """
    WallScreen #title { height: 1; background: $surface; padding: 0 1; }
    WallScreen #results { height: 1; background: $surface; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("space", "page"),
        ("question_mark,f1", "help"),
        ("q", "app.quit"),
    ]

    def __init__(self, plan: WallPlan, lobby: str | None) -> None:
        super().__init__()
        self.lobby = lobby
        self.boards = WallSlots.for_games(plan.games)
        self._preparation = plan.preparation
        self._page = 0

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        yield MatchGrid(id="boards")
        yield Static(id="results")

    def on_mount(self) -> None:
        self.set_interval(_TICK_S, self.refresh_content)
        if self.lobby is None:
            self.set_interval(_ASK_S, self._ask)
            self._ask()

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_content)

    def _ask(self) -> None:
        self.kibitz_app.requests.ask_lists(
            self._take_lists, self.kibitz_app.navigation.show_warning
        )

    def _take_lists(self, _: list[LobbyBrief], matches: list[MatchBrief]) -> None:
        self.kibitz_app.client_state.briefs |= {brief.match: brief for brief in matches}

    # ------------------------------------------------------------------------------ drawing

    def render_content(self) -> None:
        app = self.kibitz_app
        now = app.now()
        for match in self.boards.update(self._briefs(), now):
            app.navigation.show_on_wall(match)
        if not self.is_current:
            return
        # A wall may run as long as its server, so drop old matches, except one that is open.
        app.client_state.forget(self.boards.past(self._briefs()))
        self.query_one(MatchGrid).show(self._tiles(), now, app.palette)
        self.update_static("title", self._title())
        self.update_static("results", self._results(now))

    def _briefs(self) -> list[MatchBrief]:
        briefs = self.kibitz_app.client_state.briefs.values()
        return [brief for brief in briefs if self.lobby in (None, brief.lobby)]

    def _shown(self) -> list[Slot]:
        """Return the boards of the current page."""
        slots, size = self.boards.slots, self._page_size()
        first = self._page * size if self._page * size < len(slots) else 0
        return slots[first : first + size]

    def _page_size(self) -> int:
        grid = self.query_one(MatchGrid).size
        return min(len(TILE_KEYS), wall_slots.capacity(grid.width, grid.height))

    def _tiles(self) -> list[Tile]:
        tiles = [self._tile(key, slot) for key, slot in zip(TILE_KEYS, self._shown(), strict=False)]
        return tiles or [Tile("", "", "no running matches")]

    def _tile(self, key: str, slot: Slot) -> Tile:
        state = self.kibitz_app.client_state
        game = state.games.get(slot.game or "")
        title = game.info.title if game else slot.game or ""
        timeline = state.matches.get(slot.match or "")
        waits = "starting …" if slot.match else "preparing …"
        return Tile(key, title, waits, timeline, game)

    def _title(self) -> Text:
        text = Text("kibitz", "bold", no_wrap=True, overflow="ellipsis")
        played, slots = self.boards.played, self.boards.slots
        text.append(f" · {played} {'match' if played == 1 else 'matches'} played", "not bold")
        shown = len(self._shown())
        if shown < len(slots):
            text.append(f" · {shown} of {len(slots)} boards, press space for more", "not bold")
        if not self.kibitz_app.online:
            text.append("  ").append_text(self.kibitz_app.offline_text)
        last = TILE_KEYS[max(0, shown - 1)]
        keys = f"1-{last} to open a board" if shown > 1 else "1 to open the board"
        return text.append(f"   {keys}  ? help  q quit", self.kibitz_app.palette.dim)

    def _results(self, now: int) -> Text:
        """Return the progress bar, if work is in progress, and the latest results."""
        bar = _progress_bar(self._preparation, self.kibitz_app.palette)
        room = max(1, self.size.width - 2 - cell_len(bar.plain))
        results = [self._result(brief) for brief in reversed(self.boards.finished)]
        line = "   ·   ".join(results) or "results appear here as matches end"
        if results and cell_len(line) > room:
            line += "   ·   "
            at = now // _RESULT_COLUMN_MS % len(line)
            line = line[at:] + line[:at]
        colors = self.kibitz_app.palette
        return bar.append(line, colors.hint if results else colors.dim)

    def _result(self, brief: MatchBrief) -> str:
        game = self.kibitz_app.client_state.games.get(brief.game)
        assert brief.result is not None, "only finished matches have a result"
        summary = descriptions.result_summary(MatchInfo.from_brief(brief), brief.result, game)
        return f"{game.info.title if game else printable.line(brief.game)}: {summary}"

    # ------------------------------------------------------------------------------ actions

    def on_key(self, event: events.Key) -> None:
        if event.character and event.character in TILE_KEYS:
            event.stop()
            self._open(event.character)

    def on_match_grid_clicked(self, message: MatchGrid.Clicked) -> None:
        self._open(message.key)

    def _open(self, key: str) -> None:
        shown = dict(zip(TILE_KEYS, self._shown(), strict=False))
        match = shown[key].match if key in shown else None
        if match is not None and match in self.kibitz_app.client_state.matches:
            self.kibitz_app.navigation.watch_match(match)
        elif key in shown:
            self.app.notify("no match on this board yet")

    def action_page(self) -> None:
        pages = -(-len(self.boards.slots) // self._page_size())
        self._page = (self._page + 1) % max(1, pages)
        self.refresh_content()

    def action_help(self) -> None:
        self.app.push_screen(Keys("The wall", KEYS))


def _progress_bar(preparation: Preparation, colors: Palette) -> Text:
    """Draw the progress bar; empty when complete."""
    done, total = preparation.done, preparation.total
    if done >= total:
        return Text()
    full = _BAR * done // total
    bar = Text("━" * full, f"bold {colors.hint}")
    bar.append("─" * (_BAR - full), colors.dim)
    return bar.append(f" {done}/{total} ready, {preparation.doing}   ", colors.text)
