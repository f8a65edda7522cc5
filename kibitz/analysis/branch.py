"""Continues a match from one of its plies with other bots, to see how they would have done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kibitz.analysis.continuation import faults, play_on
from kibitz.analysis.seated_bot import SeatedBot, prepare
from kibitz_bots.loading import load
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import Entry, Player, Result
from kibitz_protocol.wire.shares import share_interval
from kibitz_server.match.sent_digest import digests_of
from kibitz_server.match.state import MatchState


@dataclass(frozen=True, kw_only=True)
class BranchPlan:
    """The settings of games to play from one ply of a match."""

    ply: int
    """The games start after this many plies of the match."""
    bots: Mapping[int, str]
    """The bot in each seat, as on the command line: ``game/name`` or a Python file."""
    seat: int
    """The seat whose results count."""
    games: int
    ms: int
    """The time budget of each turn, in milliseconds."""
    seed: int = 0
    """The same seed gives the same games if the bots' play does not depend on time."""


@dataclass
class BranchOutcome:
    """The outcome for one seat; `scores` are from 0 to 1. A game in which the seat itself failed is
    a loss.
    """

    recorded: Result | None
    """The result of the match itself, None if it had not ended."""
    scores: list[float] = field(default_factory=list)
    """The scores of games in which no other seat failed; the other games are inconclusive."""
    ranks: Counter[int] = field(default_factory=Counter)
    """The seat's ranks in the same games."""
    faults: dict[int, Counter[str]] = field(default_factory=dict)
    """The number of failures by seat and cause, without seats that never failed."""
    lines: set[str] = field(default_factory=set)
    """The distinct games played."""

    @property
    def mean(self) -> float:
        """The seat's mean score; raises `ZeroDivisionError` if `scores` is empty."""
        return sum(self.scores) / len(self.scores)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the mean, assuming independent games."""
        return share_interval(self.mean, len(self.scores))


def branch(
    start: MatchState,
    plan: BranchPlan,
    *,
    record: Record | None = None,
    records: Path | None = None,
    on_game: Callable[[int, Result], object] | None = None,
) -> BranchOutcome:
    """Play the games of a plan from `start` one by one; return the outcome.

    If the match's `record` is given, each game is recorded in the folder `records`, starting with
    the entries of the match. Raises `SpecError` if a bot does not exist and `BotFailedError` if one
    does not start, both `ValueError`.
    """
    factories = {seat: load(spec) for seat, spec in plan.bots.items()}
    for factory in factories.values():
        prepare(factory(), start)
    finished = None if record is None else record.footer
    outcome = BranchOutcome(None if finished is None else finished.result)
    for number in range(1, plan.games + 1):
        match = start.copy()
        match_id = f"{start.setup.match}-{plan.ply}-{plan.seed}-{number}"
        bots = {
            seat: SeatedBot(factory(), match, seat, plan.ms, match_id)
            for seat, factory in factories.items()
            if match.still_plays(seat)
        }
        result, entries = play_on(match, bots)
        _count(outcome, plan.seat, result, entries)
        if record is not None and records is not None:
            _write(records / f"{match_id}.jsonl", record, plan, [start, match], entries)
        if on_game is not None:
            on_game(number, result)
    return outcome


def _count(outcome: BranchOutcome, seat: int, result: Result, entries: Sequence[Entry]) -> None:
    failed = faults(entries)
    for fault in failed:
        outcome.faults.setdefault(fault.seat, Counter())[fault.cause] += 1
    if all(fault.seat == seat for fault in failed):
        outcome.scores.append(result.seats[seat].score)
        outcome.ranks[result.seats[seat].rank] += 1
    moves = (str(getattr(entry, "action", entry.kind)) for entry in entries)
    outcome.lines.add("/".join(moves))


def _write(
    path: Path,
    record: Record,
    plan: BranchPlan,
    matches: Sequence[MatchState],
    entries: Sequence[Entry],
) -> None:
    """Write the record of one game; a replaced player's name includes the bot's."""
    start, end = matches
    seats = [
        Player(
            player=who.player,
            name=f"{who.name}, from ply {plan.ply} {plan.bots[seat]}"
            if seat in plan.bots
            else who.name,
            kind=who.kind,
        )
        for seat, who in enumerate(start.players)
    ]
    setup = record.setup.model_copy(update={"seats": seats, "match": path.stem[:32], "rated": None})
    whole = [*record.entries[: start.seq], *entries]
    sent = [*digests_of(start.game, setup, whole)] or None
    write_record(path, setup, whole, end.result, sent)


def missing_seats(match: MatchState, given: Mapping[int, str]) -> list[int]:
    """Return the seats that are still playing and have no bot in `given`."""
    return [s for s in range(len(match.players)) if s not in given and match.still_plays(s)]


def plan_seats(match: MatchState, seat: int, bot: str, others: Sequence[str]) -> dict[int, str]:
    """Return the bot of each seat: `bot` in `seat`, and `others` in the other seats in order.

    If `others` has a single bot, it plays all the other seats. Raises `ValueError` for a wrong
    number of bots.
    """
    rest = missing_seats(match, {seat: bot})
    if len(others) == 1:
        others = [*others] * len(rest)
    if len(others) != len(rest):
        names = ", ".join(f"{vacant + 1} ({match.players[vacant].name})" for vacant in rest)
        raise ValueError(f"expected bots for seat {names}: pass --others once, or once per seat")
    return {seat: bot, **dict(zip(rest, others, strict=True))}
