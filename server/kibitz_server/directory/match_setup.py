"""The setup of a match that a lobby begins, and the result of a match that cannot be played."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from kibitz_games.core.game import Game, Model
from kibitz_protocol.wire.recordfile import seed_commitment
from kibitz_protocol.wire.records import (
    SCHEMA,
    Cause,
    Engine,
    Origin,
    Player,
    Result,
    SeatResult,
    Setup,
)
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.values import Fields, Options, derive_seed
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.lobby.state import LobbyState
from kibitz_server.match.state import read_options

DAMAGED_LOG = "its log is damaged"
"""The reason in the result of a match that was set aside."""
_OPTIONS: TypeAdapter[Options] = TypeAdapter(Options)
_DEAL: TypeAdapter[Fields] = TypeAdapter(Fields)


def match_setup(
    lobby: LobbyState, begin: BeginMatch, game: Game, *, rated: list[str] | None, server: str
) -> Setup:
    """Return the setup of a match. The starting position follows from the planned seed.

    `rated` are the players' identities on the rating list, and `server` is the server's name. This
    validates the game's options; the lobby has checked the rest. Raises `ValidationError`.
    """
    planned, settings, start = begin.planned, lobby.settings, lobby.opened.start
    item = planned.item
    if start is not None:
        game = game.at_version(start.rules_version)
    options, dumped = _options_of(game, to_json(item.options))
    # What happens after a branch is drawn from a new seed, because that of the origin is public.
    deal = game.deal(options, item.seats, planned.seed) if start is None else start.deal
    seed = f"{planned.seed:064x}"
    # The lobby's own seed is never published, so players cannot compute the nonce in advance.
    nonce = f"{derive_seed(lobby.opened.seed, 'nonce', begin.match):064x}"
    values = {
        "schema_": SCHEMA,
        "match": begin.match,
        "lobby": lobby.id,
        "number": planned.number,
        "block": planned.block,
        "tag": planned.tag,
        "rated": rated,
        "game": item.game,
        "rules_version": game.info.rules_version,
        "options": dumped,
        "seats": list(planned.players),
        "engines": _engines(lobby, planned.players),
        "deal": _DEAL.validate_python(dict(deal)) if deal else {},
        "branch": _origin(lobby),
        "seed": seed,
        "nonce": nonce,
        "commitment": seed_commitment(seed, nonce),
        "time_control": item.time_control,
        "conduct": settings.conduct,
        "lag": settings.lag,
        "spectating": settings.spectating,
        "started": utc_now(),
        "server": server,
    }
    return construct(Setup, values)


def _origin(lobby: LobbyState) -> Origin | None:
    branch, start = lobby.settings.branch, lobby.opened.start
    if branch is None or start is None:
        return None
    return Origin(match=branch.match, ply=branch.ply, seed=start.seed)


@lru_cache(maxsize=256)  # all matches share it, and no code changes it
def _options_of(game: Game, text: bytes) -> tuple[Model, Options]:
    """Return a match's options, parsed from JSON and completed, and their wire form."""
    options = read_options(game, from_json(text))
    return options, _OPTIONS.validate_python(options.to_wire())


def _engines(lobby: LobbyState, players: Sequence[Player]) -> list[Engine | None] | None:
    """Return, for each player, the name of its engine, or None if unknown."""
    members = [lobby.seats.members.get(player.player) for player in players]
    engines = [None if member is None else member.capabilities.engine for member in members]
    return engines if any(engines) else None


def aborted_result(seats: int, reason: str = "the match could not start") -> Result:
    """Return the result of a match that the server could not play."""
    return Result(
        seats=[SeatResult(rank=1, score=0.0) for _ in range(seats)],
        cause=Cause.INFRASTRUCTURE,
        reason=reason,
        plies=0,
    )


def utc_now() -> str:
    """Return the current UTC time in ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
