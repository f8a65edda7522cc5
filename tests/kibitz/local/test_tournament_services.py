"""Starting entrants' processes: their user, server and limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from kibitz.local.tournament_services import LocalServices, limits_of
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.services import JoinInfo
from kibitz_arena.tournament import Tournament

SEAT = JoinInfo("ws://127.0.0.1:1", "L1", 9)


def event(**fields: Any) -> Tournament:
    entrants = [
        {"name": "Ada", "bot": "ada.py", "limits": {"memory": 300 * 2**20}},
        {"name": "Bob", "stdio": ["node", "bob.js"]},
        {"name": "Cyd", "command": ["./cyd"]},
        {"name": "Dan", "gomocup": ["./dan"], "limits": {}},
        {"name": "Eve", "bot": "line-nim/random", "token_file": "eve.token"},
        {"name": "Far", "remote": True},
    ]
    values = {
        "name": "cup",
        "game": {"name": "line-nim"},
        "entrants": entrants,
        "seed": 0,
        **fields,
    }
    return Tournament.model_validate(values)


@pytest.fixture
def folder(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    (tmp_path / "eve.token").write_text("secret-of-eve\n")
    return made


Started = tuple[list[str], dict[str, str], str]


async def started(folder: TournamentDirectory, name: str, **fields: Any) -> Started:
    """Return the command line, environment and input of an entrant's process."""
    held = event(**fields)
    services = LocalServices(held, folder)
    entrant = held.entrants[held.names.index(name)]
    secret = services.token(entrant) or folder.load_secret(name) or ""
    async with services.launch(entrant, SEAT, secret=secret, hold=0) as launch:
        env = {key: value for key, value in launch.env.items() if key.startswith("KIBITZ_")}
        number = int(env.get("KIBITZ_RESUME_FD") or env["KIBITZ_TOKEN_FD"])
        assert number in launch.descriptors
        return [*launch.command], env, os.read(os.dup(number), 1000).decode()


def after(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


@pytest.mark.parametrize(
    ("name", "limits"),
    [("Ada", (300, None)), ("Bob", (64, 9)), ("Dan", (None, None))],
)
def test_own_limits_come_before_those_of_the_event(
    name: str, limits: tuple[int | None, int | None]
) -> None:
    held = event(limits={"memory": 64 * 2**20, "cpu": 9})
    assert limits_of(held, held.entrants[held.names.index(name)]) == limits


async def test_a_bot_is_limited_by_its_leash(folder: TournamentDirectory) -> None:
    folder.save_secret("Ada", "secret-of-ada")
    words, _, secret = await started(folder, "Ada")
    assert words[1:4] == ["-P", "-m", "kibitz.process.isolation.supervisor"]
    assert after(words, "--memory") == "300", "of all its processes"
    words = words[words.index("kibitz.process.parent_death") - 3 :]
    assert words[:4] == [sys.executable, "-P", "-m", "kibitz.process.parent_death"]
    assert words[5:8] == ["--memory", "300", "kibitz_bots"]
    assert words[-1] == str(folder.path.parent / "ada.py")
    assert (after(words, "--url"), after(words, "--lobby")) == (SEAT.url, SEAT.lobby)
    assert (after(words, "--name"), after(words, "--at-once")) == ("Ada", "9")
    assert secret == "secret-of-ada"


async def test_a_program_is_limited_by_its_bridge(folder: TournamentDirectory) -> None:
    folder.save_secret("Bob", "secret-of-bob")
    words, _, _ = await started(folder, "Bob", limits={"memory": 64 * 2**20, "cpu": 9})
    assert words[words.index("kibitz.process.parent_death") + 2] == "kibitz_bots"
    end = ["--stdio", "--game=line-nim", "--memory", "64", "--cpu", "9", "--", "node", "bob.js"]
    assert words[-len(end) :] == end
    words, _, _ = await started(folder, "Dan")
    assert words[-4:] == ["--gomocup", "--game=line-nim", "--", "./dan"]


async def test_who_connects_by_itself_is_told_where_and_as_whom(
    folder: TournamentDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_TOKEN", "that of whoever holds the tournament")
    folder.save_secret("Cyd", "secret-of-cyd")
    words, env, secret = await started(folder, "Cyd", limits={"cpu": 9})
    assert words[-4:] == ["--cpu", "9", "--", "./cyd"]
    assert env["KIBITZ_SERVER"] == SEAT.url
    assert (env["KIBITZ_LOBBY"], env["KIBITZ_NAME"]) == (SEAT.lobby, "Cyd")
    assert secret == "secret-of-cyd"
    assert "KIBITZ_TOKEN" not in env


async def test_an_account_has_its_token_and_no_other_secret(folder: TournamentDirectory) -> None:
    words, env, secret = await started(folder, "Eve")
    assert secret == "secret-of-eve"
    assert "KIBITZ_RESUME_FD" not in env
    assert not {"--name", "--resume-file", "--token-file"} & {*words}


@pytest.mark.parametrize("name", ["Ada", "Bob", "Cyd", "Dan", "Eve"])
async def test_no_secret_is_where_others_can_read_it(
    folder: TournamentDirectory, name: str
) -> None:
    folder.save_secret(name, "secret-of-" + name.lower())
    words, env, secret = await started(folder, name)
    assert secret == "secret-of-" + name.lower()
    assert not [text for text in [*words, *env.values()] if "secret-of" in text]
    assert not [text for text in words if str(folder.path) in text]
