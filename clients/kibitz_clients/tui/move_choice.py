"""The move that the user picks on the board, cell by cell."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from kibitz_clients.matches.timeline import TimelineCursor
from kibitz_clients.palette import Palette
from kibitz_clients.render.terminal.cell_style import Overlay
from kibitz_clients.wording import move_input
from kibitz_clients.wording.move_input import MoveOption, MoveSelector
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene
from kibitz_protocol.wire.messages import YourTurn

ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class MoveChoice:
    """The move choice of the current turn; `send` plays a move, `say` shows a sentence."""

    def __init__(
        self,
        cursor: TimelineCursor,
        scene: Callable[[], Scene],
        send: Callable[[MoveOption], None],
        say: Callable[[str], None],
    ) -> None:
        self.selector: MoveSelector | None = None
        # The turn of the selector; a resent turn has the same ply.
        self.turn: YourTurn | None = None
        self._timeline_cursor = cursor
        self._scene = scene
        self._send = send
        self._say = say
        # The cell at the cursor.
        self._place: str | None = None

    @property
    def active(self) -> MoveSelector | None:
        """The selector, if there is a move to choose and the board shows the current position."""
        return self.selector if self._timeline_cursor.is_live else None

    def update(self, turn: YourTurn | None, game: Game | None) -> bool:
        """Create or drop the selector for a turn; return whether this is a new turn."""
        if turn is None or game is None:
            self.selector = None
            return False
        again = self.turn is not None and turn.ply == self.turn.ply
        if self.selector is not None and again:
            return False
        self.selector = MoveSelector(move_input.move_options(game, turn))
        self.turn = turn
        if not again and all(cell.name != self._place for cell in self._scene().cells):
            self._place = move_input.most_central(self._scene(), self.selector.targets)
        return not again

    def overlay(self, picker: MoveSelector, *, names: bool) -> Overlay:
        """Return the overlay that shows the choice on the board."""
        return Overlay(
            cursor=self._place,
            picked=picker.picked,
            targets=picker.targets if picker.picked else frozenset(),
            names=names,
        )

    def prompt(self, picker: MoveSelector, palette: Palette) -> Text:
        """Return the prompt for the next pick."""
        text = Text("Your turn", f"bold {palette.hint}")
        text.append(f": {_prompt_text(picker)}", f"not bold {palette.text}")
        if self._place is not None and self._place not in picker.picked:
            text.append(f" · {self._place}", f"bold {palette.text}")
        return text

    def choose(self, how: str) -> None:
        """Handle a key action: an arrow, `hop` or `hop back`, `take`, `other`."""
        match how:
            case "hop" | "hop back":
                self._hop(1 if how == "hop" else -1)
            case "take":
                self._take()
            case "other":
                if self.selector is not None:
                    self.selector.next_alternative()
            case arrow:
                across, down = ARROWS[arrow]
                self._place = move_input.neighbour_towards(self._scene(), self._place, across, down)
                self._say("")

    def _hop(self, by: int) -> None:
        targets = () if self.selector is None else self.selector.targets
        places = [cell.name for cell in self._scene().cells if cell.name in targets]
        if places:
            at = places.index(self._place) if self._place in places else -1 if by > 0 else 0
            self._place = places[(at + by) % len(places)]

    def _take(self) -> None:
        picker = self.active
        if picker is None:
            return
        there = self._place in {None, *picker.picked[-1:]}
        if picker.ready is not None and (there or not picker.targets):
            self._send(picker.ready)
        elif self._place is not None:
            self.pick(self._place)

    def pick(self, place: str) -> None:
        """Pick a cell; picking the last one again plays the move."""
        picker = self.selector
        assert picker is not None, "there is nothing to pick without a turn"
        self._place = place
        ready = picker.ready
        if ready is not None and picker.picked[-1:] == (place,):
            self._send(ready)
            return
        self._say("" if picker.pick(place) else f"no legal move starts at {place}")
        ready = picker.ready
        if ready is not None and ready.cells == (place,) and self._is_button(place):
            self._send(ready)

    def _is_button(self, place: str) -> bool:
        """Return whether a cell is a button, which plays a move at once."""
        return any(cell.name == place and cell.kind == "button" for cell in self._scene().cells)

    def place_named(self, text: str) -> str | None:
        """Return the cell that a typed text names, if a move can start there."""
        known = any(cell.name == text.lower() for cell in self._scene().cells)
        if not known or self.selector is None:
            return None
        return text.lower() if MoveSelector(self.selector.options).pick(text.lower()) else None


def _prompt_text(picker: MoveSelector) -> str:
    ready, count = picker.ready, len(picker.targets)
    if ready is not None and (picker.picked or not picker.targets):
        more = (
            f", ctrl+o for the next of {len(picker.alternatives)} moves"
            if len(picker.alternatives) > 1
            else ""
        )
        return f"{ready.text} (enter to play, escape to take back{more})"
    if picker.picked:
        again = (
            "; pick the last one again to stop there" if picker.picked[-1] in picker.targets else ""
        )
        return f"{' '.join(picker.picked)} picked; now pick one of {count} cells{again}"
    if picker.options:
        return f"pick one of {count} cells ({len(picker.options)} moves)"
    return "type a move"
