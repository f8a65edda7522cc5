"""The contents of a tournament's tasks, and the reasons not to use workers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from kibitz.workers import blocks
from kibitz.workers.blocks import entrant_files, load_sentence, task_terms, worker_problem
from kibitz.workers.file_cache import FileCache, sha256
from kibitz.workers.port import PoolError
from kibitz.workers.process_pool import ProcessPool
from kibitz_arena.runner.block_task import BlockTask, TaskFile
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.schedule import ScheduledGame
from kibitz_arena.tournament import Tournament


def event(*entrants: dict[str, Any], **fields: Any) -> Tournament:
    both = [*entrants, {"name": "Zoe", "bot": "line-nim/random"}]
    return Tournament.model_validate(
        {"name": "cup", "game": {"name": "line-nim"}, "entrants": both, "seed": 0, **fields}
    )


def test_files_of_a_bot_and_of_a_program_are_sent_by_hash(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    for name, text in (("ada/bot.py", "a"), ("ada/tool.py", "b"), ("ada/notes.txt", "c")):
        (tmp_path / name).write_text(text)
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    files, contents = entrant_files(
        event({"name": "Ada", "bot": "ada/bot.py"}, {"name": "Eve", "gomocup": ["./engine", "-x"]}),
        tmp_path,
    )
    assert [(each.path, each.executable) for each in files] == [
        ("ada/bot.py", False),
        ("ada/tool.py", False),
        ("engine", True),
    ]
    assert {sha256(base64.b64decode(text)) for text in contents.values()} == {*contents}
    assert {each.sha256 for each in files} == {*contents}


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
    with pytest.raises(ValueError, match="expected less"):
        entrant_files(event({"name": "Ada", "bot": "ada.py"}), tmp_path)


def test_events_with_others_servers_or_entrants_are_refused() -> None:
    assert worker_problem(event({"name": "Ada", "bot": "line-nim/greedy"}), None) is None
    assert "no --server" in str(worker_problem(event({"name": "A", "remote": True}), "ws://a"))
    assert "A comes from elsewhere" in str(
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


def test_a_cache_refuses_wrong_contents_and_wrong_places(tmp_path: Path) -> None:
    cache, good = FileCache(tmp_path / "cache"), sha256(b"hi")
    with pytest.raises(ValueError, match="expected a file with the hash"):
        cache.add({good: base64.b64encode(b"ha").decode()})
    file = TaskFile(path="a/b.py", sha256=good, executable=True)
    assert cache.missing([file]) == [good]
    cache.add({good: base64.b64encode(b"hi").decode()})
    assert cache.missing([file]) == []
    base = tmp_path / "base"
    base.mkdir()
    cache.lay_out([file], base)
    assert (base / "a/b.py").read_bytes() == b"hi"
    assert (base / "a/b.py").stat().st_mode & 0o777 == 0o755
    for path in ("../out.py", "/tmp/out.py"):
        with pytest.raises(ValueError, match="below the tournament's base"):
            cache.lay_out([file.model_copy(update={"path": path})], base)


def test_a_damaged_file_of_the_cache_is_missing(tmp_path: Path) -> None:
    cache, good = FileCache(tmp_path), sha256(b"hi")
    (tmp_path / good).write_bytes(b"ho")
    assert cache.missing([TaskFile(path="a.py", sha256=good)]) == [good]


async def test_a_task_is_not_played_without_its_files(tmp_path: Path) -> None:
    game = ScheduledGame("b1.1", "b1", None, ("Ada", "Zoe"), "0" * 64, 0)
    file = TaskFile(path="ada.py", sha256=sha256(b"hi"))
    held = event({"name": "Ada", "bot": "ada.py"}).dump()
    task = BlockTask(tournament=held, games=[game], files=[file], wait=5.0)
    answer = await blocks.play(task.model_dump(mode="json"), FileCache(tmp_path))
    assert answer["missing"] == [file.sha256]
    assert answer["games"] == []
