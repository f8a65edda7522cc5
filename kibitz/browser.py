"""Pages for a person at this machine: their addresses are printed, and opened on a desktop."""

from __future__ import annotations

import atexit
import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from kibitz.output import echo


def show_page(url: str) -> None:
    """Print the address of a page, and open it if there is a desktop."""
    echo(f"in a browser: {url}", err=True)
    if has_desktop(os.environ, sys.platform):
        webbrowser.open(_redirecting(url) if "#" in url else url)


def _redirecting(url: str) -> str:
    """Return the address of a file of this user that leads to `url`.

    A browser is started with the address that it opens, and every user of the machine can read the
    command lines of all processes. The secret in a fragment does not stand in them.
    """
    descriptor, name = tempfile.mkstemp(prefix="kibitz-", suffix=".html")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={html.escape(url)}">\n')
    page = Path(name)
    atexit.register(page.unlink, missing_ok=True)
    return page.as_uri()


def has_desktop(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a window can be opened where this process runs, and a person would see it."""
    if "SSH_CONNECTION" in environment:
        return False
    if platform in ("darwin", "win32"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
