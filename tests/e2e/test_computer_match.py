"""A person in the terminal against the computer: `kibitz play GAME` alone."""

from __future__ import annotations

from tests.tools.command import Kibitz
from tests.tools.terminal import terminal


def test_a_game_alone_opens_a_board_against_the_computer(kibitz: Kibitz) -> None:
    with terminal(kibitz, "play", "line-nim", "--level", "2") as person:
        person.until("Your turn")


def test_a_level_that_is_not_there_is_a_sentence(kibitz: Kibitz) -> None:
    with terminal(kibitz, "play", "connect-four", "--level", "99") as person:
        assert person.process.wait(60) == 2
