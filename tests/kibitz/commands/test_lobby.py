"""`kibitz lobby`: how members are identified, and as which player it acts."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kibitz.commands import lobby as command
from kibitz.commands.lobby import find_member
from kibitz_protocol.wire.lobbies import LobbySettings, LobbyView, Member, OpenSeat

CODE = "L7"


def view(*names: str) -> LobbyView:
    members = [
        Member(player=f"p-{seat}", name=name, kind="human", seat=seat, ready=True, connected=True)
        for seat, name in enumerate(names)
    ]
    settings = LobbySettings(seats=[OpenSeat()] * 4, programme=[])
    return LobbyView(
        lobby=CODE,
        settings=settings,
        host="p-9",
        state="gathering",
        round=1,
        members={member.player: member for member in members},
        planned=0,
        done=0,
        live={},
        standings={},
    )


def test_a_member_is_meant_by_name_or_by_seat() -> None:
    there = view("Ada", "ben", "1")
    assert find_member(there, "ada").player == "p-0"
    assert find_member(there, "2").player == "p-1"
    assert find_member(there, "1").player == "p-2"


def test_who_is_not_there_is_named_with_those_who_are() -> None:
    with pytest.raises(click.UsageError, match=r"1 Ada, 2 b\\x1ben"):
        find_member(view("Ada", "b\x1ben"), "cyd")
    with pytest.raises(click.UsageError, match="there are none"):
        find_member(view(), "cyd")


def test_without_a_saved_host_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path))
    monkeypatch.delenv("KIBITZ_TOKEN", raising=False)
    for words in (["start", CODE], ["close", CODE], ["rematch", CODE], ["kick", CODE, "ada"]):
        result = CliRunner().invoke(command.lobby, [*words, "--server", "ws://127.0.0.1:1"])
        assert result.exit_code == 1
        assert (
            f"no host of lobby {CODE} on ws://127.0.0.1:1 is known on this machine" in result.output
        )
