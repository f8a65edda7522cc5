"""A bot's secret on disk: one file per process, kept during play and removed at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    assert "cannot save this seat" in caplog.text
