"""A ladder as a self-contained HTML page, rendered from its feed.

Like a tournament's page, it loads no other files. It has no scripts.
"""

from __future__ import annotations

from datetime import UTC, datetime

from kibitz_arena.ladder.feed import Feed
from kibitz_arena.ladder.state import PlayedGame
from kibitz_arena.report import formatting
from kibitz_arena.report.html import page_environment, template_source


def render_page(feed: Feed) -> str:
    """Return the page. The output is deterministic for a feed."""
    environment = page_environment().overlay()
    environment.filters = environment.filters | {
        "moment": moment,
        "placed": placed,
        "plain_elo": plain_elo,
    }
    return environment.get_template("ladder.html.j2").render(
        feed=feed, style=template_source(environment, "report.css")
    )


def moment(at_ms: int) -> str:
    """Format a time in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plain_elo(value: float | None) -> str:
    """Format a rating without a plus sign."""
    return (
        formatting.elo(value, signed=False)
        if value is None or value >= 0
        else (formatting.elo(value))
    )


def placed(game: PlayedGame) -> str:
    """Format the places, best first: ``1. ada  2. bob (crash)``."""
    return formatting.placings(game.ranks, game.entrants, game.causes)
