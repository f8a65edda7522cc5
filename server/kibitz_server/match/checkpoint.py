"""Checkpoints: snapshots of a match, so that startup need not replay the whole log.

A checkpoint is only a cache; the log is authoritative. It contains the number of the last entry
that it covers, the chain's link there, and the digest of the code that made it. Restoring a match
from a checkpoint continues from that link. If anything in a checkpoint is unexpected, the whole log
is replayed instead. For every log and every entry in it,

    restore(whole log) == resume(checkpoint after the entry, the entries that follow)

byte for byte, as `tests/server/match/test_checkpoint.py` checks for every game. The format:

    SHA-256 of the rest | zlib( one line of JSON, "\\n", the bytes of the game's state )

The digest detects damage, and the JSON was written by this program, so it is not validated any
further. `code` is the digest of the source code of the rules and of `MatchState`. Other code may
compute other values from the same entries, so checkpoints made by other code are not used.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

import kibitz_games
import kibitz_protocol
import kibitz_server
from kibitz_games.core.game import Game, State, UnknownRules
from kibitz_protocol.wire.records import Entry, Setup
from kibitz_server.match.state import BrokenLog, MatchState, SavedState

CHECKPOINT_INTERVAL = 32
"""The number of entries between two checks of whether a match needs another checkpoint."""
FOLDED_AT_START = 20_000
"""The number of entries that startup may have to replay for all running matches together. Replaying
them takes a quarter of a second. The fewer matches are running, the longer a match must be to need
a checkpoint.
"""
FORMAT = 1
"""The version of the format; checkpoints with another version are ignored."""
DIGEST_BYTES = 32
ZLIB_LEVEL = 1
"""zlib's fastest level. Boards are mostly zeros, so higher levels hardly save more space."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The JSON of a checkpoint."""

    __pydantic_config__ = ConfigDict(defer_build=True)

    format: int
    code: str
    match: str
    game: str
    rules_version: int
    dtype: str
    """A digest of the fields of the state's dtype, which the bytes must match."""
    link: str
    saved: SavedState


_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A validated checkpoint of this match, made by this code."""

    link: str
    """The hash chain's link at entry `saved.seq`."""
    saved: SavedState
    state: State

    @property
    def seq(self) -> int:
        return self.saved.seq


def checkpoint_interval(matches: int) -> int:
    """Return how many entries after its checkpoint a match may have while `matches` are running."""
    return max(CHECKPOINT_INTERVAL, FOLDED_AT_START // max(1, matches))


def is_due(seq: int, checkpointed: int, interval: int) -> bool:
    """Return whether a match at entry `seq`, with a checkpoint at `checkpointed`, needs another.

    Without one, the match would have more than `interval` entries after its checkpoint at the next
    check.
    """
    return seq + CHECKPOINT_INTERVAL - checkpointed > interval


def next_checkpoint(match: str, seq: int) -> int:
    """Return the entry after `seq` at which to check whether a checkpoint is due.

    Each match has its own offset, so that matches that began together write their checkpoints at
    different times.
    """
    place = zlib.crc32(match.encode()) % CHECKPOINT_INTERVAL
    return seq + 1 + (place - seq - 1) % CHECKPOINT_INTERVAL


@functools.cache
def code_digest() -> str:
    """Return the digest of all code that computes a match from its log. Takes 5 ms, then cached."""
    total = sha256(np.__version__.encode())
    for package in (kibitz_protocol, kibitz_games, kibitz_server):
        for top in map(Path, package.__path__):
            for path in sorted(top.rglob("*.py")):
                name = path.relative_to(top).as_posix()
                total.update(b"%b\0%b\0" % (name.encode(), path.read_bytes()))
    return total.hexdigest()[:32]


class Checkpoints:
    """Writes and reads the checkpoints made by this code."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._blanks: dict[tuple[str, str], State] = {}
        """By game and dtype, a state to copy, because starting a game may take a millisecond."""

    def write(self, match: MatchState, link: str) -> bytes:
        """Return a checkpoint of a match; `link` is the current link of its log's hash chain."""
        info = match.game.info
        line = _Line(
            format=FORMAT,
            code=self._code,
            match=match.setup.match,
            game=info.name,
            rules_version=info.rules_version,
            dtype=_digest_of(match.game_state.dtype),
            link=link,
            saved=match.save(),
        )
        body = zlib.compress(_LINE.dump_json(line) + b"\n" + match.game_state.tobytes(), ZLIB_LEVEL)
        return sha256(body).digest() + body

    def read(self, data: bytes, game: Game, setup: Setup) -> Checkpoint | None:
        """Return the checkpoint in `data`.

        Returns None if it is damaged, was made by other code, or belongs to another match.
        """
        digest, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
        if sha256(body).digest() != digest:
            return None
        try:
            game = game.at_version(setup.rules_version)
            text, _, state = zlib.decompress(body).partition(b"\n")
            line = _LINE.validate_json(text)
        except UnknownRules:
            return None  # replaying the log reports the problem
        except (zlib.error, ValidationError):
            return None  # not damage, which the digest would have detected, but another format
        info = game.info
        given = (line.format, line.code, line.match, line.game, line.rules_version)
        if given != (FORMAT, self._code, setup.match, info.name, info.rules_version):
            return None
        kind = info.name, line.dtype
        if kind not in self._blanks:
            options = game.Options.from_wire(setup.options)
            blank = game.start(options, len(setup.seats), setup.deal)
            self._blanks[info.name, _digest_of(blank.dtype)] = blank
        if kind not in self._blanks or len(state) != self._blanks[kind].dtype.itemsize:
            return None
        return Checkpoint(line.link, line.saved, _fill(self._blanks[kind].copy(), state))


@functools.lru_cache(maxsize=256)  # describing a dtype is slow
def _digest_of(dtype: np.dtype[Any]) -> str:
    """Return a digest of a state's dtype."""
    return sha256(repr(dtype.descr).encode()).hexdigest()[:16]


def resume(
    game: Game, setup: Setup, checkpoint: Checkpoint, entries: Sequence[Entry]
) -> MatchState:
    """Return the match after `entries`, which must be those after the checkpoint.

    Raises `BrokenLog` if they are not.
    """
    if entries and entries[0].seq != checkpoint.seq + 1:
        raise BrokenLog(f"entry {entries[0].seq} does not follow entry {checkpoint.seq}")
    return MatchState.resume(game, setup, checkpoint.saved, checkpoint.state, entries)


def _fill(state: State, data: bytes) -> State:
    """Return `state` filled with these bytes."""
    values = np.frombuffer(data, state.dtype)
    home = state.base
    if isinstance(home, np.ndarray) and home.shape == (1,):
        home[:] = values
    else:
        for name in state.dtype.names or ():
            state[name] = values[0][name]
    return state
