"""Bots that use a file of trained weights: ``chinese-checkers/greedy-weights:file=best.json``,
``tanks/ann-weights:file=best.json`` and ``five-in-a-row/threat-weights:file=best.json``.

They are not listed as house bots: any player may choose a house bot, and players must not decide
which files a server reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz_bots.catalog.parameters import PLIES, SEED, TABLE, TIME, Parameter, read_parameter
from kibitz_bots.catalog.personality import EngineSpec, Personality
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, IDDFS, MAXN, Algorithm, mcts
from kibitz_bots.spec import BotFactory, SpecError

if TYPE_CHECKING:
    from kibitz_search.weights import WeightsFile

GAME = "chinese-checkers"
TANKS = "tanks/ann-weights"
THREAT = "five-in-a-row/threat-weights"
ALGORITHMS: dict[str, Algorithm] = {
    f"{GAME}/{search.name}-weights": search for search in (GREEDY, IDDFS, ALPHABETA, MAXN, mcts(10))
}
"""The search of each bot; the file contains its evaluation."""


def find_trained(spec: str) -> BotFactory | None:
    """Return the bot factory for a weights file, None for a spec of another kind.

    Raises `SpecError` if the file is missing, damaged or of the wrong kind.
    """
    name, _, text = spec.partition(":")
    if name == TANKS:
        return _find_network(text)
    if name == THREAT:
        return _find_threat(text)
    if name not in ALGORITHMS:
        return None
    algorithm = ALGORITHMS[name]
    path, values = _given(name, text, algorithm.parameters)
    personality = Personality(
        name,
        algorithm.summary.format(by=f"by the weights in {path.name}"),
        EngineSpec(algorithm.load, _loader(path), algorithm.at_once),
        algorithm.parameters,
        algorithm=algorithm.name,
        evaluation="weights",
        seats=algorithm.seats,
        weights=(path,),
    )
    return lambda: personality.make(**values)


def _find_network(text: str) -> BotFactory:
    """Return the bot factory for a Tanks network of the kind that the file declares."""
    from kibitz_search.tanks import weights_file

    path, values = _given(TANKS, text, (SEED,))
    file = _weights(weights_file.read, path)
    personality = Personality(
        TANKS,
        f"the network in {path.name}",
        EngineSpec(lambda: weights_file.player(file), lambda: weights_file.evaluation(file), 16),
        (SEED,),
        algorithm="network",
        evaluation="weights",
        weights=(path,),
    )
    return lambda: personality.make(**values)


def _find_threat(text: str) -> BotFactory:
    """Return the bot factory for the threat search with the class weights of a file."""
    from kibitz_search.five_in_a_row import weights_file
    from kibitz_search.five_in_a_row.threat import Threat

    path, values = _given(THREAT, text, (SEED, TIME, PLIES, TABLE))
    file = _weights(weights_file.read, path)
    personality = Personality(
        THREAT,
        f"the threat search with the weights in {path.name}",
        EngineSpec(lambda: Threat, lambda: weights_file.evaluation(file, path)),
        (SEED, TIME, PLIES, TABLE),
        algorithm="threat",
        evaluation="weights",
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


def _loader(path: Path) -> Any:
    """Return a loader for the evaluation in a file; the file is read immediately."""
    from kibitz_search.chinese_checkers import weights_file

    file = _weights(weights_file.read, path)
    return lambda: weights_file.evaluation(file, path)


def _weights(read: Callable[[Path], WeightsFile], path: Path) -> WeightsFile:
    """Read the weights of a file with `read`; raise `SpecError` if they are invalid."""
    from kibitz_search.weights import WeightsError

    try:
        return read(path)
    except WeightsError as error:
        raise SpecError(str(error)) from None
