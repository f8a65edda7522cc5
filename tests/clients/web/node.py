"""Run JavaScript for tests if Node is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from kibitz_clients.web.site import STATIC_FILES

NODE: Final = shutil.which("node")
FOLDER: Final = Path(__file__).with_name("js")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
TIMEOUT_S: Final = 120.0


def run_node(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Node on files in the folder `js`; they find the client in `KIBITZ_STATIC`."""
    assert NODE is not None
    return subprocess.run(
        [NODE, *arguments],
        cwd=FOLDER,
        env={"KIBITZ_STATIC": STATIC_FILES.as_uri(), "PATH": "/usr/bin:/bin"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def websocket_flag() -> list[str]:
    """Return the option that enables WebSocket in Node before 22."""
    assert NODE is not None
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return ["--experimental-websocket"] if int(version[1:].split(".")[0]) < 22 else []
