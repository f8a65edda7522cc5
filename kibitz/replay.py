"""`kibitz replay` and `kibitz export`: recorded matches, on the screen and as pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kibitz.box import games
from kibitz.output import echo, echo_json
from kibitz_clients.replay import export_svg, load

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def is_screen(*, plain: bool) -> bool:
    """Return whether a person sits here, at a terminal that can be drawn on.

    Keys come from stdin, and Textual draws on stderr; who sends stdout elsewhere wants lines.
    """
    return not plain and all(each.isatty() for each in (sys.stdin, sys.stdout, sys.stderr))


seat_option = click.option(
    "--seat",
    type=click.IntRange(0, 15),
    help="Show what this seat knew then, counted from 0; everything is shown if not said.",
)


def show(file: Path, *, seat: int | None = None, plain: bool, as_json: bool) -> None:
    """Step through a record in the terminal, or print it as lines; all of it, or what one saw."""
    known = games("plain")
    if is_screen(plain=plain or as_json):
        from kibitz_clients.terminal import KibitzApp

        KibitzApp(known, recorded=load(file, known, seat).timeline).run()
        return
    from kibitz_clients.plain import record

    record(file, known, echo_json if as_json else echo, as_json=as_json, seat=seat)


@click.command(short_help="Step through a recorded match.")
@click.argument("file", type=FILE)
@seat_option
@click.option("--plain", is_flag=True, help="Print lines, in a terminal too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def replay(file: Path, seat: int | None, plain: bool, as_json: bool) -> None:
    """Step through the record FILE; ? shows the keys."""
    try:
        show(file, seat=seat, plain=plain, as_json=as_json)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


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
        picture = export_svg(file, games("plain"), ply, seat)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if str(svg) == "-":
        return echo(picture)
    svg.write_text(picture, encoding="utf-8")
    return echo(f"wrote {svg}")
