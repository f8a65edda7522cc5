"""Random events in a match, in any order, with restarts at any time.

The machine plays matches of three games and checks the invariants of a durable table. The log has
no gaps and replays to the live match. Only the seat to act can move, a request is applied once, and
time is conserved. No message reveals hidden information to its viewer. A match either ends or waits
for a player.
"""

from __future__ import annotations

from typing import Any, TypeGuard, get_args

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.records import Cause, Conduct, Entry, Flagged, Moved, Player
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, WantedViews
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    AddComment,
    Append,
    Effect,
    Forfeit,
    Leave,
    MatchOver,
    Note,
    Play,
    Refuse,
    Replace,
    Resign,
    Return,
    WantSubstitute,
)
from kibitz_server.match.engine import MatchEngine
from tests.server.match.toy_games import Grid, MatchDriver, Race, Veil, setup, state_values, variant
from tests.tools import profiles

GAMES: list[type[Game]] = [Grid, Race, Veil]
seat_numbers = st.integers(0, 3)


class MatchMachine(RuleBasedStateMachine):
    """One match and all its clients."""

    shell: MatchDriver

    @initialize(
        game=st.sampled_from(GAMES),
        on_flag=st.sampled_from(["forfeit", "random", "skip"]),
        drops=st.booleans(),
        seats=st.integers(2, 4),
        clock=st.sampled_from(["none", "2+0.1", "move=1", "1+0,bank=2", "byo=1+2x0.5"]),
        on_leave=st.sampled_from(["forfeit", "replace"]),
        max_illegal=st.integers(1, 4),
    )
    def begin(
        self,
        game: Any,
        on_flag: str,
        drops: bool,
        seats: int,
        clock: str,
        on_leave: Any,
        max_illegal: int,
    ) -> None:
        conduct = Conduct(
            grace_ms=1_500, on_leave=on_leave, stand_in="toy/house", max_illegal=max_illegal
        )
        played = variant(game, on_flag=on_flag, drops=drops)
        self.shell = MatchDriver(played, setup(played, seats, clock=clock, conduct=conduct))
        self.sent: list[Play] = []
        self.accepted: dict[tuple[int, int, int], int] = {}
        self.wanted: set[int] = set()
        self.hired = 0
        self.present = state_values(self.shell.match.state)
        self.told = 0
        shown = self.shell.match.views.present()
        self.known = {viewer: shown.of(viewer) for viewer in (*range(seats), PUBLIC, REFEREE)}

    # --- events -----------------------------------------------------------------------------

    @rule(pick=st.integers(0, 50), wait=st.integers(0, 400), rtt=st.integers(0, 200))
    def move(self, pick: int, wait: int, rtt: int) -> None:
        match = self.shell.match
        if match.state.result is not None:
            return
        legal = match.state.game.legal(match.state.game_state)
        move = self.shell.move(rtt_ms=rtt, **self.shell.wire(legal[pick % len(legal)]))
        self.sent.append(move)
        self.do(move, wait)

    @rule(wait=st.integers(0, 3_000))
    def let_time_pass(self, wait: int) -> None:
        self.note_effects(self.shell.tick(wait))

    @rule(seat=seat_numbers, action=st.sampled_from([{}, {"x": 40}, {"card": 9}, {"steps": -1}]))
    def illegal(self, seat: int, action: dict[str, Any]) -> None:
        seat %= len(self.shell.match.state.players)
        effects = self.do(Play(seat, 10_000, self.shell.match.state.ply, action))
        assert any(isinstance(effect, Refuse) for effect in effects)

    @rule(pick=st.integers(0, 30))
    def send_again(self, pick: int) -> None:
        if not self.sent:
            return
        again = self.sent[-1 - pick % len(self.sent)]
        known = self.accepted.get((again.seat, again.id, again.ply))
        for effect in self.do(again):
            if isinstance(effect, Accepted) and known is not None:
                assert effect.seq == known

    @rule(seat=seat_numbers, behind=st.integers(-2, 3))
    def out_of_turn_or_stale(self, seat: int, behind: int) -> None:
        match = self.shell.match
        seat %= len(match.state.players)
        ply = max(0, match.state.ply - behind)
        if seat == match.state.to_act and ply == match.state.ply:
            return
        effects = self.do(Play(seat, 20_000, ply, {"steps": 1, "x": 0, "y": 0}))
        (found,) = [effect.code for effect in effects if isinstance(effect, Refuse)]
        assert found in {Code.STALE, Code.NOT_YOUR_TURN, Code.OVER}

    @rule(seat=seat_numbers)
    @precondition(lambda self: self.shell.match.state.ply > 1)
    def resign(self, seat: int) -> None:
        self.do(Resign(seat % len(self.shell.match.state.players)))

    @rule(seat=seat_numbers, reason=st.sampled_from(["left", "disconnect", "crash"]))
    def leave(self, seat: int, reason: Any) -> None:
        self.do(Leave(seat % len(self.shell.match.state.players), reason))

    @rule(seat=seat_numbers, wait=st.integers(0, 2_000))
    def come_back(self, seat: int, wait: int) -> None:
        seat %= len(self.shell.match.state.players)
        self.do(Return(seat, self.shell.match.state.players[seat].player), wait)

    @rule(seat=seat_numbers)
    def come_back_as_somebody_else(self, seat: int) -> None:
        effects = self.do(Return(seat % len(self.shell.match.state.players), "stranger"))
        assert any(isinstance(effect, Refuse) for effect in effects)

    @rule(hired=st.booleans())
    def answer_for_stand_ins(self, hired: bool) -> None:
        for seat in sorted(self.wanted):
            self.hired += 1
            player = Player(player=f"h{self.hired}", name="House", kind="house")
            if hired:
                self.do(Replace(seat, player, Cause.CRASH))
            else:
                self.do(Forfeit(seat, Cause.CRASH, "no house bot"))
        self.wanted.clear()

    @rule(seat=seat_numbers, text=st.text(max_size=20))
    def note(self, seat: int, text: str) -> None:
        self.do(Note(seat % len(self.shell.match.state.players), text))

    @rule(seat=st.none() | seat_numbers, text=st.text(max_size=20))
    def comment(self, seat: int | None, text: str) -> None:
        author = Player(player="e", name="Eve", kind="human")
        state = self.shell.match.state
        if seat is not None:
            seat %= len(state.players)
            author = state.players[seat]
        self.do(AddComment(author, seat, state.ply, text))

    @rule()
    @precondition(lambda self: self.shell.match.state.ply > 4)
    def abort(self) -> None:
        self.do(Abort("the disk is full"))

    @rule()
    def restart(self) -> None:
        self.wanted.clear()
        before = len(self.shell.log)
        self.shell.restart(downtime=self.shell.now * 3 + 7)
        self.present = state_values(self.shell.match.state)
        # Pending requests are sent again; new ones go through the same log.
        assert len(self.shell.log) >= before
        self.wanted = set(self.shell.match._substitutes_wanted)

    # --- invariants -------------------------------------------------------------------------

    def do(self, command: Any, wait: int = 0) -> list[Effect]:
        to_act, before = self.shell.match.state.to_act, state_values(self.shell.match.state)
        effects = self.shell.do(command, wait)
        entries = [effect.entry for effect in effects if isinstance(effect, Append)]
        if not entries:
            assert state_values(self.shell.match.state) == before, "a refusal changed the match"
        if isinstance(command, Play):
            made = [entry for entry in entries if isinstance(entry, Moved) and entry.id]
            assert all(entry.seat == command.seat == to_act for entry in made)
        self.note_effects(effects)
        return effects

    def note_effects(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, WantSubstitute):
                assert effect.seat not in self.wanted, "asked for twice"
                self.wanted.add(effect.seat)
            elif isinstance(effect, Append) and effect.request is not None:
                entry = effect.entry
                assert isinstance(entry, Moved)
                assert entry.id == effect.request
                self.accepted[entry.seat, entry.id, entry.ply] = entry.seq
            elif isinstance(effect, Accepted):
                entry = self.shell.log[effect.seq - 1]
                assert isinstance(entry, Moved)
                assert (entry.seat, entry.id) == (effect.seat, effect.id)
            elif isinstance(effect, MatchOver):
                assert effect.result == self.shell.match.state.result
        self.wanted &= set(self.shell.match.state.away)

    @invariant()
    def the_log_has_no_holes(self) -> None:
        log = self.shell.log
        assert [entry.seq for entry in log] == list(range(1, len(log) + 1))
        assert [entry.at_ms for entry in log] == sorted(entry.at_ms for entry in log)
        turns = [entry for entry in log if isinstance(entry, Moved) or self.skips(entry)]
        assert [entry.ply for entry in turns] == list(range(len(turns)))
        assert self.shell.match.state.seq == len(log)

    def skips(self, entry: Entry) -> TypeGuard[Flagged]:
        return isinstance(entry, Flagged) and self.shell.game.info.on_flag == "skip"

    @invariant()
    def a_request_is_applied_once(self) -> None:
        asked = [(e.seat, e.id, e.ply) for e in self.shell.log if isinstance(e, Moved) and e.id]
        assert len(asked) == len(set(asked))
        assert set(self.accepted) == set(asked)

    @invariant()
    def the_log_folds_to_the_live_match(self) -> None:
        shell = self.shell
        restored = MatchEngine.restore(shell.game, shell.setup, shell.log)
        assert state_values(restored.state) == state_values(shell.match.state)
        viewers = [*range(len(shell.setup.seats)), PUBLIC, REFEREE]
        assert [restored.views.view(v) for v in viewers] == [
            shell.match.views.view(v) for v in viewers
        ]

    @invariant()
    def every_prefix_folds(self) -> None:
        shell = self.shell
        half = shell.log[: len(shell.log) // 2]
        assert MatchEngine.restore(shell.game, shell.setup, half).state.seq == len(half)

    @invariant()
    def time_is_conserved(self) -> None:
        control = self.shell.setup.time_control
        clocks = self.shell.match.state.clocks
        if clocks is None or control.periods:
            return
        for seat, clock in enumerate(clocks):
            left, flagged = control.main_ms + control.bank_ms, False
            for entry in self.shell.log:
                if isinstance(entry, Flagged) and entry.seat == seat:
                    skipped = self.skips(entry)
                    left, flagged = control.increment_ms if skipped else 0, not skipped
                elif isinstance(entry, Moved) and entry.seat == seat:
                    charged = 0 if flagged else max(0, entry.elapsed_ms - entry.allowance_ms)
                    left += control.increment_ms - max(0, charged - control.move_ms)
                    flagged = False
            assert clock.main_ms + clock.bank_ms == left

    @invariant()
    def who_applies_every_change_knows_the_view(self) -> None:
        """Only for games with hidden information; other games send only entries."""
        shell = self.shell
        new, self.told = shell.views[self.told :], len(shell.views)
        for view in new:
            for viewer, known in self.known.items():
                event = view.event(viewer)
                assert event.view is None
                assert shell.game.info.hidden or event.patch is None
                self.known[viewer] = apply(known, event.patch or {})
        if shell.game.info.hidden:
            shown = shell.match.views.present()
            assert self.known == {viewer: shown.of(viewer) for viewer in self.known}

    @invariant()
    def nobody_sees_more_than_it_may(self) -> None:
        shell = self.shell
        hands: Any = shell.setup.deal.get("hands")
        if hands is None or not shell.views:
            return
        for viewer in [*range(len(hands)), PUBLIC]:
            seen = "".join(
                shell.views[-1].event(viewer, wanted).model_dump_json()
                for wanted in get_args(WantedViews)
            )
            if shell.match.state.result is None:
                seen += shell.match.views.snapshot(viewer, "watching").model_dump_json()
            for seat, hand in enumerate(hands):
                assert seat == viewer or not any(str(card) in seen for card in hand)

    @invariant()
    def it_ends_or_waits_on_somebody(self) -> None:
        match = self.shell.match
        if match.state.result is not None:
            assert match.deadline is None
            assert match.state.to_act == TERMINAL
            assert self.shell.finished[-1] == match.state.result
            return
        deadline = match.deadline
        assert deadline is None or deadline > self.shell.now, "something due was left undone"
        there = match.state.to_act not in match.state.away
        assert there or deadline is not None or self.wanted, "nobody is there and no timer runs"

    @invariant()
    def ranks_are_a_ranking(self) -> None:
        result = self.shell.match.state.result
        if result is None:
            return
        ranks = [seat.rank for seat in result.seats]
        assert ranks == [1 + sum(other < own for other in ranks) for own in ranks]
        by_rank = sorted(result.seats, key=lambda seat: seat.rank)
        scores = [seat.score for seat in by_rank]
        assert scores == sorted(scores, reverse=True)
        for seat, departure in self.shell.match.state.departed.items():
            assert result.seats[seat].cause is departure.cause


def test_a_match_holds_its_invariants() -> None:
    run_state_machine_as_test(
        MatchMachine,
        settings=settings(
            max_examples=profiles.examples(150),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_a_match_holds_its_invariants_for_long(part: int) -> None:
    """20,000 examples, split so that no part reaches the test timeout."""

    class Part(MatchMachine):
        """A separate test case with its own seed."""

    run_state_machine_as_test(
        seed(part)(Part),
        settings=settings(
            max_examples=1_000,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
