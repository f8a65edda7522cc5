"""Positions with one legal action, found by playing many games.

The search is independent of the game. It varies up to two options at a time within their schema,
because small boards fill up quickly. Of a few random moves it plays the one that leaves the next
seat the fewest actions. It prefers a forced *pass*, an action that selects no cell of the board.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz_games.core.game import TERMINAL, Game, State

MAX_POSITIONS = 1500
"""The maximum number of positions to search; a third of it once any forced action was found."""
PLAYS = 4
"""The number of games with the same options and seats."""
PLIES = 60
"""The maximum number of plies of each game."""
CANDIDATES = 4
"""The number of random moves from which the one with the fewest replies is played."""


@dataclass(frozen=True)
class ForcedPosition:
    """A game that leads to a position with a single legal action."""

    options: dict[str, Any]
    seats: int
    seed: int
    actions: tuple[int, ...]
    seat: int
    is_pass: bool


def find_forced(game: Game, seats: Sequence[int], seed: int) -> ForcedPosition | None:
    """Return a forced pass if one was found, else a forced action, else None."""
    action: ForcedPosition | None = None
    looked = 0
    most = sorted(seats, reverse=True)
    for options, players, play in itertools.product(option_variants(game), most, range(PLAYS)):
        for position in _search_playthrough(game, options, players, seed + play):
            looked += 1
            if position is not None and position.is_pass:
                return position
            action = action or position
        if looked > (MAX_POSITIONS // 3 if action else MAX_POSITIONS):
            break
    return action


def option_variants(game: Game) -> Iterator[dict[str, Any]]:
    """Yield options: with one small number, then the defaults, then with one or two changed."""
    properties = game.Options.model_json_schema().get("properties", {})
    singles = [{name: value} for name, schema in properties.items() for value in _values(schema)]
    yield from (single for single in singles if type(next(iter(single.values()))) is int)
    yield {}
    yield from singles
    for one, other in itertools.combinations(singles, 2):
        if one.keys() != other.keys():
            yield one | other


def _values(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the values to try for an option: its words, both booleans, or its three smallest
    numbers."""
    for form in schema.get("anyOf", [schema]):
        if "enum" in form:
            yield from form["enum"]
        elif form.get("type") == "boolean":
            yield from (False, True)
        elif form.get("type") == "integer" and "minimum" in form:
            yield from range(form["minimum"], form["minimum"] + 3)


def initial_state(game: Game, options: dict[str, Any], seats: int, seed: int) -> State | None:
    """Return the initial state, or None if the game rejects the options or the number of seats."""
    try:
        chosen = game.Options.from_wire(options)
        return game.start(chosen, seats, game.deal(chosen, seats, seed))
    except ValueError:
        return None


def _search_playthrough(
    game: Game, options: dict[str, Any], seats: int, seed: int
) -> Iterator[ForcedPosition | None]:
    """For each position of a game, yield it if it has a single legal action, else None."""
    state = initial_state(game, options, seats, seed)
    if state is None:
        return
    chance = random.Random(f"forced/{seed}")
    played: list[int] = []
    while len(played) < PLIES and (seat := game.to_act(state)) != TERMINAL:
        legal = game.legal(state)
        if len(legal) == 1 and played:
            is_pass = not game.notation.cells(game.encode(state, legal[0]))
            yield ForcedPosition(options, seats, seed, tuple(played), seat, is_pass)
        else:
            yield None
        drawn = [chance.choice(legal) for _ in range(CANDIDATES)]
        action = min(drawn, key=lambda candidate: _reply_count(game, state, candidate))
        game.play(state, action)
        played.append(action)


def _reply_count(game: Game, state: State, action: int) -> int:
    """Return the number of replies to `action`; a huge number if it ends the game."""
    after = state.copy()
    game.play(after, action)
    return game.count_legal(after) or 1 << 30
