"""Launching players: their arguments and the files they may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.local.player_launch import Place, is_foreign, player_launch, readable_paths
from kibitz.options.program import Program
from kibitz.process.isolation.backends import TRUSTED
from kibitz_bots.adapters.external_program import ExternalProgram, Kind
from kibitz_bots.adapters.launcher import ProcessLimits

PLACE = Place(url="ws://here:1", lobby="L1", name="ada", at_once=2)


def program(*command: str, connects: bool, kind: Kind = "stdio") -> Program:
    limits = ProcessLimits(None, 3)
    return Program(ExternalProgram(kind=kind, command=command, limits=limits), connects)


async def started(player: str | Program, base: Path) -> tuple[list[str], dict[str, str]]:
    async with player_launch(
        player,
        PLACE,
        base=base,
        isolation=TRUSTED,
        env={"KIBITZ_RESUME_FD": "7"},
        descriptors=[7],
        words=["--warm", "[]"],
    ) as launch:
        assert 7 in launch.descriptors
        assert launch.env["KIBITZ_RESUME_FD"] == "7"
        return [*launch.command], dict(launch.env)


async def test_a_program_that_connects_finds_the_place_in_its_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIBITZ_TOKEN", "of-another-server")
    command, env = await started(program("bot", "-x", connects=True), tmp_path)
    assert command[-5:] == ["--cpu", "3", "--", "bot", "-x"]
    assert [env[f"KIBITZ_{word}"] for word in ("SERVER", "LOBBY", "NAME")] == [
        "ws://here:1",
        "L1",
        "ada",
    ]
    assert "KIBITZ_TOKEN" not in env


async def test_a_program_that_is_spoken_to_is_a_bot_of_ours(tmp_path: Path) -> None:
    command, env = await started(program("engine", connects=False, kind="gomocup"), tmp_path)
    assert "KIBITZ_LOBBY" not in env, "what it is told is in its command line"
    assert command[-15:] == [
        *("--url", "ws://here:1", "--lobby", "L1", "--name", "ada", "--at-once", "2"),
        *("--warm", "[]"),
        *("--gomocup", "--cpu", "3", "--", "engine"),
    ]


async def test_a_file_is_seen_from_the_base_and_an_account_has_its_name(tmp_path: Path) -> None:
    command, _ = await started("bots/ada.py", tmp_path)
    assert command[-1] == str(tmp_path / "bots/ada.py")
    account = Place(url="ws://here:1", lobby="L1", name=None, at_once=2)
    assert "--name" not in account.words
    assert "KIBITZ_NAME" not in account.env


def test_what_is_not_ours_may_read_where_it_is(tmp_path: Path) -> None:
    assert not is_foreign("line-nim/random")
    assert readable_paths("line-nim/random", tmp_path) == []
    assert is_foreign("bots/ada.py")
    assert tmp_path / "bots" in readable_paths("bots/ada.py", tmp_path)
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "one").touch()
    paths = readable_paths(program("engines/one", connects=False), tmp_path)
    assert paths[0] == tmp_path
    assert tmp_path / "engines" in paths
