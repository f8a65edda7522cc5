"""What a person reads of results: tables of fixed columns, and one line for a match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kibitz_protocol.records import Cause, Player, Result
from kibitz_protocol.rooms import MatchBrief, Standing


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return aligned columns; a column whose cells are all numbers is aligned to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    width = [max(len(line[column]) for line in [list(head), *cells]) for column in range(len(head))]
    right = [
        bool(cells) and all(_numeric(line[column]) for line in cells) for column in range(len(head))
    ]
    lines = [list(head), ["-" * size for size in width], *cells]
    return "\n".join(_line(line, width, right) for line in lines)


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _numeric(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit()


def _line(line: Sequence[str], width: Sequence[int], right: Sequence[bool]) -> str:
    aligned = (
        cell.rjust(size) if to_right else cell.ljust(size)
        for cell, size, to_right in zip(line, width, right, strict=True)
    )
    return "  ".join(aligned).rstrip()


def standings(lines: Sequence[Standing]) -> str:
    """Return the table of a lobby, best first, with what went wrong by cause."""
    ranked = sorted(lines, key=lambda line: (-line.points, line.played, line.name))
    head = ("player", "played", "wins", "draws", "losses", "points", "dropped out")
    return table(
        head,
        [
            (s.name, s.played, s.wins, s.draws, s.losses, f"{s.points:.2f}", causes(s.causes))
            for s in ranked
        ],
    )


def causes(counts: Mapping[Cause, int]) -> str:
    """Return how often a player dropped out and why, or a dash."""
    return ", ".join(f"{cause} {count}" for cause, count in counts.items() if count) or "-"


def matches(briefs: Sequence[MatchBrief], records: Mapping[str, str]) -> str:
    """Return the table of matches; `records` has the path of each match's record."""
    head = ("match", "game", "players and places", "plies", "end", "record")
    return table(
        head,
        [
            (
                brief.number,
                brief.game,
                placing(brief.seats, brief.result),
                brief.result.plies if brief.result else brief.ply,
                ending(brief.result),
                records.get(brief.match, "-"),
            )
            for brief in briefs
        ],
    )


def placing(seats: Sequence[Player], result: Result | None) -> str:
    """Return the players in seat order with their ranks: ``random 2, greedy 1``."""
    if result is None:
        return ", ".join(player.name for player in seats)
    return ", ".join(
        f"{player.name} {seat.rank}" for player, seat in zip(seats, result.seats, strict=True)
    )


def ending(result: Result | None) -> str:
    """Return what ended a match: its cause, and the reason in the game's words."""
    if result is None:
        return "unfinished"
    dropped = {str(seat.cause) for seat in result.seats if seat.cause is not None}
    words = [str(result.cause), result.reason, *sorted(dropped)]
    return ", ".join(dict.fromkeys(word for word in words if word))


ABNORMAL = frozenset({Cause.CRASH, Cause.DISCONNECT, Cause.ABANDONED, Cause.INFRASTRUCTURE})
"""Causes that neither the rules nor a player's decision brought about."""


def abnormal(briefs: Sequence[MatchBrief]) -> list[str]:
    """Return a sentence for each match or seat that ended for an abnormal cause."""
    return [sentence for brief in briefs for sentence in _abnormal(brief)]


def _abnormal(brief: MatchBrief) -> Iterable[str]:
    if brief.result is None:
        yield f"match {brief.number} did not finish"
        return
    if brief.result.cause == Cause.INFRASTRUCTURE:
        yield f"match {brief.number} was aborted: {brief.result.reason}"
    for player, seat in zip(brief.seats, brief.result.seats, strict=True):
        if seat.cause in ABNORMAL:
            detail = f" ({seat.detail})" if seat.detail else ""
            yield f"match {brief.number}: {player.name} dropped out: {seat.cause}{detail}"
