"""Forensic reports: their seats and contents."""

from __future__ import annotations

import json

import pytest

from kibitz.analysis.fault_report import report_lines
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.records import Cause, Conduct, Moved
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match import report as match_report
from kibitz_server.match.commands import Forfeit, Note, Resign
from tests.server.match.toy_games import Grid, MatchDriver, setup


def played(max_illegal: int = 2) -> MatchDriver:
    game = Grid()
    conduct = Conduct(max_illegal=max_illegal)
    shell = MatchDriver(game, setup(game, 2, clock="60", conduct=conduct))
    shell.play(wait=100, x=0, y=0)
    shell.do(Note(1, "thinking\nhard"))
    return shell


def test_who_sent_illegal_moves_is_shown_with_them() -> None:
    shell = played()
    sent = shell.match.views.your_turn()
    shell.play(wait=40, x=0, y=0)
    shell.play(wait=40, x=9, y=9)
    found = match_report.match_report(shell.game, shell.setup, shell.log)
    assert (found.cause, [seat.seat for seat in found.seats]) == (Cause.ILLEGAL, [1])
    [seat] = found.seats
    assert seat.sent == json.loads(encode(sent))
    assert [(each.action, each.code) for each in seat.refused] == [
        ('{"x":0,"y":0}', Code.ILLEGAL),
        ('{"x":9,"y":9}', Code.ILLEGAL),
    ]
    assert seat.received == seat.refused[-1]
    assert seat.notes == ["thinking", "hard"]
    assert seat.ledger == []


def test_a_fallen_flag_is_in_the_ledger() -> None:
    shell = played()
    shell.play(wait=500, x=1, y=0)
    shell.tick(wait=70_000)
    found = match_report.match_report(shell.game, shell.setup, shell.log)
    [seat] = found.seats
    assert (seat.seat, seat.cause) == (0, Cause.TIME)
    assert seat.received is not None
    assert (seat.received.kind, seat.received.action) == ("move", '{"x":0,"y":0}')
    assert [(each.ply, each.flagged) for each in seat.ledger] == [(0, False), (2, True)]
    assert seat.ledger[0].elapsed_ms == 100
    assert seat.ledger[1].left_ms == 0


def test_what_a_bot_says_of_its_crash_is_what_came_last() -> None:
    shell = played()
    shell.do(Forfeit(1, Cause.CRASH, "ValueError: no book"))
    [seat] = match_report.match_report(shell.game, shell.setup, shell.log).seats
    assert seat.received is not None
    received = seat.received
    assert (received.kind, received.ply, received.detail) == ("fault", 1, "ValueError: no book")


def test_who_resigned_is_at_no_fault_and_is_told_of_when_asked_for() -> None:
    shell = played()
    shell.do(Resign(1))
    assert match_report.match_report(shell.game, shell.setup, shell.log).seats == []
    [seat] = match_report.match_report(shell.game, shell.setup, shell.log, 1).seats
    assert seat.cause is None
    assert seat.received is not None
    assert (seat.received.kind, seat.received.ply) == ("resign", 1)


def test_a_match_that_goes_on_has_no_report() -> None:
    shell = played()
    with pytest.raises(ValueError, match="is not over"):
        match_report.match_report(shell.game, shell.setup, shell.log)


def test_a_turn_that_never_was_is_refused_with_those_that_were() -> None:
    shell = played()
    with pytest.raises(
        match_report.NoSuchTurnError, match="no turn at ply 4; its turns were at plies 1"
    ):
        match_report.replay_turn(shell.game, shell.setup, shell.log, 1, 4)


def test_what_the_server_stood_still_is_in_the_ledger_and_was_not_charged() -> None:
    shell = played()
    log = [
        each.model_copy(update={"lag_ms": 5000}) if isinstance(each, Moved) else each
        for each in shell.log
    ]
    shell.do(Resign(1))
    found = match_report.match_report(shell.game, shell.setup, [*log, shell.log[-1]], 0)
    [spent] = found.seats[0].ledger
    assert (spent.elapsed_ms, spent.charged_ms, spent.lag_ms) == (100, 100, 5000)
    assert any("plus 5000 of server stall" in line for line in report_lines(found, "x"))
