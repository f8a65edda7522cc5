"""The commit of sources, in a repository of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import machine

pytestmark = pytest.mark.e2e
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit that changed `bots`, and a later one that changed `docs`."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    for name in ("bots", "docs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        git("add", name)
        git(*IDENTITY, "commit", "--quiet", "--message", name)
    return tmp_path


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_only_changes_in_the_folders_count(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = git("rev-parse", "--short=12", "HEAD~1")
    (clone / "docs" / "more").write_text("not committed")
    monkeypatch.chdir(clone / "docs")
    assert machine.last_commit_of(["bots"]) == first != machine.commit()


@pytest.mark.parametrize("name", ["file", "new"])
def test_changed_or_new_files_are_refused(clone: Path, name: str) -> None:
    (clone / "bots" / name).write_text("changed")
    with pytest.raises(machine.UncommittedError, match=f"bots/{name}"):
        machine.last_commit_of(["bots"])
