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

A *block* is one game for every rotation of the seats, all with the same seed and opening, so that
seats and luck even out. `blocks` is the number of blocks per pairing, or per group if games have
more than two seats; `games` sets the number of games instead.

Error messages contain the line, the path, the value, and what was expected. List indices start at
0, as in paths in the server's responses.
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
"""The ways to start an entrant, or `remote`; each entrant has exactly one of these keys."""
FOREIGN_CLOCK: Final = "move=60"
"""The default clock of a tournament with entrants other than house bots."""
MAX_ENTRANTS: Final = 64
"""The maximum number of seats of a lobby."""
MAX_GAMES: Final = 1_000_000
"""The maximum number of games: larger tournaments take too long, and the schedule must fit in
memory."""
CHANGEABLE_KEYS: Final = frozenset(
    {"claims", "concurrency", "deadline", "ratings", "retries", "limits", "stop"}
)
"""Settings that may change when a tournament resumes, because they do not affect which games are
played."""
_SIZES: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class ConfigModel(Strict):
    """The base of configuration models; keys may be written with hyphens or underscores."""

    @model_validator(mode="before")
    @classmethod
    def _underscores(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {with_underscores(key): item for key, item in value.items()}


def with_underscores(key: Any) -> Any:
    return key.replace("-", "_") if isinstance(key, str) else key


def _split_command(value: Any) -> Any:
    """Split a command string as a shell would."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ValueError(f"expected a command: {error}") from None


def _parse_bytes(value: Any) -> Any:
    """Parse a size such as ``512M``; numbers are bytes."""
    if not isinstance(value, str):
        return value
    number, unit = value.strip().upper().removesuffix("B").removesuffix("I"), ""
    if number[-1:] in _SIZES:
        number, unit = number[:-1], number[-1:]
    if not number.isdecimal():
        raise ValueError("expected an amount of memory like 512M or 2G")
    return int(number) * _SIZES[unit]


def normalize_clock(value: Any) -> Any:
    """Return the canonical spelling of a time control."""
    if not isinstance(value, str | int | float):
        raise ValueError("expected a time control like 10+0.1, move=1, byo=60+3x10 or none")
    return str(TimeControl.parse(str(value)))


def _require_true(value: Any) -> Any:
    if value is True or value == "yes":
        return True
    raise ValueError("expected true; omit the key otherwise")


def _number_or_auto(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError("expected a number of concurrent games, or auto")


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
    raise ValueError("expected a time with a time zone, like 2030-05-31T18:00+02:00")


def _validate_options(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        raise ValueError("expected options with a number, a word, yes or no, or a list") from None


OptionSet: TypeAlias = Annotated[Options, WrapValidator(_validate_options)]
Command: TypeAlias = Annotated[list[str], BeforeValidator(_split_command), Field(min_length=1)]


class EntrantLimits(ConfigModel):
    """The limits of each process of an entrant; unlimited by default."""

    memory: Annotated[int, Field(ge=2**20), BeforeValidator(_parse_bytes)] | None = None
    """The memory in bytes, also written ``512M`` or ``2G``; rounded to MiB."""
    cpu: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    """CPU time in seconds. A bot's process runs for the whole tournament, a `stdio` program's for
    one game; a process that exceeds the limit is killed and restarted."""


class GameSpec(ConfigModel):
    """A game and its options."""

    name: GameName
    """The game's name in ``kibitz game list``."""
    options: OptionSet = Field(default_factory=dict)
    """The game's options; see ``kibitz game show NAME``."""


class PlayedConfig(ConfigModel):
    """A configuration with one game."""

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
        """Return JSON data from which an equal configuration can be built, without defaults."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Entrant(ConfigModel):
    """A player, with one of `bot`, `command`, `gomocup`, `stdio` and `remote`."""

    name: PlayerName
    """The entrant's unique name."""
    bot: Annotated[str, Field(min_length=1)] | None = None
    """A personality (``game/name``) or a bot file."""
    command: Command | None = None
    """A program that connects to the server itself: a list of arguments, or a string that is split
    as in a shell."""
    gomocup: Command | None = None
    """A Gomocup engine."""
    stdio: Command | None = None
    """A program that reads and writes JSON objects, one per line."""
    remote: Annotated[bool, BeforeValidator(_require_true)] | None = None
    """The entrant connects from elsewhere under its name and joins the tournament's lobby
    itself."""
    token_file: Annotated[str, Field(min_length=1)] | None = None
    """A file with the token of the entrant's account on the server; without it the entrant is a
    guest."""
    limits: EntrantLimits | None = None
    """Overrides the tournament's `limits`."""
    anchor: Annotated[float, Field(ge=-10_000, le=10_000)] | None = None
    """The known rating of this entrant, which fixes the scale."""
    seeding: Annotated[int, Field(ge=1)] | None = None
    """The seed position in the first round of a Swiss tournament, from 1; unseeded entrants are
    last."""

    @property
    def source(self) -> Source:
        """The entrant's key among `SOURCES`."""
        return next(source for source in SOURCES if getattr(self, source) is not None)

    @property
    def is_house_bot(self) -> bool:
        """Whether the entrant is one of kibitz's house bots."""
        return self.bot is not None and not self.bot.endswith(".py")

    @property
    def description(self) -> str:
        """A short description, such as ``bot chinese-checkers/greedy``."""
        if self.remote:
            return "remote"
        value = getattr(self, self.source)
        return f"{self.source} {value if isinstance(value, str) else shlex.join(value)}"


class RandomPlies(ConfigModel):
    """Random openings, drawn from the tournament's seed, one for each block."""

    random_plies: Annotated[int, Field(ge=1, le=100)]
    """The number of random moves; the game must have an option ``opening``."""


class OpeningFile(ConfigModel):
    """Openings from another program's file; the tournament stores them, not the file name."""

    file: Annotated[str, Field(min_length=1)]
    """A path relative to the tournament's file: a Gomocup opening file (``.txt``), a Piskvork game
    (``.psq``), or games in ``.sgf``. Only five in a row supports such files."""


class RatingScale(ConfigModel):
    """The scale of the ratings if no entrant is an anchor."""

    mean: Annotated[float, Field(ge=-10_000, le=10_000)] = 0.0
    """The mean rating of all entrants."""


class StopRule(ConfigModel):
    """A rule that ends the tournament once it is clear whether A is better than B."""

    better: tuple[str, str]
    """The names of A and B."""
    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    """H0: A is this much stronger than B, in Elo."""
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 10.0
    """H1: A is this much stronger than B, in Elo; more than ``elo0``."""
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """The probability of accepting H1 although A is only `elo0` stronger."""
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """The probability of accepting H0 although A is `elo1` stronger."""


class Tournament(PlayedConfig):
    """A tournament.

    The model checks only single values; use `config.load` or `config.build` for full validation.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,59}$")]
    """The name of the tournament and of its directory."""
    game: GameSpec
    """The game with its options, as in ``chinese-checkers:size=3``."""
    seats: Annotated[int, Field(ge=2, le=6)] = 2
    """The number of players per game; more than 2 only with ``format: free-for-all``."""
    time_control: Annotated[str, BeforeValidator(normalize_clock)] | None = None
    """The clock in cutechess notation, in seconds: ``10+0.1``, or ``none``. By default there is no
    clock if all entrants are house bots; otherwise it is ``move=60``, because an entrant that never
    answers would block the tournament."""
    format: Format = "round-robin"
    """``round-robin``: all play all; ``gauntlet``: the first ``challengers`` play all others;
    ``swiss``: ``rounds`` rounds of pairs with similar points; ``free-for-all``: groups of three to
    six."""
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The number of blocks per pairing or group; 1 by default unless `games` is set."""
    games: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The number of games per pairing or group, instead of `blocks`."""
    balanced: bool = True
    """False allows an incomplete last block, in which not every entrant has every seat."""
    rounds: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The number of rounds of a Swiss tournament."""
    challengers: Annotated[int, Field(ge=1)] = 1
    """The number of challengers in a gauntlet, taken from the start of the list; they play all
    others."""
    seed: Seed | None = None
    """The seed of all random choices: a whole number, or 64 hexadecimal digits. By default 256
    random bits are drawn at the start; their SHA-256 is published then, and the seed itself when
    the tournament is over."""
    deals: Literal["block", "game"] = "block"
    """Whether the games of a block share one seed or each game has its own. In a game with hidden
    information, a bot that remembers the first game of a block would know the hidden information of
    the others."""
    concurrency: Annotated[int | Literal["auto"], BeforeValidator(_number_or_auto)] = "auto"
    """The number of concurrent games; ``auto`` is the maximum that the machine handles without
    delays."""
    openings: list[OptionSet] | RandomPlies | OpeningFile | None = None
    """Sets of additional game options, used in turn for the blocks; or random moves; or an opening
    file."""
    entrants: Annotated[list[Entrant], Field(min_length=2, max_length=MAX_ENTRANTS)]
    """The 2 to 64 entrants."""
    ratings: RatingScale = RatingScale()
    """The scale of the ratings."""
    claims: list[Annotated[str, AfterValidator(_validate_claim), Field(max_length=200)]] = Field(
        default_factory=list, max_length=64
    )
    """Claims that are checked against the results, such as ``Ada is better than Bob``."""
    stop: StopRule | None = None
    """A sequential test that ends the tournament early."""
    limits: EntrantLimits = EntrantLimits()
    """The default limits for entrants."""
    rated: bool = False
    """Whether the games count for the server's rating list."""
    comments: Literal["after", "spectators"] = "after"
    """When spectators see the entrants' comments on their moves: ``after`` the game, or immediately
    with ``spectators``. The latter requires a private server, which entrants cannot watch."""
    spectator_delay: Annotated[float, Field(ge=0, le=3600)] = 0
    """The delay in seconds with which spectators see the moves of a game."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a game is replayed after infrastructure failures."""
    deadline: Annotated[AwareDatetime, BeforeValidator(_parse_moment)] | None = None
    """No game starts after this time."""

    @field_validator("openings", mode="before")
    @classmethod
    def _openings(cls, value: Any) -> Any:
        if value is None or (isinstance(value, list) and value):
            return value
        if isinstance(value, Mapping):
            kind = OpeningFile if "file" in value else RandomPlies
            return kind.model_validate(value)
        raise ValueError("expected a list of option sets, random-plies: N, or file: NAME")

    @property
    def base_seed(self) -> int | str:
        """The seed, or 0 before it is drawn; any seed suffices to check a configuration."""
        return 0 if self.seed is None else self.seed

    @property
    def commitment(self) -> str | None:
        """The SHA-256 of a seed that is secret during the tournament; None for a guessable seed."""
        return seed_commitment(self.seed, "") if isinstance(self.seed, str) else None

    def is_past_deadline(self, at_ms: int) -> bool:
        """Return whether the deadline has passed at a time in milliseconds since 1970."""
        return self.deadline is not None and at_ms >= self.deadline.timestamp() * 1000

    @property
    def clock(self) -> TimeControl:
        """The time control as a protocol model."""
        usual = "none" if all(entrant.is_house_bot for entrant in self.entrants) else FOREIGN_CLOCK
        return TimeControl.parse(self.time_control or usual)

    @property
    def games_per_pairing(self) -> int:
        """The number of games per pairing or group; in Swiss tournaments, per round."""
        return self.games or (self.blocks or 1) * self.seats

    @property
    def blocks_per_pairing(self) -> int:
        """The number of blocks per pairing or group, including an incomplete last one."""
        return -(-self.games_per_pairing // self.seats)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entrants' names, in the tournament's order."""
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def anchors(self) -> dict[str, float]:
        """The anchored ratings by entrant."""
        known = ((entrant.name, entrant.anchor) for entrant in self.entrants)
        return {name: anchor for name, anchor in known if anchor is not None}

    @property
    def hash(self) -> str:
        """The hexadecimal SHA-256 of all settings that determine the games."""
        facts = {key: value for key, value in self.dump().items() if key not in CHANGEABLE_KEYS}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()
