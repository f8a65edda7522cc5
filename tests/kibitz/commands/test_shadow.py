"""`kibitz match shadow`: the summary and the exit status report a bot that fails at a turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kibitz.analysis.shadow import ShadowAnswer
from kibitz.commands import shadow
from kibitz_bots.sdk import Bot, Turn
from kibitz_clients.matches.recorded_match import events
from kibitz_games.core import registry
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Comment
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews
from tests.kibitz.analysis.conftest import RECORDS


class Failing(Bot):
    """Crashes at its second turn and answers with an illegal move at the third."""

    turns = 0

    def choose(self, turn: Turn) -> Any:
        Failing.turns += 1
        if Failing.turns == 2:
            raise RuntimeError("out of order")
        return {"x": 99, "y": 0, "length": 1} if Failing.turns == 3 else turn.legal[0]


class Steady(Bot):
    def choose(self, turn: Turn) -> Any:
        return turn.legal[0]


class Watching:
    """A client that follows a recorded match."""

    def __init__(self, record: Record) -> None:
        self._record = record

    async def __aenter__(self) -> Watching:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close nothing."""

    async def watch(self, match: str) -> Any:
        game = registry.get(self._record.setup.game)
        return MatchViews(MatchState(game, self._record.setup)).snapshot(-1, "watching")

    async def news(self) -> AsyncIterator[Any]:
        for event in events(registry.get(self._record.setup.game), self._record):
            yield event
        yield MatchLost(self._record.setup.match, Code.OVER, "it is over")


@pytest.mark.parametrize(("bot", "failures"), [(Failing, 2), (Steady, 0)])
async def test_failures_are_counted(
    bot: type[Bot],
    failures: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = read_record(RECORDS / "line-nim.jsonl")
    client: Any = Watching(record)

    async def snapshot_of(client: Any, match: str) -> Any:
        return await client.watch(match)

    monkeypatch.setattr("kibitz.analysis.watched_match.snapshot_of", snapshot_of)
    assert await shadow._follow(client, record.setup.match, 1, bot, 5, False) == failures
    told = capsys.readouterr().out
    assert told.endswith("; failures of the bot: 2\n" if failures else "match the move played\n")


@pytest.mark.parametrize(
    ("played", "line"),
    [
        ("A1", "   3  as played: A1  +0.50"),
        ("B2", "   3  A1; played: B2  +0.50"),
        (None, "   3  A1; played: nothing  +0.50"),
    ],
)
def test_an_answer_is_shown_with_the_move_played(played: str | None, line: str) -> None:
    answer = ShadowAnswer(3, "A1", Comment(value=0.5), legal=True, played=played)
    assert shadow._line(answer) == line
