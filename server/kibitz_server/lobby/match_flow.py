"""Starts and ends a lobby's rounds and matches, until the lobby closes. Pure."""

from __future__ import annotations

from collections.abc import Collection

from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import entries
from kibitz_server.lobby.arranging import arranged_match, new_arrangements
from kibitz_server.lobby.commands import (
    AnswerArranged,
    Arrange,
    BeginMatch,
    LobbyOver,
    Refusal,
    StopBot,
)
from kibitz_server.lobby.entries import CloseReason
from kibitz_server.lobby.house_seats import HouseSeats
from kibitz_server.lobby.room import LATER_MS, SOON_MS
from kibitz_server.lobby.schedule import Unplayable, next_matches
from kibitz_server.lobby.seeks import is_over
from kibitz_server.lobby.transaction import Transaction

MAX_MATCH_FAILURES = 5
"""How many matches in a row may fail before the programme stops. The limit is higher by the number
of running matches, because one temporary fault can end all of them."""


class MatchFlow:
    """Starts the rounds of one lobby, begins and counts their matches, and closes it."""

    def __init__(self, lobby: Transaction, house: HouseSeats) -> None:
        self._lobby = lobby
        self._house = house
        self.goes_on = False
        """Whether `advance` stopped before looking at all matches, and must be called again."""
        self.retry_at: int | None = None
        """When to retry matches that the limits on running matches prevented, or None."""

    # --- requests of the host -------------------------------------------------------------

    def start(self, by: str) -> None:
        lobby, state = self._lobby, self._lobby.state
        lobby.require_host(by)
        if state.phase != "gathering":
            raise Refusal(Code.WRONG_STATE, f"the lobby is {state.phase} and cannot start")
        if not state.settings.arranged:
            self._require_all_ready()
            self._require_playable()
        self._append_started()
        lobby.accept(by)

    def arrange(self, command: Arrange) -> None:
        lobby, state = self._lobby, self._lobby.state
        lobby.require_host(command.by)
        fresh = new_arrangements(state, command)
        if fresh:
            size = sum(len(match.model_dump_json()) for match in fresh)
            lobby.budget.charge_arranged(size, lobby.now)
            matches = [arranged_match(state, match, command.hidden) for match in fresh]
            lobby.append(entries.Arranged, matches=matches)
        lobby.ask(AnswerArranged([match.tag for match in command.matches]))

    def rematch(self, by: str) -> None:
        lobby, state = self._lobby, self._lobby.state
        if state.opened.seek_s is not None:
            self._rematch_in_seek(by)
            return
        lobby.require_host(by)
        if state.settings.arranged:
            raise Refusal(
                Code.WRONG_STATE,
                "an arranged lobby has no rematch: arrange its matches again under other tags",
            )
        self._require_finished()
        lobby.charge_change(by)
        lobby.append(entries.Rematched, round=state.round.number + 1)
        lobby.accept(by)
        for seat in self._house.empty():
            self._house.start(seat)

    def _rematch_in_seek(self, by: str) -> None:
        """Open a rematch for a player, or accept a rematch that another player has opened."""
        lobby, state = self._lobby, self._lobby.state
        member = lobby.require_member(by)
        if state.phase != "gathering" or state.round.number == 1:
            self._require_finished()
            lobby.charge_change(by)
            lobby.append(entries.Rematched, round=state.round.number + 1)
            member = state.seats.members[by]
        elif not member.ready:
            lobby.charge_change(by)
        if not member.ready:
            lobby.append(entries.Readied, player=by, ready=True)
        lobby.accept(by)

    def close_by_host(self, by: str) -> None:
        lobby, state = self._lobby, self._lobby.state
        lobby.require_host(by)
        if not state.round.running:
            self.close("closed", by)
            return
        if not state.closing:
            lobby.append(entries.Closing)
        lobby.accept(by)

    def close(self, reason: CloseReason, by: str | None = None) -> None:
        """Close the lobby, which has no running matches."""
        lobby, state = self._lobby, self._lobby.state
        lobby.append(entries.Closed, reason=reason)
        if by is not None:
            lobby.accept(by)
        lobby.ask_all(StopBot(seat) for seat in state.seats.house())
        lobby.ask(LobbyOver(reason))
        lobby.presence.clear_absences()

    # --- the matches ----------------------------------------------------------------------

    def finish_match(self, match: str, result: Result) -> None:
        """Count a finished match, unless it was counted before and so is not running any more."""
        planned = self._lobby.state.round.running.get(match)
        if planned is None:
            return
        if len(result.seats) != len(planned.players):
            raise ValueError(f"a result for {len(planned.players)} seats has {len(result.seats)}")
        self._lobby.append(entries.MatchEnded, number=planned.number, match=match, result=result)

    def resume(self, matches: Collection[str]) -> None:
        """Continue after a restart, and create the running matches that are not in `matches`."""
        state = self._lobby.state
        if state.phase == "closed":
            return
        if state.phase != "finished":
            self._house.start_missing()
        for match, planned in state.round.running.items():
            if match not in matches:
                self._lobby.ask(BeginMatch(match, planned))

    def advance(self) -> None:
        """Start the round, begin matches, stop a failing programme, or close the lobby, if due."""
        state = self._lobby.state
        self.goes_on = False
        if not state.round.started and self._starts_by_itself():
            self._append_started()
        self.retry_at = None
        if state.phase == "running":
            self._stop_failing()
            self._begin_matches()
        closes = state.closing and not state.round.running
        if state.phase != "closed" and (closes or is_over(state)):
            self.close("closed")

    def _starts_by_itself(self) -> bool:
        state, connected = self._lobby.state, self._lobby.presence.connected
        if state.settings.arranged or not state.settings.auto_start:
            return False
        if state.closed or state.seats.free():
            return False
        members = state.seats.members.values()
        if not all(member.ready and member.player.player in connected for member in members):
            return False
        try:
            state.require_playable()
        except Unplayable:
            return False  # the host gets the reason when it sends `start`
        return True

    def _append_started(self) -> None:
        state = self._lobby.state
        self._lobby.append(entries.Started, round=state.round.number, base_seed=state.round.seed)

    def _stop_failing(self) -> None:
        """Stop a programme if its matches keep failing; the host decides about arranged matches.
        Without this, the server would try all matches of a game that always fails.
        """
        settings, current = self._lobby.state.settings, self._lobby.state.round
        failing = current.failed_in_a_row >= settings.at_once + MAX_MATCH_FAILURES
        if failing and current.waiting and not settings.arranged:
            why = f": {current.last_failure}" if current.last_failure else ""
            reason = f"{current.failed_in_a_row} matches in a row could not be played{why}"
            self._lobby.append(entries.Stopped, reason=reason)

    def _begin_matches(self) -> None:
        lobby, state = self._lobby, self._lobby.state
        at_once = min(state.settings.at_once, lobby.room.most_in_lobby)
        if not state.round.waiting or len(state.round.running) >= at_once:
            return
        on_server, now = lobby.room.places()
        left = min(on_server, lobby.budget.matches_left(lobby.now))
        places = min(left, now)
        if not places:
            self.retry_at = lobby.now + (SOON_MS if left else LATER_MS)
            return
        capacity, is_reduced = self._capacity()
        chosen = next_matches(
            state.round.waiting.playable(
                frozenset(who for who, places in capacity.items() if places)
            ),
            state.round.running.values(),
            at_once=min(at_once, len(state.round.running) + places),
            capacity=capacity,
            fewest=min((item.seats for item in state.played_items()), default=1),
        )
        self.goes_on = state.round.waiting.cut_short
        if len(chosen) == places and len(state.round.running) + places < at_once:
            self.retry_at = lobby.now + SOON_MS
        elif is_reduced:
            self.retry_at = lobby.now + LATER_MS
        lobby.budget.charge_matches(len(chosen), lobby.now)
        for number, players in [(planned.number, list(planned.players)) for planned in chosen]:
            match = state.round.match_key(number)
            lobby.append(entries.MatchBegun, number=number, match=match, players=players)
            lobby.ask(BeginMatch(match, state.round.running[match]))

    def _capacity(self) -> tuple[dict[str, int], bool]:
        """Return how many matches each connected member may play at the same time.

        Also return whether matches in other lobbies reduce any of these numbers.
        """
        state, connected = self._lobby.state, self._lobby.presence.connected
        wanted = {
            player: member.capabilities.at_once
            for player, member in state.seats.members.items()
            if player in connected and (member.ready or not state.settings.arranged)
        }
        room = self._lobby.room
        may = {
            player: min(most, room.for_player(player, state.id)) for player, most in wanted.items()
        }
        return may, may != wanted

    # --- requirements: raise `Refusal` if one is not met ----------------------------------

    def _require_finished(self) -> None:
        phase = self._lobby.state.phase
        if phase != "finished":
            raise Refusal(
                Code.WRONG_STATE, f"a rematch needs a finished programme; the lobby is {phase}"
            )

    def _require_all_ready(self) -> None:
        missing = self._house.empty()
        if missing:
            raise Refusal(
                Code.NOT_READY, f"the house bot of seat {missing[0] + 1} has not joined yet"
            )
        for member in self._lobby.state.seats.by_seat():
            if member.player.player not in self._lobby.presence.connected:
                raise Refusal(Code.NOT_READY, f"{member.player.name!r} is not connected")
            if not member.ready:
                raise Refusal(Code.NOT_READY, f"{member.player.name!r} is not ready")

    def _require_playable(self) -> None:
        try:
            self._lobby.state.require_playable()
        except Unplayable as why:
            raise Refusal(Code.BAD_SEATS, str(why)) from None
