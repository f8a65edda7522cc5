"""Games that go on from one ply of a match with other players: would they have held it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kibitz.analysis.continuation import faults, play_on
from kibitz.analysis.seated_bot import SeatedBot, prepare
from kibitz_arena.claims import mean_interval
from kibitz_bots.loading import load
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import Entry, Player, Result
from kibitz_server.match.sent_digest import digests_of
from kibitz_server.match.state import MatchState


@dataclass(frozen=True, kw_only=True)
class BranchPlan:
    """What is to be played."""

    ply: int
    """After how many plies of the match the games begin."""
    bots: Mapping[int, str]
    """Who plays each seat, as on the command line: ``game/name`` or a Python file."""
    seat: int
    """Whose results are counted."""
    games: int
    ms: int
    """The budget of each turn, in milliseconds."""
    seed: int = 0
    """The same seed brings the same games, where the bots are not limited by time."""


@dataclass
class BranchOutcome:
    """What came of it for one seat; `scores` are the shares of 1 that the game gives.

    A game in which the seat itself failed is a loss.
    """

    recorded: Result | None
    """The result of the match itself, None where it had not ended."""
    scores: list[float] = field(default_factory=list)
    """Of the games in which none of the others failed: a game that they gave away shows nothing."""
    ranks: Counter[int] = field(default_factory=Counter)
    """Of the same games."""
    faults: dict[int, Counter[str]] = field(default_factory=dict)
    """How often each seat failed, by cause; seats that never did are not in it."""
    lines: set[str] = field(default_factory=set)
    """The different games that were played."""

    @property
    def mean(self) -> float:
        """The mean score of the seat; there is none where no game was counted."""
        return sum(self.scores) / len(self.scores)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the mean, for games that are independent of each other."""
        low, high = mean_interval(self.scores, share=True)
        assert low is not None
        assert high is not None
        return low, high


def branch(
    start: MatchState,
    plan: BranchPlan,
    *,
    record: Record | None = None,
    records: Path | None = None,
    on_game: Callable[[int, Result], object] | None = None,
) -> BranchOutcome:
    """Play the games of a plan from `start`, one after the other; return what came of them.

    Where `record`, the one of the match, is given, each game gets a record of its own in the
    folder `records`: its first entries are those of the match. Raises `SpecError` for a bot that is
    not there and `BotFailedError` for one that does not begin, both `ValueError`.
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
    """Write the record of one game; its players are named after both of them."""
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
    """Return the seats that still play and have nobody in `given`."""
    return [s for s in range(len(match.players)) if s not in given and match.still_plays(s)]


def plan_seats(match: MatchState, seat: int, bot: str, others: Sequence[str]) -> dict[int, str]:
    """Return who plays each seat: `bot` in `seat`, and `others` in the other seats in order.

    One of `others` stands for all of them. Raises `ValueError` where their number does not fit.
    """
    rest = missing_seats(match, {seat: bot})
    if len(others) == 1:
        others = [*others] * len(rest)
    if len(others) != len(rest):
        names = ", ".join(f"{vacant + 1} ({match.players[vacant].name})" for vacant in rest)
        raise ValueError(f"expected who plays for seat {names}: --others once, or for each of them")
    return {seat: bot, **dict(zip(rest, others, strict=True))}
