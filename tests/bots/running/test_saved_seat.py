"""A bot's secret on disk: one file a process, kept while it plays, gone when it has ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz_bots.running import state_file
from kibitz_bots.running.saved_seat import SavedSeat, take_seat

SERVER = "ws://127.0.0.1:8765"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path))
    return tmp_path / "bots"


def take(
    server: str = SERVER, name: str | None = "ada", words: tuple[str, ...] = ("a/b",)
) -> SavedSeat:
    seat = take_seat(server, name, words)
    assert seat is not None
    return seat


def test_what_is_kept_is_found_by_the_next_process(state: Path) -> None:
    first = take()
    assert first.resume is None
    first.keep("a-long-secret")
    (path,) = state.glob("*.resume")
    assert path.stat().st_mode & 0o777 == 0o600
    assert state.stat().st_mode & 0o777 == 0o700
    first.close()
    again = take(f"{SERVER}/")
    assert again.resume == "a-long-secret"
    again.forget()
    again.close()
    assert take().resume is None


def test_two_processes_of_one_bot_have_a_file_each() -> None:
    seats = [take() for _ in range(3)]
    for number, seat in enumerate(seats):
        seat.keep(f"secret-of-{number}")
    assert [seat.resume for seat in seats] == ["secret-of-0", "secret-of-1", "secret-of-2"]
    seats[1].close()
    assert take().resume == "secret-of-1"


@pytest.mark.e2e
def test_the_lock_of_a_killed_process_is_free(state: Path) -> None:
    program = (
        "import sys, time\n"
        "from kibitz_bots.running.saved_seat import take_seat\n"
        f"seat = take_seat({SERVER!r}, 'ada', ['a/b'])\n"
        "seat.keep('secret-of-a-child')\n"
        "print('kept', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "kept\n"
            other = take()
            assert other.resume is None
            other.close()
        finally:
            child.kill()
    assert take().resume == "secret-of-a-child"


@pytest.mark.parametrize(
    "changes", [{"server": "ws://elsewhere"}, {"name": "bob"}, {"name": None}, {"words": ("a/c",)}]
)
def test_another_bot_has_another_file(changes: dict[str, object]) -> None:
    own = take()
    own.keep("a-long-secret")
    own.close()
    assert take(**changes).resume is None  # type: ignore[arg-type]


def test_a_bot_in_a_file_is_known_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text("")
    monkeypatch.chdir(tmp_path / "one")
    own = take(words=("bot.py",))
    own.keep("a-long-secret")
    own.close()
    monkeypatch.chdir(tmp_path / "two")
    assert take(words=("bot.py",)).resume is None
    assert take(words=("../one/bot.py",)).resume == "a-long-secret"


def test_a_directory_that_cannot_be_used_keeps_nobody_from_playing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path / "file"))
    assert take_seat(SERVER, "ada", ["a/b"]) is None
    assert "cannot be saved" in caplog.text


def test_files_that_nobody_uses_are_removed(state: Path) -> None:
    for name in ("old", "used"):
        seat = take(name=name)
        seat.keep("a-long-secret")
        if name == "old":
            seat.close()
    past = time.time() - (state_file.DAYS + 1) * 86_400
    for path in state.iterdir():
        os.utime(path, (past, past))
    take(name="new")
    assert len(list(state.glob("*.resume"))) == 1
    assert len(list(state.glob("*.lock"))) == 2
