"""Prints the address of a page, and opens it if this machine has a desktop."""

from __future__ import annotations

import atexit
import html
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kibitz.output import echo


def show_page(url: str) -> None:
    """Print the address of a page, and open it if there is a desktop."""
    echo(f"in a browser: {url}", err=True)
    if has_desktop(os.environ, sys.platform):
        import webbrowser

        webbrowser.open(_redirecting(url) if "#" in url else url)


def _redirecting(url: str) -> str:
    """Write a private file that redirects to `url`; return its address.

    The browser gets its address on the command line, which every user of the machine can read. The
    redirect keeps the secret in the URL's fragment off the command line.
    """
    descriptor, name = tempfile.mkstemp(prefix="kibitz-", suffix=".html")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={html.escape(url)}">\n')
    page = Path(name)
    atexit.register(page.unlink, missing_ok=True)
    return page.as_uri()


def has_desktop(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a browser window on this machine would be visible to the user."""
    if "SSH_CONNECTION" in environment:
        return False
    if platform in ("darwin", "win32"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
