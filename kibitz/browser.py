"""Pages for a person at this machine: their addresses are printed, and opened on a desktop."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping

from kibitz.output import echo


def show_page(url: str) -> None:
    """Print the address of a page, and open it where there is a desktop."""
    echo(f"in a browser: {url}", err=True)
    if has_desktop(os.environ, sys.platform):
        webbrowser.open(url)


def has_desktop(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a window can be opened where this process runs, and a person would see it."""
    if "SSH_CONNECTION" in environment:
        return False
    if platform in ("darwin", "win32"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
