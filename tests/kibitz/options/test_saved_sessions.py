"""Saved sessions: their content, their owner, and their removal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kibitz.options import saved_sessions as sessions
from kibitz.options.saved_sessions import InUseError, SavedSession
from kibitz_protocol.client.errors import HelloRefusedError
from kibitz_protocol.wire.refusals import Code

SERVER = "ws://127.0.0.1:8765"


class Welcomed:
    """A client that is welcomed, or refused for its credentials."""

    def __init__(self, resume: str | None = None, refusal: HelloRefusedError | None = None) -> None:
        self.name = "ada"
        self.resume = resume or "a-new-secret"
        self._refusal = refusal

    async def __aenter__(self) -> Welcomed:
        if self._refusal is not None:
            raise self._refusal
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "sessions"


@pytest.fixture
def told() -> list[str]:
    return []


def kept(who: str, told: list[str], secret: str = "the-secret") -> None:
    """Save a session like a process that has since ended."""
    with SavedSession(SERVER, who, told.append) as saved:
        saved.store(client(secret), account=False)


def client(secret: str | None = None) -> Any:
    return Welcomed(secret)


def files(state: Path) -> list[Path]:
    return sorted(state.glob("*.json"))


def test_a_secret_is_found_again_by_server_and_name(told: list[str]) -> None:
    kept("name ada", told)
    with SavedSession(f"{SERVER}/", "name ada", told.append) as again:
        assert again.resume == "the-secret"
    with SavedSession(SERVER, "name bo", told.append) as other:
        assert other.resume is None
    with SavedSession("ws://elsewhere:1", "name ada", told.append) as elsewhere:
        assert elsewhere.resume is None
    assert told == []


def test_a_token_is_not_written_down(state: Path, told: list[str]) -> None:
    who = sessions.account("kb_a-very-secret-token")
    with SavedSession(SERVER, who, told.append) as saved:
        saved.store(client("kb_a-very-secret-token"), account=True)
    [path] = files(state)
    assert "very-secret" not in path.read_text() + path.name


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\xff" * 40, b'{"server": 3}', b"null"])
def test_a_damaged_file_is_told_of_and_not_used(
    content: bytes, state: Path, told: list[str]
) -> None:
    kept("name ada", told)
    [path] = files(state)
    path.write_bytes(content)
    with SavedSession(SERVER, "name ada", told.append) as saved:
        assert saved.resume is None
        assert told == [f"cannot use the saved session {path}: the file is damaged"]
        saved.store(client("a-newer-secret"), account=False)
    with SavedSession(SERVER, "name ada", told.append) as again:
        assert again.resume == "a-newer-secret"


def test_a_disk_that_fails_is_told_of_once_and_stops_nobody(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kibitz_bots.running.state_file.write_atomically", full)
    with SavedSession(SERVER, "name ada", told.append) as saved:
        saved.store(client(), account=False)
        saved.store_hosted("k", "abc", None)
        saved.drop_hosted("k")
        saved.forget()
    [sentence] = told
    assert "you cannot reconnect after closing the terminal" in sentence
    assert "No space left" in sentence


def test_a_directory_that_cannot_be_made_stops_nobody(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path / "file"))
    with SavedSession(SERVER, "name ada", told.append) as saved:
        saved.store(client(), account=False)
    assert len(told) == 1


def test_two_terminals_do_not_share_an_identity(told: list[str]) -> None:
    with SavedSession(SERVER, "name ada", told.append) as saved:
        saved.store(client(), account=False)
        with pytest.raises(InUseError, match=rf"process {os.getpid()}\) is already 'ada' on ws://"):
            SavedSession(SERVER, "name ada", told.append)
        with sessions.take_free_identity(SERVER, "guest host k", told.append) as first:
            first.store(client("first-secret"), account=False)
            with sessions.take_free_identity(SERVER, "guest host k", told.append) as second:
                assert second.resume is None
    with sessions.take_free_identity(SERVER, "guest host k", told.append) as again:
        assert again.resume == "first-secret"


async def test_a_secret_that_the_server_does_not_know_is_forgotten_with_a_sentence(
    told: list[str],
) -> None:
    kept("name ada", told)
    unknown = HelloRefusedError(Code.UNAUTHORIZED, "unknown resume secret")
    came: list[str | None] = []

    def make(resume: str | None) -> Any:
        came.append(resume)
        return Welcomed(resume, unknown if resume else None)

    with SavedSession(SERVER, "name ada", told.append) as saved:
        async with sessions.connect_saved(saved, make, told.append, account=False):
            pass
    assert came == ["the-secret", None]
    assert told == [
        f"{SERVER} no longer recognizes 'ada' (unknown resume secret); connecting as a new player"
    ]
    with SavedSession(SERVER, "name ada", told.append) as again:
        assert again.resume == "a-new-secret"


async def test_a_server_that_refuses_for_another_reason_costs_no_secret(told: list[str]) -> None:
    kept("name ada", told)
    refusal = HelloRefusedError(Code.VERSION, "this server speaks version 9")

    def make(resume: str | None) -> Any:
        return Welcomed(resume, refusal)

    with SavedSession(SERVER, "name ada", told.append) as saved:
        with pytest.raises(HelloRefusedError):
            async with sessions.connect_saved(saved, make, told.append, account=False):
                pass
        assert saved.resume == "the-secret"


def test_fresh_uses_nothing_and_loses_nothing_before_the_welcome(told: list[str]) -> None:
    kept("name ada", told)
    with SavedSession(SERVER, "name ada", told.append, fresh=True) as saved:
        assert saved.resume is None
    with SavedSession(SERVER, "name ada", told.append) as again:
        assert again.resume == "the-secret"


def test_lobbies_are_kept_until_they_are_dropped(told: list[str]) -> None:
    with SavedSession(SERVER, "name ada", told.append) as saved:
        saved.store(client(), account=False)
        saved.store_hosted("one", "abc", "code")
        saved.store_hosted("two", "def", None)
    with SavedSession(SERVER, "name ada", told.append) as again:
        found = again.hosted("one")
        assert found is not None
        assert (found.lobby, found.invite) == ("abc", "code")
        again.drop_hosted("one")
    with SavedSession(SERVER, "name ada", told.append) as third:
        assert third.hosted("one") is None
        assert third.hosted("two") is not None


def test_the_host_of_a_lobby_is_found_by_server_and_lobby(told: list[str]) -> None:
    kept("name ada", told)
    with SavedSession(SERVER, "name ada", told.append) as saved:
        saved.store_hosted("k", "abc", None)
        found = sessions.host_of(f"{SERVER}/", "abc")  # even while another process uses it
    assert found is not None
    assert (found.name, found.resume) == ("ada", "the-secret")
    assert sessions.host_of(SERVER, "abd") is None
    assert sessions.host_of("ws://elsewhere:1", "abc") is None


def test_damaged_sessions_host_nothing(state: Path, told: list[str]) -> None:
    assert sessions.host_of(SERVER, "abc") is None
    kept("name ada", told)
    files(state)[0].write_text("{")
    assert sessions.host_of(SERVER, "abc") is None
