"""A bot that shadows a running match: it receives the seat's view and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz.analysis.shadow import Shadow, ShadowAnswer
from kibitz.analysis.watched_match import NotWatchable, WatchedMatch, match_at
from kibitz_bots.sdk import Bot, Turn
from kibitz_clients.matches.recorded_match import events
from kibitz_games.core.game import Game
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.messages import EventList, Snapshot
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Moved, Spectating
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews

TANKS = Path(__file__).parents[3] / "docs/images/tanks.jsonl"


def snapshot(game: Game, record: Record, viewer: int = -1, **changes: Any) -> Snapshot:
    """Return a spectator's snapshot at the start, with the fields in `changes`."""
    setup = record.setup.model_copy(update=changes)
    return MatchViews(MatchState(game, setup)).snapshot(viewer, "watching")


class Copying(Bot):
    """Plays the recorded move every second turn, otherwise the last legal one."""

    record: Record

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def choose(self, turn: Turn) -> Any:
        self.turns.append(turn)
        if len(self.turns) == 3:
            raise RuntimeError("tired")
        turn.comment(value=0.5)
        moves = {e.ply: e.action for e in self.record.entries if isinstance(e, Moved)}
        return moves[turn.ply] if len(self.turns) % 2 else turn.legal[-1]


async def news_of(messages: Iterator[Any]) -> AsyncIterator[Any]:
    for message in messages:
        yield message


async def answers(game: Game, record: Record, bot: Bot, seat: int) -> list[ShadowAnswer]:
    start = snapshot(game, record)
    shadow = Shadow(WatchedMatch(game, start, seat), bot, 5)
    told = [*events(game, record), MatchLost(record.setup.match, Code.OVER, "it is over")]
    return [answer async for answer in shadow.follow(start, news_of(iter(told)))]


async def test_the_bot_is_asked_at_every_turn_of_the_seat(nim: Record, nim_rules: Game) -> None:
    bot = Copying()
    bot.record = nim
    found = await answers(nim_rules, nim, bot, 1)
    assert [answer.ply for answer in found] == list(range(1, 26, 2))
    assert [answer.agrees for answer in found[:4]] == [True, False, False, False]
    assert (found[2].legal, found[2].answer) == (False, "RuntimeError: tired")
    assert found[0].comment.value == 0.5
    assert all(turn.observation["seat"] == 1 for turn in bot.turns if "seat" in turn.observation)
    assert all(turn.legal for turn in bot.turns)


async def test_answers_are_those_to_the_turns_of_the_match(nim: Record, nim_rules: Game) -> None:
    """A shadowing bot sees the same views and moves as the playing one."""
    bot = Copying()
    bot.record = nim
    await answers(nim_rules, nim, bot, 0)
    match = MatchState(nim_rules, nim.setup)
    told = []
    for entry in nim.entries:
        if match.to_act == 0:
            told.append(MatchViews(match).your_turn())
        match.apply(entry)
    assert [turn.observation for turn in bot.turns] == [turn.view for turn in told]


def test_what_a_seat_sees_has_to_be_what_spectators_are_shown(all_games: dict[str, Game]) -> None:
    tanks, record = all_games["tanks"], read_record(TANKS)
    for spectating in (Spectating(), Spectating(mode="shoulder", seat=0)):
        with pytest.raises(NotWatchable, match="over the shoulder of seat 3"):
            WatchedMatch(tanks, snapshot(tanks, record, spectating=spectating), 2)
    shown = snapshot(tanks, record, 2, spectating=Spectating(mode="shoulder", seat=2))
    turn = WatchedMatch(tanks, shown, 2).turn(2, shown.view, 5)
    assert turn.observation == shown.view


def test_a_seat_that_is_not_there_is_named(nim: Record, nim_rules: Game) -> None:
    with pytest.raises(NotWatchable, match="expected a seat from 1 to 2, not 3"):
        WatchedMatch(nim_rules, snapshot(nim_rules, nim), 2)


class HistoryClient:
    """A fake client that watches with all views."""

    def __init__(self, game: Game, record: Record) -> None:
        self._events = list(events(game, record))

    async def history(self, match: str, first: int, count: int) -> EventList:
        page = self._events[first - 1 : first - 1 + 7]
        return EventList(re=1, match=match, events=page, more=first + 6 < len(self._events))


@pytest.mark.parametrize("ply", [1, 5, 13, 19])
async def test_a_running_match_is_played_on_from_what_is_shown(
    nim: Record, nim_rules: Game, ply: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz.analysis.watched_match.PAGE", 7)
    at = MatchState.restore(nim_rules, nim.setup, nim.entries[:20])
    now = MatchViews(at).snapshot(-1, "watching")
    client: Any = HistoryClient(nim_rules, Record(nim.setup, nim.entries[:20], None, ""))
    found = await match_at(client, nim_rules, now, ply)
    expected = MatchState.restore(nim_rules, nim.setup, nim.entries[:ply])
    assert (found.ply, found.to_act) == (ply, expected.to_act)
    own, other = (nim_rules.referee_view(state.game_state).to_wire() for state in (found, expected))
    assert own == other


async def test_what_is_hidden_or_has_not_happened_is_not_played_on(
    nim: Record, nim_rules: Game, all_games: dict[str, Game]
) -> None:
    client: Any = None
    with pytest.raises(NotWatchable, match="expected a ply up to 0, not 4"):
        await match_at(client, nim_rules, snapshot(nim_rules, nim), 4)
    tanks = all_games["tanks"]
    with pytest.raises(NotWatchable, match="wait for the end"):
        await match_at(client, tanks, snapshot(tanks, read_record(TANKS)), 0)
