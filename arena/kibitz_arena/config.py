"""Load a tournament from YAML or from values such as flags, and report all problems at once.

The models in `tournament` check each value, the game checks options and openings, and `consistency`
checks the combination of values. Each problem names the file, the line and the path of its value.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from kibitz_arena import game_spec
from kibitz_arena.config_error import ConfigError, ConfigProblem, abbreviated, key_text, suggestion
from kibitz_arena.consistency import consistency_problems
from kibitz_arena.openings import random_opening, read_openings
from kibitz_arena.tournament import (
    ConfigModel,
    Entrant,
    EntrantLimits,
    GameSpec,
    OpeningFile,
    PlayedConfig,
    RandomPlies,
    RatingScale,
    StopRule,
    Tournament,
    with_underscores,
)
from kibitz_arena.yaml_positions import Document, DocumentError, Path
from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameError, InvalidSetup
from kibitz_games.core.game_file import GameFileError
from kibitz_protocol.wire.values import Options, seed_number

Config = TypeVar("Config", bound=ConfigModel)
Played = TypeVar("Played", bound=PlayedConfig)


def load(text: str, name: str, *, game_of: Callable[[str], Game] = registry.get) -> Tournament:
    """Parse the YAML `text` of a tournament.

    Other files are resolved relative to the file `name`. `game_of` looks up the game, which checks
    the options. Its first call determines whether this process compiles kernels (see
    `kibitz_games.compiled.kernels`). Raises `ConfigError`.
    """
    document = read_document(text, name)
    return _build(document.value, name, game_of, document.lines)


def read_document(text: str, name: str) -> Document:
    """Parse YAML; raise `ConfigError` if it is invalid."""
    try:
        return Document.read(text)
    except DocumentError as error:
        raise ConfigError(f"{name}:{error.line}", [ConfigProblem((), str(error))], {}) from None


def build(
    values: Mapping[str, Any], source: str, *, game_of: Callable[[str], Game] = registry.get
) -> Tournament:
    """Build a tournament from `values`, such as flags; `ConfigError` messages start with
    `source`."""
    return _build(values, source, game_of, {})


def _build(
    values: Any, source: str, game_of: Callable[[str], Game], lines: Mapping[Path, int]
) -> Tournament:
    plain = plain_lines(lines)
    tournament = validated(Tournament, values, source, plain, _PARTS)
    tournament, flaws = _check_game(tournament, values, game_of)
    if isinstance(tournament.openings, OpeningFile) and not flaws:
        beside = FilePath(source).parent
        tournament, flaws = _with_openings(tournament, tournament.openings, beside, game_of)
    flaws += [*consistency_problems(tournament)]
    if flaws:
        raise ConfigError(source, flaws, plain)
    return tournament


def _with_openings(
    tournament: Tournament, openings: OpeningFile, base: FilePath, game_of: Callable[[str], Game]
) -> tuple[Tournament, list[ConfigProblem]]:
    """Return the tournament with the openings from its file, and any problems with the file."""
    path, game = base / openings.file, game_of(tournament.game.name)
    try:
        data = path.read_bytes()
        positions = read_openings(
            game, tournament.game.options, tournament.seats, openings.file, data
        )
    except OSError as error:
        sentence = f"cannot read {path}: {error.strerror}"
    except GameFileError as error:
        sentence = f"{path}:{error.line}: {error.sentence}"
    except GameError as error:
        sentence = str(error)
    else:
        return tournament.model_copy(update={"openings": positions}), []
    return tournament, [ConfigProblem(("openings", "file"), sentence)]


def plain_lines(lines: Mapping[Path, int]) -> dict[Path, int]:
    """Return the line numbers of a document by path, with underscores in keys as in the models."""
    return {tuple(with_underscores(part) for part in path): line for path, line in lines.items()}


def validated(
    model: type[Config],
    values: Any,
    source: str,
    lines: Mapping[Path, int],
    parts: Mapping[str, type[ConfigModel]],
) -> Config:
    """Validate `values` and return the model; raise `ConfigError` with all invalid values.

    `parts` maps nested keys to their models.
    """
    if not isinstance(values, Mapping):
        flaw = ConfigProblem(
            (), f"expected keys and values, such as name and game, found {abbreviated(values)}"
        )
        raise ConfigError(source, [flaw], lines)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(source, _problems_of(error, model, parts), lines) from None


# Validation of single values, with our own error messages


def _problems_of(
    error: ValidationError, model: type[ConfigModel], parts: Mapping[str, type[ConfigModel]]
) -> list[ConfigProblem]:
    """Return the first of pydantic's errors for each path."""
    problems: dict[Path, ConfigProblem] = {}
    for detail in error.errors(include_url=False):
        if {RandomPlies.__name__, OpeningFile.__name__} & {*detail["loc"]}:
            continue  # about another form of `openings`, so it does not help
        path = _config_path(detail["loc"])
        if path not in problems:
            sentence = _message(detail, path, _model_at(path[:-1], model, parts))
            problems[path] = ConfigProblem(path, sentence)
    return list(problems.values())


def _config_path(location: Path) -> Path:
    """Remove the parts that pydantic adds to a path for branches of unions."""
    return tuple(part for part in location if isinstance(part, int) or part.isidentifier())


def _message(detail: Any, path: Path, model: type[ConfigModel] | None) -> str:
    kind, message = detail["type"], detail["msg"]
    if kind == "missing":
        return "expected a value, found none"
    if kind == "extra_forbidden" and model is not None:
        return _unknown_key(str(path[-1]), model)
    if kind in {"too_short", "too_long"}:
        bound, most = detail["ctx"], kind == "too_long"
        limit = f"at most {bound['max_length']}" if most else f"at least {bound['min_length']}"
        return f"expected {limit}, found {bound['actual_length']}"
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    text = text if text.startswith("expected") else f"expected {text[:1].lower()}{text[1:]}"
    return text if " not " in text else f"{text}, found {abbreviated(detail['input'])}"


def _model_at(
    path: Path, model: type[ConfigModel], parts: Mapping[str, type[ConfigModel]]
) -> type[ConfigModel] | None:
    """Return the model for the keys at `path`, or None if no keys belong there."""
    words = [part for part in path if isinstance(part, str)]
    return parts.get(words[-1]) if words else model


_PARTS: Final[Mapping[str, type[ConfigModel]]] = {
    "game": GameSpec,
    "entrants": Entrant,
    "limits": EntrantLimits,
    "ratings": RatingScale,
    "stop": StopRule,
    "openings": RandomPlies,
}
"""The models of a tournament's nested keys."""


def _unknown_key(key: str, model: type[ConfigModel]) -> str:
    known = list(model.model_fields)
    return f"unknown key {key_text(key)!r}{suggestion(key, known)}"


# The game: name, options, number of seats


def _check_game(
    tournament: Tournament, values: Mapping[str, Any], game_of: Callable[[str], Game]
) -> tuple[Tournament, list[ConfigProblem]]:
    """Return the tournament with typed options, and the problems that the game reports."""
    tournament, game, flaws = resolve_game(tournament, values, game_of)
    return tournament, flaws if game is None else [*_game_problems(tournament, game)]


def resolve_game(
    config: Played, values: Mapping[str, Any], game_of: Callable[[str], Game]
) -> tuple[Played, Game | None, list[ConfigProblem]]:
    """Look up the game of a configuration and convert the options to the types that it expects.

    Return the configuration, the game and the problems; the game is None if it is unknown. `values`
    are the values that the configuration was built from.
    """
    spec = config.game
    try:
        game = game_of(spec.name)
    except GameError as error:
        near = difflib.get_close_matches(spec.name, registry.names(), n=1)
        more = f"; did you mean {near[0]!r}?" if near else ""
        return config, None, [ConfigProblem(("game",), f"{error}{more}")]
    if isinstance(values.get("game"), str):
        typed = {key: str(value) for key, value in spec.options.items()}
        spec = spec.model_copy(update={"options": game_spec.parse_options(game, typed)})
        config = config.model_copy(update={"game": spec})
    return config, game, []


def _game_problems(tournament: Tournament, game: Game) -> Iterator[ConfigProblem]:
    seats, options = tournament.seats, tournament.game.options
    seed = seed_number(tournament.base_seed)
    if tournament.openings is None or isinstance(tournament.openings, list):
        yield from game_problems(game, seats, options, tournament.openings or (), seed)
        return
    yield from game_problems(game, seats, options, (), seed)
    if seats in game.info.seats and isinstance(tournament.openings, RandomPlies):
        yield from _opening_problems(tournament, game, tournament.openings.random_plies)


def game_problems(
    game: Game, seats: int, options: Options, openings: Sequence[Options], seed: int = 0
) -> Iterator[ConfigProblem]:
    """Yield a game's objections to the number of seats, the options and the openings."""
    if seats not in game.info.seats:
        offered = ", ".join(map(str, game.info.seats))
        yield ConfigProblem(("seats",), f"expected a supported number ({offered}), found {seats}")
        return
    yield from _option_problems(game, seats, seed, options, ("game", "options"))
    for index, overlay in enumerate(openings):
        yield from _option_problems(game, seats, seed, {**options, **overlay}, ("openings", index))


def _opening_problems(tournament: Tournament, game: Game, plies: int) -> Iterator[ConfigProblem]:
    """Yield the reason if the game cannot start with `plies` random moves."""
    if "opening" not in game.Options.model_fields:
        yield ConfigProblem(("openings",), "random plies require a game with an option 'opening'")
        return
    try:
        random_opening(game, tournament.game.options, tournament.seats, plies, tournament.base_seed)
    except ValidationError:
        return  # the options are invalid, which is reported elsewhere
    except GameError as error:
        yield ConfigProblem(("openings", "random_plies"), str(error))


def _option_problems(
    game: Game, seats: int, seed: int, options: Options, path: Path
) -> Iterator[ConfigProblem]:
    """Yield the game's objections to `options`."""
    try:
        model = game.Options.from_wire(options)
        game.start(model, seats, game.deal(model, seats, seed))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            sentence = _option_message(game, detail)
            yield ConfigProblem((*path, *_config_path(detail["loc"])), sentence)
    except InvalidSetup as error:
        inside = error.path.split(".")[1:]
        yield ConfigProblem((*path, *inside), str(error).removeprefix(f"{error.path}: "))


def _option_message(game: Game, detail: Any) -> str:
    if detail["type"] == "extra_forbidden":
        return (
            f"unknown option{suggestion(str(detail['loc'][-1]), list(game.Options.model_fields))}"
        )
    return _message(detail, detail["loc"], None)
