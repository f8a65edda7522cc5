"""Reads the lines of a log and replays them; an entry is one line of compact JSON.

The database and the record file contain the same lines. The hash chain covers them from the setup's
line to the last entry's line, and the footer of a finished record has the last link. So a record
can be compared with the database byte by byte. `codec.encode` writes a line, and
`kibitz_protocol.wire.recordfile` writes records from lines.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from kibitz_games.core.game import Game
from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash, footer_hash, seed_commitment
from kibitz_protocol.wire.records import ENTRY, Entry, Footer, Setup
from kibitz_server.match.state import BrokenLog, MatchState


def read_setup(data: bytes) -> Setup:
    """Parse the first line; raise `BrokenLog` if it is invalid."""
    try:
        return Setup.model_validate_json(data)
    except ValidationError as error:
        raise _broken("setup", error) from None


def read_entry(data: bytes) -> Entry:
    """Parse an entry's line; raise `BrokenLog` if it is invalid."""
    try:
        return ENTRY.validate_json(data)
    except ValidationError as error:
        raise _broken("entry", error) from None


def restore(game: Game, lines: Iterable[bytes]) -> MatchState:
    """Restore a match from its lines, which may be those of a finished record.

    Raises `BrokenLog` if a line is invalid, an entry is missing or illegal, the seed does not match
    its commitment, or the footer does not match the lines.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise BrokenLog("expected a setup, found no lines")
    setup = read_setup(first)
    _check_seed(setup)
    link = chain_hash(EMPTY_CHAIN, first)
    entries: list[Entry] = []
    footer: Footer | None = None
    for data in rest:
        if footer is not None:
            raise BrokenLog("expected nothing after the footer")
        footer = _footer(data)
        if footer is None:
            entries.append(read_entry(data))
            link = chain_hash(link, data)
    match = MatchState.restore(game, setup, entries)
    if footer is not None:
        _check_footer(footer, match, footer_hash(link, data, footer.hash))
    return match


def _footer(data: bytes) -> Footer | None:
    if not data.startswith(b'{"kind":"end"'):
        return None
    try:
        return Footer.model_validate_json(data)
    except ValidationError as error:
        raise _broken("footer", error) from None


def _check_seed(setup: Setup) -> None:
    if seed_commitment(setup.seed, setup.nonce) != setup.commitment:
        raise BrokenLog(f"seed {setup.seed!r} does not match commitment {setup.commitment!r}")


def _check_footer(footer: Footer, match: MatchState, expected: str) -> None:
    if footer.result != match.result:
        raise BrokenLog("the footer's result differs from the result of the entries")
    if footer.hash != expected:
        raise BrokenLog(
            f"the footer's hash {footer.hash!r} differs from the last hash of the chain"
        )


def _broken(part: str, error: ValidationError) -> BrokenLog:
    return BrokenLog(first_problem(error, part))
