"""Records on the command line: which file, seen by whom, on the screen or as lines."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.output import echo, echo_json
from kibitz_clients.replay import load_record

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
    known = load_games("plain")
    if is_screen(plain=plain or as_json):
        from kibitz_clients.tui.kibitz_app import KibitzApp

        KibitzApp(known, recorded=load_record(file, known, seat).timeline).run()
        return
    from kibitz_clients.line_output import write_record_lines

    write_record_lines(file, known, echo_json if as_json else echo, as_json=as_json, seat=seat)
