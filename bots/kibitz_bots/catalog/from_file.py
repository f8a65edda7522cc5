"""Bots that use a file of trained weights: ``chinese-checkers/greedy-weights:file=best.json``,
``tanks/ann-weights:file=best.json`` and ``five-in-a-row/threat-weights:file=best.json``.

They are not listed as house bots: any player may choose a house bot, and players must not decide
which files a server reads.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kibitz_bots.catalog.parameters import PLIES, SEED, TABLE, TIME, Parameter, read_parameter
from kibitz_bots.catalog.personality import EngineSpec, Personality, imported
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, IDDFS, MAXN, Algorithm, mcts
from kibitz_bots.spec import BotFactory, SpecError

NETWORK = "tanks/ann-weights"
ALGORITHMS: dict[str, Algorithm] = {
    **{
        f"chinese-checkers/{search.name}-weights": search
        for search in (GREEDY, IDDFS, ALPHABETA, MAXN, mcts(10))
    },
    NETWORK: Algorithm(
        name="network",
        load=imported("kibitz_search.tanks.networks:EyesNetwork"),
        summary="plays as the network says, {by}",
        parameters=(SEED,),
        at_once=16,
    ),
    "five-in-a-row/threat-weights": Algorithm(
        name="threat",
        load=imported("kibitz_search.five_in_a_row.threat:Threat"),
        summary="searches forcing sequences to the end, judged {by}",
        parameters=(SEED, TIME, PLIES, TABLE),
    ),
}
"""The search of each bot; the file contains its evaluation."""


def find_trained(spec: str) -> BotFactory | None:
    """Return the bot factory for a weights file, None for a spec of another kind.

    The file is read immediately. Raises `SpecError` if it is missing, damaged or of the wrong kind.
    """
    name, _, text = spec.partition(":")
    if name not in ALGORITHMS:
        return None
    from kibitz_search.weights import WeightsError

    algorithm = ALGORITHMS[name]
    path, values = _given(name, text, algorithm.parameters)
    package = name.partition("/")[0].replace("-", "_")
    weights_file = importlib.import_module(f"kibitz_search.{package}.weights_file")
    try:
        file = weights_file.read(path)
    except WeightsError as error:
        raise SpecError(str(error)) from None
    # The kind of the file decides which network plays.
    player = functools.partial(weights_file.player, file) if name == NETWORK else algorithm.load
    personality = Personality(
        name,
        algorithm.summary.format(by=f"by the weights in {path.name}"),
        EngineSpec(player, lambda: weights_file.evaluation(file, path), algorithm.at_once),
        algorithm.parameters,
        algorithm=algorithm.name,
        evaluation="weights",
        seats=algorithm.seats,
        weights=(path,),
    )
    return lambda: personality.make(**values)


def _given(name: str, text: str, known: Sequence[Parameter]) -> tuple[Path, dict[str, Any]]:
    """Return the file and the other parameters' values; raise `SpecError` if one is invalid."""
    path, values = None, dict[str, Any]()
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key == "file":
            path = Path(value)
        else:
            values[key] = read_parameter(known, name, key, value, also=("file",))
    if path is None:
        raise SpecError(f"{name}: expected a weights file, as in {name}:file=best.json")
    return path, values
