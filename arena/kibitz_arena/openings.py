"""Openings for games that have an `opening` option: a list of moves made before play starts.

They are drawn at random or read from other programs' files.
"""

from __future__ import annotations

import random
from pathlib import PurePath

from kibitz_games.core.game import TERMINAL, Game, GameError, InvalidSetup, Model
from kibitz_games.core.game_file import GameFileError
from kibitz_protocol.wire.values import Options

MAX_ATTEMPTS = 1000
"""The number of random openings to try; most games accept nearly all of them."""


def random_opening(
    game: Game, options: Options, seats: int, plies: int, seed: int | str
) -> Options:
    """Return ``{"opening": [...]}`` with `plies` random moves that the game accepts.

    The same arguments give the same moves. Raises `GameError` if the game accepts none of
    `MAX_ATTEMPTS` openings.
    """
    rng = random.Random(seed)
    for _ in range(MAX_ATTEMPTS):
        line = _random_line(game, game.Options.from_wire(options), seats, plies, rng)
        overlay: Options = {"opening": [*line]}
        if len(line) == plies and _is_playable(game, {**options, **overlay}, seats):
            return overlay
    raise GameError(f"found no opening of {plies} plies that {game.info.name!r} accepts")


def read_openings(
    game: Game, options: Options, seats: int, name: str, data: bytes
) -> list[Options]:
    """Return ``{"opening": [...]}`` for each opening in `data`, the content of the file `name`.

    Raises `GameFileError` with the number of an invalid line, and `GameError` for an unsupported
    kind of file.
    """
    read = game.opening_formats.get(PurePath(name).suffix.lower())
    if read is None:
        known = ", ".join(game.opening_formats)
        expected = f"a name that ends with {known}" if known else "a game that supports such files"
        raise GameError(f"expected {expected}, found {name!r}")
    lines = read(data, game.Options.from_wire(options))
    if not lines:
        raise GameFileError(1, "expected at least one opening")
    overlays: list[Options] = []
    for opening in lines:
        overlay: Options = {"opening": [*opening.moves]}
        try:
            model = game.Options.from_wire({**options, **overlay})
            game.start(model, seats, game.deal(model, seats, 0))
        except InvalidSetup as error:
            raise GameFileError(opening.line, str(error).removeprefix(f"{error.path}: ")) from None
        overlays.append(overlay)
    return overlays


def _random_line(
    game: Game, options: Model, seats: int, plies: int, rng: random.Random
) -> list[str]:
    """Return random moves from the start; fewer than `plies` if the game ends earlier."""
    state = game.start(options, seats, game.deal(options, seats, 0))
    line: list[str] = []
    while len(line) < plies and game.to_act(state) != TERMINAL:
        legal = game.legal(state)
        action = legal[int(rng.random() * len(legal))]
        line.append(game.notation.format(game.encode(state, action)))
        game.play(state, action)
    return line


def _is_playable(game: Game, options: Options, seats: int) -> bool:
    try:
        model = game.Options.from_wire(options)
        state = game.start(model, seats, game.deal(model, seats, 0))
    except ValueError:
        return False
    return game.to_act(state) != TERMINAL
