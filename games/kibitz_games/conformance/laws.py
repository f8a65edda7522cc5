"""The laws that every game must obey, as functions for tests.

`check_laws` plays random matches and raises `ConformanceError` with the law, the setup and the ply.
The tests of kibitz check all registered games with it; use it to test a game of your own. `digest`
hashes matches in order to compare compiled with plain kernels, or two machines: ``python -m
kibitz_games.conformance.laws GAME [PLIES]`` prints it for several setups.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from pydantic_core import to_json

from kibitz_games.compiled import operations as op
from kibitz_games.core import learning
from kibitz_games.core.game import TERMINAL, Game, IllegalAction, Model, State

Spellings = Callable[[Game, State], Iterable[Model]]
"""Returns moves to try in a state, legal and illegal ones."""


class ConformanceError(AssertionError):
    """A game broke one of the laws."""


@dataclass(frozen=True)
class LawSetup:
    """The setup that determines one match of `check_laws`."""

    game: Game
    options: Model
    seats: int
    seed: int

    def start(self) -> State:
        sent = json.loads(json.dumps(self.options.to_wire()))
        _require(
            self.game.Options.from_wire(sent) == self.options,
            "options survive conversion to the wire format",
        )
        deal = self.game.deal(self.options, self.seats, self.seed)
        return self.game.start(self.options, self.seats, json.loads(json.dumps(deal)))

    def __str__(self) -> str:
        options = self.options.to_wire()
        return f"{self.game.info.name} {options}, {self.seats} seats, seed {self.seed}"


def check_laws(
    game: Game,
    *,
    seeds: Iterable[int] = range(2),
    seats: Sequence[int] | None = None,
    options: Sequence[Model] | None = None,
    plies: int | None = None,
    spellings: Spellings | None = None,
    drops: bool = True,
) -> int:
    """Check all laws for each seed, number of seats and options; return the plies played.

    Setups that the game refuses count as 0 plies. `plies` limits the length of each match;
    `spellings` adds the law that only legal moves are accepted, tested at two plies of each match;
    `drops` repeats each match with seats that leave at random moments.
    """
    total = 0
    for chosen in options or (game.Options(),):
        for players in seats or game.info.seats:
            for seed in seeds:
                setup = LawSetup(game, chosen, players, seed)
                for leaving in (False, True) if drops and game.info.drops else (False,):
                    total += _check_play(setup, plies, spellings, leaving)
                total += _check_worlds(setup, plies)
    return total


def epsilon_greedy(
    state: State, legal: Sequence[int], source: random.Random, noise: float = 0.1
) -> int:
    """Choose a random action with probability `noise`, otherwise one with the best `move_score`."""
    if source.random() < noise:
        return source.choice(legal)
    liked = [int(op.move_score(state, action)) for action in legal]
    best = max(liked)
    return source.choice([a for a, like in zip(legal, liked, strict=True) if like == best])


def _check_play(
    setup: LawSetup, plies: int | None, spellings: Spellings | None, leaving: bool
) -> int:
    game, source = setup.game, random.Random(setup.seed)
    state, ply, limit = setup.start(), 0, game.info.max_plies if plies is None else plies
    tested = {0, source.randrange(1, 40)}
    while game.to_act(state) != TERMINAL and ply < limit:
        try:
            if leaving and source.random() < 0.02:
                game.forfeit(state, source.randrange(setup.seats))
            _check_position(setup, state)
            if game.to_act(state) == TERMINAL:
                break
            if spellings is not None and ply in tested:
                _check_refusals(game, state, spellings)
            ply += 1
            _check_action(game, state, epsilon_greedy(state, game.legal(state), source))
        except AssertionError as broken:
            raise ConformanceError(f"{broken} ({setup}, ply {ply}, leaving {leaving})") from broken
    _check_position(setup, state)
    if plies is None and game.to_act(state) != TERMINAL:
        raise ConformanceError(f"not over after max_plies = {limit} ({setup})")
    return ply


WORLDS = 6
"""The number of states sampled from views that are played in parallel with the match."""


def _check_worlds(setup: LawSetup, plies: int | None) -> int:
    """Check that states sampled from views continue like the match: same actions, same outcome.

    It uses the views of a referee, who sees everything that determines the rest of the match. All
    actions are random, so that positions repeat on small boards.
    """
    game, source = setup.game, random.Random(f"{setup.seed}/worlds")
    state, worlds, ply = setup.start(), list[State](), 0
    limit = game.info.max_plies if plies is None else plies
    while game.to_act(state) != TERMINAL and ply < limit:
        if len(worlds) < WORLDS and source.random() < 0.25:
            worlds.append(game.sample(game.referee_view(state), ply))
        action = source.choice(game.legal(state))
        ply += 1
        for position in (state, *worlds):
            game.play(position, action)
        for world in worlds:
            same = (game.to_act(world), game.outcome(world)) == (
                game.to_act(state),
                game.outcome(state),
            )
            _require(same, f"same actions, same outcome ({setup}, ply {ply})")
    return ply


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ConformanceError(sentence)


def _check_position(setup: LawSetup, state: State) -> None:
    """Check the laws for positions."""
    game, before = setup.game, state.tobytes()
    _check_room(state)  # first, because violating it corrupts memory in compiled mode
    over, legal = game.to_act(state) == TERMINAL, game.legal(state)
    _require(game.count_legal(state) == len(legal), "count is the number of legal actions")
    _require(over == (not legal), "legal is empty exactly when the match is over")
    _require(
        over == (game.outcome(state) is not None),
        "there is an outcome exactly when the match is over",
    )
    _require(len(set(legal)) == len(legal), "no action is listed twice")
    listed = to_json([game.encode(state, action).to_wire() for action in legal])
    written = game.legal_json(state, len(legal))
    _require(written == (listed, len(legal)), "legal_json writes the moves of encode")
    if legal:
        short = game.legal_json(state, len(legal) - 1)
        _require(short == (b"", len(legal)), "legal_json writes no list longer than the limit")
    _require(-1 <= game.to_act(state) < setup.seats, "the seat to act exists")
    any_state: Any = state
    _require(
        any_state.key == op.compute_key(state), "the incremental key equals the key from scratch"
    )
    _require(bool(op.terminal(state)) == over, "the operation `terminal` agrees with the game")
    _require(
        sorted(_staged_actions(state)) == sorted(legal),
        "the stages together are the legal actions",
    )
    for viewer in (None, *range(setup.seats if game.info.hidden else 1)):
        _check_view(game, state, viewer)
    _check_outcome(setup, state)
    _check_observation(game, state, max(game.to_act(state), 0))
    _require(state.tobytes() == before, "queries change nothing")


BEYOND = 4096
"""The length by which a test array exceeds `max_actions`, in order to detect an overrun."""


def _check_room(state: State) -> None:
    """Check that `generate` writes at most `max_actions` actions, using a larger array."""
    most = op.max_actions(state.dtype)
    room = np.full(most + BEYOND, -1, np.int32)
    written = int(op.generate(state.copy(), room))
    _require(
        written <= most and bool((room[most:] == -1).all()),
        f"`max_actions` is enough for every position: it is {most}, and {written} were generated",
    )


def _staged_actions(state: State) -> list[int]:
    """Return the actions of all stages, concatenated."""
    st, actions = state.copy(), list[int]()
    moves = np.zeros(op.max_actions(st.dtype), np.int32)
    k = 0
    while (n := int(op.generate_stage(st, k, moves))) >= 0:
        actions += moves[:n].tolist()
        k += 1
    return actions


def _check_view(game: Game, state: State, viewer: int | None) -> None:
    view = game.view(state, viewer)
    sent = json.loads(json.dumps(view.to_wire()))
    _require(
        game.View.model_validate(sent) == view, "a view survives conversion to the wire format"
    )
    written = game.view_json(state, viewer)
    _require(written == to_json(view.to_wire()), "view_json writes the JSON of the model")
    world = game.sample(view, 1)
    _require(game.view(world, viewer) == view, "view(sample(view)) = view")
    if viewer is not None and viewer == game.to_act(state):
        _require(
            game.legal(world) == game.legal(state), "the mover's view determines the legal actions"
        )


def _check_observation(game: Game, state: State, seat: int) -> None:
    """Check the observation against the view, and the mask against the legal actions."""
    seen = game.features(game.view(state, seat), seat)
    _require(np.array_equal(learning.observe(game, state, seat), seen), "observe is features(view)")
    numbers = [learning.dense_index(game, state, action) for action in game.legal(state)]
    _require(
        [learning.dense_action(game, state, number) for number in numbers] == game.legal(state),
        "dense_action(dense_index(action)) = action",
    )
    _require(
        np.flatnonzero(learning.action_mask(game, state)).tolist() == sorted(numbers),
        "the mask contains the legal actions",
    )


def _check_outcome(setup: LawSetup, state: State) -> None:
    outcome = setup.game.outcome(state)
    if outcome is None:
        return
    _require(bool(outcome.reason), "an outcome has a reason")
    _require(
        len(outcome.ranks) == len(outcome.scores) == setup.seats,
        "every seat has a rank and a score",
    )
    _require(min(outcome.ranks) == 1, "a seat has rank 1")
    _require(all(0 <= score <= 1 for score in outcome.scores), "scores are from 0 to 1")
    for a, first in enumerate(outcome.ranks):
        for b, second in enumerate(outcome.ranks):
            better = outcome.scores[a] > outcome.scores[b]
            _require(better == (first < second), "better ranks have better scores")
    out = np.zeros(op.MAX_SEATS)
    op.returns(state, out)
    _require(
        tuple(out[: setup.seats]) == outcome.scores, "the operation `returns` gives the scores"
    )


def _check_action(game: Game, state: State, action: int) -> None:
    """Check undoing an action and converting it to the wire format and back, then play it."""
    wire = game.encode(state, action)
    sent = game.Move.model_validate_json(json.dumps(wire.to_wire()))
    _require(
        sent == wire == game.Move.from_wire(wire.to_wire()),
        "a move survives conversion to the wire format",
    )
    _require(game.decode(state, sent) == action, "decode(encode(action)) = action")
    _require(game.notation.parse(game.notation.format(wire)) == wire, "parse(text(move)) = move")
    _check_picks(game, state)
    _check_reversible(game, state, action)
    if game.info.on_flag == "skip":
        _require(game.skip(state) not in game.legal(state), "players cannot choose to skip")
        _check_reversible(game, state, game.skip(state))
    played = state.copy()
    acting = game.play_turn(played, action)
    game.play(state, action)
    _require(played.tobytes() == state.tobytes(), "play_turn has the same effect as play")
    _require(acting == game.to_act(state), "play_turn returns the seat to act")


def _check_picks(game: Game, state: State) -> None:
    """Check that the seat to act can choose each of its actions by clicking cells of its scene."""
    scene, legal = game.scene(game.view(state, game.to_act(state))), game.legal(state)
    names = {cell.name for cell in scene.cells}
    _require(len(names) == len(scene.cells), "the cells of a scene have different names")
    picks = [game.notation.cells(game.encode(state, action)) for action in legal]
    _require(names >= set(chain(*picks)), "the cells of a move are in the mover's scene")
    # In sorted order, a list of cells is directly followed by those that start with it.
    for pick, following in pairwise(sorted(picks)):
        _require(following[: len(pick)] != pick, "no move's cells are a prefix of another's")


def _check_reversible(game: Game, state: State, action: int) -> None:
    """Check playing and undoing an action; the state is unchanged afterwards."""
    before, copy = state.tobytes(), state.copy()
    game.play(state, action)
    after = state.tobytes()
    _require(copy.tobytes() == before, "a copy shares no memory")
    game.undo(state, action)
    _require(state.tobytes() == before, "undo restores every byte")
    game.play(state, action)
    _require(state.tobytes() == after, "the same action has the same effect")
    game.undo(state, action)


def _check_refusals(game: Game, state: State, spellings: Spellings) -> None:
    """Check that `decode` accepts the legal moves among those of `spellings`, and no others."""
    before, accepted = state.tobytes(), list[tuple[int, Model]]()
    world = game.sample(game.view(state, game.to_act(state)), 2)
    for wire in spellings(game, state):
        answer = _decode_or_refusal(game, state, wire)
        _require(
            answer == _decode_or_refusal(game, world, wire),
            "errors depend only on what the mover can see",
        )
        if isinstance(answer, int):
            accepted.append((answer, wire))
        _require(answer != "", "a refusal has a reason")
    actions = {action for action, _ in accepted}
    _require(actions == set(game.legal(state)), "decode accepts the legal actions and no others")
    _require(
        game.info.many_forms or all(game.encode(state, a) == wire for a, wire in accepted),
        "an action has one wire form, unless the game declares many",
    )
    _require(state.tobytes() == before, "decode changes nothing")


def _decode_or_refusal(game: Game, state: State, wire: Model) -> int | str:
    """Return the action for a wire move, or the error message if it is refused."""
    try:
        return game.decode(state, wire)
    except IllegalAction as refusal:
        return str(refusal)


def digest(game: Game, setups: Iterable[tuple[Model, int, int]], plies: int) -> str:
    """Return a hash of the states, legal actions and views of matches of at most `plies` plies.

    A setup consists of options, a number of seats and a seed.
    """
    total = hashlib.sha256()
    for options, seats, seed in setups:
        setup = LawSetup(game, options, seats, seed)
        source, state = random.Random(seed), setup.start()
        for _ in range(plies):
            legal = game.legal(state)
            total.update(state.tobytes() + repr(legal).encode())
            total.update(game.view(state, None).model_dump_json().encode())
            if not legal:
                break
            game.play(state, epsilon_greedy(state, legal, source))
    return total.hexdigest()


def _main(name: str, plies: int = 12) -> None:
    from kibitz_games.core import registry

    game = registry.get(name)
    setups = [(game.Options(), seats, seed) for seats in game.info.seats for seed in range(2)]
    sys.stdout.write(digest(game, setups, plies) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1], *map(int, sys.argv[2:]))
