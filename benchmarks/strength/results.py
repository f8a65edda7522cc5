"""Stored results of the cases, one JSON line each in `results.jsonl`."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from kibitz.text import result_tables
from kibitz_arena import intervals
from kibitz_arena.claims import CheckedClaim
from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting
from kibitz_arena.results import EntrantStanding, Results, TournamentInfo
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.recordfile import read_record
from kibitz_protocol.wire.records import Cause, Flagged, Moved
from kibitz_protocol.wire.values import Tolerant

RESULTS = Path(__file__).with_name("results.jsonl")
"""The latest results, by tournament name."""
SOURCES = ("protocol", "games", "search", "server", "bots", "arena", "kibitz")
"""The folders of the repository that determine how the bots play."""
FAULTS = result_tables.ABNORMAL_CAUSES | {Cause.TIME, Cause.ILLEGAL}
"""The causes of dropping out that never apply to a working bot."""


class Measurement(Tolerant):
    """When an event was measured, and with which sources."""

    commit: str = Field(description="the last commit that changed the sources of the bots")
    date: str = Field(description="the day on which the event ended, in ISO 8601")
    seconds: float | None = Field(None, description="how long the event took, if recorded")
    stored_only: bool = Field(
        False,
        description="whether `commit` is the one that first stored the result; the commit at which"
        " it was measured is an earlier, unknown one",
    )


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
    mean_score: float = Field(description="in the game's own points")
    causes: dict[Cause, int] = Field(description="number of times that it dropped out, by cause")
    flags: int = Field(
        description="number of times that its time ran out, with or without consequences"
    )
    mean_ms: float | None = Field(None, description="mean time per move, if recorded")
    p99_ms: int = Field(description="99th percentile of its time per move")
    blocks: dict[float, int] | None = Field(
        None,
        description="the number of blocks with each sum of shares; None in results stored without"
        " blocks, whose intervals count every block as one game",
    )

    @property
    def time_limit(self) -> str | None:
        """The parameter ``time`` of a house bot: its limit in seconds per move."""
        parameters = self.what.partition(":")[2].split(",")
        return dict(part.partition("=")[::2] for part in parameters).get("time")


class CaseResult(Tolerant):
    """The result of a tournament. Columns of `crosstable` are in the order of `players`."""

    event: TournamentInfo
    measured: Measurement
    games: int
    claims: list[CheckedClaim]
    players: list[PlayerResult]
    crosstable: list[list[str | None]] = Field(description="won-drawn-lost, row against column")

    @classmethod
    def of(cls, results: Results, records: Path, measured: Measurement) -> CaseResult:
        """Return an event's results for saving; paths of records are relative to `records`."""
        times = MoveTimes.of(results, records)
        table = results.crosstable
        return cls(
            event=results.event,
            measured=measured,
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
        """Whether no bot was late or dropped out because of a fault."""
        return not any(player.flags or FAULTS & player.causes.keys() for player in self.players)

    @property
    def holds(self) -> bool:
        """Whether all claims hold."""
        return all(claim.holds for claim in self.claims)

    def faults(self) -> str:
        """Describe who dropped out or was late: ``Ada 2 crashed, Bob 1 flag``, or ``none``."""
        parts = [
            f"{player.name} {count} {formatting.CAUSE_LABELS[cause]}"
            for player in self.players
            for cause, count in player.causes.items()
            if cause in FAULTS
        ]
        parts += [f"{player.name} {player.flags} late" for player in self.players if player.flags]
        return ", ".join(parts) or "none"

    def player(self, name: str) -> PlayerResult:
        """Return the entrant with this name."""
        return next(player for player in self.players if player.name == name)

    def of_event(self, event: Tournament) -> bool:
        """Whether this result is from the current definition of `event`."""
        return self.event.hash == event.hash and [c.claim for c in self.claims] == event.claims


@dataclass
class MoveTimes:
    """Move times in milliseconds, and numbers of time losses, by entrant name."""

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

    def mean_ms(self, name: str) -> float:
        """Return the mean of move times, rounded to microseconds."""
        return round(statistics.fmean(self.moves[name] or [0]), 3)

    def p99_ms(self, name: str) -> int:
        """Return the 99th percentile of move times."""
        ranked = sorted(self.moves[name]) or [0]
        return ranked[-(-99 * len(ranked) // 100) - 1]


def _player(results: Results, standing: EntrantStanding, times: MoveTimes) -> PlayerResult:
    seats = [
        (game, game.players.index(standing.name))
        for game in results.games
        if standing.name in game.players
    ]
    blocks = intervals.by_block((game.block, game.share(seat)) for game, seat in seats)
    bounds = intervals.share_bounds(blocks)
    if bounds is None or standing.mean_score is None:
        raise ValueError(f"{results.event.name}: {standing.name} has played no games")
    return PlayerResult(
        name=standing.name,
        what=standing.what,
        games=standing.games,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        score=intervals.mean_of(blocks),
        low=bounds[0],
        high=bounds[1],
        mean_score=standing.mean_score,
        causes=dict(sorted(standing.causes.items())),
        flags=times.flags[standing.name],
        mean_ms=times.mean_ms(standing.name),
        p99_ms=times.p99_ms(standing.name),
        blocks=dict(sorted(Counter(round(block.total, 6) for block in blocks).items())),
    )


def load(path: Path = RESULTS) -> dict[str, CaseResult]:
    """Return the stored results, by name; empty if there is no file.

    Raises `pydantic.ValidationError` for an invalid line.
    """
    if not path.exists():
        return {}
    loaded = map(CaseResult.model_validate_json, path.read_text(encoding="utf-8").splitlines())
    return {result.event.name: result for result in loaded}


def save(result: CaseResult, path: Path = RESULTS) -> None:
    """Save a result, replacing the one with the same name; equal results give equal files."""
    kept = load(path) | {result.event.name: result}
    lines = [kept[name].model_dump_json() + "\n" for name in sorted(kept)]
    path.write_text("".join(lines), encoding="utf-8")
