"""Files in the working directory never shadow modules, whatever their names.

A directory has a file named after each module of Python and of our dependencies. Importing one of
them leaves a marker and fails. An entrant's own file is also named like a Python module: it must
run only in the entrant's process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from kibitz.process.parent_death import child_command
from tests.tools.command import Kibitz

SCRIPT = str(Path(sysconfig.get_path("scripts"), "kibitz"))
BOT = "statistics.py"
NAMES = sorted(
    name
    for name in sys.stdlib_module_names | set(packages_distributions())
    if name.isidentifier() and f"{name}.py" != BOT
)
PLANTED = """
import os
with open({mark!r}, "a") as file:
    print({name!r}, os.getpid(), file=file)
raise ImportError("{name}.py of the working directory was imported")
"""
ENTRANT = """
import os, sys
if sys.argv[-1].endswith("statistics.py") or "kibitz_bots" in sys.argv[0]:
    with open("/dev/stderr", "w") as said:
        print("entrant runs", file=said)
else:
    with open({mark!r}, "a") as file:
        print("entrant", os.getpid(), sys.argv, file=file)
from kibitz import Bot

class Statistician(Bot):
    def choose(self, turn):
        import statistics
        assert statistics.mean([1, 3]) == 2, "the module of Python"
        return turn.legal[0]
"""


@pytest.fixture
def mark(kibitz: Kibitz) -> Path:
    """Create the files; return the marker file that imported ones write to."""
    found = kibitz.directory / "imported"
    for name in NAMES:
        text = PLANTED.format(mark=str(found), name=name)
        (kibitz.directory / f"{name}.py").write_text(text)
    (kibitz.directory / BOT).write_text(ENTRANT.format(mark=str(found)))
    return found


def imported(mark: Path) -> list[str]:
    return mark.read_text().splitlines() if mark.exists() else []


def run(kibitz: Kibitz, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the directory with these files."""
    return subprocess.run(
        words,
        cwd=kibitz.directory,
        env=kibitz.environment() | {"KIBITZ_PLAIN": "1"},
        input="",
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "words",
    [
        child_command("kibitz", "--version", supervised=True),
        child_command("kibitz_bots", "--help", supervised=True),
        child_command("kibitz.process.rules_compiler", "line-nim", "0", supervised=True),
        child_command("kibitz.workers.worker", supervised=True),
        [SCRIPT, "--version"],
    ],
    ids=["kibitz", "bot", "compiler", "worker", "script"],
)
def test_no_process_of_ours_imports_a_file_that_lies_there(
    kibitz: Kibitz, mark: Path, words: list[str]
) -> None:
    done = run(kibitz, *words)
    assert imported(mark) == []
    assert done.returncode == 0, done.stderr


def test_python_m_takes_the_directory_off_the_path(kibitz: Kibitz, mark: Path) -> None:
    """Exclude the modules that Python itself imports before our `__main__`."""
    code = "import runpy, sys, kibitz; print(*sys.modules)"
    first = run(kibitz, sys.executable, "-P", "-c", code).stdout.split()
    for name in {each.partition(".")[0] for each in first} & {*NAMES}:
        (kibitz.directory / f"{name}.py").unlink()
    done = run(kibitz, sys.executable, "-m", "kibitz", "game", "show", "line-nim")
    assert imported(mark) == []
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("play", "line-nim:free=12", "line-nim/random", BOT),
        (
            "arena",
            "--game",
            "line-nim:free=12",
            "--players",
            "line-nim/random",
            BOT,
            "--games",
            "2",
        ),
        ("bot", "check", "line-nim/random", "--game", "line-nim"),
        ("train", "--list"),
    ],
    ids=lambda words: words[0],
)
def test_commands_import_no_file_that_lies_there(
    kibitz: Kibitz, mark: Path, words: tuple[str, ...]
) -> None:
    done = run(kibitz, SCRIPT, *words)
    assert imported(mark) == []
    assert done.returncode == 0, done.stderr + done.stdout


def test_house_bots_of_a_server_import_no_file_that_lies_there(kibitz: Kibitz, mark: Path) -> None:
    words = [SCRIPT, "serve", "--port", "0", "--db", "k.db", "--json"]
    with subprocess.Popen(
        words,
        cwd=kibitz.directory,
        env=kibitz.environment() | {"KIBITZ_PLAIN": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["url"]
            bots = "house=line-nim/random,house=line-nim/random"
            host = ["host", "line-nim:free=12", "--seats", bots, "--server", url, "--json"]
            done = run(kibitz, SCRIPT, *host)
        finally:
            server.terminate()
    assert imported(mark) == []
    assert done.returncode == 0, done.stderr + done.stdout
