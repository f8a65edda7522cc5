"""`kibitz train --workers` with an unsupported experiment or an unavailable pool."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from kibitz.commands.train import train


def test_an_experiment_of_one_process_refuses_workers(tmp_path: Path) -> None:
    words = ["chinese-checkers/learned", "--out", str(tmp_path / "out"), "--workers", "2"]
    done = CliRunner().invoke(train, words)
    assert done.exit_code == 2
    assert "chinese-checkers/learned runs in one process only" in done.output
    assert not (tmp_path / "out").exists()
