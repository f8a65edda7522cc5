"""Tables of lobbies, matches and results as lines of text, laid out by rich.

In a terminal a long last column wraps. In a pipe or a file a row is always one line, so that
scripts can read it.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence

from kibitz_clients import palette
from kibitz_clients.wording import descriptions
from kibitz_clients.wording.short_names import shown_name
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.records import Player, Result


def format_table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None
) -> list[str]:
    """Return aligned columns, without colors.

    Only the last column wraps, without breaking words, so a line may exceed `width`. The default is
    the width of the terminal, or no limit if stdout is not a terminal.
    """
    # Imported late: most programs that import this module print no table.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(Text(head), no_wrap=head != heads[-1])
    for row in rows:
        table.add_row(*(Text(printable.line(str(cell))) for cell in row))
    console = Console(file=io.StringIO(), width=sys.maxsize, color_system=None)
    least = console.measure(table).minimum
    console.width = max(terminal_width() if width is None else width, least)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def terminal_width() -> int:
    """Return the columns of the terminal; no limit if stdout is a pipe or a file."""
    terminal = sys.stdout is not None and sys.stdout.isatty()  # None if closed
    return shutil.get_terminal_size().columns if terminal else sys.maxsize


def results_table(
    briefs: Iterable[MatchBrief], records: Mapping[str, str] | None = None
) -> list[str]:
    """Return one line per match: its plies, the cause of its end, and the placings.

    `records` maps matches to the paths of their fetched records, shown in an additional column.
    """
    heads = ["match", "game", "plies", "end", *(["record"] if records else []), "places"]
    rows = [
        [
            brief.number,
            brief.game,
            brief.result.plies if brief.result else brief.ply,
            descriptions.end_reason(brief.result) if brief.result else "unfinished",
            *([records.get(brief.match, "-")] if records else []),
            placing_text(brief.seats, brief.result),
        ]
        for brief in briefs
    ]
    return format_table(heads, rows)


def placing_text(seats: Sequence[Player], result: Result | None) -> str:
    """Return the players, best first, with their points and the causes of drop-outs.

    ``1. ada  2. bob (time)``, and in a game that counts points ``1. ada 2,100  2. bob 340``.
    """
    if result is None:
        return "  ".join(shown_name(player.name, player.kind) for player in seats)
    placed = zip(result.seats, seats, strict=True)
    return "  ".join(
        " ".join(
            part
            for part in (
                f"{ended.rank}. {shown_name(player.name, player.kind)}",
                descriptions.points_text(ended),
                f"({ended.cause})" if ended.cause else "",
            )
            if part
        )
        for ended, player in sorted(placed, key=lambda pair: pair[0].rank)
    )


def lobby_table(briefs: Sequence[LobbyBrief], *, as_json: bool = False) -> list[str]:
    """Return a table of lobbies, or one JSON object per line."""
    if as_json:
        return [brief.model_dump_json() for brief in briefs]
    rows = [
        [
            brief.lobby,
            brief.name,
            brief.state,
            f"{brief.members}/{brief.places}",
            brief.joinable,
            brief.host,
            ", ".join(brief.games),
        ]
        for brief in briefs
    ]
    return format_table(("code", "name", "state", "seats", "join", "host", "games"), rows)


def match_table(briefs: Sequence[MatchBrief], *, as_json: bool = False) -> list[str]:
    """Return a table of matches, or one JSON object per line."""
    if as_json:
        return [brief.model_dump_json(exclude_none=True) for brief in briefs]
    rows = [
        [
            brief.match,
            brief.lobby or "",
            brief.number,
            brief.game,
            brief.ply,
            descriptions.end_reason(brief.result) if brief.result else "running",
            "  ".join(
                f"{palette.seat_glyph(seat)} {shown_name(player.name, player.kind)}"
                for seat, player in enumerate(brief.seats)
            ),
        ]
        for brief in briefs
    ]
    return format_table(("match", "lobby", "no", "game", "ply", "state", "players"), rows)
