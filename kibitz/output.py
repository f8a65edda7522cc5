"""Output of the commands: all of it passes through these functions, since it may contain untrusted
text.

`echo` is for people; `echo_json` is for programs and keeps the content intact. A test checks that
commands print in no other way.
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
"""The exit status if the reader of the output has closed the pipe."""


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text of one or more lines, without terminal control sequences."""
    _write(printable.lines(str(text)), err=err, nl=nl)


def tell(text: str) -> None:
    """Print a message for the user on stderr, separate from the results on stdout."""
    echo(text, err=True)


def ignore(text: str) -> None:
    """Ignore a message."""


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print JSON, with terminal control characters as JSON escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _write(printable.encodable_json(printable.json(text), encoding), nl=nl)


def _write(text: str, *, err: bool = False, nl: bool) -> None:
    """Print text; exit silently if its reader has closed the pipe (``| head``).

    The status is then `PIPE_CLOSED`. Raises `OSError` when stdout is closed or full.
    """
    if sys.stdout is None and not err:
        raise OSError("cannot write the output: stdout is closed")
    try:
        # Pass the stream, because click would write UTF-8 even to an ASCII stream.
        click.echo(text, sys.stderr if err else sys.stdout, nl=nl)
    except BrokenPipeError:
        sys.exit(PIPE_CLOSED)
    except OSError as error:
        raise OSError(f"cannot write the output: {error.strerror}") from error


def discard_unwritten() -> None:
    """Drop the buffered output that a standard stream cannot write.

    Python flushes the streams again at exit, and would report the same error a second time.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def open_standard_descriptors() -> None:
    """Open /dev/null in place of each standard stream that was closed at start.

    Otherwise the next opened file, such as a database, would get the stream's descriptor.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def show_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """Print the traceback of an internal error; an implementation of `sys.excepthook`."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(printable.lines(text))
