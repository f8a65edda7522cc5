"""The server browser: the lobbies and the matches of a server, kept up to date."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import DataTable, Footer, Static

from kibitz_clients.tui.screens.base import BaseScreen
from kibitz_clients.tui.screens.dialogs import Keys
from kibitz_clients.wording import descriptions
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief

KEYS = (
    ("up down", "select"),
    ("tab", "switch between lobbies and matches"),
    ("enter", "enter the lobby, or watch the match"),
    ("r", "refresh now (also automatic)"),
    ("b", "back"),
    ("F3", "dark or light colors"),
    ("q", "quit"),
)
REFRESH_S = 2.0
"""Seconds between two requests for the lists."""


class ServerBrowserScreen(BaseScreen):
    """A table of lobbies and one of matches."""

    DEFAULT_CSS = """
    ServerBrowserScreen #title { height: 1; background: $surface; padding: 0 1; }
    ServerBrowserScreen .part { height: 1fr; }
    ServerBrowserScreen .head { height: 1; padding: 0 1; color: $text-muted; margin-top: 1; }
    ServerBrowserScreen DataTable { height: 1fr; scrollbar-size: 1 1; }
    ServerBrowserScreen DataTable, ServerBrowserScreen DataTable:focus {
        background: $background; background-tint: transparent;
    }
    ServerBrowserScreen DataTable > .datatable--header {
        background: $background; color: $text-muted;
    }
    ServerBrowserScreen DataTable > .datatable--cursor { background: $panel; color: $foreground; }
    ServerBrowserScreen DataTable:focus > .datatable--cursor {
        background: $block-cursor-background; text-style: bold;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("r", "refresh_lists", "refresh"),
        ("b,escape", "back", "back"),
        ("question_mark", "help", "help"),
        ("q", "app.quit", "quit"),
    ]

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Vertical(classes="part"):
            yield Static("Lobbies", classes="head")
            yield _table("lobbies")
        with Vertical(classes="part"):
            yield Static("Matches", classes="head")
            yield _table("matches")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self._lobbies.add_columns("name", "state", "games", "seats", "host", "code")
        self._matches.add_columns("no", "game", "ply", "state", "clock", "players")
        self._lobbies.focus()
        self.set_interval(REFRESH_S, self.action_refresh_lists)
        self.action_refresh_lists()

    @property
    def _lobbies(self) -> DataTable[Text]:
        return self.query_one("#lobbies", DataTable)

    @property
    def _matches(self) -> DataTable[Text]:
        return self.query_one("#matches", DataTable)

    def render_content(self) -> None:
        state = Text("kibitz", "bold").append(f" · {self.kibitz_app.server_label}  ", "not bold")
        if self.kibitz_app.online:
            state.append("● connected", f"bold {self.kibitz_app.palette.hint}")
        else:
            state.append_text(self.kibitz_app.offline_text)
        self.update_static("title", state)

    def action_refresh_lists(self) -> None:
        self.kibitz_app.requests.ask_lists(self.show, self.kibitz_app.navigation.show_warning)

    def show(self, lobbies: list[LobbyBrief], matches: list[MatchBrief]) -> None:
        """Fill the tables; the cursor keeps its row."""
        if not self._populated:
            return
        _fill(self._lobbies, {brief.lobby: _lobby_row(brief) for brief in lobbies})
        running = sorted(matches, key=lambda brief: brief.result is not None)
        _fill(self._matches, {brief.match: _match_row(brief) for brief in running})

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        key = event.row_key.value
        if key is None:
            return
        if event.data_table.id == "lobbies":
            self.kibitz_app.navigation.enter_lobby(key)
        else:
            self.kibitz_app.navigation.watch_match(key)

    def action_back(self) -> None:
        self.kibitz_app.navigation.back()

    def action_help(self) -> None:
        self.app.push_screen(Keys("Lobbies and matches", KEYS))


def _table(id: str) -> DataTable[Text]:
    return DataTable(id=id, cursor_type="row", zebra_stripes=False)


def _fill(table: DataTable[Text], rows: dict[str, list[str]]) -> None:
    shown = {key.value: [str(cell) for cell in table.get_row(key)] for key in table.rows}
    if list(shown.items()) == list(rows.items()):
        return
    row = table.cursor_row
    chosen = None
    if 0 <= row < table.row_count:
        chosen = table.coordinate_to_cell_key((row, 0)).row_key.value  # type: ignore[arg-type]
    table.clear()
    for key, cells in rows.items():
        table.add_row(*(Text(printable.line(cell)) for cell in cells), key=key)
    if chosen in rows:
        table.move_cursor(row=list(rows).index(chosen), animate=False)


def _lobby_row(brief: LobbyBrief) -> list[str]:
    seats = f"{brief.members}/{brief.places}"
    door = "" if brief.joinable == "open" else f" ({brief.joinable})"
    return [brief.name, brief.state + door, ", ".join(brief.games), seats, brief.host, brief.lobby]


def _match_row(brief: MatchBrief) -> list[str]:
    names = "  ".join(descriptions.player_label(seat, who) for seat, who in enumerate(brief.seats))
    ended = descriptions.end_reason(brief.result) if brief.result else "running"
    clock = str(brief.time_control)
    return [str(brief.number), brief.game, str(brief.ply), ended, clock, names]
