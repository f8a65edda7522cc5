"""The entrants' players: their names and secrets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self, cast

import pytest

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.errors import EntrantFailedError
from kibitz_arena.runner.players import EntrantPlayers
from kibitz_arena.runner.services import Services
from tests.arena.tournaments import event

[ADA] = event(2).entrants[:1]


class FakeClient:
    """Records how each client signs in."""

    sign_ins: ClassVar[list[dict[str, Any]]]
    account = "Ada"

    def __init__(self, url: str, **given: Any) -> None:
        names = ("name", "token", "resume", "organizer")
        self.sign_ins.append({name: given[name] for name in names})
        self.player, self.resume = "p1", "secret-of-ada"
        self.welcome = SimpleNamespace(name=self.account)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close nothing."""


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> type[FakeClient]:
    class Client(FakeClient):
        sign_ins: ClassVar[list[dict[str, Any]]] = []

    monkeypatch.setattr("kibitz_arena.runner.players.Client", Client)
    return Client


@pytest.fixture
def directory(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    return made


def players(directory: TournamentDirectory, token: str | None) -> EntrantPlayers:
    services = cast(Services, SimpleNamespace(token=lambda entrant: token))
    return EntrantPlayers(directory, services, "ws://127.0.0.1:1", 2, "secret-of-the-host")


async def test_a_new_entrant_is_registered_once(
    client: type[FakeClient], directory: TournamentDirectory
) -> None:
    for _ in range(2):
        assert await players(directory, None).register([ADA]) == {"Ada": "p1"}
    first, again = client.sign_ins
    new = {"name": "Ada", "token": None, "resume": None, "organizer": "secret-of-the-host"}
    assert first == new
    assert again == {"name": None, "token": None, "resume": "secret-of-ada", "organizer": None}


async def test_an_account_signs_in_with_its_token_and_under_its_own_name_only(
    client: type[FakeClient], directory: TournamentDirectory
) -> None:
    await players(directory, "token-of-ada").register([ADA])
    [sign_in] = client.sign_ins
    assert sign_in == {"name": None, "token": "token-of-ada", "resume": None, "organizer": None}
    assert directory.load_secret("Ada") is None
    client.account = "Bob"
    with pytest.raises(EntrantFailedError, match="contains the token of Bob"):
        await players(directory, "token-of-bob").register([ADA])
