"""Measure the installed size of kibitz with each of its extras.

`python -m benchmarks.install_sizes` adds up the files of all packages that an extra needs, with
their bytecode, as they are installed in this environment, which must have `kibitz[all]`. For kibitz
itself it installs a wheel of this checkout into a temporary directory. `--save` replaces the stored
results, from which `python -m docs.generate` writes a table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel

from benchmarks.first_minutes import build_wheel
from benchmarks.machine import commit, machine

RESULT = Path(__file__).with_suffix(".json")
EXTRAS: Final = ("", "server", "search", "terminal", "arena", "all")
"""The extras to measure; the empty one is the package alone."""


class InstalledSize(BaseModel):
    """The size of an installation."""

    extra: str
    mib: int
    packages: int
    """The number of installed packages, including kibitz."""


class Sizes(BaseModel):
    """A run of this benchmark."""

    machine: str
    commit: str
    installs: list[InstalledSize]


def needed(extra: str) -> set[str]:
    """Return the names of the packages that `kibitz[extra]` needs on this machine."""
    seen: set[tuple[str, str]] = set()
    waiting = [("kibitz", extra), ("kibitz", "")]
    while waiting:
        name, chosen = waiting.pop()
        if (name, chosen) in seen:
            continue
        seen.add((name, chosen))
        for requirement in map(Requirement, distribution(name).requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": chosen}):
                key = canonicalize_name(requirement.name)
                waiting += [(key, each) for each in ("", *requirement.extras)]
    return {name for name, _ in seen}


def size_of(name: str) -> int:
    """Return the bytes of an installed package's files, including bytecode."""
    paths = (Path(str(file.locate())) for file in distribution(name).files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def own_size(work: Path) -> int:
    """Return the bytes of an installed wheel of this checkout."""
    target = work / "installed"
    words = ["install", "--quiet", "--no-deps", "--target", str(target), str(build_wheel(work))]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def measure(own: int) -> list[InstalledSize]:
    """Return the size of each installation; kibitz itself has `own` bytes."""
    found = []
    for extra in EXTRAS:
        names = needed(extra)
        total = own + sum(size_of(name) for name in names - {"kibitz"})
        size = InstalledSize(extra=extra, mib=round(total / 2**20), packages=len(names))
        found.append(size)
    return found


def load_results(path: Path = RESULT) -> Sizes:
    """Return the stored results. Raises `pydantic.ValidationError` if the file is invalid."""
    return Sizes.model_validate_json(path.read_text(encoding="utf-8"))


def main() -> None:
    """Run the benchmark and print the sizes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.install_sizes", description=__doc__)
    parser.add_argument("--save", action="store_true", help="replace the stored results")
    save = parser.parse_args().save
    with tempfile.TemporaryDirectory(prefix="kibitz-install-sizes-") as temporary:
        sizes = Sizes(
            machine=machine(), commit=commit(), installs=measure(own_size(Path(temporary)))
        )
    text = sizes.model_dump_json(indent=1)
    print(text)
    if save:
        RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
