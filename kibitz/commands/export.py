"""`kibitz export`: a position of a recorded match as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.options.record import FILE, seat_option
from kibitz.output import echo
from kibitz_clients.replay import export_svg


@click.command(short_help="Draw a position of a record as a picture.")
@click.argument("file", type=FILE)
@click.option(
    "--svg", type=click.Path(path_type=Path, allow_dash=True), required=True, help="- prints it."
)
@click.option("--ply", type=click.IntRange(0), help="After so many plies; the end if not said.")
@seat_option
def export(file: Path, svg: Path, ply: int | None, seat: int | None) -> None:
    """Draw the record FILE as a picture that every browser shows."""
    try:
        picture = export_svg(file, load_games("plain"), ply, seat)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if str(svg) == "-":
        return echo(picture)
    svg.write_text(picture, encoding="utf-8")
    return echo(f"wrote {svg}")
