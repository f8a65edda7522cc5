"""Reading a tournament from YAML or from values such as flags, with everything that is wrong in it.

Each value is checked by the models of `tournament`, options and openings by the game, and how the
values fit together by `consistency`. Errors name the file, the line and the path.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from kibitz_arena import game_spec
from kibitz_arena.config_error import ConfigError, ConfigProblem, abbreviated, key_text, suggestion
from kibitz_arena.consistency import consistency_problems
from kibitz_arena.openings import random_opening
from kibitz_arena.tournament import (
    ConfigModel,
    Entrant,
    EntrantLimits,
    GameSpec,
    RandomPlies,
    RatingScale,
    StopRule,
    Tournament,
    with_underscores,
)
from kibitz_arena.yaml_positions import Document, DocumentError, Path
from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameError, InvalidSetup
from kibitz_protocol.wire.values import Options


def load(text: str, name: str, *, game_of: Callable[[str], Game] = registry.get) -> Tournament:
    """Read the YAML `text` of an event; `name` is the file's, for errors.

    `game_of` finds the rules, which check the options. The first call settles whether this
    process compiles kernels (see `kibitz_games.compiled.kernels`). Raises `ConfigError`.
    """
    try:
        document = Document.read(text)
    except DocumentError as error:
        raise ConfigError(f"{name}:{error.line}", [ConfigProblem((), str(error))], {}) from None
    return _build(document.value, name, game_of, document.lines)


def build(
    values: Mapping[str, Any], source: str, *, game_of: Callable[[str], Game] = registry.get
) -> Tournament:
    """Make an event of `values`, such as flags; raises `ConfigError` that names `source`."""
    return _build(values, source, game_of, {})


def _build(
    values: Any, source: str, game_of: Callable[[str], Game], lines: Mapping[Path, int]
) -> Tournament:
    plain = {tuple(with_underscores(part) for part in path): line for path, line in lines.items()}
    if not isinstance(values, Mapping):
        flaw = ConfigProblem(
            (), f"expected keys and values, such as name and game, found {abbreviated(values)}"
        )
        raise ConfigError(source, [flaw], plain)
    try:
        tournament = Tournament.model_validate(values)
    except ValidationError as error:
        raise ConfigError(source, _problems_of(error), plain) from None
    tournament, flaws = _check_game(tournament, values, game_of)
    flaws += [*consistency_problems(tournament)]
    if flaws:
        raise ConfigError(source, flaws, plain)
    return tournament


# What each value alone must be, in the words of the house


def _problems_of(error: ValidationError) -> list[ConfigProblem]:
    """Return a flaw for each path that pydantic complains of, the first complaint of each."""
    found: dict[Path, ConfigProblem] = {}
    for detail in error.errors(include_url=False):
        if RandomPlies.__name__ in detail["loc"]:
            continue  # a list of openings is no such thing, and need not be told so
        path = _config_path(detail["loc"])
        found.setdefault(
            path, ConfigProblem(path, _message(detail["type"], detail["msg"], detail, path))
        )
    return list(found.values())


def _config_path(location: Path) -> Path:
    """Leave out what pydantic adds to a path for the branch of a union it tried."""
    return tuple(part for part in location if isinstance(part, int) or part.isidentifier())


def _message(kind: str, message: str, detail: Any, path: Path) -> str:
    if kind == "missing":
        return "expected a value, found none"
    if kind == "extra_forbidden":
        return _unknown_key(str(path[-1]), _model_at(path[:-1]))
    if kind in {"too_short", "too_long"}:
        bound, most = detail["ctx"], kind == "too_long"
        limit = f"at most {bound['max_length']}" if most else f"at least {bound['min_length']}"
        return f"expected {limit}, found {bound['actual_length']}"
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    text = text if text.startswith("expected") else f"expected {text[:1].lower()}{text[1:]}"
    return text if " not " in text else f"{text}, found {abbreviated(detail['input'])}"


def _model_at(path: Path) -> type[ConfigModel]:
    """Return the model whose keys belong at `path`."""
    models: dict[str | int | None, type[ConfigModel]] = {
        None: Tournament,
        "game": GameSpec,
        "entrants": Entrant,
        "limits": EntrantLimits,
        "ratings": RatingScale,
        "stop": StopRule,
        "openings": RandomPlies,
    }
    words = [part for part in path if isinstance(part, str)]
    return models[words[-1] if words else None]


def _unknown_key(key: str, model: type[ConfigModel]) -> str:
    known = list(model.model_fields)
    return f"unknown key {key_text(key)!r}{suggestion(key, known)}"


# The game: its name, its options, the number of seats


def _check_game(
    tournament: Tournament, values: Mapping[str, Any], game_of: Callable[[str], Game]
) -> tuple[Tournament, list[ConfigProblem]]:
    """Return the event with options as the game takes them, and what the game objects to."""
    try:
        game = game_of(tournament.game.name)
    except GameError as error:
        near = difflib.get_close_matches(tournament.game.name, registry.names(), n=1)
        more = f"; did you mean {near[0]!r}?" if near else ""
        return tournament, [ConfigProblem(("game",), f"{error}{more}")]
    if isinstance(values.get("game"), str):
        typed = {key: str(value) for key, value in tournament.game.options.items()}
        options = game_spec.parse_options(game, typed)
        spec = tournament.game.model_copy(update={"options": options})
        tournament = tournament.model_copy(update={"game": spec})
    return tournament, [*_game_problems(tournament, game)]


def _game_problems(tournament: Tournament, game: Game) -> Iterator[ConfigProblem]:
    if tournament.seats not in game.info.seats:
        offered = ", ".join(map(str, game.info.seats))
        yield ConfigProblem(
            ("seats",), f"expected what the game offers ({offered}), found {tournament.seats}"
        )
        return
    yield from _option_problems(tournament, game, tournament.game.options, ("game", "options"))
    if isinstance(tournament.openings, list):
        for index, overlay in enumerate(tournament.openings):
            options = {**tournament.game.options, **overlay}
            yield from _option_problems(tournament, game, options, ("openings", index))
    elif tournament.openings is not None:
        yield from _opening_problems(tournament, game, tournament.openings.random_plies)


def _opening_problems(tournament: Tournament, game: Game, plies: int) -> Iterator[ConfigProblem]:
    """Yield why random plies cannot be."""
    if "opening" not in game.Options.model_fields:
        yield ConfigProblem(
            ("openings",), "expected a game that has an option 'opening' for random plies"
        )
        return
    try:
        random_opening(game, tournament.game.options, tournament.seats, plies, tournament.seed)
    except ValidationError:
        return  # the options are no good, which is said already
    except GameError as error:
        yield ConfigProblem(("openings", "random_plies"), str(error))


def _option_problems(
    tournament: Tournament, game: Game, options: Options, path: Path
) -> Iterator[ConfigProblem]:
    """Yield what the game says against `options`."""
    try:
        model = game.Options.from_wire(options)
        game.start(model, tournament.seats, game.deal(model, tournament.seats, tournament.seed))
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
    return _message(detail["type"], detail["msg"], detail, detail["loc"])
