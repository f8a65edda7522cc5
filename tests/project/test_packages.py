"""The installed packages: all pinned, without URLs, and no others."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIGURATION["project"]


def pins() -> dict[str, Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in found}


def requirements() -> list[Requirement]:
    optional = PROJECT["optional-dependencies"].values()
    written = [
        Requirement(line) for lines in (PROJECT["dependencies"], *optional) for line in lines
    ]
    return [each for each in written if each.name != PROJECT["name"]]  # combined extras


def test_every_pin_is_one_version_from_no_particular_place() -> None:
    for pin in pins().values():
        assert re.fullmatch(r"==[\w.]+", str(pin.specifier)), pin
        assert pin.url is None, pin


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    known = pins()
    for requirement in requirements():
        pin = known[canonicalize_name(requirement.name)]
        version = str(pin.specifier).removeprefix("==")
        assert requirement.specifier.contains(version, prereleases=True), requirement


def test_everything_that_a_requirement_pulls_in_is_pinned() -> None:
    installed = {canonicalize_name(each.name): each for each in distributions()}
    known = pins()
    waiting = [canonicalize_name(each.name) for each in requirements()]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in installed:  # not installed on this platform
            continue
        seen.add(name)
        assert name in known, f"{name} is not pinned"
        for line in installed[name].requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(needed.name))
    assert len(seen) > len(PROJECT["dependencies"])


def test_what_is_installed_is_what_is_pinned() -> None:
    known = pins()
    for each in distributions():
        pin = known.get(canonicalize_name(each.name))
        assert pin is None or pin.specifier.contains(each.version, prereleases=True), each.name
