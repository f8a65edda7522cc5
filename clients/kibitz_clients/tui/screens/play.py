"""The screen of a match that is played here: a move is picked by its cells, or typed.

As long as the match runs, letters and digits are a move that is typed, on the own turn and
before it, and never commands: a key that meant something else would lose what somebody types
quickly. Commands have function and control keys, or are typed after a colon. The line that is typed
keeps the focus, and leaves keys that it does not use to the board.
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
from kibitz_clients.tui.screens.dialogs import Confirm, Keys
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.widgets.board import Board
from kibitz_clients.tui.widgets.move_line import MoveLine
from kibitz_clients.wording import move_input
from kibitz_clients.wording.move_input import MoveOption, MoveSelector
from kibitz_games.core.game import Game
from kibitz_protocol.wire.messages import YourTurn

PLAYING_KEYS = (
    ("letters, digits", "type a move{example}; enter plays it"),
    ("arrows, mouse", "go to a place, on your turn"),
    ("tab", "go to the next place that may be picked"),
    ("enter", "pick it, and play the move when it is whole"),
    ("escape", "drop what is typed, or take the pick back"),
    ("ctrl+o", "the other move with the same places"),
    ("ctrl+r", "resign"),
    (", .", "step back and forth"),
    ("home end space", "to the first and the last step; live again"),
    ("F1 F2 F3", "these keys; the rules; dark or light"),
    ("ctrl+q", "quit"),
    (":", "a command, or how only one of them begins:"),
)
COMMANDS: dict[str, str] = {
    "back": "back",
    "eyes": "eyes",
    "follow": "follow",
    "help": "help",
    "lobby": "lobby",
    "names": "names",
    "next": "next",
    "other": "other",
    "play": "play",
    "quit": "app.quit",
    "resign": "resign",
    "rules": "rules",
}
"""The commands that may be typed after a colon, and their actions."""
COMMAND_PREFIXES = (":", "/")
"""The characters that begin a command."""
_LIST_COLUMNS = 44
"""How wide the list of commands is below the keys."""
_ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class PlayScreen(MatchScreen):
    """The screen of an own match: takes moves on one's turn, otherwise follows like its base."""

    DEFAULT_CSS = """
    PlayScreen #typing { height: 1; padding: 0 1; background: $panel; }
    PlayScreen #typed { width: auto; max-width: 75%; color: $text-muted; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        ("left", "arrow('left')"),
        ("right", "arrow('right')"),
        ("up", "arrow('up')"),
        ("down", "arrow('down')"),
        ("tab", "hop(1)"),
        ("shift+tab", "hop(-1)"),
        ("enter", "take"),
        ("escape", "untake"),
        ("ctrl+o", "other"),
        ("ctrl+r", "resign"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__(timeline, game)
        self._cursor: str | None = None
        self._selector: MoveSelector | None = None
        # The turn that the selector is for, by its ply: sent again, it is the same turn.
        self._turn: YourTurn | None = None
        # A move of the last turn, to show how moves are typed.
        self._example = ""
        self._line = MoveLine(self._edited, self._submit)
        # The move that the typed text stands for.
        self._typed_option: MoveOption | None = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        with Horizontal(id="typing"):
            yield self._line
            yield Static(id="typed")

    # ------------------------------------------------------------------------------ drawing

    @property
    def active_selector(self) -> MoveSelector | None:
        """The choice of a move, while there is one to make and the board shows it."""
        return self._selector if self.timeline_cursor.is_live else None

    def render_content(self) -> None:
        self._update_turn(self.kibitz_app.client_state.turns.get(self.match))
        self._show_line()
        super().render_content()

    def overlay(self) -> Overlay:
        picker = self.active_selector
        if picker is None:
            return super().overlay()
        return Overlay(
            cursor=self._cursor,
            picked=picker.picked,
            targets=picker.targets if picker.picked else frozenset(),
            names=self.show_names,
        )

    def status(self) -> Text:
        picker = self.active_selector
        return super().status() if picker is None or self.notice else self._prompt(picker)

    def _prompt(self, picker: MoveSelector) -> Text:
        text = Text("Your turn", f"bold {self.kibitz_app.palette.hint}")
        text.append(f": {_prompt_text(picker)}", f"not bold {self.kibitz_app.palette.text}")
        if self._cursor is not None and self._cursor not in picker.picked:
            text.append(f" · {self._cursor}", f"bold {self.kibitz_app.palette.text}")
        return text

    @property
    def can_play(self) -> bool:
        """Whether the person here has a seat and the match goes on."""
        return self.timeline.info.you is not None and not self.timeline.over

    def action_help(self) -> None:
        if not self.can_play:
            super().action_help()
            return
        example = f", such as {self._example}" if self._example else ""
        keys = [(key, does.format(example=example)) for key, does in PLAYING_KEYS]
        keys += [("", line) for line in textwrap.wrap(" ".join(COMMANDS), _LIST_COLUMNS)]
        self.app.push_screen(Keys("Playing a match", keys))

    # ------------------------------------------------------------------------------- playing

    def action_arrow(self, key: str) -> None:
        if self.active_selector is None:
            self.action_step(-1 if key in {"left", "up"} else 1)
            return
        across, down = _ARROWS[key]
        self._cursor = move_input.neighbour_towards(self.scene(), self._cursor, across, down)
        self.notice = ""
        self.refresh_content()

    def _update_turn(self, turn: YourTurn | None) -> None:
        """Make a selector for a new turn, and drop it when the turn is over."""
        if turn is None or self.game is None:
            self._selector = None
            return
        again = self._turn is not None and turn.ply == self._turn.ply
        if self._selector is not None and again:
            return
        self._selector = MoveSelector(move_input.move_options(self.game, turn))
        self._turn = turn
        if again:
            return
        self.notice = ""
        self._example = self._selector.example
        self._match_typed()
        if all(cell.name != self._cursor for cell in self.scene().cells):
            self._cursor = move_input.most_central(self.scene(), self._selector.targets)
        self.app.bell()

    def on_board_clicked(self, message: Board.Clicked) -> None:
        if self.active_selector is None:
            return
        self._cursor = message.place
        self._pick(message.place)

    def action_take(self) -> None:
        picker = self.active_selector
        if picker is None:
            return
        ready = picker.ready
        there = self._cursor in {None, *picker.picked[-1:]}
        if ready is not None and (there or not picker.targets):
            self._send(ready)
        elif self._cursor is not None:
            self._pick(self._cursor)

    def _pick(self, place: str) -> None:
        """Pick a place; picking the last place again plays the move."""
        assert self._selector is not None, "only a turn has something to pick"
        ready = self._selector.ready
        if ready is not None and self._selector.picked[-1:] == (place,):
            self._send(ready)
            return
        self.notice = "" if self._selector.pick(place) else f"no legal move begins at {place}"
        ready = self._selector.ready
        if ready is not None and ready.cells == (place,) and self._is_button(place):
            self._send(ready)
        self.refresh_content()

    def _is_button(self, place: str) -> bool:
        """Whether a place is pressed rather than stood on: pressing it is a move at once."""
        return any(cell.name == place and cell.kind == "button" for cell in self.scene().cells)

    def action_untake(self) -> None:
        """Drop what is typed, or take the last pick back."""
        if self._line.value:
            self._stop_typing()
            return
        self.notice = ""
        if self._selector is not None:
            self._selector.undo_pick()
        self.refresh_content()

    def action_hop(self, by: int) -> None:
        if self._selector is None:
            return
        places = [cell.name for cell in self.scene().cells if cell.name in self._selector.targets]
        if places:
            at = places.index(self._cursor) if self._cursor in places else -1 if by > 0 else 0
            self._cursor = places[(at + by) % len(places)]
            self.refresh_content()

    def action_other(self) -> None:
        if self._selector is not None:
            self._selector.next_alternative()
            self.refresh_content()

    def _send(self, choice: MoveOption) -> None:
        turn = self.kibitz_app.client_state.turns.pop(self.match, None)
        if turn is None:
            return
        self._selector = None
        self.notice = f"{choice.text} sent …"
        self.kibitz_app.requests.send_move(self.match, turn, choice, self.answered)
        self.refresh_content()

    def answered(self, sentence: str) -> None:
        """Show the outcome of a request; empty if it succeeded."""
        self.notice = sentence
        self.refresh_content()

    def action_resign(self) -> None:
        if self.timeline.info.you is None or self.timeline.over:
            return
        self.app.push_screen(Confirm("Resign this match?"), self._resign)

    def _resign(self, sure: bool | None) -> None:
        if sure:
            resigning = self.kibitz_app.requests.connection.resign(self.match)
            self.kibitz_app.requests.send(resigning, self.answered)

    # -------------------------------------------------------------------------------- typing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep keys from the board while something is typed."""
        return not (self._line.value and action in {"arrow", "hop", "take", "other"})

    def _edited(self) -> None:
        if self.can_play:
            self.notice = ""
            self._match_typed()
            self.refresh_content()

    def _match_typed(self) -> None:
        """Find the move that the typed line stands for."""
        self._typed_option = None
        text = self._line.value
        if (
            text
            and not text.startswith(COMMAND_PREFIXES)
            and self._selector is not None
            and self.game
        ):
            option = move_input.parse_typed(self.game, self._selector, text)
            self._typed_option = option if isinstance(option, MoveOption) else None

    def _show_line(self) -> None:
        self.query_one("#typing").display = self.can_play
        self.query_one(Footer).display = not self.can_play
        if self.can_play:
            self.set_focus(self._line)
        else:
            self._line.clear()
        self._line.placeholder = (
            "type ahead  , . step  F1 keys  F2 rules  :lobby :resign :quit"
            if self.active_selector is None
            else "type a move, enter plays it  arrows/tab choose  F1 keys  F2 rules  :quit"
        )
        self.update_static("typed", self._completion())

    def _completion(self) -> str:
        """Return the move that enter plays, or the commands that begin with what is typed."""
        text = self._line.value
        if text.startswith(COMMAND_PREFIXES):
            return "  ".join(f":{name}" for name in COMMANDS if name.startswith(text[1:]))
        return f"enter plays {self._typed_option.text}" if self._typed_option else ""

    def _submit(self) -> None:
        text = self._line.value.strip()
        if text.startswith(COMMAND_PREFIXES):
            self._stop_typing()
            self._command(text[1:].strip().lower())
        elif self.game is None:
            self._stop_typing()
            self.answered("this client does not know the game, and cannot play it")
        elif self._selector is None:
            # It stays in the line, and enter plays it when the turn has come.
            self.answered("it is not your turn yet")
        else:
            self._stop_typing()
            self._play(self.game, self._selector, text)

    def _play(self, game: Game, picker: MoveSelector, text: str) -> None:
        """Play a move that was typed, or pick a place, or say why it is neither."""
        if not text:
            return
        choice = move_input.parse_typed(game, picker, text, self._turn)
        place = next((c.name for c in self.scene().cells if c.name == text.lower()), None)
        if isinstance(choice, MoveOption):
            self._send(choice)
        elif place is not None and MoveSelector(picker.options).pick(place):
            self._cursor = place
            self._pick(place)
        else:
            self.notice = choice
            self.refresh_content()

    def _command(self, word: str) -> None:
        """Carry out what was typed after a colon."""
        names = [name for name in COMMANDS if name.startswith(word)]
        if word in COMMANDS:
            names = [word]
        if len(names) == 1:
            self.call_later(self.run_action, COMMANDS[names[0]])
        else:
            known = ", ".join(f":{name}" for name in names or COMMANDS)
            self.notice = f":{word} may be {known}" if names else f"no :{word}; there are {known}"
        self.refresh_content()

    def _stop_typing(self) -> None:
        self._line.clear()


def _prompt_text(picker: MoveSelector) -> str:
    """Say what is to be picked next."""
    ready, count = picker.ready, len(picker.targets)
    if ready is not None and (picker.picked or not picker.targets):
        more = (
            f", ctrl+o for another of {len(picker.alternatives)}"
            if len(picker.alternatives) > 1
            else ""
        )
        return f"{ready.text}, enter plays it, escape takes it back{more}"
    if picker.picked:
        again = ", this one again for it alone" if picker.picked[-1] in picker.targets else ""
        return f"{' '.join(picker.picked)} picked, now one of {count} places{again}"
    if picker.options:
        return f"pick one of {count} places; {len(picker.options)} moves"
    return "type a move"
