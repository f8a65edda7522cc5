"""Measure a bot author's first minutes, from an empty environment to ten games.

`python -m benchmarks.first_minutes` builds a wheel of this checkout and times each step of the
README. It then does the same for kaggle-environments and Battlesnake's Python starter project, each
in a separate environment. If a step fails, the output has the reason, and the remaining steps of
the project are skipped. CPU time includes all processes of a step, and is more reliable on a busy
machine. `--wheel FILE` also measures another release of kibitz. `--save` replaces the stored
results, from which `python -m docs.generate` writes a table.
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

from pydantic import BaseModel

from benchmarks.machine import commit, machine

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_suffix(".json")
STEP_SECONDS = 600.0
DOWNLOAD_SECONDS = 60.0
KAGGLE = """
from kaggle_environments import make
environment = make("connectx")
for _ in range({games}):
    environment.run([lambda observation: observation.board.index(0) % 7, "random"])
"""
STARTER = "https://github.com/BattlesnakeOfficial/starter-snake-python"
BATTLESNAKE = """
import socket, subprocess, sys, time
bot = subprocess.Popen([sys.executable, "starter/main.py"])
try:
    while bot.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", 8000)).close()
            break
        except OSError:
            time.sleep(0.05)
    game = ["bin/battlesnake", "play", "-g", "solo", "--name", "me", "--url", "http://127.0.0.1:8000"]
    for _ in range({games}):
        subprocess.run(game, check=True)
finally:
    bot.terminate()
    bot.wait()
"""


@dataclass(frozen=True)
class Step:
    """A command with its title in the table."""

    title: str
    words: Sequence[str | Path]
    timeout_s: float = STEP_SECONDS


class Timing(BaseModel):
    """The times of a step in seconds, or the reason why it could not be measured."""

    project: str
    step: str
    wall_s: float = 0.0
    cpu_s: float = 0.0
    skipped: str = ""

    def row(self) -> list[str]:
        """Return the step's row of the table."""
        if self.skipped:
            return [self.project, self.step, f"not measured: {self.skipped}", ""]
        return [self.project, self.step, f"{self.wall_s:.1f} s", f"{self.cpu_s:.1f} s"]


class Results(BaseModel):
    """A run of this benchmark."""

    machine: str
    commit: str
    load: float
    """The average number of active threads of all programs in the last five minutes of the run."""
    timings: list[Timing]


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
        play = [command, "play", "connect-four", "mybot.py", "connect-four/random", "-q"]
        yield Subject(
            "kibitz" if number == 0 else Path(wheel).name.partition("[")[0],
            place,
            [
                _install(place, "-c", ROOT / "constraints.txt", wheel),
                Step("new bot", [command, "bot", "new", "mybot.py", "--game", "connect-four"]),
                Step("first game, empty caches", play),
                Step("first game again", play),
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
            Step("first game, empty caches", [python, "-c", KAGGLE.format(games=1)]),
            Step("first game again", [python, "-c", KAGGLE.format(games=1)]),
            Step("ten games", [python, "-c", KAGGLE.format(games=10)]),
        ],
    )
    place = work / "battlesnake"
    python = str(place / "venv/bin/python")
    clone = ["git", "clone", "--quiet", "--depth", "1", STARTER, "starter"]
    rules = "github.com/BattlesnakeOfficial/rules/cli/battlesnake@latest"
    yield Subject(
        "Battlesnake",
        place,
        [
            Step("download", clone, DOWNLOAD_SECONDS),
            _install(place, "-r", "starter/requirements.txt"),
            Step("install the game", ["go", "install", rules]),
            Step("first game, empty caches", [python, "-c", BATTLESNAKE.format(games=1)]),
            Step("first game again", [python, "-c", BATTLESNAKE.format(games=1)]),
            Step("ten games", [python, "-c", BATTLESNAKE.format(games=10)]),
        ],
    )


def _install(place: Path, *words: str | Path) -> Step:
    quiet = ["--quiet", "--disable-pip-version-check"]
    return Step("install", [place / "venv/bin/python", "-m", "pip", "install", *quiet, *words])


def measure(subject: Subject) -> Iterator[Timing]:
    """Yield the times of each step, up to the first that fails."""
    place = subject.place
    venv.create(place / "venv", with_pip=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own = {"KIBITZ_CACHE": place / "cache", "GOBIN": place / "bin", "GIT_TERMINAL_PROMPT": "0"}
    environment = kept | {name: str(value) for name, value in own.items()}
    for step in subject.steps:
        began, cpu = time.perf_counter(), _cpu_seconds()
        failure = _run(step, place, environment)
        wall, used = time.perf_counter() - began, _cpu_seconds() - cpu
        if failure:
            yield Timing(project=subject.name, step=step.title, skipped=failure)
            return
        yield Timing(project=subject.name, step=step.title, wall_s=wall, cpu_s=used)


def _run(step: Step, place: Path, environment: dict[str, str]) -> str:
    """Run a step; return the reason if it fails."""
    try:
        done = subprocess.run(
            step.words,
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=step.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"`{Path(step.words[0]).name}` did not finish within {step.timeout_s:.0f} s"
    except OSError as error:
        return f"`{Path(step.words[0]).name}` cannot be started: {error.strerror}"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return f"`{Path(step.words[0]).name}` failed: {lines[-1]:.200}"


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


def load_results(path: Path = RESULT) -> Results:
    """Return the stored results. Raises `pydantic.ValidationError` if the file is invalid."""
    return Results.model_validate_json(path.read_text(encoding="utf-8"))


def main() -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_minutes", description=__doc__)
    parser.add_argument(
        "--wheel", action="append", default=[], help="another kibitz wheel to measure, with extras"
    )
    parser.add_argument("--save", action="store_true", help="replace the stored results")
    given = parser.parse_args()
    print(machine())
    print("| project | step | time | CPU time |\n|---|---|---|---|")
    timings = []
    with tempfile.TemporaryDirectory(prefix="kibitz-first-minutes-") as temporary:
        work = Path(temporary)
        own = f"{build_wheel(work)}[server]"
        for subject in subjects(work, [own, *given.wheel]):
            for timing in measure(subject):
                print(f"| {' | '.join(timing.row())} |", flush=True)
                timings.append(timing)
    load = round(os.getloadavg()[1], 1)
    results = Results(machine=machine(), commit=commit(), load=load, timings=timings)
    if given.save:
        RESULT.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
