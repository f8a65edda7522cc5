"""The plots of the generations of Tanks networks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.experiments import tanks
from kibitz_training import journal


def test_each_run_has_a_line_beside_the_report(tmp_path: Path) -> None:
    runs = {
        "codes": [[10.0, 90.0], [20.0, 60.0]],
        "scaled": [[0.0, 0.0], [500.0, 100.0]],
        "codes, quirks": [[9000.0, 0.0], [0.0, 0.0]],
    }
    for name, generations in runs.items():
        (tmp_path / name).mkdir()
        lines = [journal.encode({"schema": journal.SCHEMA})]
        lines += [
            journal.encode({"number": at, "fitness": points})
            for at, points in enumerate(generations)
        ]
        (tmp_path / name / journal.JOURNAL).write_bytes(b"".join(lines))
    highest, quirks, mean = tanks.generations({name: tmp_path / name for name in runs}).values()
    assert [drawn.count("<polyline") for drawn in (highest, quirks, mean)] == [3, 2, 4]
    for name in ("codes", "scaled", "report&#x27;s Table 2"):
        assert f">{name}</text>" in highest
    assert [">10,000</text>" in drawn for drawn in (highest, quirks, mean)] == [False, True, False]
