"""The configuration of a tournament, as models: entrants, game, format, number of games.

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
that no result depends on a seat or on luck. `blocks` is the number of blocks that each pairing
plays, or each group if games have more than two seats; `games` sets the same in games.

Errors give the line, the path, the value and what is expected. Positions in lists count from 0, as
in the paths of the server's answers.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
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

from kibitz_arena import claims, game_spec
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.recordfile import seed_commitment
from kibitz_protocol.wire.values import GameName, Options, PlayerName, Seed, Strict

Format: TypeAlias = Literal["round-robin", "gauntlet", "swiss", "free-for-all"]
Source: TypeAlias = Literal["bot", "command", "gomocup", "stdio", "remote"]
SOURCES: Final[tuple[Source, ...]] = ("bot", "command", "gomocup", "stdio", "remote")
"""How an entrant is started, or that it comes by itself; each entrant has exactly one."""
FOREIGN_CLOCK: Final = "move=60"
"""The clock of a tournament with entrants that are not house bots, unless its file sets another."""
MAX_ENTRANTS: Final = 64
"""As many as a lobby has seats."""
MAX_GAMES: Final = 1_000_000
"""The limit of games: a larger tournament takes too long, and its schedule is in memory."""
CHANGEABLE_KEYS: Final = frozenset(
    {"claims", "concurrency", "deadline", "ratings", "retries", "limits", "stop"}
)
"""Settings that may change when a tournament resumes: none decides which games there are."""
_SIZES: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class ConfigModel(Strict):
    """A part of a tournament; keys may be written with hyphens or underscores."""

    @model_validator(mode="before")
    @classmethod
    def _underscores(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {with_underscores(key): item for key, item in value.items()}


def with_underscores(key: Any) -> Any:
    return key.replace("-", "_") if isinstance(key, str) else key


def _split_command(value: Any) -> Any:
    """Split a command that is one text as a shell would."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ValueError(f"expected a command: {error}") from None


def _parse_bytes(value: Any) -> Any:
    """Read ``512M``; a number is bytes already."""
    if not isinstance(value, str):
        return value
    number, unit = value.strip().upper().removesuffix("B").removesuffix("I"), ""
    if number[-1:] in _SIZES:
        number, unit = number[:-1], number[-1:]
    if not number.isdecimal():
        raise ValueError("expected an amount of memory like 512M or 2G")
    return int(number) * _SIZES[unit]


def normalize_clock(value: Any) -> Any:
    """Return the usual spelling of a time control."""
    if not isinstance(value, str | int | float):
        raise ValueError("expected a time control like 10+0.1, move=1, byo=60+3x10 or none")
    return str(TimeControl.parse(str(value)))


def _require_true(value: Any) -> Any:
    if value is True or value == "yes":
        return True
    raise ValueError("expected true, or another way to play")


def _number_or_auto(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError("expected a number of games at the same time, or auto")


def _validate_claim(text: str) -> str:
    claims.parse(text)
    return text


def _parse_moment(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        moment = None
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment
    raise ValueError("expected a moment with its time zone, like 2030-05-31T18:00+02:00")


def _validate_options(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        raise ValueError("expected options with a number, a word, yes or no, or a list") from None


OptionSet: TypeAlias = Annotated[Options, WrapValidator(_validate_options)]
Command: TypeAlias = Annotated[list[str], BeforeValidator(_split_command), Field(min_length=1)]


class EntrantLimits(ConfigModel):
    """The limits of each process of an entrant; without a limit it may use all there is."""

    memory: Annotated[int, Field(ge=2**20), BeforeValidator(_parse_bytes)] | None = None
    """Bytes, also written ``512M`` or ``2G``; whole MiB count."""
    cpu: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    """Seconds of CPU time. A bot's process lives as long as the tournament, that of a program on
    `stdio` as long as a game; one that has used up its time ends, and is started again."""


class GameSpec(ConfigModel):
    """A game and its options."""

    name: GameName
    """The game's name, as ``kibitz game list`` lists it."""
    options: OptionSet = Field(default_factory=dict)
    """Its options, as ``kibitz game show NAME`` explains them."""


class PlayedConfig(ConfigModel):
    """A configuration of games, all of one kind."""

    name: str
    game: GameSpec
    """The game with its options, as in ``chinese-checkers:size=3``."""

    @field_validator("game", mode="before")
    @classmethod
    def _game(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        name, options = game_spec.split_spec(value)
        return {"name": name, "options": options}

    def dump(self) -> dict[str, Any]:
        """Return it as JSON that makes the same again; defaults are left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Entrant(ConfigModel):
    """A player, with one of `bot`, `command`, `gomocup`, `stdio` and `remote`."""

    name: PlayerName
    """Its name in all tables; no two are alike."""
    bot: Annotated[str, Field(min_length=1)] | None = None
    """A personality (``game/name``), or a file with a bot."""
    command: Command | None = None
    """A program that speaks the server's messages itself: its words, or one text that is split as
    a shell would."""
    gomocup: Command | None = None
    """A Gomocup engine."""
    stdio: Command | None = None
    """A program that reads and writes one JSON object a line."""
    remote: Annotated[bool, BeforeValidator(_require_true)] | None = None
    """It connects from elsewhere, under its name, and joins the tournament's lobby by itself."""
    token_file: Annotated[str, Field(min_length=1)] | None = None
    """Holds the token of its account on the server; without one it is a guest."""
    limits: EntrantLimits | None = None
    """In place of the tournament's."""
    anchor: Annotated[float, Field(ge=-10_000, le=10_000)] | None = None
    """The rating that this entrant is known to have; it fixes the scale."""
    seeding: Annotated[int, Field(ge=1)] | None = None
    """Place in the order of the first round of a Swiss tournament; 1 is first, others are last."""

    @property
    def source(self) -> Source:
        """Which of `SOURCES` it has."""
        return next(source for source in SOURCES if getattr(self, source) is not None)

    @property
    def is_house_bot(self) -> bool:
        """Whether it is a bot of kibitz itself."""
        return self.bot is not None and not self.bot.endswith(".py")

    @property
    def description(self) -> str:
        """A description for people, such as ``bot chinese-checkers/greedy``."""
        if self.remote:
            return "remote"
        value = getattr(self, self.source)
        return f"{self.source} {value if isinstance(value, str) else shlex.join(value)}"


class RandomPlies(ConfigModel):
    """Openings of so many random moves, drawn from the tournament's seed, one for each block."""

    random_plies: Annotated[int, Field(ge=1, le=100)]
    """How many moves are drawn at random; the game needs an option ``opening``."""


class OpeningFile(ConfigModel):
    """Openings from a file of another program; the tournament keeps them, not the file's name."""

    file: Annotated[str, Field(min_length=1)]
    """Beside the tournament's file: lines of a Gomocup opening file (``.txt``), a game of Piskvork
    (``.psq``), or games in ``.sgf``; five in a row reads them."""


class RatingScale(ConfigModel):
    """The scale of the ratings if no entrant is an anchor."""

    mean: Annotated[float, Field(ge=-10_000, le=10_000)] = 0.0
    """The mean rating of all entrants."""


class StopRule(ConfigModel):
    """Ends the tournament as soon as it is clear whether A is better than B."""

    better: tuple[str, str]
    """The names of A and B."""
    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    """H0: A is this much stronger than B, in Elo."""
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 10.0
    """H1: A is this much stronger than B, in Elo; more than ``elo0``."""
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """How often H1 is accepted though A is only `elo0` stronger."""
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """How often H0 is accepted though A is `elo1` stronger."""


class Tournament(PlayedConfig):
    """A tournament; `config.load` and `config.build` make sound ones.

    The model alone checks each value only.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,59}$")]
    """Also the name of its directory."""
    game: GameSpec
    """The game with its options, as in ``chinese-checkers:size=3``."""
    seats: Annotated[int, Field(ge=2, le=6)] = 2
    """How many play each game; more than 2 with ``format: free-for-all`` only."""
    time_control: Annotated[str, BeforeValidator(normalize_clock)] | None = None
    """In cutechess notation, seconds: ``10+0.1``, or ``none``. Without it there is no clock among
    house bots, and ``move=60`` if anybody else takes part: an entrant that never answers would stop
    the tournament."""
    format: Format = "round-robin"
    """``round-robin``: all meet all; ``gauntlet``: the first ``challengers`` meet all
    others; ``swiss``: so many ``rounds`` of pairs with equal points; ``free-for-all``: groups of
    three to six."""
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """How many blocks each pairing or group plays; 1 unless `games` says otherwise."""
    games: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The same said in games."""
    balanced: bool = True
    """False lets the last block of a pairing end before every entrant has had every seat."""
    rounds: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Rounds of a Swiss tournament."""
    challengers: Annotated[int, Field(ge=1)] = 1
    """Gauntlet: so many entrants, the first of the list, play against all the others."""
    seed: Seed | None = None
    """Everything random follows from it: a whole number, or 64 hexadecimal digits. Without one 256
    bits are drawn as the tournament begins; their SHA-256 is published then, and they themselves
    when the tournament is over."""
    deals: Literal["block", "game"] = "block"
    """Whether the games of a block share one seed, or each has its own. In a game with hidden
    information, a bot that remembers the first game of a block would know what the others hide."""
    concurrency: Annotated[int | Literal["auto"], BeforeValidator(_number_or_auto)] = "auto"
    """Games at the same time; ``auto`` is as many as the machine plays without being late."""
    openings: list[OptionSet] | RandomPlies | OpeningFile | None = None
    """Options that are added to the game's, a set for each block in turn; or random moves; or the
    openings in a file."""
    entrants: Annotated[list[Entrant], Field(min_length=2, max_length=MAX_ENTRANTS)]
    """The 2 to 64 entrants."""
    ratings: RatingScale = RatingScale()
    """The scale of the ratings."""
    claims: list[Annotated[str, AfterValidator(_validate_claim), Field(max_length=200)]] = Field(
        default_factory=list, max_length=64
    )
    """Sentences that the results confirm or not, such as ``Ada is better than Bob``."""
    stop: StopRule | None = None
    """A sequential test that ends the tournament early."""
    limits: EntrantLimits = EntrantLimits()
    """For every entrant that has none of its own."""
    rated: bool = False
    """Whether the rating list of the server counts the games."""
    comments: Literal["after", "spectators"] = "after"
    """When spectators see what entrants say about their moves: ``after`` the game, or
    ``spectators`` for at once. The latter needs a tournament's own server, which entrants cannot
    watch."""
    spectator_delay: Annotated[float, Field(ge=0, le=3600)] = 0
    """How many seconds later spectators see each move of a game."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often one game is repeated after a failure of the infrastructure."""
    deadline: Annotated[AwareDatetime, BeforeValidator(_parse_moment)] | None = None
    """No game begins after this moment."""

    @field_validator("openings", mode="before")
    @classmethod
    def _openings(cls, value: Any) -> Any:
        if value is None or (isinstance(value, list) and value):
            return value
        if isinstance(value, Mapping):
            kind = OpeningFile if "file" in value else RandomPlies
            return kind.model_validate(value)
        raise ValueError("expected a list of sets of options, random-plies: N, or file: NAME")

    @property
    def base_seed(self) -> int | str:
        """The seed; 0 of a tournament that has not begun and whose seed is not drawn yet, where all
        that is asked is whether it can be played."""
        return 0 if self.seed is None else self.seed

    @property
    def commitment(self) -> str | None:
        """The SHA-256 of a seed that is secret while the tournament runs; None for a guessable
        one."""
        return seed_commitment(self.seed, "") if isinstance(self.seed, str) else None

    def is_past_deadline(self, at_ms: int) -> bool:
        """Return whether no game may begin at a time of day, in milliseconds since 1970."""
        return self.deadline is not None and at_ms >= self.deadline.timestamp() * 1000

    @property
    def clock(self) -> TimeControl:
        """The time control as the protocol has it."""
        usual = "none" if all(entrant.is_house_bot for entrant in self.entrants) else FOREIGN_CLOCK
        return TimeControl.parse(self.time_control or usual)

    @property
    def games_per_pairing(self) -> int:
        """How many games each pairing or group plays; in Swiss ones, each pairing of a round."""
        return self.games or (self.blocks or 1) * self.seats

    @property
    def blocks_per_pairing(self) -> int:
        """How many blocks each pairing or group plays, a last one that ends early included."""
        return -(-self.games_per_pairing // self.seats)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entrants' names, in the order of the tournament."""
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def anchors(self) -> dict[str, float]:
        """The known ratings."""
        known = ((entrant.name, entrant.anchor) for entrant in self.entrants)
        return {name: anchor for name, anchor in known if anchor is not None}

    @property
    def hash(self) -> str:
        """SHA-256 of all that says which games there are, in hexadecimal."""
        facts = {key: value for key, value in self.dump().items() if key not in CHANGEABLE_KEYS}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()
