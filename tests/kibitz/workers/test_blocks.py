"""The contents of a tournament's tasks, and the reasons not to use workers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from kibitz.workers import blocks
from kibitz.workers.blocks import entrant_files, load_sentence, task_terms, worker_problem
from kibitz.workers.port import PoolError
from kibitz.workers.process_pool import ProcessPool
from kibitz_arena.runner.block_task import TaskFile
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.tournament import Tournament


def event(*entrants: dict[str, Any], **fields: Any) -> Tournament:
    both = [*entrants, {"name": "Zoe", "bot": "line-nim/random"}]
    return Tournament.model_validate(
        {"name": "cup", "game": {"name": "line-nim"}, "entrants": both, "seed": 0, **fields}
    )


def test_files_of_a_bot_and_of_a_program_are_sent(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    for name, text in (("ada/bot.py", "a"), ("ada/tool.py", "b"), ("ada/notes.txt", "c")):
        (tmp_path / name).write_text(text)
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    files = entrant_files(
        event({"name": "Ada", "bot": "ada/bot.py"}, {"name": "Eve", "gomocup": ["./engine", "-x"]}),
        tmp_path,
    )
    assert [(each.path, each.executable) for each in files] == [
        ("ada/bot.py", False),
        ("ada/tool.py", False),
        ("engine", True),
    ]
    assert base64.b64decode(files[1].content) == b"b"


def test_a_bot_outside_of_the_base_is_refused_with_a_sentence(tmp_path: Path) -> None:
    directory = TournamentDirectory(tmp_path / "cup.arena")
    directory.create(tmp_path)
    (tmp_path / "cup").mkdir()
    held = event({"name": "Ada", "bot": "../ada.py"})
    with pytest.raises(PoolError, match="expected a bot below"):
        task_terms(held, directory, None, ProcessPool(1), 10.0)


def test_files_that_are_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MOST_BYTES", 10)
    (tmp_path / "ada.py").write_text("x" * 11)
    with pytest.raises(ValueError, match="are larger than 0 MiB"):
        entrant_files(event({"name": "Ada", "bot": "ada.py"}), tmp_path)


def test_events_with_others_servers_or_entrants_are_refused() -> None:
    assert worker_problem(event({"name": "Ada", "bot": "line-nim/greedy"}), None) is None
    assert "no --server" in str(worker_problem(event({"name": "A", "remote": True}), "ws://a"))
    assert "A is a remote entrant" in str(
        worker_problem(event({"name": "A", "remote": True}), None)
    )


def test_more_workers_than_processors_are_warned_of_where_there_are_clocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "cpu_count", lambda: 2)
    ada = {"name": "Ada", "bot": "line-nim/greedy"}
    assert load_sentence(event(ada), ProcessPool(3)) is None
    assert load_sentence(event(ada, time_control="1+0.1"), ProcessPool(2)) is None
    sentence = load_sentence(event(ada, time_control="1+0.1"), ProcessPool(3))
    assert str(sentence).startswith("3 workers share 2 processors")


def test_files_are_written_below_the_base_and_nowhere_else(tmp_path: Path) -> None:
    content = base64.b64encode(b"hi").decode()
    file = TaskFile(path="a/b.py", content=content, executable=True)
    blocks.lay_out([file], tmp_path)
    assert (tmp_path / "a/b.py").read_bytes() == b"hi"
    assert (tmp_path / "a/b.py").stat().st_mode & 0o777 == 0o755
    for path in ("../out.py", "/tmp/out.py"):
        with pytest.raises(ValueError, match="below the tournament's base"):
            blocks.lay_out([file.model_copy(update={"path": path})], tmp_path)
