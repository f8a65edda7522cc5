"""The entries of a tournament's journal.

A line is written before its effect: games are `arranged` before they are requested, and `ended`
lines are on the disk before the games count. So a journal that is cut off at any byte can continue:

- games that `ended` are never played again;
- games that were `arranged` and have not ended are *outstanding*: they are requested again by the
  same tag, and a server that knows the tag answers with the outcome;
- all other games are still to come, in the order of the schedule.

A game that failed for a reason of the infrastructure is `requeued`: it goes on as ``b17.2~1`` and
its failed attempt is never counted.

`state.TournamentState` is the fold over the entries, `runner.journal_file` the file.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_arena.journal import EntryBase, Header, JournalFormat
from kibitz_arena.tournament import CHANGEABLE_KEYS, Tournament
from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.values import Key, Line, Millis

IsolationTool: TypeAlias = Literal["bwrap", "setpriv", "none"]


class RunStarted(EntryBase):
    """The tournament was started or continued."""

    kind: Literal["began"] = "began"
    isolation: IsolationTool | None = None
    """The tool that isolated foreign entrants; None without such entrants, or if unknown."""


class GamesRequested(EntryBase):
    """These games are about to be asked for."""

    kind: Literal["arranged"] = "arranged"
    tags: list[str] = Field(min_length=1)


class GameEnded(EntryBase):
    """A game ended, and counts. `players` are entrants by seat, as in `result`."""

    kind: Literal["ended"] = "ended"
    tag: str
    match: Key
    players: list[str]
    result: Result
    used_ms: list[Millis] | None = None
    record: str | None = Field(None, description="path, from the tournament's directory")
    report: str | None = Field(
        None, description="path of the forensic report, where a seat was at fault"
    )


class GameRequeued(EntryBase):
    """A game failed for a reason of the infrastructure; it is played again under a new tag."""

    kind: Literal["requeued"] = "requeued"
    tag: str
    match: Key | None = None
    detail: Line = ""


StopReason: TypeAlias = Literal["decided", "deadline", "asked", "failed"]


class RunStopped(EntryBase):
    """The tournament stops. After ``decided`` it never continues; else a restart continues it."""

    kind: Literal["stopped"] = "stopped"
    reason: StopReason
    detail: Line = ""


Entry: TypeAlias = RunStarted | GamesRequested | GameEnded | GameRequeued | RunStopped
FORMAT: Final[JournalFormat[Entry]] = JournalFormat(
    "kibitz-tournament/1",
    TypeAdapter(list[Annotated[Entry, Field(discriminator="kind")]]),
    CHANGEABLE_KEYS,
)


def make_header(tournament: Tournament) -> Header:
    """Return the first line of a tournament's journal, which has the seed."""
    assert tournament.seed is not None, "a tournament begins with a seed"
    return FORMAT.header(tournament.dump())
