"""Text tables of results: a lobby's matches and standings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from kibitz_clients.wording import tables
from kibitz_clients.wording.short_names import shown_name
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import MatchBrief, Standing
from kibitz_protocol.wire.records import UNDECIDED, Cause


def standings_table(lines: Sequence[Standing]) -> str:
    """Return the standings of a lobby, best first, with drop-outs by cause."""
    ranked = sorted(lines, key=lambda line: (-line.points, line.played, line.name))
    head = ("player", "played", "wins", "draws", "losses", "points", "dropped out")
    lines_of_table = tables.format_table(
        head,
        [
            (
                shown_name(line.name),
                *(line.played, line.wins, line.draws, line.losses),
                f"{line.points:.2f}",
                cause_counts(line.causes),
            )
            for line in ranked
        ],
    )
    return "\n".join(lines_of_table)


def cause_counts(counts: Mapping[Cause, int]) -> str:
    """Return how often a player dropped out and why, or a dash."""
    return ", ".join(f"{cause} {count}" for cause, count in counts.items() if count) or "-"


ABNORMAL_CAUSES = frozenset(
    {
        Cause.CRASH,
        Cause.ILLEGAL,
        Cause.DISCONNECT,
        Cause.ABANDONED,
        Cause.TAKEOVER,
        Cause.KICKED,
        Cause.ABORTED,
        Cause.INFRASTRUCTURE,
    }
)
"""The causes of an end other than the rules of the game or a player's decision."""
BOT_FAULTS = ABNORMAL_CAUSES | {Cause.TIME}
"""The abnormal causes for matches of bots only, which also include running out of time."""


def abnormal_endings(
    briefs: Sequence[MatchBrief],
    reports: Mapping[str, Path] | None = None,
    causes: Container[Cause] = ABNORMAL_CAUSES,
) -> list[str]:
    """Return a sentence for each match or seat with an abnormal end.

    `reports` has the path of the report of each match that has one.
    """
    known = reports or {}
    return [
        f"{sentence}; see {known[brief.match]}" if brief.match in known else sentence
        for brief in briefs
        for sentence in map(printable.line, _abnormal(brief, causes))
    ]


def _abnormal(brief: MatchBrief, causes: Container[Cause]) -> Iterable[str]:
    if brief.result is None:
        yield f"match {brief.number} did not finish"
        return
    if brief.result.cause in UNDECIDED:
        why = brief.result.reason or "the operator of the server aborted it"
        yield f"match {brief.number} was aborted: {why}"
    for player, seat in zip(brief.seats, brief.result.seats, strict=True):
        if seat.cause in causes:
            detail = f" ({seat.detail})" if seat.detail else ""
            name = shown_name(player.name, player.kind)
            yield f"match {brief.number}: {name} dropped out: {seat.cause}{detail}"
        elif seat.takeover and player.kind == "bot":
            yield f"match {brief.number}: another connection took over the seat of {player.name}"
