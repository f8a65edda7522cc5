"""Record options on the command line: the file, the viewpoint, and how to show it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from kibitz.builtin_games import load_games
from kibitz.output import echo, echo_json
from kibitz_bots.number_types import NATURAL
from kibitz_clients.matches.recorded_match import frame_at_ply, load_record

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
SEAT = click.IntRange(1, 16)
"""A click type for a seat counted from 1."""


class RecordName(click.ParamType[str]):
    """A click type for a file or a match key; a name with a dot or a slash is an existing file."""

    name = "record"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse a missing file, so that the server is not asked for it."""
        text = str(value)
        if ("." in text or "/" in text) and not Path(text).is_file():
            self.fail(f"file {text!r} not found", param, ctx)
        return text


def require_seat(seat: int | None, seats: int) -> None:
    """Refuse a seat (from 0) that a match with this many seats does not have."""
    if seat is not None and seat >= seats:
        message = f"expected a seat from 1 to {seats}, not {seat + 1}"
        raise click.BadParameter(message, param_hint="'--seat'")


def is_screen(*, plain: bool) -> bool:
    """Return whether this is an interactive terminal that can be drawn on.

    Textual reads keys from stdin and draws on stderr. If stdout is redirected, the user wants
    lines.
    """
    return not plain and all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def seat_from_zero(context: click.Context, option: click.Parameter, seat: int | None) -> int | None:
    """Convert a seat counted from 1 to one counted from 0."""
    return None if seat is None else seat - 1


seat_option = click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    help="Show only what this seat (counted from 1) knew; by default everything.",
)
ply_option = click.option("--ply", type=NATURAL, help="Begin after this many plies.")


def show(file: Path, *, seat: int | None = None, ply: int = 0, plain: bool, as_json: bool) -> None:
    """Show a record after `ply` plies in the terminal, or print it as lines.

    Shows everything, or only what `seat` (from 0) saw.
    """
    known = load_games("plain")
    if is_screen(plain=plain or as_json):
        from kibitz_clients.tui.kibitz_app import KibitzApp

        timeline = load_record(file, known, seat).timeline
        KibitzApp(known, recorded=timeline, at=frame_at_ply(timeline, ply).seq).run()
        return
    from kibitz_clients.wording.line_output import write_record_lines

    out = echo_json if as_json else echo
    write_record_lines(file, known, out, as_json=as_json, seat=seat, ply=ply)
