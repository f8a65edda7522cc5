"""The screen of a match that the user plays: moves are picked on the board or typed.

While the match runs, letters and digits always type a move, even before the user's turn, and are
never commands; otherwise fast typing would trigger them. Commands use function and control keys, or
are typed after a colon. The input line keeps the focus and passes unused keys to the board.
"""

from __future__ import annotations

import textwrap
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from kibitz_clients.matches.timeline import Timeline
from kibitz_clients.render.terminal.cell_style import Overlay
from kibitz_clients.tui.move_choice import ARROWS, MoveChoice
from kibitz_clients.tui.screens.dialogs import Confirm, Keys
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.typed_moves import COMMANDS, TypedMoves
from kibitz_clients.tui.widgets.board import Board
from kibitz_clients.wording.move_input import MoveOption
from kibitz_games.core.game import Game

PLAYING_KEYS = (
    ("letters, digits", "type a move{example}, enter to play it"),
    ("arrows, mouse", "move the cursor, on your turn"),
    ("tab", "move to the next cell that can be picked"),
    ("enter", "pick the cell, and play a complete move"),
    ("escape", "clear the input, or take back the pick"),
    ("ctrl+o", "the other move with the same cells"),
    ("ctrl+r", "resign"),
    (", .", "step back and forth"),
    ("home end space", "first and last step; back to live"),
    ("F1 F2 F3", "this help; the rules; dark or light colors"),
    ("ctrl+q", "quit"),
    (":", "a command or an unambiguous prefix:"),
)
_LIST_COLUMNS = 44
"""The width of the list of commands below the keys."""


class PlayScreen(MatchScreen):
    """The screen of a match that the user plays: a `MatchScreen` that takes moves on their turn."""

    DEFAULT_CSS = """
    PlayScreen #typing { height: 1; padding: 0 1; background: $panel; }
    PlayScreen #typed { width: auto; max-width: 75%; color: $text-muted; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        ("left", "choose('left')"),
        ("right", "choose('right')"),
        ("up", "choose('up')"),
        ("down", "choose('down')"),
        ("tab", "choose('hop')"),
        ("shift+tab", "choose('hop back')"),
        ("enter", "choose('take')"),
        ("escape", "untake"),
        ("ctrl+o", "choose('other')"),
        ("ctrl+r", "resign"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__(timeline, game)
        self._choice = MoveChoice(self.timeline_cursor, self.scene, self.send_move, self.answered)
        self._typed = TypedMoves(
            game,
            self._choice,
            self.send_move,
            self.answered,
            lambda action: self.call_later(self.run_action, action),
        )
        # A move of the last turn, as an example of the notation.
        self._example = ""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        with Horizontal(id="typing"):
            yield self._typed.line
            yield Static(id="typed")

    @property
    def can_play(self) -> bool:
        """Whether the user has a seat and the match is not over."""
        return self.timeline.info.you is not None and not self.timeline.over

    # ------------------------------------------------------------------------------ drawing

    def render_content(self) -> None:
        if self._choice.update(self.kibitz_app.client_state.turns.get(self.match), self.game):
            assert self._choice.selector is not None, "a new turn has a selector"
            self.notice = ""
            self._example = self._choice.selector.example
            self._typed.match_turn()
            self.app.bell()
        self._show_line()
        super().render_content()

    def _show_line(self) -> None:
        line = self._typed.line
        self.query_one("#typing").display = self.can_play
        self.query_one(Footer).display = not self.can_play
        if self.can_play:
            self.set_focus(line)
        else:
            line.clear()
        line.placeholder = (
            "type ahead  , . step  F1 keys  F2 rules  :lobby :resign :quit"
            if self._choice.active is None
            else "type a move, enter to play  arrows/tab pick  F1 keys  F2 rules  :quit"
        )
        self.update_static("typed", self._typed.completion())

    def overlay(self) -> Overlay:
        picker = self._choice.active
        if picker is None:
            return super().overlay()
        return self._choice.overlay(picker, names=self.show_names)

    def status(self) -> Text:
        picker = self._choice.active
        if picker is None or self.notice:
            return super().status()
        return self._choice.prompt(picker, self.kibitz_app.palette)

    def action_help(self) -> None:
        if not self.can_play:
            super().action_help()
            return
        example = f", such as {self._example}" if self._example else ""
        keys = [(key, does.format(example=example)) for key, does in PLAYING_KEYS]
        keys += [("", line) for line in textwrap.wrap(" ".join(COMMANDS), _LIST_COLUMNS)]
        self.app.push_screen(Keys("Playing a match", keys))

    # ------------------------------------------------------------------------------- playing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the board's keys while the input line has text."""
        return not (self._typed.line.value and action == "choose")

    def action_choose(self, how: str) -> None:
        """Pick a move on the user's turn; otherwise step through the match with the arrows."""
        if how in ARROWS and self._choice.active is None:
            self.action_go("back" if how in {"left", "up"} else "forward")
            return
        self._choice.choose(how)
        self.refresh_content()

    def on_board_clicked(self, message: Board.Clicked) -> None:
        if self._choice.active is not None:
            self._choice.pick(message.place)

    def action_untake(self) -> None:
        """Clear the input, or take back the last pick."""
        if self._typed.line.value:
            self._typed.line.clear()
            return
        if self._choice.selector is not None:
            self._choice.selector.undo_pick()
        self.answered("")

    def send_move(self, choice: MoveOption) -> None:
        turn = self.kibitz_app.client_state.turns.pop(self.match, None)
        if turn is None:
            return
        self._choice.selector = None
        self.answered(f"{choice.text} sent …")
        self.kibitz_app.requests.send_move(self.match, turn, choice, self.answered)

    def answered(self, sentence: str) -> None:
        """Show the outcome of a request; empty if it succeeded."""
        self.notice = sentence
        self.refresh_content()

    def action_resign(self) -> None:
        requests = self.kibitz_app.requests

        def resign(sure: bool | None) -> None:
            if sure:
                requests.send(requests.connection.resign(self.match), self.answered)

        if self.can_play:
            self.app.push_screen(Confirm("Resign this match?"), resign)
