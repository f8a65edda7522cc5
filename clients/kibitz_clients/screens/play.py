"""A match that is played from here: picking a move by its places, or typing it."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from kibitz_clients import palette, player
from kibitz_clients.follow import Timeline
from kibitz_clients.looks import Overlay
from kibitz_clients.player import Choice, Picker
from kibitz_clients.screens.dialogs import Confirm, Keys
from kibitz_clients.screens.match import WATCHING, MatchScreen
from kibitz_clients.widgets.board import Board
from kibitz_games.api import Game
from kibitz_protocol.messages import YourTurn

PLAYING = (
    ("arrows, mouse", "go to a place, on your turn"),
    ("tab", "go to the next place that may be picked"),
    ("enter", "pick it, and play the move when it is whole"),
    ("escape", "take the pick back"),
    ("m or a digit", "type a move{example}; other letters begin one that they begin"),
    ("o", "the other move with the same places"),
    ("R", "resign"),
    (", .", "step back and forth"),
    *WATCHING[1:],
)
_ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class PlayScreen(MatchScreen):
    """Takes moves while it is the turn of the person here; otherwise follows like its base."""

    DEFAULT_CSS = """
    PlayScreen #typed { display: none; height: 1; border: none; padding: 0 1; }
    PlayScreen.typing #typed { display: block; }
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
        ("m", "type"),
        ("o", "other"),
        ("R", "resign"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__(timeline, game)
        self._cursor: str | None = None
        self._picker: Picker | None = None
        # The turn that the picker is for, by its ply: told again, it is the same turn.
        self._turn_ply: int | None = None
        # A move of the last turn, to show how moves are typed.
        self._example = ""

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.id == "keys":
                yield self._field()
            yield widget

    def _field(self) -> Input:
        field = Input(id="typed", placeholder="a move")
        field.can_focus = False
        return field

    # ------------------------------------------------------------------------------ drawing

    @property
    def picking(self) -> Picker | None:
        """The choice of a move, while there is one to make and the board shows it."""
        return self._picker if self.playhead.live else None

    def draw(self) -> None:
        self._take_turn(self.house.gallery.turns.get(self.match))
        super().draw()

    def overlay(self) -> Overlay:
        picker = self.picking
        if picker is None:
            return super().overlay()
        return Overlay(
            cursor=self._cursor,
            picked=picker.picked,
            targets=picker.targets if picker.picked else frozenset(),
            names=self.names,
        )

    def status(self) -> Text:
        picker = self.picking
        return super().status() if picker is None or self.said else self._prompt(picker)

    def _prompt(self, picker: Picker) -> Text:
        text = Text("Your turn", f"bold {palette.HINT}")
        text.append(f": {_request(picker)}", "not bold white")
        if self._cursor is not None and self._cursor not in picker.picked:
            text.append(f" · {self._cursor}", "bold white")
        return text

    def keys(self) -> str:
        if self.picking is None:
            return super().keys()
        return "arrows/tab choose  enter pick  m type  R resign  , . step  ? help  q quit"

    def action_help(self) -> None:
        example = f", such as {self._example}" if self._example else ""
        keys = tuple((key, does.format(example=example)) for key, does in PLAYING)
        self.app.push_screen(Keys("Playing a match", keys))

    # ------------------------------------------------------------------------------- playing

    def action_arrow(self, key: str) -> None:
        if self.picking is None:
            self.action_step(-1 if key in {"left", "up"} else 1)
            return
        across, down = _ARROWS[key]
        self._cursor = player.towards(self.scene(), self._cursor, across, down)
        self.said = ""
        self.told()

    def _take_turn(self, turn: YourTurn | None) -> None:
        """Notice that the turn has come, or has gone."""
        if turn is None or self.game is None:
            self._picker = None
            return
        if self._picker is not None and turn.ply == self._turn_ply:
            return
        self._picker = Picker(player.choices(self.game, turn))
        if turn.ply == self._turn_ply:
            return
        self._turn_ply = turn.ply
        self.said = ""
        self._example = self._picker.example
        such = f", such as {self._example}," if self._example else ""
        self.query_one("#typed", Input).placeholder = f"a move{such} or a place"
        if all(cell.name != self._cursor for cell in self.scene().cells):
            self._cursor = player.central(self.scene(), self._picker.targets)
        self.app.bell()

    def on_board_clicked(self, message: Board.Clicked) -> None:
        if self.picking is None:
            return
        self._cursor = message.place
        self._pick(message.place)

    def action_take(self) -> None:
        picker = self.picking
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
        assert self._picker is not None, "only a turn has something to pick"
        ready = self._picker.ready
        if ready is not None and self._picker.picked[-1:] == (place,):
            self._send(ready)
            return
        self.said = "" if self._picker.pick(place) else f"no legal move begins at {place}"
        ready = self._picker.ready
        if ready is not None and ready.touches == (place,) and self._is_key(place):
            self._send(ready)
        self.told()

    def _is_key(self, place: str) -> bool:
        """Whether a place is pressed rather than stood on: pressing it is a move at once."""
        return any(cell.name == place and cell.ground == "button" for cell in self.scene().cells)

    def action_untake(self) -> None:
        self.said = ""
        if self.has_class("typing"):
            self._stop_typing()
        elif self._picker is not None:
            self._picker.back()
        self.told()

    def action_hop(self, by: int) -> None:
        if self._picker is None:
            return
        places = [cell.name for cell in self.scene().cells if cell.name in self._picker.targets]
        if places:
            at = places.index(self._cursor) if self._cursor in places else -1 if by > 0 else 0
            self._cursor = places[(at + by) % len(places)]
            self.told()

    def action_other(self) -> None:
        if self._picker is not None:
            self._picker.turn_over()
            self.told()

    def _send(self, choice: Choice) -> None:
        turn = self.house.gallery.turns.pop(self.match, None)
        if turn is None:
            return
        self._picker = None
        self.said = f"{choice.text} sent …"
        self.house.send_move(self.match, turn, choice, self.answered)
        self.told()

    def answered(self, sentence: str) -> None:
        """Show what became of a request; nothing when it was done."""
        self.said = sentence
        self.told()

    def action_resign(self) -> None:
        if self.timeline.facts.you is None or self.timeline.over:
            return
        self.app.push_screen(Confirm("Resign this match?"), self._resign)

    def _resign(self, sure: bool | None) -> None:
        if sure:
            self.house.send_resignation(self.match, self.answered)

    # -------------------------------------------------------------------------------- typing

    def on_key(self, event: events.Key) -> None:
        character = event.character or ""
        if self._picker is None or self.has_class("typing") or not character.isalnum():
            return
        begins = any(choice.text.startswith(character) for choice in self._picker.choices)
        if character.isdigit() or (begins and event.key not in self.active_bindings):
            event.stop()
            self.action_type(character)

    def action_type(self, first: str = "") -> None:
        if self._picker is None:
            return
        self.add_class("typing")
        field = self.query_one("#typed", Input)
        field.can_focus = True
        field.value = first
        field.focus()
        field.cursor_position = len(first)
        field.select_on_focus = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        self._stop_typing()
        if not text or self._picker is None or self.game is None:
            return
        choice = player.typed(self.game, self._picker, text)
        if isinstance(choice, Choice):
            self._send(choice)
        elif any(cell.name == text for cell in self.scene().cells):
            self._cursor = text
            self._pick(text)
        else:
            self.said = choice
            self.told()

    def _stop_typing(self) -> None:
        self.remove_class("typing")
        field = self.query_one("#typed", Input)
        field.can_focus = False
        self.set_focus(None)


def _request(picker: Picker) -> str:
    """Say what is to be picked next."""
    ready, count = picker.ready, len(picker.targets)
    if ready is not None and (picker.picked or not picker.targets):
        more = f", o for another of {len(picker.same)}" if len(picker.same) > 1 else ""
        return f"{ready.text}, enter plays it, escape takes it back{more}"
    if picker.picked:
        again = ", this one again for it alone" if picker.picked[-1] in picker.targets else ""
        return f"{' '.join(picker.picked)} picked, now one of {count} places{again}"
    if picker.choices:
        return f"pick one of {count} places; {len(picker.choices)} moves"
    return "type a move with m"
