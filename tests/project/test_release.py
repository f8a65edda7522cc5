"""Release metadata: the package, the changelog and the tag have the same version."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.tools import release

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLIENT = ROOT / "clients" / "typescript" / "package.json"
_HEADING = re.compile(r"^## (\d+\.\d+\.\d+)", re.MULTILINE)


def test_the_changelog_has_the_version_as_its_newest_heading() -> None:
    newest, *_ = _HEADING.findall((ROOT / "CHANGELOG.md").read_text())
    assert newest == PROJECT["version"] == version("kibitz")


def test_the_client_for_npm_has_the_version_of_the_server() -> None:
    assert json.loads(CLIENT.read_text())["version"] == PROJECT["version"]


@pytest.mark.e2e
def test_a_tagged_commit_has_the_version_of_its_tag() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout, so it has no tags")
    words = ["git", "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert tags in ([], [f"v{PROJECT['version']}"])
    assert not tags or not [*release.unset()]


def test_each_place_that_the_owner_fills_in_is_marked_once(tmp_path: Path) -> None:
    for name in release.PLACES:
        shutil.copy(ROOT / name, tmp_path)
    left = [*release.unset(tmp_path)]
    assert len(left) == len({line.partition(":")[0] for line in left})
    for name in release.PLACES:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace(release.MARK, "") + f"# {release.MARK}here\n")
    assert [line.partition(": ")[2] for line in release.unset(tmp_path)] == ["here"] * 3


def test_the_license_is_an_spdx_expression_and_its_text_is_shipped() -> None:
    assert PROJECT["license"] == "MIT"
    assert [(ROOT / name).is_file() for name in PROJECT["license-files"]] == [True]
    assert not [each for each in PROJECT["classifiers"] if each.startswith("License ::")]


def test_a_private_report_has_a_page_that_the_releases_name() -> None:
    assert "## Reporting a vulnerability" in (ROOT / "SECURITY.md").read_text()
    assert "`SECURITY.md`" in (ROOT / "docs/reference/releases.md").read_text()
