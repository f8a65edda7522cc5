"""The configuration of a standing ladder: the game, the house bots, the pauses.

    name: evening
    game: five-in-a-row:size=10
    time-control: 10+0.1
    house:
      - {bot: five-in-a-row/random, rating: 1000}
      - {bot: five-in-a-row/greedy}
    webhook: http://127.0.0.1:9000/results

A ladder plays one game, because ratings of several games do not compare; other games have ladders
of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from kibitz_arena import config
from kibitz_arena.config_error import ConfigError, ConfigProblem
from kibitz_arena.tournament import (
    ConfigModel,
    GameSpec,
    OptionSet,
    PlayedConfig,
    normalize_clock,
)
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.values import Personality

MAX_PLACES: Final = 64
"""As many as a lobby has seats."""
MAX_PATIENCE: Final = 1.5
"""The longest wait for a better opponent, in seconds."""


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected an address like https://example.org/results")
    return text


class HouseEntrant(ConfigModel):
    """A house bot of the server that is always there."""

    bot: Personality
    """Which one, as ``kibitz bot list`` lists it."""
    rating: Annotated[float, Field(ge=-10_000, le=10_000)] | None = None
    """The rating that it is known to have: an anchor, which fixes the scale."""


class Pause(ConfigModel):
    """When an entrant that loses by its own failure is given no more games for a while."""

    after: Annotated[int, Field(ge=1, le=100)] = 3
    """So many games in a row that it lost by a crash, an illegal answer or by going away."""
    minutes: Annotated[float, Field(gt=0, le=1440)] = 5.0
    """For how long at first; twice as long each time, until it has ended a game without."""


class Ladder(PlayedConfig):
    """A standing ladder; `load` makes a sound one. The model alone checks each value only."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    """The name for ``kibitz connect --ladder``; also the name of its directory."""
    seats: Annotated[int, Field(ge=2, le=6)] = 2
    """How many play each game."""
    time_control: Annotated[str, BeforeValidator(normalize_clock)] = "none"
    """In cutechess notation, seconds: ``10+0.1``."""
    openings: list[OptionSet] = Field(default_factory=list, max_length=1000)
    """Options that are added to the game's, a set in turn each time that the same players have
    had every seat."""
    house: list[HouseEntrant] = Field(default_factory=list, max_length=16)
    """House bots, which play an entrant if no other entrant is free or as near."""
    places: Annotated[int, Field(ge=2, le=MAX_PLACES)] = 32
    """How many bots and people may be there at the same time."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 8
    """Games at the same time."""
    patience: Annotated[float, Field(ge=0, le=MAX_PATIENCE)] = 0.5
    """How many seconds an entrant waits for a nearer opponent, or one that it has met less."""
    spread: Annotated[float, Field(gt=0, le=10_000)] = 100.0
    """How many points of rating further away an opponent may be for having been met once less."""
    mean: Annotated[float, Field(ge=-10_000, le=10_000)] = 1500.0
    """The mean rating if no house bot is an anchor."""
    pause: Pause = Pause()
    """The rule for pausing entrants that lose by failing."""
    rated: bool = False
    """Whether the server's rating list counts the games as well."""
    webhook: Annotated[str, AfterValidator(_web_address), Field(max_length=1000)] | None = None
    """Each result is sent there."""

    @property
    def anchors(self) -> dict[str, float]:
        """The known ratings, by entrant."""
        return {bot.bot: bot.rating for bot in self.house if bot.rating is not None}

    @property
    def lobby_name(self) -> str:
        """The name of its lobby, by which bots find it."""
        return lobby_name(self.name)

    def item(self, block: int = 0, seed: int | str | None = None) -> ProgrammeItem:
        """Return what a game is whose players have had every seat `block` times before."""
        overlay = self.openings[block % len(self.openings)] if self.openings else {}
        return ProgrammeItem(
            game=self.game.name,
            options={**self.game.options, **overlay},
            seats=self.seats,
            time_control=TimeControl.parse(self.time_control),
            seed=seed,
        )


def lobby_name(ladder: str) -> str:
    """Return the name of the lobby of a ladder."""
    return f"ladder {ladder}"


_PARTS: Final[Mapping[str, type[ConfigModel]]] = {
    "game": GameSpec,
    "house": HouseEntrant,
    "pause": Pause,
}


def load(text: str, name: str, *, game_of: Callable[[str], Game] = registry.get) -> Ladder:
    """Read the YAML `text` of a ladder; `name` is the file's, for errors.

    `game_of` finds the rules, which check the options. Raises `ConfigError`, which names line and
    path of everything that is wrong.
    """
    document = config.read_document(text, name)
    lines = config.plain_lines(document.lines)
    ladder = config.validated(Ladder, document.value, name, lines, _PARTS)
    ladder, game, flaws = config.resolve_game(ladder, document.value, game_of)
    if game is not None:
        options, openings = ladder.game.options, ladder.openings
        flaws += config.game_problems(game, ladder.seats, options, openings)
    flaws += _problems(ladder)
    if flaws:
        raise ConfigError(name, flaws, lines)
    return ladder


def _problems(ladder: Ladder) -> Iterator[ConfigProblem]:
    """Yield what does not fit together."""
    bots = [house_bot.bot for house_bot in ladder.house]
    for index, bot in enumerate(bots):
        if bot.partition("/")[0] != ladder.game.name:
            yield ConfigProblem(
                ("house", index, "bot"),
                f"expected a house bot of {ladder.game.name!r}, not {bot!r}",
            )
        if bot in bots[:index]:
            yield ConfigProblem(("house", index, "bot"), f"{bot!r} is there twice")
    if ladder.places + len(bots) > MAX_PLACES:
        yield ConfigProblem(
            ("places",),
            f"expected at most {MAX_PLACES - len(bots)} beside {len(bots)} house bots, found"
            f" {ladder.places}",
        )
    clock = TimeControl.parse(ladder.time_control)
    if clock.flaw is not None:
        yield ConfigProblem(("time_control",), clock.flaw)
