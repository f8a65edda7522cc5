"""A match on the screen: the board, the players, the moves; live or stepped through."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Static

from kibitz_clients.matches.timeline import Frame, Timeline, TimelineCursor
from kibitz_clients.render import match_picture
from kibitz_clients.render.terminal.cell_style import Overlay
from kibitz_clients.tui.screens.base import BaseScreen
from kibitz_clients.tui.screens.dialogs import Keys, Rules
from kibitz_clients.tui.widgets.board import Board
from kibitz_clients.tui.widgets.moves import Moves
from kibitz_clients.tui.widgets.seats import Seats
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene
from kibitz_protocol import printable
from kibitz_protocol.wire.visibility import PUBLIC

WATCHING_KEYS = (
    ("left right", "step back and forth, also , and ."),
    ("home end", "to the first and the last step"),
    ("space", "live again"),
    ("p", "play the steps by themselves"),
    ("n", "the next match of the lobby"),
    ("f", "follow: go to the next match when this one ends"),
    ("l", "the lobby: members, standings"),
    ("#", "names of the places"),
    ("v", "through whose eyes, where players see different things and the match is over"),
    ("F2 F3", "the rules of the game; dark or light"),
    ("b", "back"),
    ("q", "quit"),
)
_AUTOPLAY_STEP_MS = 600
"""How long a step is shown when the steps play by themselves."""
_LINGER_MS = 4_000
"""How long the end of a match is shown before the next one opens by itself."""
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
        Binding("left,up,comma", "step(-1)", "earlier", key_display="←"),
        Binding("right,down,full_stop", "step(1)", "later", key_display="→"),
        ("home", "first"),
        ("space,end", "live", "live"),
        ("p", "play"),
        ("n", "next", "next"),
        ("f", "follow", "follow"),
        ("l", "lobby"),
        ("number_sign", "names"),
        ("v", "eyes"),
        ("b", "back", "back"),
        ("question_mark,f1", "help", "help"),
        ("f2", "rules"),
        ("q", "app.quit", "quit"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__()
        self.timeline = timeline
        self.timeline_cursor = TimelineCursor(timeline)
        self.game = game
        self.show_names = False
        self.notice = ""
        """The newest response to this person: a refusal, or that a move is being sent."""
        self._autoplaying = False
        # When the next step is shown, while they play by themselves.
        self._step_at = 0
        # When the end of the match was seen here; None if it was over before.
        self._ended_at: int | None = None
        self._saw_running = not timeline.over
        # The newest scene and its frame, cached because most redraws only update clocks.
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
        self._advance_autoplay()
        self._open_next_when_due()
        frame = self.timeline_cursor.frame
        now = self.kibitz_app.now()
        at, last = self.timeline_cursor.position
        scene, colors = self.scene(), self.kibitz_app.palette
        self.query_one(Board).show(scene, colors, self.overlay())
        self.query_one(Seats).show(self.timeline, frame, now, colors, scene.colours)
        self.query_one(Moves).show(self.game, self.timeline, at, colors, scene.colours)
        self.update_static("title", self._title())
        self.update_static("course", f"step {at} of {last}" if last else f"ply {frame.ply}")
        self.update_static("status", self.status())

    def scene(self) -> Scene:
        if self.game is None:
            name = self.timeline.info.game
            return Scene("square", (), (), (f"this client does not know {name!r}",))
        frame = self.timeline_cursor.frame
        if self._cached_scene is None or self._cached_scene[0] is not frame:
            drawn = match_picture.frame_scene(self.game, frame, self.timeline.info.seats)
            self._cached_scene = frame, drawn
        return self._cached_scene[1]

    def overlay(self) -> Overlay:
        """Return the overlay of the board."""
        return Overlay(names=self.show_names)

    def _title(self) -> Text:
        facts = self.timeline.info
        name = self.game.info.title if self.game else facts.game
        title = Text(name, style="bold", no_wrap=True, overflow="ellipsis")
        lobby = self.kibitz_app.client_state.lobbies.get(facts.lobby or "")
        where = f" · {printable.line(lobby.settings.name)}" if lobby else ""
        ply = self.timeline_cursor.frame.ply
        seen = (
            ""
            if self.timeline.viewpoint is None
            else descriptions.viewpoint_text(facts, self.timeline.viewpoint)
        )
        title.append(f" · match {facts.number}{where} · ply {ply}  ", "not bold")
        follow = "following  " if self.kibitz_app.navigation.follow else ""
        title.append(follow, self.kibitz_app.palette.dim)
        title.append(f"{seen}  " if seen else "", f"bold {self.kibitz_app.palette.viewpoint}")
        return title.append_text(self._state())

    def _state(self) -> Text:
        at, last = self.timeline_cursor.position
        if not self.kibitz_app.online:
            return Text("reconnecting …", f"bold {self.kibitz_app.palette.warning}")
        if not self.timeline_cursor.is_live:
            return Text(f"◀ step {at} of {last}", f"bold {self.kibitz_app.palette.accent}")
        if self.kibitz_app.recorded or self.timeline.over:
            return Text(
                "■ over" if self.timeline.over else "■ unfinished", self.kibitz_app.palette.dim
            )
        return Text("● live", f"bold {self.kibitz_app.palette.hint}")

    def status(self) -> Text:
        """Return the line below the board."""
        if self.notice:
            return Text(printable.line(self.notice), f"bold {self.kibitz_app.palette.warning}")
        result = self.timeline.result
        if result is not None and self.timeline_cursor.frame.seq == self.timeline.steps[-1].seq:
            winner = descriptions.result_summary(self.timeline.info, result, self.game)
            return Text(winner, f"bold {self.kibitz_app.palette.hint}")
        return self._whose_turn()

    def _whose_turn(self) -> Text:
        frame = self.timeline_cursor.frame
        facts = self.timeline.info
        colours = self.scene().colours
        text = Text(no_wrap=True, overflow="ellipsis")
        seat = descriptions.acting_seat(frame)
        if seat is not None:
            text.append(
                descriptions.player_label(seat, facts.seats[seat], colours),
                self.kibitz_app.palette.seat(seat),
            )
            text.append(f": {descriptions.step_text(self.game, frame)}")
            if frame.comment is not None:
                text.append(
                    f"  {descriptions.comment_text(frame.comment)}", self.kibitz_app.palette.dim
                )
            text.append("  ")
        if 0 <= frame.to_act < len(facts.seats):
            mover = descriptions.player_label(frame.to_act, facts.seats[frame.to_act], colours)
            text.append(mover, f"bold {self.kibitz_app.palette.seat(frame.to_act)}")
            text.append(" to move")
        return text

    # ----------------------------------------------------------------------------- stepping

    def action_step(self, by: int) -> None:
        self._autoplaying = False
        if by < 0:
            self.timeline_cursor.step_back()
        else:
            self.timeline_cursor.step_forward()
        self.refresh_content()

    def action_first(self) -> None:
        self.timeline_cursor.go_to_first()
        self.refresh_content()

    def action_live(self) -> None:
        self._autoplaying = False
        self.timeline_cursor.go_live()
        self.refresh_content()

    def action_play(self) -> None:
        """Play the steps from here, or from the start when all of them were seen."""
        self._autoplaying = not self._autoplaying
        self._step_at = self.kibitz_app.now() + _AUTOPLAY_STEP_MS
        if self._autoplaying and self.timeline_cursor.is_live:
            self.timeline_cursor.go_to_first()
        self.refresh_content()

    def _advance_autoplay(self) -> None:
        """Go to the next step when the present one was shown long enough."""
        if self._autoplaying and self.kibitz_app.now() >= self._step_at:
            self._step_at += _AUTOPLAY_STEP_MS
            self.timeline_cursor.step_forward()
            self._autoplaying = not self.timeline_cursor.is_live

    def _open_next_when_due(self) -> None:
        """Leave for the next match when the end of this one was shown long enough."""
        if not (self.timeline.over and self._saw_running):
            return
        if self._ended_at is None:
            self._ended_at = self.kibitz_app.now()
        lingered = self.kibitz_app.now() - self._ended_at >= _LINGER_MS
        navigation = self.kibitz_app.navigation
        if lingered and navigation.follow and self.timeline_cursor.is_live and self.is_current:
            navigation.open_next_match(self.timeline.info)

    def on_moves_clicked(self, message: Moves.Clicked) -> None:
        self._autoplaying = False
        self.timeline_cursor.go_to(message.seq)
        self.refresh_content()

    # ------------------------------------------------------------------------- other screens

    def action_names(self) -> None:
        self.show_names = not self.show_names
        self.refresh_content()

    def action_eyes(self) -> None:
        """See the match as the next seat saw it, as the public did, or with everything shown."""
        timeline = self.timeline
        if self.game is None or not self.game.info.hidden:
            self.app.notify("everybody sees the same in this game")
        elif timeline.frames_seen_by is None:
            self.app.notify("what the others see is shown when the match is over")
        else:
            order = [None, *range(len(timeline.info.seats)), PUBLIC]
            timeline.set_viewpoint(order[(order.index(timeline.viewpoint) + 1) % len(order)])
            self.refresh_content()

    def action_next(self) -> None:
        self.kibitz_app.navigation.show_next(self.timeline.info)

    def action_follow(self) -> None:
        self.kibitz_app.navigation.follow = not self.kibitz_app.navigation.follow
        self.refresh_content()

    def action_lobby(self) -> None:
        if self.timeline.info.lobby is not None:
            self.kibitz_app.navigation.show_lobby(self.timeline.info.lobby)

    def action_back(self) -> None:
        self.kibitz_app.navigation.back()

    def action_help(self) -> None:
        self.app.push_screen(Keys("A match", WATCHING_KEYS))

    def action_rules(self) -> None:
        """Show the rules of the game, or its known facts if there is no page."""
        page = self.kibitz_app.rules(self.timeline.info.game)
        if page is None and self.game is not None:
            info = self.game.info
            page = f"# {info.title}\n\n{info.summary}\n\n{info.legal_rule}"
        if page is None:
            self.app.notify("this client does not know the rules of this game", markup=False)
        else:
            self.app.push_screen(Rules(page))
