"""`kibitz record replay`: show a recorded match on the screen or as lines."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.options.record import FILE, ply_option, seat_option, show
from kibitz_clients.matches.viewer_events import NoSuchSeatError


@click.command(short_help="Step through a recorded match.")
@click.argument("file", type=FILE)
@ply_option
@seat_option
@click.option("--plain", is_flag=True, help="Print lines even in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def replay(file: Path, ply: int | None, seat: int | None, plain: bool, as_json: bool) -> None:
    """Step through the record FILE from its start; press ? for the keys.

    FILE may also be a match saved by another program: .psq (Piskvork) or .sgf.
    """
    try:
        show(file, seat=seat, ply=ply or 0, plain=plain, as_json=as_json)
    except NoSuchSeatError as error:
        raise click.BadParameter(str(error), param_hint="'--seat'") from None
    except ValueError as error:
        raise click.ClickException(str(error)) from None
