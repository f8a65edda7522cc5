"""The configuration of a standing ladder: game, house bots, pauses.

    name: evening
    game: five-in-a-row:size=10
    time-control: 10+0.1
    house:
      - {bot: five-in-a-row/random, rating: 1000}
      - {bot: five-in-a-row/greedy}
    webhook: http://127.0.0.1:9000/results

A ladder plays one game, because ratings are not comparable between games; use a separate ladder for
each game.
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
"""The maximum number of seats of a lobby."""
MAX_PATIENCE: Final = 1.5
"""The longest wait for a better opponent, in seconds."""


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected a URL like https://example.org/results")
    return text


class HouseEntrant(ConfigModel):
    """A permanent house bot of the server."""

    bot: Personality
    """The bot's name in ``kibitz bot list``."""
    rating: Annotated[float, Field(ge=-10_000, le=10_000)] | None = None
    """A known rating, which makes the bot an anchor: it fixes the scale of the ratings."""


class Pause(ConfigModel):
    """The rule for pausing entrants that repeatedly lose by their own failure."""

    after: Annotated[int, Field(ge=1, le=100)] = 3
    """An entrant is paused after this many consecutive losses by crashing, illegal moves or
    leaving."""
    minutes: Annotated[float, Field(gt=0, le=1440)] = 5.0
    """The length of the first pause; it doubles each time until the entrant ends a game without
    failing."""


class Ladder(PlayedConfig):
    """A standing ladder. The model checks only single values; use `load` for full validation."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    """The name for ``kibitz connect --ladder``; also the name of its directory."""
    seats: Annotated[int, Field(ge=2, le=6)] = 2
    """The number of players per game."""
    time_control: Annotated[str, BeforeValidator(normalize_clock)] = "none"
    """The clock in cutechess notation, in seconds: ``10+0.1``."""
    openings: list[OptionSet] = Field(default_factory=list, max_length=1000)
    """Sets of additional game options. A group of players moves to the next set once all of them
    have had every seat."""
    house: list[HouseEntrant] = Field(default_factory=list, max_length=16)
    """House bots, which play if no comparable opponent is free."""
    places: Annotated[int, Field(ge=2, le=MAX_PLACES)] = 32
    """The maximum number of bots and people in the lobby."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 8
    """The maximum number of concurrent games."""
    patience: Annotated[float, Field(ge=0, le=MAX_PATIENCE)] = 0.5
    """How long an entrant waits for an opponent closer in rating, or one it has met less often, in
    seconds."""
    spread: Annotated[float, Field(gt=0, le=10_000)] = 100.0
    """The rating difference that counts as much as one additional meeting."""
    mean: Annotated[float, Field(ge=-10_000, le=10_000)] = 1500.0
    """The mean rating if no house bot is an anchor."""
    pause: Pause = Pause()
    """The rule for pausing failing entrants."""
    rated: bool = False
    """Whether the games also count for the server's rating list."""
    webhook: Annotated[str, AfterValidator(_web_address), Field(max_length=1000)] | None = None
    """The URL that receives each result."""

    @property
    def anchors(self) -> dict[str, float]:
        """The anchored ratings by entrant."""
        return {bot.bot: bot.rating for bot in self.house if bot.rating is not None}

    @property
    def lobby_name(self) -> str:
        """The name of the ladder's lobby, by which bots find it."""
        return lobby_name(self.name)

    def item(self, block: int = 0, seed: int | str | None = None) -> ProgrammeItem:
        """Return the programme item for a game whose players have completed `block` blocks."""
        overlay = self.openings[block % len(self.openings)] if self.openings else {}
        return ProgrammeItem(
            game=self.game.name,
            options={**self.game.options, **overlay},
            seats=self.seats,
            time_control=TimeControl.parse(self.time_control),
            seed=seed,
        )


def lobby_name(ladder: str) -> str:
    """Return the lobby name for a ladder."""
    return f"ladder {ladder}"


_PARTS: Final[Mapping[str, type[ConfigModel]]] = {
    "game": GameSpec,
    "house": HouseEntrant,
    "pause": Pause,
}


def load(text: str, name: str, *, game_of: Callable[[str], Game] = registry.get) -> Ladder:
    """Parse the YAML `text` of a ladder; errors name the file `name`.

    `game_of` looks up the game, which checks the options. Raises `ConfigError` with the line and
    path of every problem.
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
    """Yield inconsistencies between values."""
    bots = [house_bot.bot for house_bot in ladder.house]
    for index, bot in enumerate(bots):
        if bot.partition("/")[0] != ladder.game.name:
            yield ConfigProblem(
                ("house", index, "bot"),
                f"expected a house bot of {ladder.game.name!r}, not {bot!r}",
            )
        if bot in bots[:index]:
            yield ConfigProblem(("house", index, "bot"), f"duplicate house bot {bot!r}")
    if ladder.places + len(bots) > MAX_PLACES:
        yield ConfigProblem(
            ("places",),
            f"expected at most {MAX_PLACES - len(bots)} besides {len(bots)} house bots, found"
            f" {ladder.places}",
        )
    clock = TimeControl.parse(ladder.time_control)
    if clock.flaw is not None:
        yield ConfigProblem(("time_control",), clock.flaw)
