"""A match that is played from here: picking a move by its places, or typing it.

As long as the match runs, letters and digits are a move that is typed, on the own turn and
before it, and never commands: a key that meant something else would lose what somebody types
quickly. Commands have function and control keys, or are typed after a colon. Nothing on this
screen is ever focused, so that all keys come here, one after the other.
"""

from __future__ import annotations

import textwrap
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from kibitz_clients import palette, player
from kibitz_clients.follow import Timeline
from kibitz_clients.lineedit import LineEdit
from kibitz_clients.looks import Overlay
from kibitz_clients.player import Choice, Picker
from kibitz_clients.screens.dialogs import Confirm, Keys
from kibitz_clients.screens.match import MatchScreen
from kibitz_clients.widgets.board import Board
from kibitz_games.api import Game
from kibitz_protocol.messages import YourTurn

PLAYING = (
    ("letters, digits", "type a move{example}; enter plays it"),
    ("arrows, mouse", "go to a place, on your turn"),
    ("tab", "go to the next place that may be picked"),
    ("enter", "pick it, and play the move when it is whole"),
    ("escape", "drop what is typed, or take the pick back"),
    ("ctrl+o", "the other move with the same places"),
    ("ctrl+r", "resign"),
    (", .", "step back and forth"),
    ("home end space", "to the first and the last step; live again"),
    ("F1 F2", "these keys; the rules of the game"),
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
"""What may be typed after a colon, and the action that it is."""
COLON = (":", "/")
"""What a command begins with."""
STARTS = ":/(+-"
"""What else than letters and digits begins a line."""
_LIST_COLUMNS = 44
"""How wide the list of commands is below the keys."""
_ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class PlayScreen(MatchScreen):
    """Takes moves while it is the turn of the person here; otherwise follows like its base."""

    DEFAULT_CSS = """
    PlayScreen #typed { display: none; height: 1; padding: 0 1; background: #242a35; }
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
        ("ctrl+o", "other"),
        ("ctrl+r", "resign"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__(timeline, game)
        self._cursor: str | None = None
        self._picker: Picker | None = None
        # The turn that the picker is for, by its ply: told again, it is the same turn.
        self._turn: YourTurn | None = None
        # A move of the last turn, to show how moves are typed.
        self._example = ""
        # What is being typed, and which move it would be.
        self._line = LineEdit()
        self._reading: Choice | None = None

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.id == "keys":
                yield Static(id="typed")
            yield widget

    # ------------------------------------------------------------------------------ drawing

    @property
    def picking(self) -> Picker | None:
        """The choice of a move, while there is one to make and the board shows it."""
        return self._picker if self.playhead.live else None

    def draw(self) -> None:
        self._take_turn(self.house.gallery.turns.get(self.match))
        if not self.playing:
            self._line.clear()
        self._show_line()
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

    @property
    def playing(self) -> bool:
        """Whether the person here has a seat and the match goes on."""
        return self.timeline.facts.you is not None and not self.timeline.over

    def keys(self) -> str:
        if not self.playing:
            return super().keys()
        if self._line.text.startswith(COLON):
            return "  ".join(f":{name}" for name in COMMANDS)
        if self.picking is None:
            return "type ahead  , . step  F1 keys  F2 rules  :lobby :resign :quit"
        return "type a move, enter plays it  arrows/tab choose  F1 keys  F2 rules  :quit"

    def action_help(self) -> None:
        if not self.playing:
            super().action_help()
            return
        example = f", such as {self._example}" if self._example else ""
        keys = [(key, does.format(example=example)) for key, does in PLAYING]
        keys += [("", line) for line in textwrap.wrap(" ".join(COMMANDS), _LIST_COLUMNS)]
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
        again = self._turn is not None and turn.ply == self._turn.ply
        if self._picker is not None and again:
            return
        self._picker = Picker(player.choices(self.game, turn))
        self._turn = turn
        if again:
            return
        self.said = ""
        self._example = self._picker.example
        self._read()
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
        if self._picker is not None:
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
        """Take what is typed before any key is a command."""
        character = event.character if event.is_printable else None
        if not self.playing:
            return
        if not self._line.text:
            if character is not None and (character.isalnum() or character in STARTS):
                event.stop()
                self._type(character)
        elif character is not None:
            event.stop()
            self._type(character)
        elif event.key in {"enter", "ctrl+m", "ctrl+j"}:
            event.stop()
            self._submit()
        elif event.key == "escape":
            event.stop()
            self._stop_typing()
        elif self._line.press(event.key):
            event.stop()
            self._typed()
        elif event.key in {"tab", "shift+tab", "up", "down"}:
            event.stop()  # they would move what is picked on the board behind

    def on_paste(self, event: events.Paste) -> None:
        """Type what is pasted; whoever pastes says with enter that it is to be played."""
        event.stop()
        if self.playing:
            self._type(event.text)

    def _type(self, text: str) -> None:
        self.said = ""
        self._line.insert(text)
        self._typed()

    def _typed(self) -> None:
        self._read()
        self.told()

    def _read(self) -> None:
        """Find out which move the line would be now."""
        self._reading = None
        text = self._line.text
        if text and not text.startswith(COLON) and self._picker is not None and self.game:
            found = player.typed(self.game, self._picker, text)
            self._reading = found if isinstance(found, Choice) else None

    def _show_line(self) -> None:
        self.set_class(bool(self._line.text), "typing")
        text, at = self._line.text, self._line.at
        shown = Text("> ", f"bold {palette.HINT}", no_wrap=True)
        shown.append(text[:at], "not bold white").append(text[at : at + 1] or " ", "reverse white")
        shown.append(text[at + 1 :], "not bold white")
        if self._reading is not None:
            shown.append(f"   enter plays {self._reading.text}", f"not bold {palette.DIM}")
        self.put("typed", shown)

    def _submit(self) -> None:
        text = self._line.text.strip()
        if text.startswith(COLON):
            self._stop_typing()
            self._command(text[1:].strip().lower())
        elif self.game is None:
            self.said = "this client does not know the game, and cannot play it"
            self._stop_typing()
        elif self._picker is None:
            # It stays in the line, and enter plays it when the turn has come.
            self.said = "it is not your turn yet"
            self.told()
        else:
            self._stop_typing()
            self._play(self.game, self._picker, text)

    def _play(self, game: Game, picker: Picker, text: str) -> None:
        """Play a move that was typed, or pick a place, or say why it is neither."""
        if not text:
            return
        choice = player.typed(game, picker, text, self._turn)
        place = next((c.name for c in self.scene().cells if c.name == text.lower()), None)
        if isinstance(choice, Choice):
            self._send(choice)
        elif place is not None and Picker(picker.choices).pick(place):
            self._cursor = place
            self._pick(place)
        else:
            self.said = choice
            self.told()

    def _command(self, word: str) -> None:
        """Carry out what was typed after a colon."""
        found = [name for name in COMMANDS if name.startswith(word)]
        if word in COMMANDS:
            found = [word]
        if len(found) == 1:
            self.call_later(self.run_action, COMMANDS[found[0]])
        else:
            known = ", ".join(f":{name}" for name in found or COMMANDS)
            self.said = f":{word} may be {known}" if found else f"no :{word}; there are {known}"
        self.told()

    def _stop_typing(self) -> None:
        self._line.clear()
        self._typed()


def _request(picker: Picker) -> str:
    """Say what is to be picked next."""
    ready, count = picker.ready, len(picker.targets)
    if ready is not None and (picker.picked or not picker.targets):
        more = f", ctrl+o for another of {len(picker.same)}" if len(picker.same) > 1 else ""
        return f"{ready.text}, enter plays it, escape takes it back{more}"
    if picker.picked:
        again = ", this one again for it alone" if picker.picked[-1] in picker.targets else ""
        return f"{' '.join(picker.picked)} picked, now one of {count} places{again}"
    if picker.choices:
        return f"pick one of {count} places; {len(picker.choices)} moves"
    return "type a move"
