"""Checkpoints: what a log has led to up to some entry, so that a start need not fold all of it.

A checkpoint is a cache and never the truth: the log is. It says which entry it was made after,
the chain's link there, and which code made it. Whoever restores a match from it goes on from
that link; where anything is not as expected, `read` finds nothing and the whole log is folded
instead. For every log and every entry in it,

    restore(whole log) == resume(checkpoint after the entry, the entries that follow)

byte for byte, which `tests/server/test_checkpoint.py` holds for every game.

    SHA-256 of the rest | zlib( one line of JSON, "\\n", the bytes of the game's state )

The digest finds damage, and the JSON is the program's own, so nothing in it is doubted further.
`code` stands for the sources of the rules and of the fold: with other sources the same entries
may lead to other values, and then no checkpoint of before is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from pydantic import TypeAdapter, ValidationError

from kibitz_games.api import Game, State
from kibitz_protocol.records import Entry, Setup
from kibitz_server.fold import BrokenLog, Kept
from kibitz_server.match import Match

FORMAT = 1
"""The layout of a checkpoint; one of another number is not read."""
DIGEST_BYTES = 32
LEVEL = 1
"""zlib's fastest: boards are mostly zeros, and the fifth of a record is as good as the sixth."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The JSON of a checkpoint."""

    format: int
    code: str
    match: str
    game: str
    rules_version: int
    dtype: str
    """The fields of the state's record, which its bytes are meaningless without."""
    link: str
    kept: Kept


_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that was read and belongs to this match and this code."""

    link: str
    """The chain's link at entry `kept.seq`."""
    kept: Kept
    state: State

    @property
    def seq(self) -> int:
        return self.kept.seq


def write(match: Match, link: str, code: str) -> bytes:
    """Return a checkpoint of a match whose log's chain has come to `link`."""
    info = match.game.info
    line = _Line(
        format=FORMAT,
        code=code,
        match=match.setup.match,
        game=info.name,
        rules_version=info.rules_version,
        dtype=_described(match.state),
        link=link,
        kept=match.kept(),
    )
    body = zlib.compress(_LINE.dump_json(line) + b"\n" + match.state.tobytes(), LEVEL)
    return sha256(body).digest() + body


def read(data: bytes, game: Game, setup: Setup, code: str) -> Checkpoint | None:
    """Return the checkpoint in `data`, None where it is damaged, of other code or another match."""
    digest, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if sha256(body).digest() != digest:
        return None
    try:
        text, _, state = zlib.decompress(body).partition(b"\n")
        line = _LINE.validate_json(text)
    except (zlib.error, ValidationError):
        return None  # of another format: what was written is as it was
    blank = game.start(game.Options.model_validate(setup.options), len(setup.seats), setup.deal)
    info = game.info
    given = (line.format, line.code, line.match, line.game, line.rules_version, line.dtype)
    wanted = (FORMAT, code, setup.match, info.name, info.rules_version, _described(blank))
    if given != wanted or len(state) != len(blank.tobytes()):
        return None
    return Checkpoint(line.link, line.kept, _filled(blank, state))


def resume(game: Game, setup: Setup, checkpoint: Checkpoint, entries: Sequence[Entry]) -> Match:
    """Return the match that `entries` lead to, the ones after the checkpoint.

    Raises `BrokenLog` where they are not.
    """
    if entries and entries[0].seq != checkpoint.seq + 1:
        raise BrokenLog(f"entry {entries[0].seq} does not follow entry {checkpoint.seq}")
    return Match.resume(game, setup, checkpoint.kept, checkpoint.state, entries)


def _described(state: State) -> str:
    return sha256(repr(state.dtype.descr).encode()).hexdigest()[:16]


def _filled(blank: State, data: bytes) -> State:
    """Return a record of the same type as `blank` with these bytes."""
    values = np.frombuffer(data, blank.dtype)[0]
    for name in blank.dtype.names or ():
        blank[name] = values[name]
    return blank.copy()
