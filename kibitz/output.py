"""What the commands print: every line passes one of these two, for it may hold texts of others.

`echo` is for people; `echo_json` for programs, exactly what was meant. A test sees to it that
nothing is printed past them.
"""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Any

import click

from kibitz_protocol import printable


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text of one or more lines, with nothing in it that a terminal would obey."""
    click.echo(printable.lines(str(text)), err=err, nl=nl)


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print JSON; what a terminal would obey is in it as JSON's own escapes."""
    click.echo(printable.json(text), nl=nl)


def show_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """Print the traceback of a fault of ours, as `sys.excepthook`."""
    told = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(printable.lines(told))
