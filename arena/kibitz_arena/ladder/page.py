"""A ladder as one page of HTML that needs nothing else, made of its feed.

As the page of a tournament it loads nothing; it runs no script at all.
"""

from __future__ import annotations

from datetime import UTC, datetime

from kibitz_arena.ladder.feed import Feed
from kibitz_arena.ladder.state import PlayedGame
from kibitz_arena.report import formatting
from kibitz_arena.report.html import page_environment, template_source


def render_page(feed: Feed) -> str:
    """Return the page. The same feed makes the same page, byte for byte."""
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
    """Write a time of day, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plain_elo(value: float | None) -> str:
    """Write a rating, without a sign if it has none."""
    return (
        formatting.elo(value, signed=False)
        if value is None or value >= 0
        else (formatting.elo(value))
    )


def placed(game: PlayedGame) -> str:
    """Write the places, the best first: ``1. ada  2. bob (crash)``."""
    return formatting.placings(game.ranks, game.entrants, game.causes)
