"""Output of the commands: every line passes one of these two, since it may contain foreign text.

`echo` is for people; `echo_json` is for programs and changes nothing. A test checks that commands
print in no other way.
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
"""The exit status if the reader of the output has gone."""


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text of one or more lines, with nothing in it that a terminal would obey."""
    _write(printable.lines(str(text)), err=err, nl=nl)


def tell(text: str) -> None:
    """Print a text for a person on stderr, beside the results on stdout."""
    echo(text, err=True)


def retell(text: str) -> None:
    """Write a line over the last one on stderr, which is a terminal."""
    _write(f"\r{printable.line(text)}\x1b[K", err=True, nl=False)


def ignore(text: str) -> None:
    """Ignore a message."""


def echo_json(text: str, *, nl: bool = True) -> None:
    """Print JSON; what a terminal would obey is in it as JSON's own escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _write(printable.encodable_json(printable.json(text), encoding), nl=nl)


def _write(text: str, *, err: bool = False, nl: bool) -> None:
    """Print a text; end silently when its reader has gone (``| head``).

    The status is then `PIPE_CLOSED`. Raises `OSError` when stdout is closed or full.
    """
    if sys.stdout is None and not err:
        raise OSError("cannot write the output: stdout is closed")
    try:
        # The stream itself: click would write UTF-8 to one whose encoding is ASCII.
        click.echo(text, sys.stderr if err else sys.stdout, nl=nl)
    except BrokenPipeError:
        sys.exit(PIPE_CLOSED)
    except OSError as error:
        raise OSError(f"cannot write the output: {error.strerror}") from error


def discard_unwritten() -> None:
    """Drop what a standard stream still buffers and cannot write.

    Python flushes the streams once more when it exits, and would report the same error again.
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
    """Open /dev/null for each standard stream that was closed when this process started.

    The next file to be opened, such as a database, would get the number of the stream otherwise.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def show_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """Print the traceback of a fault of ours, as `sys.excepthook`."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(printable.lines(text))
