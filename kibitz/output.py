"""What the commands print: every line passes one of these two, for it may hold texts of others.

`echo` is for people; `echo_json` for programs, exactly what was meant. A test sees to it that
nothing is printed past them.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import TracebackType
from typing import Any

import click

from kibitz_protocol import printable

PIPE_CLOSED = 128 + getattr(signal, "SIGPIPE", 13)
"""The exit status where nobody reads what is printed."""


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text of one or more lines, with nothing in it that a terminal would obey."""
    _write(printable.lines(str(text)), err=err, nl=nl)


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print JSON; what a terminal would obey is in it as JSON's own escapes."""
    _write(printable.json(text), nl=nl)


def _write(text: str, *, err: bool = False, nl: bool) -> None:
    """Print a text; where nobody reads any more (``| head``), end without a word.

    The status is the one of a program that the signal for it has ended.
    """
    try:
        click.echo(text, err=err, nl=nl)
    except BrokenPipeError:
        # What is still in the buffers goes nowhere: flushing them at the end would raise again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, (sys.stderr if err else sys.stdout).fileno())
        sys.exit(PIPE_CLOSED)


def show_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """Print the traceback of a fault of ours, as `sys.excepthook`."""
    told = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(printable.lines(told))
