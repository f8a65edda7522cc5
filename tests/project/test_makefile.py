"""The Makefile with missing prerequisites: a clear message, and nothing is created."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "cat", "test", "rm", "echo", "touch", "printf")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout and a PATH with only a shell."""
    if shutil.which("make") is None:
        pytest.skip("no make on this machine")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    web_tools = Path("tests/tools/web/package.json")
    (tmp_path / web_tools).parent.mkdir(parents=True)
    shutil.copy(ROOT / web_tools, tmp_path / web_tools)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def python(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make(machine: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("make") or "make", "--no-print-directory", *words]
    environment = {"PATH": str(machine / "bin"), **variables}
    return subprocess.run(
        command, cwd=machine, env=environment, capture_output=True, text=True, timeout=60
    )


def pretending(*cases: str) -> str:
    """Return a script that handles some second arguments and otherwise runs this Python."""
    return f'case "$2" in {" ".join(cases)} *) exec {sys.executable} "$@";; esac'


OLD = pretending("*platform*) echo 3.9.2;;", "*version_info*) exit 1;;")
BARE = pretending("*ensurepip*) exit 1;;")


@pytest.mark.e2e
def test_no_python_at_all(machine: Path) -> None:
    done = make(machine, "demo")
    assert done.returncode != 0
    assert "kibitz needs Python 3.11 or newer; found: none" in done.stderr
    assert not (machine / ".venv").exists()


@pytest.mark.e2e
def test_a_python_that_is_too_old_is_named_with_its_version(machine: Path) -> None:
    python(machine, "python3", OLD)
    done = make(machine, "test")
    assert "kibitz needs Python 3.11 or newer; found: python3 (3.9.2)" in done.stderr
    assert not (machine / ".venv").exists()


@pytest.mark.e2e
def test_a_python_without_venv_is_told_what_to_install(machine: Path) -> None:
    python(machine, "python3", BARE)
    done = make(machine, "test")
    assert "python3 cannot create virtual environments" in done.stderr
    assert "apt install python3-venv" in done.stderr


@pytest.mark.e2e
def test_only_the_python_that_was_asked_for_is_taken(machine: Path) -> None:
    python(machine, "python3", pretending())
    python(machine, "old", OLD)
    done = make(machine, "demo", "PYTHON=old")
    assert "found: old (3.9.2)" in done.stderr


@pytest.mark.e2e
def test_an_older_python_before_a_fit_one_is_passed_over(machine: Path) -> None:
    python(machine, "python3", OLD)
    python(
        machine,
        "python3.12",
        pretending("venv) mkdir .venv;;"),
    )
    done = make(machine, ".venv/.home")
    assert "creating .venv with python3.12" in done.stdout


@pytest.mark.e2e
def test_without_a_goal_it_lists_its_verbs(machine: Path) -> None:
    done = make(machine)
    assert done.returncode == 0
    for verb in (
        "demo",
        "test",
        "test-e2e",
        "test-peers",
        "test-all",
        "lint",
        "format",
        "schema",
        "bench",
        "experiments",
        "clean",
    ):
        assert f"make {verb} " in done.stdout


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("goal", "sets"), [("test", ["fast"]), ("test-e2e", ["e2e"]), ("test-all", ["fast", "e2e"])]
)
def test_what_tests_run_is_compiled_before_they_start(
    machine: Path, goal: str, sets: list[str]
) -> None:
    done = make(machine, "--dry-run", goal)
    steps = [line.split(" -m ")[1:] for line in done.stdout.splitlines() if " -m tests" in line]
    assert [step[0] for step in steps] == [f"tests.tools.warm_cache {name}" for name in sets]
    last = done.stdout.rindex("warm_cache")
    assert last < done.stdout.index("-m pytest")


def environment_made(machine: Path, python: str) -> None:
    """Create a fake environment for `make` with a script instead of Python."""
    (machine / ".venv").mkdir()
    for stamp in (".home", ".run", ".dev"):
        (machine / ".venv" / stamp).write_text(str(machine))
    sound = machine / ".venv" / "bin" / "python"
    sound.parent.mkdir()
    sound.write_text(f"#!/bin/sh\n{python}\n")
    sound.chmod(0o755)


@pytest.mark.e2e
def test_bytecode_is_kept_whatever_the_caller_has_in_its_environment(machine: Path) -> None:
    script = 'case "$*" in *mypy*) echo "bytecode is ${PYTHONDONTWRITEBYTECODE-kept}";; esac'
    environment_made(machine, script)
    done = make(machine, "mypy", PYTHONDONTWRITEBYTECODE="1")
    assert "bytecode is kept" in done.stdout.splitlines(), done.stdout + done.stderr
