from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_protocol.atomic_write import write_atomically


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "results.json", "old", mode=0o600)
    assert write_atomically(path, b"newer", durable=False) == path
    assert path.read_text() == "newer"
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]


def test_the_former_file_stays_where_the_new_one_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_atomically(tmp_path / "results.json", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "newer")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
