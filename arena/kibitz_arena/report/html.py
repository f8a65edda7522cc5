"""Results as a self-contained HTML page that needs no server, network or fonts.

The page can be opened from disk or put on any web site. `templates/report.html.j2` is the page;
`report.css` and `report.js` are inlined. Two measures prevent injection through names and other
text from entrants or servers: Jinja2 escapes every value, and the page's content security policy
blocks all external resources and all scripts except its own, which is identified by its hash.

Color is never the only cue: every shaded cell and every interval also shows its number.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting
from kibitz_arena.report.charts import RatingAxis, SprtLine, coordinate
from kibitz_arena.results import Results
from kibitz_protocol import printable

MAX_LISTED_GAMES: Final = 5000
"""The maximum number of games listed; the page says if there are more."""
SHADES: Final = 5
"""The number of cell shades between an even and a perfect score; `report.css` has a class for
each."""


def render_html(
    results: Results, records: Mapping[str, str], pages: Mapping[str, str] | None = None
) -> str:
    """Render the page; `records` maps tags to paths of records, relative to the page.

    `pages` maps tags to the available replay pages.

    The output is deterministic.
    """
    environment = page_environment()
    listed = listed_games(results.games)
    endings = formatting.termination_rows(results)
    return environment.get_template("report.html.j2").render(
        results=results,
        records=records,
        pages=pages or {},
        style=template_source(environment, "report.css"),
        script=template_source(environment, "report.js"),
        facts=_facts(results),
        notes=[*formatting.notes(results)],
        axis=RatingAxis.of(results.standings),
        points=formatting.points_column([standing.points for standing in results.standings]),
        byes=any(standing.byes for standing in results.standings),
        sprt=SprtLine(results.sequential) if results.sequential else None,
        crosstable_caption=_crosstable_caption(results),
        endings=endings,
        ending_columns=formatting.termination_columns(endings),
        listed=listed,
        rounds=any(game.round is not None for game in listed),
        ranks={standing.name: rank for rank, standing in enumerate(results.standings, 1)},
        example=_example(listed, records),
    )


@lru_cache(maxsize=1)
def page_environment() -> Environment:
    """Return the cached template environment with its filters and functions."""
    environment = Environment(
        loader=PackageLoader("kibitz_arena.report"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.globals |= {"formatting": formatting, "shade": shade}
    environment.tests["abnormal"] = is_abnormal
    environment.filters |= {
        "coordinate": coordinate,
        "csp_hash": _csp_hash,
        "decimal": formatting.decimal,
        "drop_outs": _drop_outs,
        "elo": formatting.elo,
        "margin": formatting.margin,
        "percent": formatting.percent,
        "points": formatting.points,
        "sentence": _sentence,
        "signed": formatting.signed_decimal,
        "time_used": _time_used,
        "url_path": quote,
    }
    return environment


def _printable(value: Any) -> Any:
    """Return the text for a value, without control characters."""
    return value if isinstance(value, Markup) else printable.lines(str(value))


def template_source(environment: Environment, name: str) -> str:
    """Return the content of a template file, such as the style sheet."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _csp_hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _facts(results: Results) -> dict[str, object]:
    tournament = results.event
    return {
        "Game": formatting.game_name(tournament),
        "Seats": tournament.seats,
        "Clock": tournament.time_control,
        "Format": tournament.format,
        "Entrants": len(results.standings),
        **({} if tournament.seed is None else {"Seed": tournament.seed}),
        **({"SHA-256 of the seed": tournament.commitment} if tournament.commitment else {}),
        "Playing time": formatting.duration(results.seconds),
    }


def _crosstable_caption(results: Results) -> str:
    per_pairing = formatting.games_per_pairing(results)
    of = f" from {formatting.quantity(per_pairing, 'game')} each" if per_pairing else ""
    if results.event.seats == 2:
        return f"Points of the row against the column{of}; below: wins–draws–losses."
    return (
        f"How often the row finished ahead of the column{of}; a tie counts half."
        " Below: ahead–level–behind."
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def shade(share: float) -> str:
    """Return the CSS class of a cell by its score, in steps towards a win or a loss."""
    step = round(abs(share - 0.5) * 2 * SHADES)
    return f"{'w' if share > 0.5 else 'l'}{step}" if step else ""


# Games


def listed_games(games: Sequence[GameLine]) -> list[GameLine]:
    """Return the games to list: all, or those with drop-outs and the latest ones."""
    order = sorted(range(len(games)), key=lambda index: (not is_abnormal(games[index]), -index))
    return [games[index] for index in sorted(order[:MAX_LISTED_GAMES])]


def is_abnormal(game: GameLine) -> bool:
    """Return whether a seat dropped out or the game did not end by its rules."""
    return game.termination != "normal" or any(game.causes)


def _drop_outs(game: GameLine) -> list[str]:
    return [
        f"{name}: {formatting.CAUSE_LABELS[cause]}"
        for name, cause in zip(game.players, game.causes, strict=True)
        if cause is not None
    ]


def _time_used(game: GameLine) -> str:
    return formatting.duration(sum(game.used_ms) / 1000) if game.used_ms else formatting.NO_VALUE


def _example(listed: Sequence[GameLine], records: Mapping[str, str]) -> str | None:
    """Return a record's path quoted for a shell."""
    path = next((records[game.tag] for game in listed if game.tag in records), None)
    return None if path is None else shlex.quote(path)
