"""Computing thinking times from clocks."""

from __future__ import annotations

import pytest

from kibitz_bots.budget import MAX_OVERHEAD_MS, MIN_OVERHEAD_MS, UNTIMED_MS, Budget, Overhead, plan
from kibitz_protocol.wire.clocks import Clock, TimeControl


def _ms(text: str, clock: Clock | None, left_ms: int | None, overhead_ms: float = 20) -> int:
    control = TimeControl.parse(text)
    overhead = Overhead(overhead_ms, 0.0)
    return plan(control, clock, left_ms, overhead=overhead, clock=lambda: 0.0).ms


def test_without_a_clock_a_move_gets_a_fixed_time() -> None:
    assert _ms("none", None, None) == UNTIMED_MS


def test_time_a_move_is_used_up_to_the_overhead() -> None:
    assert _ms("move=1", Clock(periods=0), 1000) == 980


def test_main_time_is_shared_among_moves_to_come() -> None:
    assert _ms("60", Clock(main_ms=60_000, periods=0), 60_000) == 2000 - 20


def test_the_increment_is_spent_and_a_little_saved() -> None:
    assert _ms("10+2", Clock(main_ms=30_000, periods=0), 30_000) == 1000 + 1500 - 20


def test_never_more_than_half_of_what_is_left_on_the_clock() -> None:
    assert _ms("10+2", Clock(main_ms=400, periods=0), 400) == 200 - 20


def test_a_byo_yomi_period_is_free_once_main_time_is_gone() -> None:
    assert _ms("byo=60+3x10", Clock(main_ms=0, periods=3), 30_000) == 10_000 - 20
    assert _ms("byo=60+3x10", Clock(main_ms=60_000, periods=3), 90_000) == 2000 - 20


@pytest.mark.parametrize("left_ms", [1, 5, 15, 60, 1000])
def test_the_flag_never_falls_while_there_is_time_for_the_overhead(left_ms: int) -> None:
    ms = _ms("move=1,bank=5", Clock(bank_ms=5000, periods=0), left_ms)
    assert 1 <= ms <= max(1, left_ms - 20)


def test_overhead_is_learnt_from_round_trips() -> None:
    overhead = Overhead()
    assert overhead.ms == 50
    for _ in range(50):
        overhead = overhead.learn(80)
    assert 80 <= overhead.ms <= 90


def test_being_late_is_learnt_and_being_early_is_not_made_up_for() -> None:
    late, early = Overhead(), Overhead()
    for _ in range(50):
        late, early = late.learn(30, 50), early.learn(30, -50)
    assert 80 <= late.ms <= 90
    assert 30 <= early.ms <= 35


def test_who_is_late_once_plans_for_it_in_the_next_turn() -> None:
    steady = Overhead(5.0, 0.0)
    assert steady.learn(5, 100).ms > 100


def test_jitter_widens_the_margin() -> None:
    steady, shaky = Overhead(), Overhead()
    for step in range(40):
        steady, shaky = steady.learn(80), shaky.learn(40 if step % 2 else 120)
    assert shaky.ms > steady.ms + 40


def test_a_reconnect_is_not_taken_for_a_round_trip() -> None:
    assert Overhead().learn(60_000) == Overhead().learn(MAX_OVERHEAD_MS)


def test_a_short_way_is_known_after_a_few_moves() -> None:
    overhead = Overhead()
    for _ in range(16):
        overhead = overhead.learn(1)
    assert overhead.ms == MIN_OVERHEAD_MS


def test_a_first_move_that_was_late_is_planned_for_and_soon_forgotten() -> None:
    overhead = Overhead().learn(5, 300)
    assert overhead.ms > 300
    for _ in range(12):
        overhead = overhead.learn(5)
    assert overhead.ms < 100


def test_a_budget_counts_down_from_the_arrival_of_the_turn() -> None:
    now = [100.0]
    budget = Budget(500, 1000, arrived=100.0, clock=lambda: now[0])
    assert (budget.deadline, budget.left) == (100.5, 0.5)
    now[0] = 100.2
    assert budget.left == pytest.approx(0.3)
    now[0] = 101.0
    assert budget.left == 0.0


def test_a_budget_can_only_be_cut() -> None:
    budget = Budget(500, None, arrived=0.0)
    assert budget.at_most(0.2).ms == 200
    assert budget.at_most(2.0).ms == 500
    assert budget.at_most(None) is budget
