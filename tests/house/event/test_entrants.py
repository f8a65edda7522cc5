"""How the processes of entrants are started: as whom, on what, within which limits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from kibitz.event.entrants import Seat, Team, allowed
from kibitz.event.folder import EventFolder
from kibitz.event.house import TELL_SECONDS, Seldom
from kibitz_clients.arena.event import Event

SEAT = Seat("ws://127.0.0.1:1", "L1", 9)


def event(**fields: Any) -> Event:
    entrants = [
        {"name": "Ada", "bot": "ada.py", "limits": {"memory": 300 * 2**20}},
        {"name": "Bob", "stdio": ["node", "bob.js"]},
        {"name": "Cyd", "command": ["./cyd"]},
        {"name": "Dan", "gomocup": ["./dan"], "limits": {}},
        {"name": "Eve", "bot": "line-nim/random", "token_file": "eve.token"},
        {"name": "Far", "remote": True},
    ]
    values = {"name": "cup", "game": {"name": "line-nim"}, "entrants": entrants, **fields}
    return Event.model_validate(values)


@pytest.fixture
def folder(tmp_path: Path) -> EventFolder:
    made = EventFolder(tmp_path / "cup.arena")
    made.make(tmp_path)
    (tmp_path / "eve.token").write_text("secret-of-eve\n")
    return made


def started(folder: EventFolder, name: str, **fields: Any) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of an entrant's process."""
    held = event(**fields)
    team = Team(held, folder, SEAT, played=lambda name: 0, tell=print)
    words, env = team.started(held.entrants[held.names.index(name)])
    return words, {key: value for key, value in env.items() if key.startswith("KIBITZ_")}


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
    assert allowed(held, held.entrants[held.names.index(name)]) == limits


def test_a_bot_is_limited_by_its_leash(folder: EventFolder) -> None:
    words, _ = started(folder, "Ada")
    assert words[:3] == [sys.executable, "-m", "kibitz.leash"]
    assert words[4:7] == ["--memory", "300", "kibitz_bots"]
    assert words[-1] == str(folder.path.parent / "ada.py")
    assert (after(words, "--url"), after(words, "--lobby")) == (SEAT.url, SEAT.lobby)
    assert (after(words, "--name"), after(words, "--at-once")) == ("Ada", "9")
    assert after(words, "--resume-file") == str(folder.secret("Ada"))


def test_a_program_is_limited_by_its_bridge(folder: EventFolder) -> None:
    words, _ = started(folder, "Bob", limits={"memory": 64 * 2**20, "cpu": 9})
    assert words[4] == "kibitz_bots"
    end = ["--stdio", "--game=line-nim", "--memory", "64", "--cpu", "9", "--", "node", "bob.js"]
    assert words[-len(end) :] == end
    words, _ = started(folder, "Dan")
    assert words[-4:] == ["--gomocup", "--game=line-nim", "--", "./dan"]


def test_who_connects_by_itself_is_told_where_and_as_whom(
    folder: EventFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_TOKEN", "that of whoever holds the event")
    folder.keep_secret("Cyd", "secret-of-cyd")
    words, env = started(folder, "Cyd", limits={"cpu": 9})
    assert words[-4:] == ["--cpu", "9", "--", "./cyd"]
    assert env["KIBITZ_SERVER"] == SEAT.url
    assert (env["KIBITZ_LOBBY"], env["KIBITZ_NAME"]) == (SEAT.lobby, "Cyd")
    assert env["KIBITZ_RESUME"] == "secret-of-cyd"
    assert "KIBITZ_TOKEN" not in env


def test_an_account_has_its_token_and_no_other_secret(folder: EventFolder) -> None:
    words, _ = started(folder, "Eve")
    assert after(words, "--token-file") == str(folder.path.parent / "eve.token")
    assert not {"--name", "--resume-file"} & {*words}
    assert "secret-of-eve" not in words


async def test_who_comes_from_elsewhere_is_not_started(folder: EventFolder) -> None:
    held = event()
    far = held.model_copy(update={"entrants": [held.entrants[5]] * 2})
    team = Team(far, folder, SEAT, played=lambda name: 0, tell=print)
    await team.run()


def test_what_goes_on_is_said_ever_more_rarely() -> None:
    seldom = Seldom(0.0)
    said = [now for now in range(200) if seldom.due(float(now), True)]
    ten = int(TELL_SECONDS)
    assert said == [ten, 3 * ten, 7 * ten, 15 * ten]
    assert not seldom.due(200.0, False)
    said = [now for now in range(201, 230) if seldom.due(float(now), True)]
    assert said == [200 + ten]
