"""The progress of a lobby's programme, computed from the server's messages.

`LobbyProgress.apply` takes the messages one by one and returns lines for people. Matches may begin
and end while the connection is lost. After a reconnect the server sends only the running ones, so
`catch_up` requests the others.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from kibitz.builtin_games import find_game
from kibitz.text import result_tables
from kibitz_clients.matches.fetch import fetch_record, save_record
from kibitz_clients.matches.timeline import MatchInfo
from kibitz_clients.wording import descriptions, tables
from kibitz_clients.wording.short_names import shown_name
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.client.session import TRANSIENT_REFUSALS
from kibitz_protocol.wire.lobbies import LobbyView, MatchBrief, Standing
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.wire.recordfile import RecordError
from kibitz_protocol.wire.refusals import Code


class LobbyProgress:
    """The state of one lobby: its latest view, and its matches in the order they began."""

    def __init__(self, lobby: str) -> None:
        self.lobby = lobby
        self.view: LobbyView | None = None
        self.closed: str | None = None
        """Why the lobby was closed; None while it exists."""
        self.records: dict[str, str] = {}
        """The paths of fetched records, by match."""
        self._matches: dict[str, MatchBrief] = {}
        self._unfinished: set[str] = set()
        """The matches without a result."""
        self._unfetched: dict[str, MatchBrief] = {}
        """The finished matches whose records were not fetched."""
        self._unseen: set[str] = set()
        """The matches that are no longer running, but whose end was not reported."""
        self._missing = 0
        """The number of unreported ends, including those of unknown matches."""
        self._missed_more = False
        """Whether more ends have been missed since the last request to the server."""

    @property
    def matches(self) -> list[MatchBrief]:
        """The matches of the programme by number."""
        return sorted(self._matches.values(), key=lambda brief: brief.number)

    @property
    def over(self) -> bool:
        """Whether the programme is over."""
        state = self.view.state if self.view else None
        return self.closed is not None or state in {"finished", "closed"}

    @property
    def standings(self) -> list[Standing]:
        """The table of the lobby's players."""
        return self.view.table() if self.view else []

    def standing_of(self, name: str) -> Standing | None:
        """Return the table line of a player, None before their first match has ended."""
        return next((line for line in self.standings if line.name == name), None)

    def tables(self) -> str:
        """Return the matches and the standings as text."""
        matches = "\n".join(tables.results_table(self.matches, self.records))
        return f"{matches}\n\n{result_tables.standings_table(self.standings)}"

    def summary(self) -> dict[str, Any]:
        """Return the matches and the standings for JSON."""
        matches = [brief.model_dump(mode="json", exclude_none=True) for brief in self.matches]
        return {
            "lobby": self.lobby,
            "matches": [brief | {"record": self.records.get(brief["match"])} for brief in matches],
            "standings": [line.model_dump(mode="json") for line in self.standings],
        }

    def add(self, brief: MatchBrief) -> bool:
        """Add or update a match; return whether its start or its end is new."""
        known = self._matches.get(brief.match)
        if known is None or known.result is None:
            self._matches[brief.match] = brief
            if brief.result is None:
                self._unfinished.add(brief.match)
            else:
                self._unfinished.discard(brief.match)
                self._unfetched[brief.match] = brief
        return known is None or (known.result is None) != (brief.result is None)

    async def follow(self, client: Client) -> AsyncIterator[str]:
        """Yield lines about a client's messages until the programme is over."""
        async for message in client.news():
            for line in [*self.apply(message), *await self.catch_up(client)]:
                yield line
            if self.over:
                return

    async def catch_up(self, client: Client) -> list[str]:
        """Request matches whose end was missed, if any; return the lines about them.

        Matches that are no longer in the server's list are read from their records.
        """
        if not self._missed_more:
            return []
        self._missed_more = False
        lines = self._apply_briefs(await self._list(client))
        for match in sorted(self._unseen):
            brief = self._matches[match]
            if brief.result is None:
                lines += self._apply_briefs([await _with_result(client.url, brief)])
        self._missing = 0
        self._note_missed()
        self._missed_more = False  # the server does not know the matches still missing
        return lines

    def _note_missed(self) -> None:
        """Compare the lobby's counts with the reported ends."""
        if self.view is None:
            return
        live = set() if self.closed is not None else self.view.live.keys()
        unseen = self._unfinished - live
        ended = len(self._matches) - len(self._unfinished)
        missing = max(0, self.view.done - self.view.void - ended)
        if missing > self._missing or not unseen <= self._unseen:
            self._missed_more = True
        self._unseen, self._missing = unseen, max(self._missing, missing)

    async def _list(self, client: Client) -> list[MatchBrief]:
        """Return the lobby's matches that the server lists; none if the server refuses the
        request."""
        try:
            return (await client.hall.matches(self.lobby)).matches
        except RefusedError as error:
            if error.code is not Code.NO_SUCH_LOBBY and error.code not in TRANSIENT_REFUSALS:
                raise
            return []

    def _apply_briefs(self, briefs: Sequence[MatchBrief]) -> list[str]:
        """Add matches; return lines about starts and ends that were not known."""
        lines = []
        for brief in sorted(briefs, key=lambda brief: brief.number):
            if brief.result is None:
                lines += self._apply_started([brief])
            elif self.add(brief):
                lines.append(self._describe_end(brief))
        return lines

    async def close(self, client: Client) -> None:
        """Close the lobby after its running matches; it may already be closed."""
        try:
            await client.hosting.close_lobby(self.lobby)
        except RefusedError as error:
            if error.code not in {Code.NO_SUCH_LOBBY, Code.WRONG_STATE}:
                raise

    async def fetch(self, url: str, directory: Path) -> list[MatchBrief]:
        """Store the records of the matches that have ended since the last call; return these.

        `url` is the server's address for clients.
        """
        fetched = sorted(self._unfetched.values(), key=lambda brief: brief.number)
        for brief in fetched:
            path = directory / f"{brief.game}-{brief.match}.jsonl"
            self.records[brief.match] = str(await save_record(url, brief.match, path))
            del self._unfetched[brief.match]
        return fetched

    def apply(self, message: object) -> list[str]:
        """Apply a message and return lines about it; ignore other lobbies."""
        match message:
            case LobbyNews(lobby=view) if view.lobby == self.lobby:
                return self._apply_view(view)
            case MatchStarted(lobby=self.lobby, match=brief):
                return self._apply_started([brief])
            case MatchEnded(lobby=self.lobby, match=brief) if self.add(brief):
                return [self._describe_end(brief)]
            case LobbyClosed(lobby=self.lobby, reason=reason):
                self.closed = reason
                self._note_missed()
        return []

    def _apply_view(self, view: LobbyView) -> list[str]:
        before, self.view = self.view, view
        known = before.members if before else {}
        seats = len(view.settings.seats)
        arrived = [
            f"{shown_name(member.name, member.kind)} takes seat {member.seat + 1} of {seats}"
            for member in view.by_seat()
            if member.player not in known
        ]
        reported = before.house_trouble if before else []
        trouble = [
            descriptions.house_bot_failure(failure)
            for failure in view.house_trouble
            if failure not in reported
        ]
        if view.stopped and not (before and before.stopped):
            trouble.append(descriptions.stopped_programme(view.stopped))
        begun = self._apply_started(list(view.live.values()))
        self._note_missed()
        return arrived + trouble + begun

    def _apply_started(self, briefs: list[MatchBrief]) -> list[str]:
        return [f"match {b.number} begins: {self._title(b)}" for b in briefs if self.add(b)]

    def _title(self, brief: MatchBrief) -> str:
        players = ", ".join(shown_name(player.name, player.kind) for player in brief.seats)
        return f"{brief.game} for {len(brief.seats)}: {players}"

    def _describe_end(self, brief: MatchBrief) -> str:
        if brief.result is None:
            return f"match {brief.number} ends unfinished"
        game = find_game(brief.game)
        summary = descriptions.result_summary(MatchInfo.from_brief(brief), brief.result, game)
        places = tables.placing_text(brief.seats, brief.result)
        return f"match {brief.number} ends: {summary} ({places})"


async def _with_result(url: str, brief: MatchBrief) -> MatchBrief:
    """Return a match with the result from its record, or unchanged if there is no record."""
    try:
        record = await fetch_record(url, brief.match)
    except (OSError, RecordError):
        return brief
    if record.footer is None:
        return brief
    result = record.footer.result
    return brief.model_copy(update={"ply": result.plies, "result": result})
