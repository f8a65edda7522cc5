"""Lists: games, lobbies, matches, the rating list, and the hall, which combines them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TypeVar

from kibitz_games.core.game import Game
from kibitz_protocol.wire import messages
from kibitz_protocol.wire.lobbies import LadderTable, LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import (
    Done,
    GameLine,
    GameList,
    Ladders,
    LobbyList,
    MatchList,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.hall import Hall
from kibitz_server.handlers.answering import Answers
from kibitz_server.housebots.catalog import BotCatalog
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.peer import Peer
from kibitz_server.rating.log import RatingLog

_T = TypeVar("_T")
_B = TypeVar("_B", LobbyBrief, MatchBrief)


class ListHandlers:
    """Answers requests for lists."""

    def __init__(
        self,
        directory: Directory,
        games: Mapping[str, Game],
        bots: BotCatalog,
        hall: Hall,
        rating_log: RatingLog,
        answers: Answers,
    ) -> None:
        self._directory = directory
        self._games = games
        self._bots = bots
        self._hall = hall
        self._rating_log = rating_log
        self._answers = answers

    @cached_property
    def _game_lines(self) -> list[GameLine]:
        return [
            GameLine(
                name=game.info.name,
                title=game.info.title,
                summary=game.info.summary,
                rules_version=game.info.rules_version,
                seats=list(game.info.seats),
                hidden=game.info.hidden,
                balanced=game.info.balanced,
                legal_rule=game.info.legal_rule or None,
                options_schema=game.Options.model_json_schema(),
                move_schema=game.Move.model_json_schema(),
                view_schema=game.View.model_json_schema(),
                endings=dict(game.reason_texts),
            )
            for game in self._games.values()
        ]

    def list_games(self, peer: Peer, identity: Identity, request: messages.ListGames) -> None:
        games, bots = self._game_lines, self._bots.lines
        names = [bot.name for bot in bots]
        peer.answer(GameList(re=request.id, games=games, personalities=names, bots=bots))

    def list_lobbies(self, peer: Peer, identity: Identity, request: messages.ListLobbies) -> None:
        shown: dict[int, LobbyBrief] = {
            lobby.stream.number: lobby.brief
            for lobby in self._directory.registry.lobbies.values()
            if lobby.stored
            and (lobby.shown.settings.listed or lobby.shown.is_insider(identity.key))
        }
        there = (line.brief for line in self._directory.others.listed())
        shown |= {brief.order or 0: brief for brief in there if brief is not None}
        lobbies, last, more = _page(shown, request.after, request.limit)
        briefs = [_unordered(brief) for brief in lobbies]
        peer.answer(LobbyList(re=request.id, lobbies=briefs, more=more, last=last))

    def list_matches(self, peer: Peer, identity: Identity, request: messages.ListMatches) -> None:
        if request.lobby is not None:
            lobby = self._answers.find_lobby(peer, request.id, request.lobby)
            if lobby is None:
                return
            if not lobby.stored or not lobby.shown.may_watch(identity.key):
                # The same refusal as for an unknown lobby, because the lobby is hidden.
                peer.refuse(request.id, *self._answers.missing("lobby", request.lobby))
                return
        shown: dict[int, MatchRunner | MatchBrief] = {
            match.stream.number: match
            for match in self._directory.registry.matches.values()
            if match.shown.stored
            and (
                match.listed
                if request.lobby is None
                else match.engine.state.setup.lobby == request.lobby
            )
        }
        if request.lobby is None:
            there = (match for line in self._directory.others.listed() for match in line.matches)
            shown |= {brief.order or 0: brief for brief in there}
        matches, last, more = _page(shown, request.after, request.limit)
        briefs = [
            entry.shown.brief() if isinstance(entry, MatchRunner) else _unordered(entry)
            for entry in matches
        ]
        if not more:
            briefs += self._directory.registry.finished_briefs(request.lobby)
        peer.answer(MatchList(re=request.id, matches=briefs, more=more, last=last))

    def subscribe(self, peer: Peer, identity: Identity, request: messages.Subscribe) -> None:
        self._hall.wake()  # before the answer, so that an error refuses the request
        peer.answer(Done(re=request.id))
        self._hall.subscribe(peer)

    def unsubscribe(self, peer: Peer, identity: Identity, request: messages.Unsubscribe) -> None:
        self._hall.unsubscribe(peer)
        peer.answer(Done(re=request.id))

    def ask_ladder(self, peer: Peer, identity: Identity, request: messages.AskLadder) -> None:
        if request.game is not None and request.game not in self._games:
            peer.refuse(request.id, Code.UNKNOWN_GAME, f"no game {request.game!r} on this server")
            return
        self._answers.later(peer, request.id, partial(self._answer_ladder, peer, request))

    async def _answer_ladder(self, peer: Peer, request: messages.AskLadder) -> None:
        rating_list = await self._rating_log.rating_list()
        games = rating_list.games() if request.game is None else [request.game]
        first = request.first - 1
        tables = []
        for game in games:
            lines = rating_list.lines(game)
            part = lines[first : first + request.count]
            tables.append(
                LadderTable(
                    game=game, players=len(lines), matches=rating_list.matches(game), lines=part
                )
            )
        peer.answer(Ladders(re=request.id, games=tables))


def _unordered(brief: _B) -> _B:
    """Return a brief without its number in the hall's news."""
    return brief.model_copy(update={"order": None})


def _page(shown: Mapping[int, _T], after: int, limit: int) -> tuple[list[_T], int, bool]:
    """Return the items numbered above `after`, the last one's number, and whether more follow."""
    numbers = sorted(number for number in shown if number > after)
    page = numbers[:limit]
    return [shown[number] for number in page], page[-1] if page else after, len(numbers) > limit
