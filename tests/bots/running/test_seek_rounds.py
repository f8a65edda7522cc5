"""Rounds are counted by number, even if updates were skipped."""

from __future__ import annotations

from typing import Any

from kibitz_bots.running.seek_rounds import SeekRounds
from kibitz_protocol.wire.lobbies import LobbySettings, LobbyView, OpenSeat, ProgrammeItem


def view(state: Any, round: int, lobby: str = "L1") -> LobbyView:
    return LobbyView(
        lobby=lobby,
        settings=LobbySettings(seats=[OpenSeat()], programme=[ProgrammeItem(game="nim")]),
        host="h",
        state=state,
        round=round,
        seek=True,
        members={},
        planned=1,
        done=0,
        live={},
        standings={},
    )


def test_each_round_counts_once() -> None:
    rounds = SeekRounds()
    told = [rounds.count(view(state, 1)) for state in ("gathering", "running", "finished")]
    assert (told, rounds.played) == ([False, False, True], 1)
    assert not rounds.count(view("finished", 1))
    assert not rounds.count(view("gathering", 2))
    assert rounds.count(view("finished", 2))
    assert rounds.played == 2


def test_rounds_that_nobody_told_of_count_too() -> None:
    rounds = SeekRounds()
    assert not rounds.count(view("gathering", 3))
    assert rounds.played == 2
    assert not rounds.count(view("finished", 1)), "which is old news"


def test_a_round_that_was_broken_off_counts() -> None:
    rounds = SeekRounds()
    rounds.close("L1")
    assert rounds.played == 0
    rounds.match_begun("L1")
    rounds.close("L1")
    assert rounds.played == 1
    rounds.match_begun("L2")
    rounds.count(view("finished", 1, "L2"))
    rounds.close("L2")
    assert rounds.played == 2
