"""Install packages with games like `pip install -e`, without pip and a network."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path


def search_path(site: Path) -> str:
    """Return a ``PYTHONPATH`` that includes `site`, where packages may be installed later."""
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(site), *([inherited] if inherited else [])])


def install(project: Path, site: Path) -> None:
    """Install a project directory's package: its metadata and links to its sources."""
    metadata = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    declare(site, metadata["name"], metadata["entry-points"]["kibitz.games"])
    for module in project.glob("*/__init__.py"):
        (site / module.parent.name).symlink_to(module.parent)


def declare(site: Path, distribution: str, games: dict[str, str]) -> None:
    """Write the metadata of an installed package that provides games."""
    folder = site / f"{distribution.replace('-', '_')}-0.1.0.dist-info"
    folder.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1.0\n"
    (folder / "METADATA").write_text(head)
    lines = [f"{name} = {value}" for name, value in games.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[kibitz.games]", *lines, ""]))
