"""The image without Docker: a wheel built from the copied files, and the image's commands.

The dependencies are those of the test environment, so nothing is downloaded; kibitz itself comes
from the wheel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tools.image_context import ROOT, copy_context, let_through

BUILD_SECONDS = 300
DOCKERFILE = (ROOT / "Dockerfile").read_text()


@dataclass(frozen=True)
class Image:
    """A substitute for the image: the programs of its environment and the copied files."""

    programs: Path
    home: Path
    elsewhere: Mapping[str, str]

    def run(self, *words: str) -> str:
        """Run a program of the image to its end and return its output."""
        done = subprocess.run(
            [self.programs / words[0], *words[1:]],
            cwd=self.home,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Return its processes' environment, without outside variables of kibitz or Python."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("KIBITZ_", "PYTHON"))
        }
        cache = os.environ.get("KIBITZ_CACHE")
        return kept | {"HOME": str(self.home)} | ({} if cache is None else {"KIBITZ_CACHE": cache})


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build and install the wheel like the Dockerfile."""
    work = tmp_path_factory.mktemp("image")
    context, home = work / "context", work / "home"
    home.mkdir()
    elsewhere = copy_context(context)
    wheels = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(work / "wheel")]
    _pip("wheel", *wheels, str(context))
    (wheel,) = (work / "wheel").glob("*.whl")
    venv.create(work / "venv", with_pip=False)
    python = work / "venv" / "bin" / "python"
    _pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    place = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # After the installed packages, without links to a checkout.
    Path(place, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Image(python.parent, home, elsewhere)


def _pip(*words: str) -> None:
    """Run the package installer of this environment."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr


def test_all_packages_come_from_the_wheel(image: Image) -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    names = [each.split("/")[-1] for each in wheel["targets"]["wheel"]["packages"]]
    files = ", ".join(f"{name}.__file__" for name in names)
    said = image.run("python", "-c", f"import {', '.join(names)}; print({files})")
    for path in said.split():
        assert path.startswith(str(image.programs.parent)), path
    assert len(said.split()) == len(names)


def test_what_is_no_code_is_in_it_too(image: Image) -> None:
    image.run("kibitz", "bot", "new", "mine")  # of templates
    image.run("kibitz", "bot", "new", "mine/bot.js")  # of an example
    assert "node:readline" in (image.home / "mine" / "bot.js").read_text()
    rules = image.run("kibitz", "game", "show", "tanks")
    assert "kibitz_rulebook" in rules
    assert "chinese-checkers/greedy-hand" in image.run("kibitz", "bot", "list", "--json")


def test_the_command_of_the_image_serves(image: Image) -> None:
    (listed,) = re.findall(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)
    program, *given = json.loads(listed)
    here = {"/data/kibitz.db": str(image.home / "kibitz.db"), "8765": "0", "0.0.0.0": "127.0.0.1"}
    command = [str(image.programs / program), *(here.get(word, word) for word in given), "--json"]
    with (
        (image.home / "serve.err").open("wb") as errors,
        subprocess.Popen(
            command,
            cwd=image.home,
            env=image.environment(),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as server,
    ):
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line, (image.home / "serve.err").read_text()
            page = json.loads(line)["url"].replace("ws://", "http://")
            with urllib.request.urlopen(f"{page}/", timeout=30) as answer:
                assert answer.status == 200
        finally:
            server.terminate()
    assert server.returncode == 0


def test_what_is_copied_beside_is_named_by_the_services(image: Image) -> None:
    composed = [
        (ROOT / name).read_text() for name in ("docker-compose.yml", "docker-compose.cluster.yml")
    ]
    assert image.elsewhere
    for place, source in image.elsewhere.items():
        assert (ROOT / source).is_file()
        assert all(place in text for text in composed)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("kibitz/cli.py", True),
        ("docs/games/tanks.md", True),
        ("docs/index.md", False),
        ("tests/conftest.py", False),
        ("kibitz/__pycache__/cli.pyc", False),
        ("kibitz/commands/__pycache__/host.pyc", False),
    ],
)
def test_the_context_is_read_as_docker_reads_it(path: str, wanted: bool) -> None:
    assert let_through(path, (ROOT / ".dockerignore").read_text().split()) is wanted
