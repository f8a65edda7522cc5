from __future__ import annotations

import tomllib
from pathlib import Path

from kibitz import extras
from kibitz.cli import kibitz
from kibitz.commands.nouns import NOUN_COMMANDS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {"prometheus-client": "prometheus_client", "pyyaml": "yaml"}


def packages(*names: str) -> set[str]:
    """Return the import names of packages that only some extras install."""
    lines = [line for name in names for line in PROJECT["optional-dependencies"][name]]
    tops = {line.split(">")[0].split(";")[0].strip().lower() for line in lines}
    return {IMPORTED_AS.get(top, top) for top in tops if not top.startswith("kibitz[")}


def test_the_packages_of_the_extras_are_known() -> None:
    own = packages("server", "search", "terminal", "arena")
    assert own - extras.OPTIONAL == {"markdown-it-py"}  # installed by rich
    assert own >= extras.OPTIONAL


def test_the_advice_names_extras_and_commands_that_exist() -> None:
    commands = {*kibitz.entries, *NOUN_COMMANDS}
    for name in commands:
        assert set(extras.extra_of(name).split(",")) <= set(PROJECT["optional-dependencies"])
    assert extras.commands() <= commands
