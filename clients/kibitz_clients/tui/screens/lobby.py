"""A lobby: its members, the standings and the running matches."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from kibitz_clients.tui.screens.base import BaseScreen
from kibitz_clients.tui.screens.dialogs import Keys
from kibitz_clients.wording import descriptions
from kibitz_clients.wording.short_names import shown_name
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import LobbyView

KEYS = (
    ("up down", "select a running match"),
    ("enter", "watch it"),
    ("n", "watch the next running match"),
    ("f", "follow: go to the next match when one ends"),
    ("r", "toggle ready"),
    ("s", "start (host)"),
    ("m", "request a rematch (host, or any player of a seek)"),
    ("b", "back"),
    ("F3", "dark or light colors"),
    ("q", "quit"),
)


class LobbyScreen(BaseScreen):
    """The screen of one lobby, where members get ready, start, and request a rematch."""

    DEFAULT_CSS = """
    LobbyScreen #title { height: 1; background: $surface; padding: 0 1; }
    LobbyScreen VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size: 1 1; }
    LobbyScreen .head { height: 1; color: $text-muted; margin-top: 1; }
    LobbyScreen OptionList {
        height: auto; max-height: 12; padding: 0; scrollbar-size: 1 1;
    }
    LobbyScreen OptionList, LobbyScreen OptionList:focus {
        background: $background; border: none; background-tint: transparent;
    }
    LobbyScreen OptionList > .option-list--option-highlighted { background: $panel; }
    LobbyScreen OptionList:focus > .option-list--option-highlighted {
        background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold;
    }
    LobbyScreen #members, LobbyScreen #standings { height: auto; }
    LobbyScreen #status { height: auto; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("n", "next", "next"),
        ("f", "follow", "follow"),
        ("r", "ready", "ready"),
        ("s", "start", "start"),
        ("m", "rematch", "rematch"),
        ("b,escape", "back", "back"),
        ("question_mark", "help", "help"),
        ("q", "app.quit", "quit"),
    ]

    def __init__(self, lobby: str) -> None:
        super().__init__()
        self.lobby = lobby
        self._notice = ""
        self._listed: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with VerticalScroll():
            yield Static("Running", classes="head")
            yield OptionList(id="live")
            yield Static("Members", classes="head")
            yield Static(id="members")
            yield Static("Standings", classes="head")
            yield Static(id="standings")
        yield Static(id="status")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @property
    def view(self) -> LobbyView | None:
        return self.kibitz_app.client_state.lobbies.get(self.lobby)

    def render_content(self) -> None:
        self.update_static("title", self._title())
        self.update_static("status", self._status())
        view = self.view
        if view is not None:
            self.update_static("members", _members(view, self.kibitz_app.palette.dim))
            self.update_static("standings", _standings(view, self.kibitz_app.palette.dim))
            self._list_live(view)

    def _list_live(self, view: LobbyView) -> None:
        lines = [
            f"match {brief.number}  {brief.game}  "
            + "  ".join(
                descriptions.player_label(seat, who) for seat, who in enumerate(brief.seats)
            )
            for brief in view.live.values()
        ]
        if lines == self._listed and lines:
            return
        self._listed = lines
        options = self.query_one(OptionList)
        chosen = options.highlighted or 0
        options.clear_options()
        options.add_options(
            Option(Text(line), id=match) for line, match in zip(lines, view.live, strict=True)
        )
        if lines:
            options.highlighted = min(chosen, len(lines) - 1)
        else:
            options.add_option(Option("no running matches", disabled=True))

    def _title(self) -> Text:
        view = self.view
        if view is None:
            return Text(f"lobby {self.lobby} …", "bold")
        text = Text(printable.line(view.settings.name), "bold")
        text.append(f" · {self.lobby} · {view.state} · round {view.round}", "not bold")
        if view.planned:
            played = f" · {view.done - view.void} of {view.planned} matches"
            skipped = f", {view.void} will not be played" if view.void else ""
            text.append(played + skipped, "not bold")
        if view.invite and view.settings.joinable == "invite":
            text.append(f" · invite {printable.line(view.invite)}", "not bold")
        if self.kibitz_app.navigation.follow:
            text.append(" · following", "not bold")
        if not self.kibitz_app.online:
            text.append("  ").append_text(self.kibitz_app.offline_text)
        return text

    def _status(self) -> Text:
        if self._notice:
            return Text(printable.line(self._notice), f"bold {self.kibitz_app.palette.warning}")
        view = self.view
        mine = view.members.get(self.kibitz_app.requests.player or "") if view else None
        trouble = view.house_trouble if view and view.state == "gathering" else []
        if trouble:
            return Text(
                descriptions.house_bot_failure(trouble[-1]),
                f"bold {self.kibitz_app.palette.warning}",
            )
        if view is not None and view.stopped:
            return Text(
                descriptions.stopped_programme(view.stopped),
                f"bold {self.kibitz_app.palette.warning}",
            )
        if view is None or mine is None:
            return Text("you are watching this lobby", self.kibitz_app.palette.dim)
        if view.state == "gathering" and not mine.ready:
            return Text("press r when you are ready", f"bold {self.kibitz_app.palette.hint}")
        if view.state == "gathering":
            return Text("ready; waiting for the other players", self.kibitz_app.palette.text)
        if view.state == "finished":
            return Text(
                "all matches are over; press m for a rematch",
                f"bold {self.kibitz_app.palette.hint}",
            )
        return Text("your next match opens automatically", self.kibitz_app.palette.text)

    def answered(self, sentence: str) -> None:
        self._notice = sentence
        self.refresh_content()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.kibitz_app.navigation.watch_match(event.option_id)

    def action_next(self) -> None:
        brief = self.kibitz_app.client_state.next_match(self.lobby, 0)
        if brief is not None:
            self.kibitz_app.navigation.watch_match(brief.match)

    def action_ready(self) -> None:
        view, requests = self.view, self.kibitz_app.requests
        mine = view.members.get(requests.player or "") if view else None
        if mine is not None:
            self._ask(requests.connection.ready(self.lobby, not mine.ready))
        else:
            self.answered("you have no seat in this lobby")

    def action_start(self) -> None:
        self._ask(self.kibitz_app.requests.connection.hosting.start(self.lobby))

    def action_rematch(self) -> None:
        self._ask(self.kibitz_app.requests.connection.hosting.rematch(self.lobby))

    def _ask(self, request: Awaitable[object]) -> None:
        self.kibitz_app.requests.send(request, self.answered)

    def action_back(self) -> None:
        self.kibitz_app.navigation.back()

    def action_help(self) -> None:
        self.app.push_screen(Keys("A lobby", KEYS))


def _grid(head_style: str, *columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style=head_style, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in _NUMBERS else "left")
    return table


_NUMBERS = {"seat", "points", "played", "won", "drawn", "lost"}


def _members(view: LobbyView, head_style: str) -> Table:
    table = _grid(head_style, "seat", "name", "kind", "")
    for member in view.by_seat():
        state = "ready" if member.ready else "not ready"
        state = state if member.connected else "away"
        host = " (host)" if member.player == view.host else ""
        name = Text(shown_name(member.name, member.kind) + host)
        table.add_row(str(member.seat + 1), name, member.kind, state)
    return table


def _standings(view: LobbyView, head_style: str) -> Table:
    table = _grid(head_style, "points", "name", "played", "won", "drawn", "lost", "causes")
    for line in view.table():
        causes = ", ".join(f"{count} {cause}" for cause, count in line.causes.items())
        counts = (line.played, line.wins, line.draws, line.losses)
        name = Text(shown_name(line.name))
        table.add_row(f"{line.points:g}", name, *map(str, counts), causes)
    return table
