"""The log of a sequential test, whole, cut and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.local.engine_pairs import PlayedPair
from kibitz.local.sprt_log import SprtLog, SprtLogError

TERMS = {"game": "connect-four", "nodes": 100, "elo": [0.0, 10.0]}
PAIR = PlayedPair(["a"], (["b"], ["c"]), (1.0, 0.5))


def written(path: Path, pairs: int) -> None:
    log = SprtLog(path, TERMS)
    for _ in range(pairs):
        log.add(PAIR)
    log.close()


def read(path: Path) -> list[tuple[float, float]]:
    log = SprtLog(path, TERMS)
    log.close()
    return log.points


def test_a_test_goes_on_from_its_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 2)
    written(path, 1)
    assert read(path) == [(1.0, 0.5)] * 3


def test_a_log_that_was_cut_anywhere_goes_on_from_its_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 3)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        whole = max(0, data[:length].count(b"\n") - 1)
        assert read(path) == [(1.0, 0.5)] * whole
        written(path, 1)
        assert read(path) == [(1.0, 0.5)] * (whole + 1)


def test_the_log_of_another_test_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 1)
    data = path.read_bytes()
    with pytest.raises(SprtLogError, match="another value of nodes; choose another file"):
        SprtLog(path, TERMS | {"nodes": 200})
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "text",
    ["odd\n", "one line without an end", "{}\n", "[]\n", '{"sprt": {}}\n{"pair": 1}\n', "1\n"],
)
def test_other_files_are_refused_and_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    with pytest.raises(SprtLogError):
        SprtLog(path, TERMS)
    assert path.read_text() == text
