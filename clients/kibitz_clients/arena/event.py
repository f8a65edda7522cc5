"""Events: who plays what, how often and in which format, as a file or flags say it.

    name: spring-final
    game: chinese-checkers:board=small
    time-control: 10+0.1
    format: round-robin
    blocks: 5
    entrants:
      - {name: Ada, bot: bots/ada.py}
      - {name: Bob, command: [node, bob.js]}
      - {name: Old, bot: chinese-checkers/greedy, anchor: 0}

A *block* is one game for every rotation of the seats, all on one seed and from one opening, so
that nobody owes a result to a seat or to luck. `blocks` says how many blocks each pairing
plays, or each group where games have more than two seats; `games` says the same in games.

What does not add up is refused with the line, the path, what was found and what would do.
Positions in lists count from 0, as they do in the paths that the server answers with.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from kibitz_clients.arena import claims, design, gametext
from kibitz_clients.arena.lines import Document, LineError, Path
from kibitz_clients.arena.openings import random_opening
from kibitz_games import registry
from kibitz_games.api import Game, GameError, InvalidSetup
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.values import GameName, Options, PlayerName, Strict

Format: TypeAlias = Literal["round-robin", "gauntlet", "swiss", "free-for-all"]
Source: TypeAlias = Literal["bot", "command", "gomocup", "stdio", "remote"]
SOURCES: Final[tuple[Source, ...]] = ("bot", "command", "gomocup", "stdio", "remote")
"""How an entrant is started, or that it comes by itself; each entrant has exactly one."""
MOST_ENTRANTS: Final = 64
"""As many as a lobby has seats."""
MOST_GAMES: Final = 1_000_000
"""An event with more is refused: nobody could wait for it, and its schedule is kept in memory."""
FREE: Final = frozenset(
    {"claims", "concurrency", "deadline", "ratings", "retries", "limits", "stop"}
)
"""What may change when an event goes on: none of it says which games there are."""
_SIZES: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class Spec(Strict):
    """A part of an event; keys may be written with hyphens or underscores."""

    @model_validator(mode="before")
    @classmethod
    def _underscores(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {_plain(key): each for key, each in value.items()}


def _plain(key: Any) -> Any:
    return key.replace("-", "_") if isinstance(key, str) else key


def _words(value: Any) -> Any:
    """Split a command that is one text as a shell would."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ValueError(f"expected a command: {error}") from None


def _bytes(value: Any) -> Any:
    """Read ``512M``; a number is bytes already."""
    if not isinstance(value, str):
        return value
    number, unit = value.strip().upper().removesuffix("B").removesuffix("I"), ""
    if number[-1:] in _SIZES:
        number, unit = number[:-1], number[-1:]
    if not number.isdecimal():
        raise ValueError("expected an amount of memory like 512M or 2G")
    return int(number) * _SIZES[unit]


def _clock(value: Any) -> Any:
    """Return the usual spelling of a time control."""
    if not isinstance(value, str | int | float):
        raise ValueError("expected a time control like 10+0.1, move=1, byo=60+3x10 or none")
    return str(TimeControl.parse(str(value)))


def _yes(value: Any) -> Any:
    if value is True or value == "yes":
        return True
    raise ValueError("expected true, or another way to play")


def _number_or_auto(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError("expected a number of games at the same time, or auto")


def _claim(text: str) -> str:
    claims.read(text)
    return text


def _moment(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        moment = None
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment
    raise ValueError("expected a moment with its time zone, like 2030-05-31T18:00+02:00")


def _option(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        raise ValueError("expected options with a number, a word, yes or no, or a list") from None


OptionSet: TypeAlias = Annotated[Options, WrapValidator(_option)]
Command: TypeAlias = Annotated[list[str], BeforeValidator(_words), Field(min_length=1)]


class Limits(Spec):
    """What each process of an entrant may use; None is no limit."""

    memory: Annotated[int, Field(ge=2**20), BeforeValidator(_bytes)] | None = None
    """Bytes, also written ``512M`` or ``2G``; whole MiB count."""
    cpu: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    """Seconds of CPU time. A bot's process lives as long as the event, that of a program on
    `stdio` as long as a game; one that has used up its time ends, and is started again."""


class GameSpec(Spec):
    """A game and its options."""

    name: GameName
    options: OptionSet = Field(default_factory=dict)


class Entrant(Spec):
    """Somebody who plays, and how it is started: exactly one of `SOURCES`."""

    name: PlayerName
    bot: Annotated[str, Field(min_length=1)] | None = None
    """A personality (``game/name``), or a file with a bot."""
    command: Command | None = None
    """A program that speaks the server's messages itself."""
    gomocup: Command | None = None
    """A Gomocup engine."""
    stdio: Command | None = None
    """A program that reads and writes one JSON object a line."""
    remote: Annotated[bool, BeforeValidator(_yes)] | None = None
    """It connects from elsewhere, under its name, and joins the event's lobby by itself."""
    token_file: Annotated[str, Field(min_length=1)] | None = None
    """Holds the token of its account on the server; without one it is a guest."""
    limits: Limits | None = None
    """In place of the event's."""
    anchor: Annotated[float, Field(ge=-10_000, le=10_000)] | None = None
    """The rating that this entrant is known to have; it fixes the scale."""
    seeding: Annotated[int, Field(ge=1)] | None = None
    """Place in the order of a Swiss event's first round; 1 is first, those without come after."""

    @property
    def source(self) -> Source:
        """Which of `SOURCES` it has."""
        return next(each for each in SOURCES if getattr(self, each) is not None)

    @property
    def what(self) -> str:
        """What it is, for a person: ``bot chinese-checkers/greedy``."""
        if self.remote:
            return "remote"
        value = getattr(self, self.source)
        return f"{self.source} {value if isinstance(value, str) else shlex.join(value)}"


class RandomPlies(Spec):
    """Openings of so many random moves, drawn from the event's seed, one for each block."""

    random_plies: Annotated[int, Field(ge=1, le=100)]


class Scale(Spec):
    """The scale of the ratings, where no entrant is an anchor."""

    mean: Annotated[float, Field(ge=-10_000, le=10_000)] = 0.0
    """The mean rating of all entrants."""


class Stop(Spec):
    """Ends the event as soon as it is clear whether A is better than B (see `sequential`)."""

    better: tuple[str, str]
    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 10.0
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """How often H1 is accepted though A is only `elo0` stronger."""
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """How often H0 is accepted though A is `elo1` stronger."""


class Event(Spec):
    """An event; `load` and `build` make sound ones, the model alone checks each value only."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,59}$")]
    """Also the name of its directory."""
    game: GameSpec
    seats: Annotated[int, Field(ge=2, le=6)] = 2
    time_control: Annotated[str, BeforeValidator(_clock)] = "none"
    """In cutechess notation, seconds: ``10+0.1``."""
    format: Format = "round-robin"
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """How many blocks each pairing or group plays; 1 unless `games` says otherwise."""
    games: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The same said in games."""
    balanced: bool = True
    """False lets the last block of a pairing end before everybody has had every seat."""
    rounds: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Rounds of a Swiss event."""
    challengers: Annotated[int, Field(ge=1)] = 1
    """Gauntlet: so many entrants, the first of the list, play against all the others."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    deals: Literal["block", "game"] = "block"
    """Whether the games of a block share one seed, or each has its own. Where a game hides
    something, a bot that remembers the first game of a block would know what the others hide."""
    concurrency: Annotated[int | Literal["auto"], BeforeValidator(_number_or_auto)] = "auto"
    openings: list[OptionSet] | RandomPlies | None = None
    """Options that are added to the game's, a set for each block in turn; or random moves."""
    entrants: Annotated[list[Entrant], Field(min_length=2, max_length=MOST_ENTRANTS)]
    ratings: Scale = Scale()
    claims: list[Annotated[str, AfterValidator(_claim), Field(max_length=200)]] = Field(
        default_factory=list, max_length=64
    )
    """What the event is held to show (see `claims`)."""
    stop: Stop | None = None
    limits: Limits = Limits()
    """For every entrant that has none of its own."""
    rated: bool = False
    """Whether the ladder of the server counts the games."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often one game is repeated after a failure of the infrastructure."""
    deadline: Annotated[AwareDatetime, BeforeValidator(_moment)] | None = None
    """No game begins after this moment."""

    @field_validator("game", mode="before")
    @classmethod
    def _game(cls, value: Any) -> Any:
        return _game_of(value) if isinstance(value, str) else value

    @field_validator("openings", mode="before")
    @classmethod
    def _openings(cls, value: Any) -> Any:
        if value is None or (isinstance(value, list) and value):
            return value
        if isinstance(value, Mapping):
            return RandomPlies.model_validate(value)
        raise ValueError("expected a list of sets of options, or random-plies: N")

    @property
    def clock(self) -> TimeControl:
        """The time control as the protocol has it."""
        return TimeControl.parse(self.time_control)

    @property
    def games_each(self) -> int:
        """How many games each pairing or group plays; in a Swiss event, each pairing of a round."""
        return self.games or (self.blocks or 1) * self.seats

    @property
    def blocks_each(self) -> int:
        """How many blocks each pairing or group plays, a last one that ends early included."""
        return -(-self.games_each // self.seats)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entrants' names, in the order of the event."""
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def anchors(self) -> dict[str, float]:
        """The known ratings."""
        known = ((entrant.name, entrant.anchor) for entrant in self.entrants)
        return {name: anchor for name, anchor in known if anchor is not None}

    def dump(self) -> dict[str, Any]:
        """Return the event as JSON that makes the same event again; defaults are left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def hash(self) -> str:
        """SHA-256 of all that says which games there are, in hexadecimal."""
        facts = {key: value for key, value in self.dump().items() if key not in FREE}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong with an event: where, and the sentence that says what."""

    path: Path
    sentence: str


class EventError(ValueError):
    """An event that cannot be; `flaws` are all that is wrong, `str()` is a line for each.

    A line is ``final.yaml:12: entrants.3.bot: expected ...``; without a file, the name of the
    source stands in its place.
    """

    def __init__(self, source: str, flaws: Sequence[Flaw], lines: Mapping[Path, int]) -> None:
        super().__init__("\n".join(_line(source, flaw, lines) for flaw in flaws))
        self.flaws = tuple(flaws)


def load(text: str, name: str, *, game_of: Callable[[str], Game] = registry.get) -> Event:
    """Read the YAML `text` of an event; `name` is the file's, for errors.

    `game_of` finds the rules, which check the options. The first call settles whether this
    process compiles kernels (see `kibitz_games.kernels`). Raises `EventError`.
    """
    try:
        document = Document.read(text)
    except LineError as error:
        raise EventError(f"{name}:{error.line}", [Flaw((), str(error))], {}) from None
    return _build(document.value, name, game_of, document.lines)


def build(
    values: Mapping[str, Any], source: str, *, game_of: Callable[[str], Game] = registry.get
) -> Event:
    """Make an event of `values`, such as flags; raises `EventError` that names `source`."""
    return _build(values, source, game_of, {})


def _build(
    values: Any, source: str, game_of: Callable[[str], Game], lines: Mapping[Path, int]
) -> Event:
    plain = {tuple(_plain(part) for part in path): line for path, line in lines.items()}
    if not isinstance(values, Mapping):
        flaw = Flaw((), f"expected keys and values, such as name and game, found {_shown(values)}")
        raise EventError(source, [flaw], plain)
    try:
        event = Event.model_validate(values)
    except ValidationError as error:
        raise EventError(source, _translated(error), plain) from None
    event, flaws = _with_game(event, values, game_of)
    flaws += [*_unsound(event)]
    if flaws:
        raise EventError(source, flaws, plain)
    return event


# What each value alone must be, in the words of the house


def _translated(error: ValidationError) -> list[Flaw]:
    """Return a flaw for each path that pydantic complains of, the first complaint of each."""
    found: dict[Path, Flaw] = {}
    for detail in error.errors(include_url=False):
        if RandomPlies.__name__ in detail["loc"]:
            continue  # a list of openings is no such thing, and need not be told so
        path = _known(detail["loc"])
        found.setdefault(path, Flaw(path, _sentence(detail["type"], detail["msg"], detail, path)))
    return list(found.values())


def _known(location: Path) -> Path:
    """Leave out what pydantic adds to a path for the branch of a union it tried."""
    return tuple(part for part in location if isinstance(part, int) or part.isidentifier())


def _sentence(kind: str, message: str, detail: Any, path: Path) -> str:
    if kind == "missing":
        return "expected a value, found none"
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), _model_at(path[:-1]))
    if kind in {"too_short", "too_long"}:
        bound, most = detail["ctx"], kind == "too_long"
        limit = f"at most {bound['max_length']}" if most else f"at least {bound['min_length']}"
        return f"expected {limit}, found {bound['actual_length']}"
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    text = text if text.startswith("expected") else f"expected {text[:1].lower()}{text[1:]}"
    return text if " not " in text else f"{text}, found {_shown(detail['input'])}"


def _model_at(path: Path) -> type[Spec]:
    """Return the model whose keys belong at `path`."""
    models: dict[str | int | None, type[Spec]] = {
        None: Event,
        "game": GameSpec,
        "entrants": Entrant,
        "limits": Limits,
        "ratings": Scale,
        "stop": Stop,
        "openings": RandomPlies,
    }
    words = [part for part in path if isinstance(part, str)]
    return models[words[-1] if words else None]


def _unknown(key: str, model: type[Spec]) -> str:
    known = list(model.model_fields)
    return f"unknown key {_kebab(key)!r}{_near(key, known)}"


def _near(word: str, known: Sequence[str]) -> str:
    """Suggest what may have been meant, or tell all there is."""
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        return f"; did you mean {_kebab(near[0])!r}?"
    return f"; known are {', '.join(map(_kebab, known))}"


def _kebab(key: str) -> str:
    return key.replace("_", "-")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _line(source: str, flaw: Flaw, lines: Mapping[Path, int]) -> str:
    """Return the line of an error; a path that is not there is near its longest part that is."""
    parts = (flaw.path[:length] for length in range(len(flaw.path), -1, -1))
    line = next((lines[part] for part in parts if part in lines), None)
    where = source if line is None else f"{source}:{line}"
    path = ".".join(_kebab(str(part)) for part in flaw.path)
    return ": ".join(part for part in (where, path, flaw.sentence) if part)


# The game: its name, its options, the number of seats


def _game_of(text: str) -> dict[str, Any]:
    name, options = gametext.split(text)
    return {"name": name, "options": options}


def _with_game(
    event: Event, values: Mapping[str, Any], game_of: Callable[[str], Game]
) -> tuple[Event, list[Flaw]]:
    """Return the event with options as the game takes them, and what the game objects to."""
    try:
        game = game_of(event.game.name)
    except GameError as error:
        near = difflib.get_close_matches(event.game.name, registry.names(), n=1)
        more = f"; did you mean {near[0]!r}?" if near else ""
        return event, [Flaw(("game",), f"{error}{more}")]
    if isinstance(values.get("game"), str):
        typed = {key: str(value) for key, value in event.game.options.items()}
        options = gametext.read(game, typed)
        spec = event.game.model_copy(update={"options": options})
        event = event.model_copy(update={"game": spec})
    return event, [*_objections(event, game)]


def _objections(event: Event, game: Game) -> Iterator[Flaw]:
    if event.seats not in game.info.seats:
        offered = ", ".join(map(str, game.info.seats))
        yield Flaw(("seats",), f"expected what the game offers ({offered}), found {event.seats}")
        return
    yield from _refused(event, game, event.game.options, ("game", "options"))
    if isinstance(event.openings, list):
        for index, overlay in enumerate(event.openings):
            options = {**event.game.options, **overlay}
            yield from _refused(event, game, options, ("openings", index))
    elif event.openings is not None:
        yield from _unopened(event, game, event.openings.random_plies)


def _unopened(event: Event, game: Game, plies: int) -> Iterator[Flaw]:
    """Yield why random plies cannot be."""
    if "opening" not in game.Options.model_fields:
        yield Flaw(("openings",), "expected a game that has an option 'opening' for random plies")
        return
    try:
        random_opening(game, event.game.options, event.seats, plies, event.seed)
    except ValidationError:
        return  # the options are no good, which is said already
    except GameError as error:
        yield Flaw(("openings", "random_plies"), str(error))


def _refused(event: Event, game: Game, options: Options, path: Path) -> Iterator[Flaw]:
    """Yield what the game says against `options`."""
    try:
        model = game.Options.read(options)
        game.start(model, event.seats, game.deal(model, event.seats, event.seed))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            sentence = _option_sentence(game, detail)
            yield Flaw((*path, *_known(detail["loc"])), sentence)
    except InvalidSetup as error:
        inside = error.path.split(".")[1:]
        yield Flaw((*path, *inside), str(error).removeprefix(f"{error.path}: "))


def _option_sentence(game: Game, detail: Any) -> str:
    if detail["type"] == "extra_forbidden":
        return f"unknown option{_near(str(detail['loc'][-1]), list(game.Options.model_fields))}"
    return _sentence(detail["type"], detail["msg"], detail, detail["loc"])


# What has to fit together


def _unsound(event: Event) -> Iterator[Flaw]:
    yield from _entrant_flaws(event)
    yield from _format_flaws(event)
    yield from _count_flaws(event)
    yield from _stop_flaws(event)
    yield from _claim_flaws(event)
    if len(event.entrants) >= event.seats and event.challengers < len(event.entrants):
        yield from _too_many(event)
    if event.anchors and event.ratings.mean:
        yield Flaw(("ratings", "mean"), "expected no mean where entrants have anchors")


def _entrant_flaws(event: Event) -> Iterator[Flaw]:
    seen: set[str] = set()
    for index, entrant in enumerate(event.entrants):
        given = [each for each in SOURCES if getattr(entrant, each) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            text = f"expected exactly one of {', '.join(SOURCES)}, found {found}"
            yield Flaw(("entrants", index), text)
        if entrant.name.casefold() in seen:
            yield Flaw(("entrants", index, "name"), f"the name {entrant.name!r} is there twice")
        seen.add(entrant.name.casefold())
        if entrant.seeding is not None and event.format != "swiss":
            yield Flaw(("entrants", index, "seeding"), "expected only with format: swiss")
        for key in ("limits", "token_file"):
            if entrant.remote and getattr(entrant, key) is not None:
                text = "expected only for who is started here, not for who is remote"
                yield Flaw(("entrants", index, key), text)
    yield from _twice_seeded(event)


def _twice_seeded(event: Event) -> Iterator[Flaw]:
    places = [entrant.seeding for entrant in event.entrants]
    for index, place in enumerate(places):
        if place is not None and place in places[:index]:
            yield Flaw(("entrants", index, "seeding"), f"the place {place} is there twice")


def _format_flaws(event: Event) -> Iterator[Flaw]:
    count = len(event.entrants)
    if event.format == "free-for-all":
        if event.seats < 3:
            text = "expected 3 to 6 seats with format: free-for-all, found 2"
            yield Flaw(("seats",), f"{text}; for 2 there is round-robin")
        elif count < event.seats:
            yield Flaw(("entrants",), f"expected at least {event.seats}, one a seat, found {count}")
    elif event.seats != 2:
        text = f"expected 2 with format: {event.format}, found {event.seats}"
        yield Flaw(("seats",), f"{text}; for more there is free-for-all")
    if event.format == "gauntlet" and event.challengers >= count:
        text = f"expected fewer than the {count} entrants, found {event.challengers}"
        yield Flaw(("challengers",), text)
    if event.format != "gauntlet" and event.challengers != 1:
        yield Flaw(("challengers",), "expected only with format: gauntlet")
    if event.format == "swiss" and event.rounds is None:
        enough = (count - 1).bit_length()
        yield Flaw(("rounds",), f"expected how many, such as {enough} for {count} entrants")
    if event.format != "swiss" and event.rounds is not None:
        yield Flaw(
            ("rounds",), "expected only with format: swiss; blocks say how often others meet"
        )


def _count_flaws(event: Event) -> Iterator[Flaw]:
    games, seats = event.games, event.seats
    if games is None:
        if not event.balanced:
            yield Flaw(("balanced",), "expected false only with games: blocks are always whole")
        return
    if event.blocks is not None:
        yield Flaw(("games",), "expected blocks or games, not both")
    elif games % seats and event.balanced:
        near = [n for n in (games - games % seats, games - games % seats + seats) if n]
        text = f"expected a multiple of the {seats} seats ({' or '.join(map(str, near))})"
        yield Flaw(("games",), f"{text} or balanced: false, found {games}")


def _too_many(event: Event) -> Iterator[Flaw]:
    games = _meetings(event) * event.games_each
    if games > MOST_GAMES:
        path = "blocks" if event.games is None else "games"
        yield Flaw((path,), f"expected at most {MOST_GAMES:,} games in all, found {games:,}")


def _meetings(event: Event) -> int:
    """Return how many pairings or groups there are."""
    count, first = len(event.entrants), event.challengers
    match event.format:
        case "round-robin":
            return count * (count - 1) // 2
        case "gauntlet":
            return first * (count - first)
        case "swiss":
            return (event.rounds or 0) * (count // 2)
        case "free-for-all":
            return len(design.groups(count, event.seats, event.seed))


def _stop_flaws(event: Event) -> Iterator[Flaw]:
    if event.stop is None:
        return
    for index, name in enumerate(event.stop.better):
        if name not in event.names:
            text = f"unknown entrant {name!r}{_near(name, event.names)}"
            yield Flaw(("stop", "better", index), text)
    if event.stop.elo1 <= event.stop.elo0:
        text = f"expected more than elo0 ({event.stop.elo0:g}), found {event.stop.elo1:g}"
        yield Flaw(("stop", "elo1"), text)
    if not _ever_meet(event, *event.stop.better):
        yield Flaw(("stop", "better"), "expected two who meet in every round of blocks")


def _claim_flaws(event: Event) -> Iterator[Flaw]:
    for index, text in enumerate(event.claims):
        for name in claims.read(text).names:
            if name not in event.names:
                sentence = f"unknown entrant {name!r}{_near(name, event.names)}"
                yield Flaw(("claims", index), sentence)


def _ever_meet(event: Event, a: str, b: str) -> bool:
    if a == b or event.format == "swiss":
        return False
    first = event.names[: event.challengers]
    return event.format != "gauntlet" or (a in first) != (b in first)
