"""The entries of a tournament's journal.

A line is written before it takes effect: games are `arranged` before they are requested, and
`ended` lines are synced to disk before the games count. So a journal that is truncated at any byte
can be continued:

- games that `ended` are never played again;
- games that were `arranged` but have not ended are *outstanding*: they are requested again with the
  same tag, and a server that knows the tag answers with the outcome;
- all other games follow in the order of the schedule.

A game that failed because of the infrastructure is `requeued`: it is played again as ``b17.2~1``,
and the failed attempt never counts.

`state.TournamentState` applies the entries, and `runner.journal_file` manages the file.
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
    """The tournament was started or resumed."""

    kind: Literal["began"] = "began"
    isolation: IsolationTool | None = None
    """The tool that isolated untrusted entrants; None if there are none or it is unknown."""


class GamesRequested(EntryBase):
    """These games are about to be requested."""

    kind: Literal["arranged"] = "arranged"
    tags: list[str] = Field(min_length=1)


class GameEnded(EntryBase):
    """A game ended and counts. `players` lists entrants by seat, as in `result`."""

    kind: Literal["ended"] = "ended"
    tag: str
    match: Key
    players: list[str]
    result: Result
    used_ms: list[Millis] | None = None
    record: str | None = Field(
        None, description="path of the record, relative to the tournament's directory"
    )
    report: str | None = Field(
        None, description="path of the forensic report if a seat was at fault"
    )


class GameRequeued(EntryBase):
    """A game failed because of the infrastructure; it is played again under a new tag."""

    kind: Literal["requeued"] = "requeued"
    tag: str
    match: Key | None = None
    detail: Line = ""


StopReason: TypeAlias = Literal["decided", "deadline", "asked", "failed"]


class RunStopped(EntryBase):
    """The tournament stopped. After ``decided`` it is final; otherwise it can be resumed."""

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
    """Return the first line of a tournament's journal, which contains the seed."""
    assert tournament.seed is not None, "a tournament must have a seed before it starts"
    return FORMAT.header(tournament.dump())
