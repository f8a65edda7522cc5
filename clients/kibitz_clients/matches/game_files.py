"""Matches from files: kibitz records, and formats of other programs that a game can read.

A match of another program becomes a record in memory. It has no clock and no hash, and has a result
only if the rules end it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from kibitz_games.core.game import Game
from kibitz_games.core.game_file import GameFile, GameFileError
from kibitz_games.core.position import Position
from kibitz_protocol.wire.recordfile import Record, RecordError, read_record, seed_commitment
from kibitz_protocol.wire.records import Footer, Moved, Player, Result, SeatResult, Setup

_NO_SEED = "0" * 64
_NO_TIME = "1970-01-01T00:00:00Z"
"""The start time in records from other programs, since their files contain none."""


def read_match(
    path: str | os.PathLike[str], games: Callable[[], Mapping[str, Game]], *, torn: bool = False
) -> Record:
    """Return the record in a file, converted if another program saved it.

    The file's extension determines the format; `games` is called only for foreign formats. Raises
    `RecordError` with path, line and what was expected there, and `OSError` like `open`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in {"", ".jsonl"}:
        for game in games().values():
            if read := game.file_formats.get(suffix):
                try:
                    return _record(game, read(Path(path).read_bytes()), Path(path).stem)
                except GameFileError as error:
                    raise RecordError(str(path), error.line, error.sentence) from None
    return read_record(path, torn=torn)


def _record(game: Game, file: GameFile, name: str) -> Record:
    options = game.Options.from_wire(file.options)
    seats = game.info.seats[0]
    names = [*file.players, *[""] * seats][:seats]
    play = Position(game, options, seats, deal=game.deal(options, seats, 0))
    setup = Setup(
        match=name[:64] or "match",
        game=game.info.name,
        rules_version=game.info.rules_version,
        options=dict(file.options),
        seats=[_player(seat, name) for seat, name in enumerate(names)],
        deal=dict(play.deal or {}),
        seed=_NO_SEED,
        commitment=seed_commitment(_NO_SEED, ""),
        started=_NO_TIME,
    )
    entries = []
    for ply, move in enumerate(file.moves):
        seat = play.to_act
        play.push_move(move)
        entries.append(Moved(seq=ply + 1, at_ms=0, ply=ply, seat=seat, action=move.to_wire()))
    return Record(setup, tuple(entries), _footer(play), "")


def _player(seat: int, name: str) -> Player:
    return Player(player=f"p{seat + 1}", name=name or f"Player {seat + 1}", kind="bot")


def _footer(play: Position) -> Footer | None:
    outcome = play.outcome
    if outcome is None:
        return None
    ends = zip(outcome.ranks, outcome.scores, strict=True)
    seats = [SeatResult(rank=rank, score=score) for rank, score in ends]
    plies = len(play.history)
    return Footer(
        result=Result(seats=seats, cause="rules", reason=outcome.reason, plies=plies), hash=""
    )
