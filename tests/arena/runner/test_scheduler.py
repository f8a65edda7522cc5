"""The scheduler with an in-memory lobby in virtual time: interruptions, no duplicates."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import async_solipsism
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz_arena.entries import FORMAT, RunStarted
from kibitz_arena.runner.arranged_lobby import POLL_SECONDS, LobbyGoneError
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.runner.scheduler import CollectedRecord, GameScheduler
from kibitz_arena.schedule import Schedule
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.messages import LobbyClosed
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code
from tests.arena.runner.fake_lobby import LOBBY, FakeConnection, FakeLobby
from tests.arena.tournaments import event
from tests.tools import profiles

Answer = TypeVar("Answer")
pytestmark = pytest.mark.filterwarnings(
    "ignore::async_solipsism.exceptions.ResolutionWarning"  # waits shorter than it can measure
)


def virtually(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run on a loop with virtual time; unwrap an exception that is alone in its group."""
    with asyncio.Runner(loop_factory=async_solipsism.EventLoop) as runner:
        try:
            return runner.run(work)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None


async def aside(work: Callable[..., None], *arguments: Any) -> None:
    await asyncio.sleep(0.001)
    work(*arguments)


async def fetch(match: str) -> CollectedRecord | None:
    await asyncio.sleep(0.002)
    return CollectedRecord(f"records/{match}.jsonl", (1, 2))


class SchedulerRun:
    """One run of a scheduler with a journal and a connection."""

    def __init__(self, lobby: FakeLobby, path: Path, width: int = 3, now: int = 0) -> None:
        self.journal = TournamentJournal(path, lobby.event)
        self.journal.append(RunStarted(at_ms=now))
        self.connection = FakeConnection(lobby)
        self.told: list[str] = []
        self.now = now
        self.director = GameScheduler(
            cast(Client, self.connection),
            LOBBY,
            self.journal,
            ConcurrencyLimit(width),
            now=lambda: self.now,
            fetch=fetch,
            tell=self.told.append,
            in_thread=aside,
        )

    async def play(self) -> TournamentState:
        try:
            await self.director.play()
        finally:
            self.journal.close()
        return self.journal.state


def lobby_of(cup: Tournament, seed: int = 0, **fields: Any) -> FakeLobby:
    return FakeLobby(cup, random.Random(seed), **fields)


def counts(progress: TournamentState) -> Counter[str]:
    return Counter(name for ended in progress.ended.values() for name in ended.players)


def test_an_event_is_played_to_its_end(tmp_path: Path) -> None:
    cup = event(4, blocks=2)
    lobby = lobby_of(cup)

    async def main() -> TournamentState:
        return await SchedulerRun(lobby, tmp_path / "j").play()

    progress = virtually(main())
    assert progress.finished
    assert progress.stopped is None
    assert set(counts(progress).values()) == {12}
    assert sorted(lobby.begun) == sorted(tag for tag in progress.ended)
    assert lobby.most == 3
    kept = {(ended.record, tuple(ended.used_ms or ())) for ended in progress.ended.values()}
    assert kept == {(f"records/m{n}.jsonl", (1, 2)) for n in range(1, 25)}


def test_games_are_what_the_schedule_says(tmp_path: Path) -> None:
    cup = event(2, blocks=1, game={"name": "chinese-checkers", "options": {"size": 3}}, seed=7)
    seen: list[Any] = []

    class Watched(FakeConnection):
        async def arrange(self, lobby: str, matches: Any) -> Any:
            seen.extend(matches)
            return await super().arrange(lobby, matches)

    async def main() -> None:
        sitting = SchedulerRun(lobby_of(cup), tmp_path / "j")
        sitting.director._lobby._client = cast(Client, Watched(lobby_of(cup)))
        await sitting.play()

    virtually(main())
    games = {game.tag: game for block in Schedule(cup).blocks for game in block.games}
    assert {each.tag for each in seen} == set(games)
    for each in seen:
        game = games[each.tag]
        assert each.item.seed == game.seed
        assert each.item.options == {"size": 3}
        assert each.players == [f"g{cup.names.index(name)}" for name in game.players]


@settings(
    max_examples=profiles.examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**20),
    cuts=st.lists(st.floats(0.001, 25.0), max_size=4),
    lossy=st.sampled_from([0.0, 0.3, 1.0]),
    torn=st.integers(0, 40),
    troubled=st.integers(0, 3),
    swiss=st.booleans(),
)
def test_cut_off_anywhere_it_goes_on_and_nothing_is_played_twice(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cuts: list[float],
    lossy: float,
    torn: int,
    troubled: int,
    swiss: bool,
) -> None:
    """Each cut is a kill: the current write is torn, and the server continues or ends games."""
    path = tmp_path_factory.mktemp("event") / "journal.jsonl"
    cup = event(5, blocks=1, **({"format": "swiss", "rounds": 3} if swiss else {}))
    rng = random.Random(seed)
    trouble = {f"b{n}.1" for n in range(1, troubled + 1)}
    lobby = lobby_of(cup, seed, lossy=lossy, fails=lambda tag: tag in trouble)

    async def main(seconds: float | None) -> TournamentState | None:
        sitting = SchedulerRun(lobby, path)
        try:
            async with asyncio.timeout(seconds):
                return await sitting.play()
        except TimeoutError:
            return None

    for cut in cuts:
        if virtually(main(cut)) is not None:
            break
        whole = path.read_bytes()
        if whole[-1:] == b"\n" and rng.random() < 0.5 and torn:
            path.write_bytes(whole + whole[: min(torn, whole.index(b"\n"))])
        for tag in [brief.tag for brief in lobby.live if rng.random() < 0.5]:
            assert tag is not None
            lobby.end(tag)
    progress = virtually(main(None))

    assert progress is not None
    assert progress.finished
    assert len(lobby.begun) == len(set(lobby.begun))
    for ended in progress.ended.values():
        brief = lobby.briefs[ended.tag]
        assert (brief.match, brief.result) == (ended.match, ended.result)
    retried = trouble & set(lobby.begun)
    assert progress.requeued == len(retried)
    assert len(lobby.begun) == progress.planned + len(retried)
    assert (
        TournamentState.fold(cup, FORMAT.parse(path.read_bytes()).entries).ended == progress.ended
    )


def test_news_that_is_lost_costs_a_moment(tmp_path: Path) -> None:
    lobby = lobby_of(event(2, blocks=1), lossy=1.0)

    async def main() -> float:
        await SchedulerRun(lobby, tmp_path / "j").play()
        return asyncio.get_running_loop().time()

    assert virtually(main()) <= 2 * POLL_SECONDS


def test_to_drain_is_to_let_running_games_end_and_begin_none(tmp_path: Path) -> None:
    lobby = lobby_of(event(4, blocks=3))

    async def main() -> TournamentState:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(4)
        begun = len(lobby.begun)
        sitting.director.stop("asked")
        progress = await task
        assert len(lobby.begun) == begun
        return progress

    progress = virtually(main())
    assert progress.stopped is not None
    assert progress.stopped.reason == "asked"
    assert not progress.outstanding
    assert 0 < progress.played == len(lobby.begun) < progress.planned


def test_a_match_that_fails_every_time_stops_the_event_with_its_name(tmp_path: Path) -> None:
    cup = event(2, blocks=1, retries=2)
    lobby = lobby_of(cup, fails=lambda tag: tag.startswith("b1.1"))

    async def main() -> TournamentState:
        return await SchedulerRun(lobby, tmp_path / "j").play()

    progress = virtually(main())
    assert sorted(lobby.begun) == ["b1.1", "b1.1~1", "b1.1~2", "b1.2"]
    assert progress.stopped is not None
    assert (progress.stopped.reason, progress.stopped.detail) == (
        "failed",
        "b1.1 failed more than 2 times",
    )


def test_the_first_failure_is_not_believed_before_the_server_has_tried_again(
    tmp_path: Path,
) -> None:
    """A lobby replays a match that ended by a server failure with the same tag."""
    lobby = lobby_of(event(2, blocks=1), seconds=60.0)

    async def main() -> TournamentState:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(1)
        from kibitz_protocol.wire.messages import MatchEnded
        from kibitz_protocol.wire.records import Result

        brief = lobby.live[0]
        trouble = Result(seats=[], cause=Cause.INFRASTRUCTURE, plies=0)
        failed = brief.model_copy(update={"result": trouble})
        sitting.connection.put(MatchEnded(lobby=LOBBY, match=failed))
        return await task

    progress = virtually(main())
    assert progress.finished
    assert progress.requeued == 0


def test_a_match_that_is_void_is_played_under_another_tag(tmp_path: Path) -> None:
    lobby = lobby_of(event(2, blocks=1), seconds=300.0)

    async def main() -> TournamentState:
        sitting = SchedulerRun(lobby, tmp_path / "j", width=1)
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(1)
        lobby.void("b1.1")
        return await task

    progress = virtually(main())
    assert progress.finished
    assert progress.requeued == 1
    assert "b1.1~1" in lobby.begun


def test_nothing_is_arranged_for_who_is_away(tmp_path: Path) -> None:
    cup = event(3, blocks=1)
    lobby = lobby_of(cup)
    lobby.away = {"Cyd"}

    async def main() -> list[str]:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(60)
        before = list(lobby.begun)
        lobby.away = set()
        sitting.connection.tell()
        await task
        return before

    before = virtually(main())
    tags = {game.tag: game.players for block in Schedule(cup).blocks for game in block.games}
    assert sorted(tags[tag] for tag in before) == [("Ada", "Bob"), ("Bob", "Ada")]
    assert len(lobby.begun) == 6


def test_games_whose_players_are_free_come_first(tmp_path: Path) -> None:
    """Two concurrent games are of different pairings, although a block's games are consecutive."""
    lobby = lobby_of(event(4, blocks=1))
    together: list[set[str]] = []

    async def main() -> None:
        sitting = SchedulerRun(lobby, tmp_path / "j", width=2)
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(0.2)
        together.append({each.player for brief in lobby.live for each in brief.seats})
        await task

    virtually(main())
    assert together == [{"g0", "g1", "g2", "g3"}]


def test_no_game_begins_after_the_deadline(tmp_path: Path) -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    cup = event(3, blocks=2, deadline=moment.isoformat())
    lobby = lobby_of(cup)
    before, after = (int(moment.timestamp() * 1000) + each for each in (-1, 0))

    async def main() -> tuple[TournamentState, int]:
        sitting = SchedulerRun(lobby, tmp_path / "j", now=before)
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(1)
        begun, sitting.now = len(lobby.begun), after
        return await task, begun

    progress, begun = virtually(main())
    assert len(lobby.begun) == begun > 0
    assert progress.stopped is not None
    assert progress.stopped.reason == "deadline"


def test_a_test_that_is_decided_ends_the_event(tmp_path: Path) -> None:
    stop = {"better": ["Ada", "Bob"], "elo0": 0, "elo1": 400, "alpha": 0.2, "beta": 0.2}
    cup = event(2, blocks=200, stop=stop)
    lobby = lobby_of(cup)

    async def main() -> TournamentState:
        return await SchedulerRun(lobby, tmp_path / "j", width=1).play()

    progress = virtually(main())
    assert progress.decided
    assert progress.played < progress.planned
    assert progress.stopped is not None
    assert progress.stopped.reason == "decided"


def test_lost_entrants_are_not_waited_for_and_their_games_stay_outstanding(
    tmp_path: Path,
) -> None:
    lobby = lobby_of(event(2, blocks=1), seconds=1e9)

    async def main() -> TournamentState:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        task = asyncio.create_task(sitting.play())
        await asyncio.sleep(1)
        sitting.director.stop("failed", "Ada cannot be kept running", ["Ada"])
        return await task

    progress = virtually(main())
    assert len(progress.outstanding) == 2
    assert progress.stopped is not None
    assert progress.stopped.detail == "Ada cannot be kept running"


def test_a_lobby_that_closes_ends_the_sitting(tmp_path: Path) -> None:
    lobby = lobby_of(event(2, blocks=1), seconds=1e9)

    async def main() -> None:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        sitting.connection.put(LobbyClosed(lobby=LOBBY, reason="expired"))
        await sitting.play()

    with pytest.raises(LobbyGoneError, match="expired"):
        virtually(main())


@pytest.mark.parametrize("code", [Code.NO_SUCH_PLAYER, Code.UNAVAILABLE])
def test_who_cannot_play_now_is_asked_for_again(tmp_path: Path, code: Code) -> None:
    lobby = lobby_of(event(2, blocks=1))

    async def main() -> TournamentState:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        sitting.connection.refusals = [code]
        return await sitting.play()

    assert virtually(main()).finished


def test_what_can_never_be_played_is_an_error(tmp_path: Path) -> None:
    lobby = lobby_of(event(2, blocks=1))

    async def main() -> None:
        sitting = SchedulerRun(lobby, tmp_path / "j")
        sitting.connection.refusals = [Code.BAD_OPTION]
        await sitting.play()

    with pytest.raises(RefusedError, match="not now"):
        virtually(main())
