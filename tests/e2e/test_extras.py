"""Each installation works or names the missing extra."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from kibitz import extras

ROOT = Path(__file__).parents[2]
INSTALL_SECONDS = 600
BLOCKER = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{top!r}}", name=top)
sys.meta_path.insert(0, Blocker())
{code}
"""


def without_extras(code: str) -> subprocess.CompletedProcess[str]:
    """Run code without the packages of the extras."""
    program = BLOCKER.format(blocked=set(extras.OPTIONAL), code=code)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["play", "connect-four", "a", "b"], "server"),
        (["bot", "new", "mine"], "server"),
        (["serve", "--port", "0", "--db", "/nowhere/k.db"], "server"),
        (["watch", "x"], "terminal"),
        (["arena", "x.yaml"], "arena"),
        (["connect", "connect-four/alphabeta", "--lobby", "X"], "search"),
    ],
)
def test_a_command_without_its_packages_says_what_to_install(words: list[str], extra: str) -> None:
    done = without_extras(f"from kibitz import cli; cli.main({words!r})")
    assert done.returncode == extras.EXIT_MISSING, done.stderr
    (line,) = done.stderr.splitlines()
    command = "bot new" if words[0] == "bot" else words[0]
    assert line.startswith(f"Error: kibitz {command} needs ")
    assert line.endswith(f"which is not installed: pip install 'kibitz[{extra}]'")


def test_a_bot_imports_nothing_of_the_extras() -> None:
    code = (
        "from kibitz import Bot, Client, run\n"
        "import kibitz_bots.process, kibitz_bots.running.connection, kibitz_bots.running.warmup\n"
        "import kibitz_bots.loading, kibitz_bots.adapters.stdio, kibitz_bots.kinds.function_bot"
    )
    done = without_extras(code)
    assert done.returncode == 0, done.stderr
    loaded = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()
    assert {"websockets", "pydantic"} <= set(loaded)
    assert not extras.OPTIONAL & set(loaded)


def test_without_numpy_no_rules_are_installed() -> None:
    code = (
        "from kibitz_games.core import registry\n"
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'numpy' else found(name)\n"
        "assert 'connect-four' in registry.names()\n"
        "assert not registry.can_load('connect-four')\n"
        "registry.get('connect-four')"
    )
    done = without_extras(code)
    assert "ModuleNotFoundError: No module named 'numpy'" in done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(ROOT)], check=True, timeout=120)
    (built,) = place.glob("*.whl")
    return built


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "works", "lacks"),
    [
        ("", ["connect", "--help"], ["play", "connect-four"]),
        ("server", ["bot", "new", "mine"], ["arena", "x.yaml"]),
        ("search", ["bot", "list", "--json"], ["ladder", "x"]),
        (
            "terminal",
            ["record", "replay", str(ROOT / "docs/images/connect-four.jsonl"), "--json"],
            ["serve"],
        ),
        ("arena", ["arena", "--help"], ["demo"]),
        ("all", ["demo", "--help"], None),
    ],
)
def test_an_install_does_its_job_or_says_what_is_missing(
    wheel: Path, tmp_path: Path, extra: str, works: list[str], lacks: list[str] | None
) -> None:
    kibitz = install(wheel, tmp_path, extra)
    done = subprocess.run([kibitz, *works], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if lacks is not None:
        done = subprocess.run([kibitz, *lacks], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == extras.EXIT_MISSING, done.stderr
        assert f"pip install 'kibitz[{extras.extra_of(lacks[0])}]'" in done.stderr


@pytest.mark.slow
def test_a_server_without_the_searches_plays_a_bot(wheel: Path, tmp_path: Path) -> None:
    kibitz = install(wheel, tmp_path, "server")
    words = ["play", "connect-four", "connect-four/random", "connect-four/greedy", "--json", "-q"]
    done = subprocess.run([kibitz, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not json.loads(done.stdout)["trouble"]


def install(wheel: Path, place: Path, extra: str) -> Path:
    """Install the wheel with an extra into a new environment; return the command."""
    venv.create(place / "venv", with_pip=True)
    python = place / "venv" / "bin" / "python"
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    words = ["install", "--quiet", "-c", str(ROOT / "constraints.txt"), what]
    done = subprocess.run(
        [python, "-m", "pip", *words], capture_output=True, text=True, timeout=INSTALL_SECONDS
    )
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("no package index has what the installation needs")
    assert done.returncode == 0, done.stderr
    return python.with_name("kibitz")
