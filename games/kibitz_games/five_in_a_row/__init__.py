"""Five in a row for two players: gomoku on 5x5 to 20x20 boards, freestyle or exactly five."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from kibitz_games.compiled.kernels import as_array
from kibitz_games.compiled.text import text_of
from kibitz_games.core.game import Features, Game, GameInfo, Json, State
from kibitz_games.core.game_file import GameFile, Opening
from kibitz_games.five_in_a_row import files, models, render, rules, text
from kibitz_games.five_in_a_row.models import Move, Options, View


class FiveInARow(Game[Options, Move, View]):
    """Players place black and white stones; five of one color in an unbroken line win."""

    info: ClassVar[GameInfo] = GameInfo(
        name="five-in-a-row",
        title="Five in a row",
        summary="Be the first to get five of your stones in an unbroken line; two players.",
        rules_version=1,
        seats=(2,),
        on_flag="forfeit",
        balanced=True,
        max_plies=rules.MAX_PLIES,
        legal_rule="any empty cell; with the swap option, the fourth turn is a choice of color",
    )
    warm_up_options: ClassVar[Sequence[Mapping[str, Json]]] = ({}, {"opening": ["c3", "d4"]})
    state_type = rules.STATE
    start = staticmethod(models.start)
    decode = staticmethod(models.decode)
    scene = staticmethod(render.scene)
    notation = models.NOTATION
    reasons = rules.REASONS
    reason_texts: ClassVar[Mapping[str, str]] = {
        "five": "with five in a row",
        "full": "on a full board",
        "dead": "because no five is possible any more",
    }

    file_formats: ClassVar[Mapping[str, Callable[[bytes], GameFile]]] = {
        ".psq": files.read_psq,
        ".sgf": files.read_sgf,
    }
    opening_formats: ClassVar[Mapping[str, Callable[[bytes, Options], Sequence[Opening]]]] = {
        ".txt": files.read_offsets,
        ".psq": files.read_psq_opening,
        ".sgf": files.read_sgf_openings,
    }

    def deal(self, options: Options, seats: int, seed: int) -> dict[str, Json]:
        """Draw the seat that moves first, unless an option sets it."""
        drawn = options.first == "random"
        return {"first": random.Random(seed).randrange(2)} if drawn else {}

    def count_legal(self, state: State) -> int:
        return int(rules.count_in(as_array(state)))

    def view(self, state: State, seat: int | None) -> View:
        return models.view(state)

    def view_json(self, state: State, seat: int | None) -> bytes:
        return text_of(text.write_view, state, text.SIZE)

    def sample(self, view: View, seed: int) -> State:
        return models.state_from_view(view)

    def encode(self, state: State, action: int) -> Move:
        return models.encode(action)

    def features(self, view: View, seat: int) -> Features:
        """Return three planes: the seat's stones, the opponent's, and 1 if colors are chosen."""
        return models.features(view, seat)


GAME = FiveInARow()
