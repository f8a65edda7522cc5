"""The lobby for a match against the computer, and refused settings."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kibitz.commands.play import play
from kibitz.local.computer_match import settings
from kibitz.options.notation import choose_game
from kibitz_bots.levels import levels
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, ReservedSeat


@pytest.mark.parametrize(("game", "seats"), [("connect-four", 2), ("tanks", 4)])
def test_the_person_sits_first_and_the_level_everywhere_else(game: str, seats: int) -> None:
    lobby = settings(choose_game(game, {}), 2, TimeControl(), "ada")
    bot = levels(game, seats)[1].bot
    assert lobby.seats == [ReservedSeat(name="ada"), *[HouseSeat(personality=bot)] * (seats - 1)]
    assert lobby.auto_start
    assert [item.games for item in lobby.programme] == [1]


@pytest.mark.parametrize("level", [0, 9])
def test_another_level_is_refused(level: int) -> None:
    with pytest.raises(click.UsageError, match="levels 1 to 8"):
        settings(choose_game("connect-four", {}), level, TimeControl(), "ada")


def test_without_bots_and_without_a_terminal_nothing_is_played() -> None:
    result = CliRunner().invoke(play, ["connect-four"])
    assert result.exit_code == 2
    assert "name BOTS, or run this in a terminal" in result.stderr
