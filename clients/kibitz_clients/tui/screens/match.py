"""The screen of a match, live or stepped through: the board, the players, the moves."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Static

from kibitz_clients.matches.timeline import Frame, Timeline
from kibitz_clients.render import match_picture
from kibitz_clients.render.terminal.cell_style import Overlay
from kibitz_clients.tui import match_captions as captions
from kibitz_clients.tui.playback import Direction, Playback
from kibitz_clients.tui.screens.base import BaseScreen
from kibitz_clients.tui.screens.dialogs import Keys, Rules
from kibitz_clients.tui.widgets.board import Board
from kibitz_clients.tui.widgets.moves import Moves
from kibitz_clients.tui.widgets.seats import Seats
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene
from kibitz_protocol import printable
from kibitz_protocol.wire.visibility import PUBLIC

WATCHING_KEYS = (
    ("left right", "step back and forth, also , and ."),
    ("home end", "first and last step"),
    ("space", "back to live"),
    ("p", "start or stop playback"),
    ("n", "the next match of the lobby"),
    ("f", "follow: go to the next match when this one ends"),
    ("l", "the lobby: members, standings"),
    ("#", "show cell names"),
    ("v", "change the viewpoint (after a match with hidden information)"),
    ("F2 F3", "rules of the game; dark or light colors"),
    ("b", "back"),
    ("q", "quit"),
)
_TICK_S = 0.2
"""How often clocks are redrawn, in seconds."""


class MatchScreen(BaseScreen):
    """The screen of one timeline."""

    DEFAULT_CSS = """
    MatchScreen #title { height: 1; background: $surface; padding: 0 1; }
    MatchScreen #body { height: 1fr; }
    MatchScreen #side { width: 28; border-left: vkey $block-cursor-background; }
    MatchScreen.wide #side { width: 40; }
    MatchScreen #course { height: 1; padding: 0 1; color: $text-muted; }
    MatchScreen #status { height: auto; max-height: 4; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up,comma", "go('back')", "earlier", key_display="←"),
        Binding("right,down,full_stop", "go('forward')", "later", key_display="→"),
        ("home", "go('first')"),
        ("space,end", "go('live')", "live"),
        ("p", "go('play')"),
        ("n", "open('next')", "next"),
        ("f", "follow", "follow"),
        ("l", "open('lobby')"),
        ("number_sign", "names"),
        ("v", "eyes"),
        ("b", "open('back')", "back"),
        ("question_mark,f1", "help", "help"),
        ("f2", "rules"),
        ("q", "app.quit", "quit"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__()
        self.timeline = timeline
        self.playback = Playback(timeline)
        self.timeline_cursor = self.playback.cursor
        self.game = game
        self.show_names = False
        self.notice = ""
        """The latest message to the user, such as a refusal or "sent ..."."""
        # The latest scene and its frame, cached because most redraws only update clocks.
        self._cached_scene: tuple[Frame, Scene] | None = None

    @property
    def match(self) -> str:
        return self.timeline.info.match

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Horizontal(id="body"):
            yield Board(id="board")
            with Vertical(id="side"):
                yield Seats(id="seats")
                yield Static(id="course")
                yield Moves(id="moves")
        yield Static(id="status")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.set_interval(_TICK_S, self.refresh_content)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= 100, "wide")
        self.call_after_refresh(self.refresh_content)

    # ------------------------------------------------------------------------------ drawing

    def render_content(self) -> None:
        now = self.kibitz_app.now()
        self.playback.advance(now)
        navigation = self.kibitz_app.navigation
        if self.playback.has_lingered(now) and navigation.follow and self.is_current:
            navigation.open_next_match(self.timeline.info)
        frame = self.timeline_cursor.frame
        at, last = self.timeline_cursor.position
        scene, colors = self.scene(), self.kibitz_app.palette
        self.query_one(Board).show(scene, colors, self.overlay())
        self.query_one(Seats).show(self.timeline, frame, now, colors, scene.colours)
        self.query_one(Moves).show(self.game, self.timeline, at, colors, scene.colours)
        title = captions.title(self.kibitz_app, self.timeline, self.timeline_cursor, self.game)
        self.update_static("title", title)
        self.update_static("course", f"step {at} of {last}" if last else f"ply {frame.ply}")
        self.update_static("status", self.status())

    def scene(self) -> Scene:
        if self.game is None:
            name = self.timeline.info.game
            return Scene("square", (), (), (f"unknown game {name!r}",))
        frame = self.timeline_cursor.frame
        if self._cached_scene is None or self._cached_scene[0] is not frame:
            drawn = match_picture.frame_scene(self.game, frame, self.timeline.info.seats)
            self._cached_scene = frame, drawn
        return self._cached_scene[1]

    def overlay(self) -> Overlay:
        """Return the overlay of the board."""
        return Overlay(names=self.show_names)

    def status(self) -> Text:
        """Return the line below the board."""
        if self.notice:
            return Text(printable.line(self.notice), f"bold {self.kibitz_app.palette.warning}")
        return captions.status(
            self.kibitz_app, self.timeline, self.timeline_cursor, self.game, self.scene()
        )

    # ----------------------------------------------------------------------------- stepping

    def action_go(self, to: Direction) -> None:
        self.playback.go(to, self.kibitz_app.now())
        self.refresh_content()

    def on_moves_clicked(self, message: Moves.Clicked) -> None:
        self.playback.go_to(message.seq)
        self.refresh_content()

    # ------------------------------------------------------------------------- other screens

    def action_names(self) -> None:
        self.show_names = not self.show_names
        self.refresh_content()

    def action_eyes(self) -> None:
        """Switch the viewpoint to the next seat, the public, or everything."""
        timeline = self.timeline
        if self.game is None or not self.game.info.hidden:
            self.app.notify("everybody sees the same position in this game")
        elif timeline.frames_seen_by is None:
            self.app.notify("other viewpoints are available after the match")
        else:
            order = [None, *range(len(timeline.info.seats)), PUBLIC]
            timeline.set_viewpoint(order[(order.index(timeline.viewpoint) + 1) % len(order)])
            self.refresh_content()

    def action_open(self, where: str) -> None:
        """Show another screen: the next match, the lobby, or the previous one."""
        facts, navigation = self.timeline.info, self.kibitz_app.navigation
        if where == "next":
            navigation.show_next(facts)
        elif where == "back":
            navigation.back()
        elif facts.lobby is not None:
            navigation.show_lobby(facts.lobby)

    def action_help(self) -> None:
        self.app.push_screen(Keys("A match", WATCHING_KEYS))

    def action_rules(self) -> None:
        """Show the rules of the game, or a summary if there is no rules page."""
        page = self.kibitz_app.rules(self.timeline.info.game)
        if page is None and self.game is not None:
            info = self.game.info
            page = f"# {info.title}\n\n{info.summary}\n\n{info.legal_rule}"
        if page is None:
            self.app.notify("the rules of this game are not installed here", markup=False)
        else:
            self.app.push_screen(Rules(page))
