"""Moves and commands that the user types below the board."""

from __future__ import annotations

from collections.abc import Callable

from kibitz_clients.tui.move_choice import MoveChoice
from kibitz_clients.tui.widgets.move_line import MoveLine
from kibitz_clients.wording import move_input
from kibitz_clients.wording.move_input import MoveOption
from kibitz_games.core.game import Game

COMMANDS: dict[str, str] = {
    "back": "open('back')",
    "eyes": "eyes",
    "follow": "follow",
    "help": "help",
    "lobby": "open('lobby')",
    "names": "names",
    "next": "open('next')",
    "other": "choose('other')",
    "play": "go('play')",
    "quit": "app.quit",
    "resign": "resign",
    "rules": "rules",
}
"""The commands that can be typed after a colon, and their actions."""
COMMAND_PREFIXES = (":", "/")
"""The characters that begin a command."""


class TypedMoves:
    """The input line; `run` performs the action of a command, `say` shows a sentence."""

    def __init__(
        self,
        game: Game | None,
        choice: MoveChoice,
        send: Callable[[MoveOption], None],
        say: Callable[[str], None],
        run: Callable[[str], object],
    ) -> None:
        self.line = MoveLine(self._edited, self._submit)
        self._game = game
        self._choice = choice
        self._send = send
        self._say = say
        self._run = run
        # The legal move that the typed text stands for.
        self._option: MoveOption | None = None

    def _edited(self) -> None:
        self.match_turn()
        self._say("")

    def match_turn(self) -> None:
        """Find the legal move that the input stands for in the current turn."""
        self._option = None
        text, selector = self.line.value, self._choice.selector
        command = not text or text.startswith(COMMAND_PREFIXES)
        if not command and selector is not None and self._game:
            option = move_input.parse_typed(self._game, selector, text)
            self._option = option if isinstance(option, MoveOption) else None

    def completion(self) -> str:
        """Return a hint: the move that enter plays, or the matching commands."""
        text = self.line.value
        if text.startswith(COMMAND_PREFIXES):
            return "  ".join(f":{name}" for name in COMMANDS if name.startswith(text[1:]))
        return f"enter to play {self._option.text}" if self._option else ""

    def _submit(self) -> None:
        text = self.line.value.strip()
        if text.startswith(COMMAND_PREFIXES):
            self.line.clear()
            self._command(text[1:].strip().lower())
        elif self._game is None:
            self.line.clear()
            self._say("this game is not installed here, so you cannot play it")
        elif self._choice.selector is None:
            # The text stays in the line, so enter can play it on the user's turn.
            self._say("it is not your turn yet")
        else:
            self.line.clear()
            self._play(self._game, text)

    def _play(self, game: Game, text: str) -> None:
        """Play a typed move, or pick a cell, or say why the input is neither."""
        selector = self._choice.selector
        if not text or selector is None:
            return
        choice = move_input.parse_typed(game, selector, text, self._choice.turn)
        if isinstance(choice, MoveOption):
            self._send(choice)
        elif (place := self._choice.place_named(text)) is not None:
            self._choice.pick(place)
        else:
            self._say(choice)

    def _command(self, word: str) -> None:
        """Run the command typed after a colon."""
        names = [name for name in COMMANDS if name.startswith(word)]
        if word in COMMANDS:
            names = [word]
        if len(names) == 1:
            self._run(COMMANDS[names[0]])
        else:
            known = ", ".join(f":{name}" for name in names or COMMANDS)
            self._say(
                f":{word} is ambiguous: {known}"
                if names
                else f"unknown command :{word}; commands: {known}"
            )
