"""One match as a fold over its log: no sockets, no clock of its own, no random numbers.

The setup and the entries determine everything that is durable about a match: the game's
state, the clocks, who is away, who has dropped out, the result. Every entry passes through
`Fold._apply`, whether a command has just made it or a log gives it back, so restoring the log of a
match gives the live one again, byte for byte, and from any entry on.

What is not in the log is only about the present moment: when the turn was opened, how often a
seat has sent an illegal move, which stand-ins have been asked for. A restart forgives these,
as it charges the time that the server was down to nobody.

The caller's part. `now` is a monotonic clock in whole milliseconds. Effects are carried out
in order, and nothing of an `Append` is told before its entry is durable. Whenever `turn` has
changed and the match goes on, the seat `to_act` is sent `your_turn` and then `open_turn` is
called; its clock runs from there. `tick` is called when `deadline` has come, and once after a
restore: it anchors the match to the caller's clock and settles what a crash has cut off.
`lag` is how much time the caller's clock has left out so far because the server stood still; what
of it fell into a turn is only noted in the turn's entry.

    turn comes (Moved, a drop, Replaced)
       | open_turn(now)               the clock of the seat to act runs
       v
    turn open --Play in time--------------------------------> Moved, the next turn comes
       |  \\--Play refused: stale, not your turn -->  nothing
       |  \\--Play refused: illegal --> Noted, and at last Forfeited
       |
       +--flag, by a late Play or by tick--> Flagged --> Forfeited | Moved (random)
       |                                        \\--> the next turn comes (skip)

    seat there --Leave--> away --Return in its grace--> there
                            \\--grace over--> Forfeited | WantStandIn --> Replaced | Forfeited
                             \\--grace of everybody over--> Forfeited(abandoned), the end
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal, assert_never

from pydantic import ValidationError
from pydantic_core import to_json

from kibitz_games.api import Game, IllegalAction, State
from kibitz_protocol import messages
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Left,
    Moved,
    Noted,
    RefusedMove,
    Replaced,
    Resigned,
    Returned,
    Setup,
)
from kibitz_protocol.refusals import Code
from kibitz_protocol.values import Action, Fields
from kibitz_server import clock as ledger
from kibitz_server.acts import (
    Abort,
    Accepted,
    Append,
    Command,
    Effect,
    Finished,
    Forfeit,
    Leave,
    Note,
    Play,
    Refuse,
    Replace,
    Resign,
    Return,
    WantStandIn,
)
from kibitz_server.fold import Absence, BrokenLog, Fold
from kibitz_server.trusted import trusted
from kibitz_server.view import LEGAL_LISTED, REFEREE, Viewer

__all__ = [
    "Abort",
    "Absence",
    "Accepted",
    "Append",
    "BrokenLog",
    "Command",
    "Effect",
    "Finished",
    "Forfeit",
    "Leave",
    "Match",
    "Note",
    "Play",
    "Refuse",
    "Replace",
    "Resign",
    "Return",
    "WantStandIn",
]

_WENT: Final = {
    "left": "left the match",
    "disconnect": "disconnected and did not come back",
    "crash": "crashed and did not come back",
}
"""What the result says of a seat that was given up."""
_ACTION_KEPT: Final = 1000
"""Characters that the log keeps of an action that was refused as illegal ..."""
_NOTE_KEPT: Final = 2000
"""... and of what was said of it."""


class Match(Fold):
    """A match that is played: the fold, and what belongs to the present moment."""

    __slots__ = ("_asked", "_flag_at", "_illegal", "_lag", "_lag_before", "_opened_at", "_origin")

    def __init__(self, game: Game, setup: Setup, state: State | None = None) -> None:
        super().__init__(game, setup, state)
        self._origin: int | None = None
        """The caller's time at which the match's own time was 0."""
        self._opened_at: int | None = None
        """When the present turn was opened."""
        self._flag_at: int | None = None
        """When the flag of the open turn falls, the cap of the allowance included."""
        self._lag = 0
        """What the caller's clock has left out so far ..."""
        self._lag_before = 0
        """... and what it had left out when the present turn was opened."""
        self._illegal = [0] * len(setup.seats)
        self._asked: frozenset[int] = frozenset()
        """The seats that a stand-in has been asked for."""

    @classmethod
    def new(cls, game: Game, setup: Setup) -> Match:
        """Start a match. Raises `InvalidSetup`, `ValidationError` (options), `BrokenLog`."""
        return cls(game, setup)

    def copy(self) -> Match:
        """Return a match at the same entry that goes on by itself."""
        other = super().copy()
        other._illegal = self._illegal.copy()
        return other

    # --- commands ---------------------------------------------------------------------------

    def handle(self, command: Command, now: int, lag: int = 0) -> list[Effect]:
        """Carry out a command: after whatever timers are due, before those that it makes due.

        Who leaves, drops out or comes back may be the one that others have waited for.
        """
        at = self._at(now)
        self._lag = lag
        effects = self._settle(at)
        effects += self._obey(command, at)
        effects += self._settle(at)
        return effects

    def tick(self, now: int, lag: int = 0) -> list[Effect]:
        """Carry out what the timers that are due ask for."""
        self._lag = lag
        return self._settle(self._at(now))

    def open_turn(self, now: int, lag: int = 0) -> None:
        """Start the clock of the seat to act: its turn is durable and on its way.

        Does nothing while the turn is open already, or when the match is over.
        """
        at = self._at(now)
        if self._opened_at is not None or self.result is not None:
            return
        self._opened_at = at
        self._lag = self._lag_before = lag
        if self.clocks is not None:
            total = ledger.until_flag(self.setup.time_control, self.clocks[self.to_act])
            self._flag_at = at + total + ledger.ALLOWANCE_CAP_MS

    def deadline(self) -> int | None:
        """Return the caller's time at which `tick` has something to do, None while it has not."""
        due = self._due()
        return None if due is None or self._origin is None else due + self._origin

    # --- what viewers are told --------------------------------------------------------------

    def view(self, viewer: Viewer) -> Fields:
        """Return what `viewer` sees of the present state; everything once the match is over."""
        return self._seen().of(viewer if self.result is None else REFEREE)

    def snapshot(
        self,
        viewer: Viewer,
        why: Literal["started", "rejoined", "watching", "lagged"],
        you: int | None = None,
        now: int | None = None,
    ) -> messages.Snapshot:
        """Return the whole match as `viewer` sees it; the next event is ``seq + 1``.

        `now` tells how much of an open turn is left.
        """
        setup = self.setup
        values = {
            "type": "snapshot",
            "why": why,
            "match": setup.match,
            "lobby": setup.lobby,
            "number": setup.number,
            "block": setup.block,
            "game": setup.game,
            "rules_version": setup.rules_version,
            "options": setup.options,
            "seats": list(self.players),
            "away": sorted(self.away),
            "you": you,
            "seq": self.seq,
            "ply": self.ply,
            "to_act": self.to_act,
            "view": self.view(viewer),
            "time_control": setup.time_control,
            "clocks": self.clocks,
            "left_ms": self._left_ms(now),
            "conduct": setup.conduct,
            "spectating": setup.spectating,
            "commitment": setup.commitment,
            "result": self.result,
        }
        return trusted(messages.Snapshot, values)

    def your_turn(self, now: int | None = None) -> messages.YourTurn:
        """Return all that the seat to act needs; `now` tells how much of an open turn is left."""
        game, state = self.game, self.state
        rule = game.info.legal_rule or None
        legal = game.legal(state) if rule is None else None
        count = game.count(state) if legal is None else len(legal)
        listed = legal if count <= LEGAL_LISTED else None
        values = {
            "type": "your_turn",
            "match": self.setup.match,
            "game": self.setup.game,
            "seat": self.to_act,
            "ply": self.ply,
            "view": self.view(self.to_act),
            "legal": None if listed is None else game.moves(state, listed),
            "legal_rule": rule,
            "legal_count": count,
            "clocks": self.clocks,
            "left_ms": self._left_ms(now),
        }
        return trusted(messages.YourTurn, values)

    def finished(self, record: str) -> messages.Finished:
        """Return the news of the end; `record` is the path of the record on the server."""
        assert self.result is not None, "the match goes on"
        values = {
            "type": "finished",
            "match": self.setup.match,
            "lobby": self.setup.lobby,
            "seq": self.seq,
            "result": self.result,
            "view": self.view(REFEREE),
            "seed": self.setup.seed,
            "record": record,
        }
        return trusted(messages.Finished, values)

    # --- obeying ----------------------------------------------------------------------------

    def _obey(self, command: Command, at: int) -> list[Effect]:
        match command:
            case Play():
                return self._play(command, at)
            case Resign():
                return self._resign(command, at)
            case Leave():
                return self._leave(command, at)
            case Return():
                return self._return(command, at)
            case Replace():
                return self._replace(command, at)
            case Forfeit():
                return self._forfeit(command, at)
            case Note():
                return self._note(command, at)
            case Abort():
                return self._abort(command, at)
            case _:
                assert_never(command)

    def _play(self, play: Play, at: int) -> list[Effect]:
        seat = play.seat
        last = self._last[seat]
        if last is not None and last[0] == play.id and last[1] == play.ply:
            return [Accepted(seat, play.id, last[2])]
        if self.result is not None or seat in self.out:
            return [self._refuse_over(seat, play.id)]
        if play.ply != self.ply:
            return [self._refuse(play, Code.STALE, f"the match is at ply {self.ply}")]
        if seat != self.to_act:
            return [self._refuse(play, Code.NOT_YOUR_TURN, f"seat {self.to_act} is to act")]
        opened, elapsed, lag = self._spent(at)
        allowed = ledger.allowance(elapsed, play.rtt_ms)
        if self._too_late(elapsed - allowed):
            return [*self._flag(at), *self._settle(at), self._refuse_late(play)]
        try:
            action = self._decode(play.action)
        except ValidationError as error:
            return self._illegal_move(play, Code.MALFORMED, _expectation(error), at)
        except IllegalAction as error:
            return self._illegal_move(play, Code.ILLEGAL, str(error), at)
        values = {
            "seq": self.seq + 1,
            "at_ms": at,
            "kind": "move",
            "ply": self.ply,
            "seat": seat,
            "action": self._wire(action),
            "elapsed_ms": elapsed,
            "allowance_ms": allowed,
            "wait_ms": opened - self._turn_at,
            "lag_ms": lag or None,
            "id": play.id,
            "comment": play.comment,
        }
        effects = self._append(trusted(Moved, values), action)
        effects.insert(1, Accepted(seat, play.id, self.seq))
        return effects

    def _spent(self, at: int) -> tuple[int, int, int]:
        """Return when the turn was opened, what it took, and the lag, which is no part of that."""
        if self._opened_at is None:
            return at, 0, 0
        # A caller may date a command back, so that it comes before a deadline.
        elapsed = max(0, at - self._opened_at)
        return self._opened_at, elapsed, max(0, self._lag - self._lag_before)

    def _too_late(self, charged: int) -> bool:
        if self.clocks is None:
            return False
        return charged >= ledger.until_flag(self.setup.time_control, self.clocks[self.to_act])

    def _illegal_move(self, play: Play, code: Code, message: str, at: int) -> list[Effect]:
        seat = play.seat
        self._illegal[seat] += 1
        hint = self._example(code)
        effects: list[Effect] = [Refuse(seat, play.id, code, message, self.ply, hint)]
        effects += self._append(self._refusal(play, code, message, at))
        if self._illegal[seat] >= self.setup.conduct.max_illegal:
            detail = f"{self._illegal[seat]} illegal moves"
            # The last sentence says where things stand: fit for all only if nothing is hidden.
            if not self.game.info.hidden:
                detail = f"{detail}, the last: {message}"
            effects += self._drop_out(seat, Cause.ILLEGAL, detail, at)
        return effects

    def _example(self, code: Code) -> str:
        """Return what helps after a wrong action: one that is legal now for the seat to act."""
        action = to_json(self._wire(self.game.legal(self.state)[0])).decode()
        if code is Code.MALFORMED:
            return f"an action of {self.game.info.name} looks like {action}"
        return f"choose a legal action, for example {action}"

    def _refusal(self, play: Play, code: Code, message: str, at: int) -> Noted:
        """Return what the seat's own record keeps of an illegal move; `max_illegal` bounds them."""
        sent = to_json(play.action).decode()[:_ACTION_KEPT]
        refused = RefusedMove(ply=play.ply, code=code, action=sent, id=play.id)
        text = f"refused as {code}: {message}"[:_NOTE_KEPT]
        return Noted(seq=self.seq + 1, at_ms=at, seat=play.seat, text=text, refused=refused)

    def _resign(self, command: Resign, at: int) -> list[Effect]:
        if not self._in_play(command.seat):
            return [self._refuse_over(command.seat)]
        return self._append(Resigned(seq=self.seq + 1, at_ms=at, seat=command.seat))

    def _leave(self, command: Leave, at: int) -> list[Effect]:
        seat = command.seat
        if self.result is not None or seat in self.out:
            return [self._refuse_over(seat)]
        known = self.away.get(seat)
        if known is not None and (known.reason == "left" or command.reason != "left"):
            return []  # the first absence counts, unless the player now leaves for good
        grace = 0 if command.reason == "left" else self.setup.conduct.grace_ms
        entry = Left(seq=self.seq + 1, at_ms=at, seat=seat, reason=command.reason, grace_ms=grace)
        return self._append(entry)

    def _return(self, command: Return, at: int) -> list[Effect]:
        seat = command.seat
        if self.result is not None or seat in self.out:
            return [self._refuse_over(seat)]
        owner = self.players[seat].player
        if command.player is not None and command.player != owner:
            message = f"seat {seat} is played by {self.players[seat].name} now"
            return [Refuse(seat, None, Code.NOT_SEATED, message, self.ply)]
        if seat not in self.away and not command.takeover:
            return []
        takeover: Literal[True] | None = True if command.takeover else None
        entry = Returned(seq=self.seq + 1, at_ms=at, seat=seat, takeover=takeover)
        return self._append(entry)

    def _replace(self, command: Replace, at: int) -> list[Effect]:
        seat = command.seat
        if self.result is not None or seat in self.out:
            return [self._refuse_over(seat)]
        if seat not in self.away:
            message = f"the player of seat {seat} is there"
            return [Refuse(seat, None, Code.WRONG_STATE, message, self.ply)]
        entry = Replaced(
            seq=self.seq + 1, at_ms=at, seat=seat, player=command.player, cause=command.cause
        )
        return self._append(entry)

    def _forfeit(self, command: Forfeit, at: int) -> list[Effect]:
        if not self._in_play(command.seat):
            return [self._refuse_over(command.seat)]
        return self._drop_out(command.seat, command.cause, command.detail, at)

    def _note(self, command: Note, at: int) -> list[Effect]:
        if self.result is not None:
            return [self._refuse_over(command.seat)]
        entry = Noted(seq=self.seq + 1, at_ms=at, seat=command.seat, text=command.text)
        return self._append(entry)

    def _abort(self, command: Abort, at: int) -> list[Effect]:
        if self.result is not None:
            return []
        return self._append(Aborted(seq=self.seq + 1, at_ms=at, detail=command.detail[:200]))

    # --- timers -----------------------------------------------------------------------------

    def _at(self, now: int) -> int:
        """Return the match's own time; the first call anchors it to the caller's."""
        if self._origin is None:
            self._origin = now - self.at_ms
        return max(self.at_ms, now - self._origin)

    def _due(self) -> int | None:
        if self.result is not None:
            return None
        flag = self._flag_due()
        if not self.away:
            return flag
        absence = self._absence_due()
        if absence is None:
            return flag
        return absence[0] if flag is None else min(flag, absence[0])

    def _flag_due(self) -> int | None:
        if self.flagged:
            return self.at_ms
        return None if self.to_act in self._asked else self._flag_at

    def _absence_due(self) -> tuple[int, int, Cause] | None:
        """Return when which absent seat is to be given up, and why."""
        away = {seat: gone for seat, gone in self.away.items() if self._in_play(seat)}
        waiting = [seat for seat in away if seat not in self._asked]
        for seat in waiting:
            if away[seat].reason == "left":
                return away[seat].until_ms, seat, Cause.DISCONNECT
        if self._deserted():
            seat = max(away, key=lambda seat: away[seat].until_ms)
            return away[seat].until_ms, seat, Cause.ABANDONED
        if not waiting:
            return None
        seat = min(waiting, key=lambda seat: away[seat].until_ms)
        crashed = away[seat].reason == "crash"
        return away[seat].until_ms, seat, Cause.CRASH if crashed else Cause.DISCONNECT

    def _deserted(self) -> bool:
        """Whether every seat that could still play is away."""
        if self.to_act not in self.away:
            return False
        there = set(range(len(self.players))) - self.away.keys()
        return not any(self._in_play(seat) for seat in there)

    def _settle(self, at: int) -> list[Effect]:
        effects: list[Effect] = []
        while (due := self._due()) is not None and due <= at:
            effects += self._time_out(due, at)
        return effects

    def _time_out(self, due: int, at: int) -> list[Effect]:
        if self._flag_due() == due:
            return self._punish(at) if self.flagged else self._flag(at)
        absence = self._absence_due()
        assert absence is not None, "a deadline is a flag's or an absent seat's"
        _, seat, cause = absence
        conduct = self.setup.conduct
        if cause is not Cause.ABANDONED and conduct.on_leave == "replace" and conduct.stand_in:
            self._asked |= {seat}
            return [WantStandIn(seat, conduct.stand_in, cause)]
        return self._drop_out(seat, cause, _WENT[self.away[seat].reason], at)

    def _flag(self, at: int) -> list[Effect]:
        _, elapsed, lag = self._spent(at)
        entry = Flagged(
            seq=self.seq + 1,
            at_ms=at,
            ply=self.ply,
            seat=self.to_act,
            elapsed_ms=elapsed,
            lag_ms=lag or None,
        )
        return self._append(entry)

    def _punish(self, at: int) -> list[Effect]:
        """Do what the game asks for when a flag has fallen."""
        match self.game.info.on_flag:
            case "forfeit":
                return self._drop_out(self.to_act, *self._why_late(), at)
            case "random":
                return self._move_for_seat(self._drawn(), at)
            case "skip":
                raise AssertionError("a turn that is skipped is over with its flag")

    def _why_late(self) -> tuple[Cause, str]:
        """A seat whose player is away did not think too long: say what really happened."""
        gone = self.away.get(self.to_act)
        if gone is None:
            return Cause.TIME, "the flag fell"
        cause = Cause.CRASH if gone.reason == "crash" else Cause.DISCONNECT
        return cause, f"{_WENT[gone.reason]} before the flag fell"

    def _drawn(self) -> int:
        """Draw a legal action from the seed and the ply: the same one in every replay."""
        legal = self.game.legal(self.state)
        drawn = hashlib.sha256(f"{self.setup.seed}:flag:{self.ply}".encode()).digest()
        return legal[int.from_bytes(drawn[:8], "big") % len(legal)]

    def _move_for_seat(self, action: int, at: int) -> list[Effect]:
        entry = Moved(
            seq=self.seq + 1,
            at_ms=at,
            ply=self.ply,
            seat=self.to_act,
            action=self._wire(action),
        )
        return self._append(entry, action)

    def _drop_out(self, seat: int, cause: Cause, detail: str, at: int) -> list[Effect]:
        entry = Forfeited(seq=self.seq + 1, at_ms=at, seat=seat, cause=cause, detail=detail[:200])
        return self._append(entry)

    # --- into the fold ---------------------------------------------------------------------------

    def _append(self, entry: Entry, action: int | None = None) -> list[Effect]:
        self._apply(entry, action)
        effects: list[Effect] = [Append(entry, self._sight(entry))]
        if self.result is not None:
            effects.append(Finished(self.result))
        return effects

    def _come(self, seat: int) -> None:
        """The turn of `seat` has come; it is not open yet."""
        super()._come(seat)
        self._opened_at = None
        self._flag_at = None

    def _there_again(self, seat: int) -> None:
        super()._there_again(seat)
        self._asked -= {seat}

    # --- small questions --------------------------------------------------------------------

    def _wire(self, action: int) -> Action:
        return self.game.moves(self.state, (action,))[0]

    def _left_ms(self, now: int | None) -> int | None:
        if self.clocks is None or self.result is not None:
            return None
        total = ledger.until_flag(self.setup.time_control, self.clocks[self.to_act])
        if now is None or self._opened_at is None:
            return total
        return max(0, total - max(0, self._at(now) - self._opened_at))

    def _refuse(self, play: Play, code: Code, message: str) -> Refuse:
        return Refuse(play.seat, play.id, code, message, self.ply)

    def _refuse_over(self, seat: int, request: int | None = None) -> Refuse:
        message = "the match is over" if self.result else f"seat {seat} is out of the play"
        return Refuse(seat, request, Code.OVER, message, self.ply)

    def _refuse_late(self, play: Play) -> Refuse:
        code = Code.OVER if self.result is not None or play.seat in self.out else Code.STALE
        return self._refuse(play, code, "the time of this turn was up before the move came")


def _expectation(error: ValidationError) -> str:
    """Say where an action has the wrong shape, and what was expected there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(["action", *map(str, first["loc"])])
    return f"{path}: {first['msg'].removeprefix('Value error, ').lower()}"[:300]
