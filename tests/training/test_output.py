"""Files of a run are complete or unchanged."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kibitz_training import output
from kibitz_training.output import OutputError


def test_a_file_is_written_and_written_again(tmp_path: Path) -> None:
    for text in ("one", "and another"):
        output.write(tmp_path / "file", text)
        assert (tmp_path / "file").read_text() == text
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_former_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    output.write(tmp_path / "file", "former")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"file: cannot be written \(No space left on device\)"):
        output.write(tmp_path / "file", "later")
    assert (tmp_path / "file").read_text() == "former"
    assert os.listdir(tmp_path) == ["file"]


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OutputError, match=r"file: cannot be written \(Is a directory\)"):
        output.write(tmp_path / "file", "text")
    with pytest.raises(OutputError, match=r"none.file: cannot be written \(No such file"):
        output.write(tmp_path / "none" / "file", "text")
    (tmp_path / "other.part").mkdir()
    with pytest.raises(OutputError, match="other: cannot be written"):
        output.write(tmp_path / "other", "text")
