"""External SDKs of the Model Context Protocol: the TypeScript one from npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.peers.conftest import Served

PROGRAM = Path(__file__).with_name("mcp")
SECONDS = 300.0
NO_SERVER = "ws://127.0.0.1:9"


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the program and the SDK in its package.json."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm is not installed")
    directory = tmp_path_factory.mktemp("mcp")
    for name in ("package.json", "play.js"):
        shutil.copy(PROGRAM / name, directory)
    words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        words, cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm cannot install the SDK: {done.stderr[-300:]}")
    return directory


def play(sdk: Path, served: Served, url: str, lobby: str | None) -> dict[str, Any]:
    """Run the program with `kibitz mcp` and return its output."""
    words = ["-m", "kibitz", "mcp", "--server", url, "--name", "mira", "--fresh"]
    asked = json.dumps({"command": sys.executable, "args": words, "lobby": lobby})
    done = subprocess.run(
        ["node", "play.js", asked],
        cwd=sdk,
        env=served.kibitz.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_typescript_sdk_plays_a_match(sdk: Path, served: Served) -> None:
    url = f"ws://127.0.0.1:{served.port}"
    words = ["host", "connect-four", "--seats", "open,house=connect-four/random"]
    hosted = served.kibitz.run(*words, "--json", "--no-wait", "--server", url)
    assert hosted.returncode == 0, hosted.stderr
    lobby = json.loads(hosted.stdout)["lobby"]
    said = play(sdk, served, url, lobby)
    assert said["server"] == "kibitz"
    assert "wait_for_turn" in said["tools"]
    assert lobby in said["lobbies"]["text"]
    assert not said["joined"]["failed"]
    assert said["plies"] >= 4, "nobody wins sooner"
    assert " is over: " in said["end"]["text"]


def test_the_typescript_sdk_is_answered_without_a_server(sdk: Path, served: Served) -> None:
    said = play(sdk, served, NO_SERVER, None)
    assert said["server"] == "kibitz"
    assert len(said["tools"]) == 12
    assert "connect-four" in said["games"]["text"]
    assert said["lobbies"]["failed"]
    assert NO_SERVER in said["lobbies"]["text"]
