"""Measure a bot author's first minutes, from an empty environment to ten games.

`python -m benchmarks.first_minutes` builds a wheel of this checkout and times each step of the
README. It then does the same for kaggle-environments and Battlesnake's Python starter project, each
in a separate environment. If a step fails, the output has the reason, and the remaining steps of
the project are skipped. CPU time includes all processes of a step, and is more reliable on a busy
machine. `--wheel FILE` also measures another release of kibitz.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import machine

ROOT = Path(__file__).parents[1]
STEP_SECONDS = 600.0
KAGGLE = """
from kaggle_environments import make
environment = make("connectx")
for _ in range({games}):
    environment.run([lambda observation: observation.board.index(0) % 7, "random"])
"""
STARTER = "https://github.com/BattlesnakeOfficial/starter-snake-python"


@dataclass(frozen=True)
class Step:
    """A command with its title in the table."""

    title: str
    words: Sequence[str | Path]


@dataclass(frozen=True)
class Subject:
    """A project, and the steps that lead to its first results."""

    name: str
    place: Path
    """The working directory, with the environment in ``venv``."""
    steps: Sequence[Step]


def subjects(work: Path, wheels: Sequence[str]) -> Iterator[Subject]:
    """Yield the projects to measure, each with a directory in `work`."""
    for number, wheel in enumerate(wheels):
        place = work / f"kibitz-{number}"
        command = str(place / "venv/bin/kibitz")
        play = [command, "play", "connect-four", "mybot/bot.py", "connect-four/random", "-q"]
        yield Subject(
            f"kibitz {Path(wheel).name}",
            place,
            [
                _install(place, "-c", ROOT / "constraints.txt", wheel),
                Step("new bot", [command, "new-bot", "mybot"]),
                Step("first match, empty caches", play),
                Step("first match again", play),
                Step("ten games", [*play, "--games", "10"]),
            ],
        )
    place = work / "kaggle"
    python = str(place / "venv/bin/python")
    yield Subject(
        "kaggle-environments",
        place,
        [
            _install(place, "kaggle-environments"),
            Step("first match, empty caches", [python, "-c", KAGGLE.format(games=1)]),
            Step("first match again", [python, "-c", KAGGLE.format(games=1)]),
            Step("ten games", [python, "-c", KAGGLE.format(games=10)]),
        ],
    )
    place = work / "battlesnake"
    rules = "github.com/BattlesnakeOfficial/rules/cli/battlesnake@latest"
    yield Subject(
        "Battlesnake",
        place,
        [
            Step("download", ["git", "clone", "--quiet", "--depth", "1", STARTER, "starter"]),
            _install(place, "-r", "starter/requirements.txt"),
            Step("install the game", ["go", "install", rules]),
        ],
    )


def _install(place: Path, *words: str | Path) -> Step:
    quiet = ["--quiet", "--disable-pip-version-check"]
    return Step("install", [place / "venv/bin/python", "-m", "pip", "install", *quiet, *words])


def measure(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Yield title, time and CPU time of each step, up to the first that fails."""
    place = subject.place
    venv.create(place / "venv", with_pip=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = kept | {"KIBITZ_CACHE": str(place / "cache")}
    for step in subject.steps:
        began, cpu = time.perf_counter(), _cpu_seconds()
        try:
            done = subprocess.run(
                step.words,
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                timeout=STEP_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            yield step.title, f"skipped: {error}", "-"
            return
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no output"]
            yield step.title, f"skipped: status {done.returncode}: {lines[-1]:.100}", "-"
            return
        took, used = time.perf_counter() - began, _cpu_seconds() - cpu
        yield step.title, f"{took:.1f} s", f"{used:.1f} s"


def _cpu_seconds() -> float:
    """Return the CPU time of all terminated child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_wheel(work: Path) -> Path:
    """Build the wheel of this checkout."""
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(work)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(ROOT)], check=True)
    (wheel,) = work.glob("*.whl")
    return wheel


def main() -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_minutes", description=__doc__)
    parser.add_argument(
        "--wheel", action="append", default=[], help="another kibitz wheel to measure, with extras"
    )
    given = parser.parse_args()
    print(machine())
    print("| subject | step | time | CPU time |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="kibitz-first-minutes-") as temporary:
        work = Path(temporary)
        own = f"{build_wheel(work)}[server]"
        for subject in subjects(work, [own, *given.wheel]):
            for row in measure(subject):
                print(f"| {' | '.join([subject.name, *row])} |", flush=True)


if __name__ == "__main__":
    main()
