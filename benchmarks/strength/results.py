"""Results that are kept of the cases: a line of JSON for each in `results.jsonl`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from kibitz.text import result_tables
from kibitz_arena import claims
from kibitz_arena.claims import CheckedClaim
from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting
from kibitz_arena.results import EntrantStanding, Results, TournamentInfo
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.recordfile import read_record
from kibitz_protocol.wire.records import Cause, Flagged, Moved
from kibitz_protocol.wire.values import Tolerant

RESULTS = Path(__file__).with_name("results.jsonl")
"""The last results, by the names of the tournaments."""
FAULTS = result_tables.ABNORMAL_CAUSES | {Cause.TIME, Cause.ILLEGAL}
"""Causes for which a working bot never drops out."""


class PlayerResult(Tolerant):
    """One entrant. `score` is its share of all points, 0 to 1, with its 95% interval."""

    name: str
    what: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    mean_score: float = Field(description="in the points of the game itself")
    causes: dict[Cause, int] = Field(description="how often it dropped out, by cause")
    flags: int = Field(description="how often its time ran out, whatever the game makes of that")
    p99_ms: int = Field(description="99 of 100 of its moves took at most so long")


class CaseResult(Tolerant):
    """The result of a tournament. Columns of `crosstable` are in the order of `players`."""

    event: TournamentInfo
    games: int
    claims: list[CheckedClaim]
    players: list[PlayerResult]
    crosstable: list[list[str | None]] = Field(description="won-drawn-lost, row against column")

    @classmethod
    def of(cls, results: Results, records: Path) -> CaseResult:
        """Return an event's results for saving; paths of records are relative to `records`."""
        times = MoveTimes.of(results, records)
        table = results.crosstable
        return cls(
            event=results.event,
            games=results.played,
            claims=results.claims,
            players=[_player(results, line, times) for line in results.standings],
            crosstable=[
                [f"{pair.wins}-{pair.draws}-{pair.losses}" if pair else None for pair in row]
                for row in table
            ],
        )

    @property
    def well(self) -> bool:
        """Whether nobody dropped out for a reason that is no part of play, or was late."""
        return not any(player.flags or FAULTS & player.causes.keys() for player in self.players)

    @property
    def holds(self) -> bool:
        """Whether all that was claimed holds."""
        return all(claim.holds for claim in self.claims)

    def faults(self) -> str:
        """Say who dropped out or was late: ``Ada 2 crashed, Bob 1 flag``, or ``none``."""
        parts = [
            f"{player.name} {count} {formatting.CAUSE_LABELS[cause]}"
            for player in self.players
            for cause, count in player.causes.items()
            if cause in FAULTS
        ]
        parts += [f"{player.name} {player.flags} late" for player in self.players if player.flags]
        return ", ".join(parts) or "none"

    def player(self, name: str) -> PlayerResult:
        """Return an entrant."""
        return next(player for player in self.players if player.name == name)

    def of_event(self, event: Tournament) -> bool:
        """Whether this is what `event` has shown, and not one that it has been since."""
        return self.event.hash == event.hash and [c.claim for c in self.claims] == event.claims


@dataclass
class MoveTimes:
    """How long moves took, in milliseconds, and how often time ran out, by name."""

    moves: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    flags: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, results: Results, records: Path) -> MoveTimes:
        """Read the records of an event's games."""
        times = cls()
        for game in results.games:
            if game.record is not None:
                times.read(game, records / game.record)
        return times

    def read(self, game: GameLine, path: Path) -> None:
        """Add the record of one game."""
        for entry in read_record(path).entries:
            if isinstance(entry, Moved):
                own = self.moves[game.players[entry.seat]]
                own.append(max(0, entry.elapsed_ms - entry.allowance_ms))
            elif isinstance(entry, Flagged):
                self.flags[game.players[entry.seat]] += 1

    def p99_ms(self, name: str) -> int:
        """Return what 99 of 100 moves did not exceed."""
        ranked = sorted(self.moves[name]) or [0]
        return ranked[-(-99 * len(ranked) // 100) - 1]


def _player(results: Results, standing: EntrantStanding, times: MoveTimes) -> PlayerResult:
    seats = [
        (game, game.players.index(standing.name))
        for game in results.games
        if standing.name in game.players
    ]
    shares = [game.share(seat) for game, seat in seats]
    low, high = claims.mean_interval(shares, share=True)
    if low is None or high is None or standing.mean_score is None:
        raise ValueError(f"{results.event.name}: {standing.name} has played no game")
    return PlayerResult(
        name=standing.name,
        what=standing.what,
        games=standing.games,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        score=sum(shares) / len(shares),
        low=low,
        high=high,
        mean_score=standing.mean_score,
        causes=dict(sorted(standing.causes.items())),
        flags=times.flags[standing.name],
        p99_ms=times.p99_ms(standing.name),
    )


def load(path: Path = RESULTS) -> dict[str, CaseResult]:
    """Return the results that were kept, by name; none where there is no file.

    Raises `pydantic.ValidationError` for a line that is no result.
    """
    if not path.exists():
        return {}
    loaded = map(CaseResult.model_validate_json, path.read_text(encoding="utf-8").splitlines())
    return {result.event.name: result for result in loaded}


def save(result: CaseResult, path: Path = RESULTS) -> None:
    """Save a result in place of the one with the same name; equal results make equal files."""
    kept = load(path) | {result.event.name: result}
    lines = [kept[name].model_dump_json() + "\n" for name in sorted(kept)]
    path.write_text("".join(lines), encoding="utf-8")
