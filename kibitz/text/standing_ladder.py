"""A standing ladder as text: its table, and the details of one entrant."""

from __future__ import annotations

from collections.abc import Iterator

from kibitz_arena.ladder.feed import Feed, FeedLine
from kibitz_arena.ladder.page import moment, plain_elo
from kibitz_clients.wording.tables import format_table
from kibitz_protocol import printable

_HEADS = ("#", "entrant", "rating", "interval", "games", "W-D-L", "form", "status")


def ladder_lines(feed: Feed) -> Iterator[str]:
    """Yield a ladder as lines."""
    yield (
        f"{feed.name}: {feed.game}, {feed.games} games by {feed.entrants} entrants,"
        f" {feed.running} running, as of {moment(feed.at_ms)}"
    )
    if feed.lines:
        rows = [_row(line) for line in feed.lines]
        yield from (f"  {line}" for line in format_table(_HEADS, rows))
    if len(feed.lines) < feed.entrants:
        yield f"  and {feed.entrants - len(feed.lines)} more who are offline"


def entrant_lines(feed: Feed, line: FeedLine) -> Iterator[str]:
    """Yield the details of one entrant: its standing, opponents and losses."""
    yield from (f"  {text}" for text in format_table(_HEADS, [_row(line)]))
    if line.paused_until_ms is not None:
        yield f"  paused until {moment(line.paused_until_ms)}, because it failed repeatedly"
    if line.opponents:
        yield "head to head:"
        rows = [
            (
                printable.line(opponent.entrant),
                f"{opponent.wins}-{opponent.draws}-{opponent.losses}",
            )
            for opponent in line.opponents
        ]
        yield from (f"  {text}" for text in format_table(("against", "W-D-L"), rows))
    if line.last_losses:
        yield "last losses:"
    for loss in line.last_losses:
        why = ", ".join(part for part in (loss.cause, loss.reason) if part)
        against = ", ".join(map(printable.line, loss.against))
        yield f"  {moment(loss.at_ms)} against {against}" + (
            f": {printable.line(why)}" if why else ""
        )
        yield f"    record: {printable.line(loss.record)}"
        if loss.report is not None:
            yield f"    report: {printable.line(loss.report)}"


def _row(line: FeedLine) -> tuple[str, ...]:
    interval = "" if line.low is None else f"{plain_elo(line.low)} to {plain_elo(line.high)}"
    return (
        str(line.place),
        printable.line(line.entrant),
        plain_elo(line.rating),
        interval,
        str(line.games),
        f"{line.wins}-{line.draws}-{line.losses}",
        "".join(line.form),
        f"{line.status}, anchor" if line.anchor else line.status,
    )
