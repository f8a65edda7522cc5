"""The entries that clients can add to a match's log are bounded."""

from __future__ import annotations

from typing import get_args

import pytest

from kibitz_protocol.wire.records import Comment, Entry, Moved, Noted
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.budget import (
    BOUNDS,
    CUT_COMMENT,
    MOVE_COMMENTS,
    NOTES,
    RETURNS,
    Allowance,
    comment_size,
)
from kibitz_server.match.commands import Append, Leave, Note, Play, Refuse, Return
from kibitz_server.match.engine import MatchEngine
from tests.server.match.toy_games import MatchDriver, Race, setup

HOUR_MS = 3_600_000
ALLOWANCES = [bound for bound in BOUNDS.values() if isinstance(bound, Allowance)]


def race() -> MatchDriver:
    game = Race()
    return MatchDriver(game, setup(game, 2, clock="none"))


def test_every_kind_of_entry_has_a_bound() -> None:
    assert set(BOUNDS) == set(get_args(Entry))
    assert len({allowance.what for allowance in ALLOWANCES}) == len(ALLOWANCES)


@pytest.mark.parametrize("allowance", ALLOWANCES, ids=lambda allowance: allowance.what)
def test_an_allowance_grows_with_the_hours_up_to_the_most(allowance: Allowance) -> None:
    assert allowance.left(0, 0) == allowance.at_once
    assert allowance.left(0, HOUR_MS) == min(allowance.most, allowance.at_once + allowance.per_hour)
    assert allowance.left(allowance.at_once, 0) == 0
    assert allowance.left(0, 10**12) == allowance.most
    wait = allowance.wait_ms(allowance.at_once, 0)
    assert wait is not None
    assert (
        allowance.left(allowance.at_once, wait)
        >= 1
        > allowance.left(allowance.at_once, wait - 1000)
    )
    assert allowance.wait_ms(allowance.at_once - 1, 0) == 0
    assert allowance.wait_ms(allowance.most, 10**12) is None


def note_until_refused(driver: MatchDriver, seat: int) -> Refuse:
    for _ in range(10_000):
        [effect] = driver.do(Note(seat, "x" * 2000))
        if isinstance(effect, Refuse):
            return effect
    raise AssertionError("notes are taken without end")


def test_notes_of_a_seat_have_a_budget_for_the_match_and_the_hour() -> None:
    driver = race()
    refused = note_until_refused(driver, 0)
    assert refused.code is Code.LIMIT
    assert len(driver.log) == NOTES.at_once // 2000
    [other] = driver.do(Note(1, "mine"))
    assert isinstance(other, Append)
    driver.tick(HOUR_MS)
    note_until_refused(driver, 0)
    written = sum(len(entry.text) for entry in driver.log if isinstance(entry, Noted))
    assert written <= NOTES.at_once + NOTES.per_hour + 2000 + len("mine")
    driver.match = MatchEngine.restore(driver.game, driver.setup, driver.log)
    driver.tick()
    assert note_until_refused(driver, 0).code is Code.LIMIT
    assert sum(len(each.text) for each in driver.log if isinstance(each, Noted)) == written


def test_the_last_words_of_a_house_bot_are_kept_all_the_same() -> None:
    driver = race()
    note_until_refused(driver, 0)
    [kept] = driver.do(Note(0, "it crashed", is_own=False))
    assert isinstance(kept, Append)


def test_a_comment_beyond_the_budget_is_cut_and_says_so_and_the_move_counts() -> None:
    driver = race()
    comment = Comment(value=0.5, depth=3, line=["x" * 200] * 32, text="y" * 200)
    driver.state.used[MOVE_COMMENTS.key(0)] = MOVE_COMMENTS.at_once - comment_size(comment)
    for number in (1, 2, 3):
        driver.do(Play(driver.state.to_act, number, driver.state.ply, {"steps": 1}, comment))
    first, second, third = (entry for entry in driver.log if isinstance(entry, Moved))
    assert (first.seat, first.comment) == (0, comment)
    assert (second.seat, second.comment) == (1, comment)
    assert third.seat == 0
    assert third.comment == Comment(value=0.5, depth=3, text=CUT_COMMENT)


def test_a_seat_comes_back_so_often() -> None:
    driver = race()
    for _ in range(RETURNS.at_once):
        assert driver.match.return_wait_ms(0, driver.now) == 0
        driver.do(Leave(0, "disconnect"))
        driver.do(Return(0))
    wait = driver.match.return_wait_ms(0, driver.now)
    assert wait is not None
    assert 0 < wait <= HOUR_MS // RETURNS.per_hour
    assert driver.match.return_wait_ms(1, driver.now) == 0
