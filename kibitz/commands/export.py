"""`kibitz record export`: a recorded match as a picture or a replay page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import click

from kibitz.builtin_games import load_games
from kibitz.options.output_path import OutputPath
from kibitz.options.record import FILE, seat_option
from kibitz.output import echo
from kibitz_bots.number_types import NATURAL
from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.recorded_match import LoadedRecord
from kibitz_clients.matches.viewer_events import NoSuchSeatError
from kibitz_clients.render import exported_picture, match_picture
from kibitz_clients.web import record_page

Draw: TypeAlias = Callable[[LoadedRecord, int | None, int | None], bytes]
"""Draws a record. The other arguments are the ply (see ``--ply``) and the seat, both optional."""


@click.command(short_help="Draw a record as a picture or a page.")
@click.argument("file", type=FILE)
@click.option(
    "--out",
    "--svg",
    "out",
    type=OutputPath(dash=True),
    required=True,
    help="Output file: .svg, .png, .gif or .html; - prints SVG.",
)
@click.option(
    "--ply",
    type=NATURAL,
    help="Draw the position after this many plies (default: the end). A GIF shows the plies up to"
    " it; a page opens at it (default: the start).",
)
@seat_option
def export(file: Path, out: Path, ply: int | None, seat: int | None) -> None:
    """Draw the record FILE in the format given by the suffix of --out.

    A page (.html) is the browser viewer with the match inside; it needs no server and no network.
    Without --seat it includes all hidden information. Any browser shows an SVG. PNG and GIF need
    two more libraries: pip install 'kibitz[pictures]'. FILE may also be a match saved by another
    program: .psq (Piskvork) or .sgf.
    """
    draw = _svg if str(out) == "-" else FORMATS.get(out.suffix.lower())
    if draw is None:
        known = ", ".join(FORMATS)
        raise click.UsageError(
            f"expected a file name that ends with one of {known}, not {out.name!r}"
        )
    try:
        picture = draw(recorded_match.load_record(file, load_games("plain"), seat), ply, seat)
    except NoSuchSeatError as error:
        raise click.BadParameter(str(error), param_hint="'--seat'") from None
    except (ValueError, exported_picture.MissingLibraryError) as error:
        raise click.ClickException(str(error)) from None
    if str(out) == "-":
        return echo(picture.decode("utf-8"))
    out.write_bytes(picture)
    return echo(f"wrote {out}")


def _svg(recorded: LoadedRecord, ply: int | None, seat: int | None) -> bytes:
    return match_picture.draw_svg(recorded, ply).encode("utf-8")


def _png(recorded: LoadedRecord, ply: int | None, seat: int | None) -> bytes:
    return exported_picture.png(match_picture.draw_svg(recorded, ply))


def _gif(recorded: LoadedRecord, ply: int | None, seat: int | None) -> bytes:
    last = recorded_match.frame_at_ply(recorded.timeline, ply).ply
    return exported_picture.gif(match_picture.draw_svg(recorded, step) for step in range(last + 1))


def _html(recorded: LoadedRecord, ply: int | None, seat: int | None) -> bytes:
    return record_page.render_html(recorded, ply, seat).encode("utf-8")


FORMATS: Mapping[str, Draw] = {".svg": _svg, ".png": _png, ".gif": _gif, ".html": _html}
"""The drawing function of each file suffix."""
