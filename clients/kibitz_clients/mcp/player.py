"""One player on one connection, with a method for each tool.

Every method returns text for the calling program, or raises `CallError` with a sentence. `link.py`
manages the connection and the received matches.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from kibitz_clients.matches.timeline import Timeline
from kibitz_clients.mcp import match_text
from kibitz_clients.mcp.link import CallError, Explain, ServerLink
from kibitz_clients.mcp.progress import PROGRESS_SECONDS, Progress
from kibitz_clients.wording import descriptions
from kibitz_clients.wording.move_input import MoveOption, MoveSelector, move_options, parse_typed
from kibitz_clients.wording.short_names import shown_name
from kibitz_games.core.game import Game
from kibitz_protocol import printable
from kibitz_protocol.client.client import Client, Connector
from kibitz_protocol.wire.messages import YourTurn
from kibitz_protocol.wire.records import Comment

MOST_SECONDS: Final = 600.0
"""The maximum wait of one call, in seconds."""
KEPT_MATCHES: Final = 20
"""The number of finished matches to keep for `look`."""
MOST_WORDS: Final = 200
"""The maximum length of a comment on a move (`records.Comment.text`)."""


class ToolPlayer:
    """A player controlled by calls, in any number of matches at once."""

    def __init__(
        self,
        connection: Client | None,
        games: Mapping[str, Game],
        now: Callable[[], int] = lambda: int(time.monotonic() * 1000),
    ) -> None:
        self.link = ServerLink(connection, games, now)
        self._games = games
        self._now = now
        self._state = self.link.state
        self._told: dict[str, None] = {}
        """Finished matches; a call has already returned their results. Oldest first."""

    # --- the hall -----------------------------------------------------------------------------

    async def lobbies(self) -> str:
        """Return the open lobbies and the running matches."""
        server = await self.link.server()
        lobbies = (await self.link.ask(server.hall.lobbies())).lobbies
        matches = (await self.link.ask(server.hall.matches())).matches
        lines = [
            f"lobby {lobby.lobby} {printable.line(lobby.name)!r}: {', '.join(lobby.games)}; "
            f"{lobby.members} of {lobby.places} places taken; {lobby.state}; "
            f"join: {lobby.joinable}"
            for lobby in lobbies
        ]
        for brief in matches:
            names = ", ".join(shown_name(player.name, player.kind) for player in brief.seats)
            state = "over" if brief.result else f"{brief.ply} plies"
            lines.append(f"match {brief.match}: {brief.game}; {names}; {state}")
        return "\n".join(lines) or "no lobbies and no matches; someone must host one"

    def list_games(self) -> str:
        """Return the installed games."""
        return "\n".join(
            f"{game.info.name}: {game.info.summary} Players: "
            f"{', '.join(map(str, game.info.seats))}."
            for game in self._games.values()
        )

    async def join(self, lobby: str, invite: str | None) -> str:
        """Take a seat in a lobby and get ready."""
        server = await self.link.server()
        await self.link.ask(server.join(lobby, invite=invite))
        await self.link.ask(server.ready(lobby))
        return f"you are {server.name} in lobby {lobby}, and ready; now call wait_for_turn"

    async def leave(self, lobby: str) -> str:
        """Leave a lobby."""
        await self.link.ask((await self.link.server()).leave(lobby))
        return f"you left lobby {lobby}"

    # --- matches ------------------------------------------------------------------------------

    def matches(self) -> list[str]:
        """Return the matches being played or watched, and recently finished ones."""
        return [*self._state.matches]

    async def watch(self, match: str) -> str:
        """Follow a match as a spectator."""
        await self.link.ask((await self.link.server()).watch(match))
        await self.link.wait_until(lambda: match in self._state.matches, PROGRESS_SECONDS)
        return self.look(match)

    def look(self, match: str) -> str:
        """Return the current state of a match."""
        timeline = self._timeline(match)
        text = match_text.match_text(timeline, self._game(match), self._now())
        turn = self._state.turns.get(match)
        return text if turn is None else f"{text}\n{self._turn_text(turn)}"

    def legal_moves(self, match: str) -> str:
        """Return every legal move of the player's turn."""
        turn = self._turn(match)
        return match_text.legal_text(turn, self._options(turn))

    async def wait_for_turn(
        self, match: str | None, seconds: float, progress: Progress | None = None
    ) -> str:
        """Wait for the player's turn, in one match or in any, or for the end of a match.

        Returns what happened, or says that nothing happened before the timeout.
        """
        server = await self.link.server()
        if match is not None:
            self._timeline(match)
        seconds = min(max(seconds, 0.0), MOST_SECONDS)
        if not await self.link.wait_until(lambda: self._has_due(match), seconds, progress):
            away = "" if server.online else "the server is unreachable; "
            return f"{away}nothing happened for you within {seconds:g} s; wait again, or look"
        if match is not None:
            self._timeline(match)
        return self._take_due(match)

    async def play(self, match: str, move: str, comment: str = "") -> str:
        """Play a move on the player's turn."""
        server = await self.link.server()
        turn = self._turn(match)
        action = self._parse(turn, move)
        checked_comment = _comment(comment)
        del self._state.turns[match]
        try:
            await self.link.ask(server.move(match, turn.ply, action.action, checked_comment))
        except (CallError, asyncio.CancelledError):
            self._restore(turn)
            raise
        return f"you played {action.text} in match {match}"

    async def resign(self, match: str) -> str:
        """Resign a match."""
        server = await self.link.server()
        self._timeline(match)
        await self.link.ask(server.resign(match))
        return f"you resigned match {match}"

    async def comment(self, match: str, text: str) -> str:
        """Comment on a match."""
        server = await self.link.server()
        self._timeline(match)
        await self.link.ask(server.comment(match, text))
        return "said"

    # --- internals -------------------------------------------------------------------------------

    def _restore(self, turn: YourTurn) -> None:
        """Restore a turn whose move may have failed, unless the match has moved on."""
        timeline = self._state.matches.get(turn.match)
        if timeline is None or timeline.over:
            return
        if (timeline.newest.ply, timeline.newest.to_act) == (turn.ply, turn.seat):
            self._state.turns.setdefault(turn.match, turn)

    def _has_due(self, match: str | None) -> bool:
        if match is None:
            return bool(self.link.notices or self._state.turns or self._untold())
        timeline = self._state.matches.get(match)
        gone = match in self._state.lost or timeline is None or timeline.over
        return gone or match in self._state.turns

    def _untold(self) -> list[str]:
        matches = self._state.matches.items()
        return [key for key, timeline in matches if timeline.over and key not in self._told]

    def _take_due(self, match: str | None) -> str:
        """Return all news: notices and results once, open turns at every call."""
        parts, self.link.notices = self.link.notices, []
        for key in self._untold() if match is None else [match]:
            if not self._state.matches[key].over:
                continue
            parts.append(match_text.result_text(self._state.matches[key], self._game(key)))
            self._told[key] = None
        parts += [self.look(key) for key in self._state.turns if match in {None, key}]
        old = [*self._told][:-KEPT_MATCHES]
        self._state.forget(old)
        for key in old:
            del self._told[key]
        return "\n\n".join(parts)

    def _timeline(self, match: str) -> Timeline:
        if match in self._state.lost:
            raise CallError(f"match {match}: {printable.line(self._state.lost[match])}")
        if match in self._state.matches:
            return self._state.matches[match]
        self.link.require_connection()
        known = ", ".join(self.matches()) or "none"
        raise CallError(
            f"you neither play nor watch match {printable.line(match)}; your matches: {known}"
        )

    def _game(self, match: str) -> Game | None:
        return self._games.get(self._state.matches[match].info.game)

    def _turn(self, match: str) -> YourTurn:
        timeline = self._timeline(match)
        turn = self._state.turns.get(match)
        if turn is not None:
            return turn
        if timeline.over:
            raise CallError(f"match {match} is over")
        if timeline.info.you is None:
            raise CallError(f"you are a spectator of match {match} and have no seat in it")
        seat = timeline.newest.to_act
        mover = match_text.player_names(timeline)[seat] if seat >= 0 else "nobody"
        raise CallError(f"it is not your turn in match {match}, but {mover}'s")

    def _options(self, turn: YourTurn) -> tuple[MoveOption, ...]:
        game = self._games.get(turn.game)
        return () if game is None else move_options(game, turn)

    def _turn_text(self, turn: YourTurn) -> str:
        return match_text.turn_text(turn, self._options(turn))

    def _parse(self, turn: YourTurn, move: str) -> MoveOption:
        game = self._games.get(turn.game)
        if game is None:
            return _parse_json(move)
        option = parse_typed(game, MoveSelector(self._options(turn)), move, turn)
        if isinstance(option, str):
            raise CallError(printable.line(option))
        return option


def _parse_json(move: str) -> MoveOption:
    """Parse a move in wire format, for games that are not installed."""
    try:
        fields = json.loads(move)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise CallError("this game is not installed here; write its move as a JSON object")
    return MoveOption(fields, json.dumps(fields), ())


def _comment(text: str) -> Comment | None:
    if not text:
        return None
    line = printable.line(text)
    if len(line) > MOST_WORDS:
        raise CallError(f"expected a comment of at most {MOST_WORDS} characters, not {len(line)}")
    return Comment(text=line)


@contextlib.asynccontextmanager
async def tool_player(
    connect: Connector,
    games: Mapping[str, Game],
    explain: Explain = descriptions.explain_error,
) -> AsyncIterator[ToolPlayer]:
    """Provide a player that connects when needed and processes messages during the block.

    If the server is unreachable, calls that need it fail with the text of `explain`.
    """
    player = ToolPlayer(None, games)
    player.link.begin_to_connect()
    following = asyncio.create_task(player.link.keep_connected(connect, explain))
    try:
        yield player
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
