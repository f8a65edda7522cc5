"""A standing ladder as run by users: server, keeper and bots are processes that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
import logging
import signal
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import FORMAT, Entry, GameEnded, GameRequested
from kibitz_arena.ladder.feed import Feed
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.ratings import RatedGame, rate
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbyView
from kibitz_protocol.wire.messages import LobbyNews
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Cause
from tests.tools.command import Kibitz, Running
from tests.tools.server_process import free_port

FILE = """
name: evening
game: line-nim:free=12
time-control: 30+1
at-once: 20
house:
  - {bot: line-nim/random, rating: 1000}
"""
PACED = """
import time
from kibitz import Bot

class Paced(Bot):
    jit = False

    def choose(self, turn):
        time.sleep(0.15)
        return turn.legal[(turn.ply * PLACE) % len(turn.legal)]
"""
CRASHING = """
from kibitz import Bot

class Crashing(Bot):
    jit = False

    def choose(self, turn):
        return turn.legal[0] if turn.ply < 2 else 1 / 0
"""
IDLE_SECONDS = 2.0
LOG = logging.getLogger(__name__)


@dataclass
class Hall:
    """A server and a ladder's keeper, each of which can be killed and restarted."""

    kibitz: Kibitz
    stack: ExitStack
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def path(self) -> Path:
        return self.kibitz.directory / "evening.ladder"

    def serve(self) -> Running:
        words = ["serve", "--port", str(self.port), "--db", "kibitz.db", "--json", "--unlimited"]
        server = self.stack.enter_context(self.kibitz.start(*words))
        server.json()
        return server

    def keep(self) -> Running:
        words = ["ladder", "keep", "evening.yaml", "--server", self.url]
        return self.stack.enter_context(self.kibitz.start(*words))

    def bot(self, name: str, file: str) -> Running:
        words = ["connect", file, "--name", name, "--server", self.url, "--ladder", "evening"]
        return self.stack.enter_context(self.kibitz.start(*words))

    def entries(self) -> list[Entry]:
        with contextlib.suppress(FileNotFoundError):
            return [*FORMAT.parse((self.path / "journal.jsonl").read_bytes()).entries]
        return []

    def ended(self) -> list[GameEnded]:
        return [each for each in self.entries() if isinstance(each, GameEnded)]

    def until_ended(self, more: int, seconds: float = 60) -> None:
        """Wait until a number of additional games have ended."""
        wanted, deadline = len(self.ended()) + more, time.monotonic() + seconds
        while len(self.ended()) < wanted:
            assert time.monotonic() < deadline, (self.kibitz.directory / "ladder.err").read_text()
            time.sleep(0.1)

    def state(self) -> LadderState:
        of = Ladder.model_validate({"name": "evening", "game": "line-nim:free=12"})
        return LadderState.fold(of, self.entries())

    def records(self, state: LadderState) -> Iterator[tuple[str, Record]]:
        """Yield the server's record of every match of a lobby, by number.

        A void match has no record; a match with a server failure has a second one.
        """
        for number in range(1, state.requested_there + 1):
            for again in ("", "b"):
                match = f"{state.lobby}-1-{number}{again}"
                path = self.kibitz.directory / "one.jsonl"
                try:
                    address = f"http://127.0.0.1:{self.port}/records/{match}.jsonl"
                    with urllib.request.urlopen(address) as answer:
                        path.write_bytes(answer.read())
                except urllib.error.HTTPError as error:
                    error.close()
                    if error.code != 404:
                        raise
                else:
                    yield match, read_record(path)


@pytest.fixture
def hall(kibitz: Kibitz) -> Iterator[Hall]:
    (kibitz.directory / "evening.yaml").write_text(FILE)
    for place in range(1, 13):
        text = PACED.replace("PLACE", str(place))
        (kibitz.directory / f"paced{place}.py").write_text(text)
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    with ExitStack() as stack:
        yield Hall(kibitz, stack)


def require_nothing_lost_or_doubled(hall: Hall) -> LadderState:
    """Require that the server has exactly the journal's matches; return the state."""
    state = hall.state()
    ended = {each.match: each for each in hall.ended()}
    assert len(ended) == len(hall.ended())
    tags = Counter(each.tag for each in ended.values())
    assert set(tags.values()) == {1}
    players = {each.tag: each for each in hall.entries() if isinstance(each, GameRequested)}
    found = 0
    for match, record in hall.records(state):
        assert record.footer is not None
        if record.footer.result.cause is Cause.INFRASTRUCTURE:
            assert match not in ended
            continue
        entry = ended[match]
        assert [seat.rank for seat in record.footer.result.seats] == entry.ranks
        assert [seat.player for seat in record.setup.seats] == players[entry.tag].players
        found += 1
    assert found == len(ended)
    return state


def require_batch_ratings(hall: Hall, state: LadderState) -> None:
    """Require that the feed's ratings equal a single computation over the journal's games."""
    feed = Feed.model_validate_json((hall.path / "public/ladder.json").read_bytes())
    assert feed.games == state.played
    names = sorted(state.entrants)
    requested = {each.tag: each for each in hall.entries() if isinstance(each, GameRequested)}
    games = [
        RatedGame(
            f"{sorted(requested[each.tag].entrants)} {requested[each.tag].block}",
            tuple(names.index(name) for name in requested[each.tag].entrants),
            tuple(each.ranks),
        )
        for each in hall.ended()
    ]
    batch = rate(len(names), games, anchors={names.index("line-nim/random"): 1000.0})
    rated = {line.entrant: line for line in feed.lines}
    for index, name in enumerate(names):
        assert rated[name].rating == pytest.approx(batch.rating[index], abs=0.02)
        assert rated[name].high == pytest.approx(batch.high[index], abs=0.02)


@pytest.mark.slow
def test_bots_come_and_go_and_nothing_is_lost_when_all_is_killed(hall: Hall) -> None:
    server, keeper = hall.serve(), hall.keep()
    bots = [hall.bot(name, f"paced{place}.py") for place, name in ((1, "ada"), (2, "bob"))]
    crashing = hall.bot("cyd", "crashing.py")
    hall.until_ended(6)
    keeper.send(signal.SIGKILL)
    keeper.rest()
    time.sleep(1)
    keeper = hall.keep()
    hall.until_ended(4)
    server.send(signal.SIGKILL)
    server.rest()
    hall.serve()
    hall.until_ended(4)
    # Ctrl-C ends only the running game.
    bots[0].send(signal.SIGINT)
    bots[0].rest()
    assert bots[0].process.returncode == 130
    # A new version joins under the same name, and the old one retires.
    with (hall.kibitz.directory / "paced1.py").open("a") as file:
        file.write("\n# better\n")
    bots.append(hall.bot("ada", "paced1.py"))
    hall.until_ended(4)
    for each in (*bots[1:], crashing):
        each.send(signal.SIGINT)
        each.rest()
    keeper.send(signal.SIGINT)
    keeper.rest()
    assert keeper.process.returncode == 130, keeper.log.read_text()
    state = require_nothing_lost_or_doubled(hall)
    require_batch_ratings(hall, state)
    assert not [each for each in hall.ended() if {*each.causes} & {"abandoned", "disconnect"}]
    versions = sorted(name for name in state.entrants if name.startswith("ada@"))
    assert len(versions) == 2
    assert [state.retired(name) for name in versions].count(True) == 1
    cyd = next(each for name, each in state.entrants.items() if name.startswith("cyd@"))
    assert (cyd.pauses, cyd.games) == (1, 3)
    shown = hall.kibitz.run("ladder", "show", "evening.ladder", "cyd").stdout
    report = next(line for line in shown.splitlines() if "report: " in line).split()[-1]
    assert "ZeroDivisionError" in (hall.path / report).read_text()
    told = json.loads(hall.kibitz.run("ladder", "show", "evening.ladder", "--json").stdout)
    assert told["games"] == state.played


class Observer:
    """A spectator of the lobby that measures how long two possible opponents are both free."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.longest = 0.0
        self.views = 0
        self._since: dict[str, float] = {}
        self._blind_until = float("inf")

    def look_away(self, seconds: float) -> None:
        """Pause the measurement while the keeper or the server is down."""
        self._blind_until = time.monotonic() + seconds

    async def watch(self) -> None:
        async with Client(self._url, name="observer", kind="human", patience=None) as client:
            lobby = next(
                each.lobby
                for each in (await client.hall.lobbies()).lobbies
                if each.name == "ladder evening"
            )
            await client.join(lobby, role="spectator")
            view: LobbyView | None = None
            news = aiter(client.news())
            self.look_away(3)
            next_news = asyncio.ensure_future(anext(news))
            while True:
                done, _ = await asyncio.wait({next_news}, timeout=0.1)
                if done:
                    message = next_news.result()
                    next_news = asyncio.ensure_future(anext(news))
                    if isinstance(message, LobbyNews):
                        view = message.lobby
                        self.views += 1
                if view is not None:
                    self._measure(view)

    def _measure(self, view: LobbyView) -> None:
        now = time.monotonic()
        if now < self._blind_until:
            self._since = {}
            return
        busy = {each.player for match in view.live.values() for each in match.seats}
        free = {
            each.player: each.kind
            for each in view.members.values()
            if each.connected and each.ready and each.player not in busy
        }
        self._since = {player: self._since.get(player, now) for player in free}
        players = sorted((now - self._since[p] for p, kind in free.items() if kind != "house"))
        house = sorted((now - self._since[p] for p, kind in free.items() if kind == "house"))
        pairs = [players[-2:][0]] if len(players) > 1 else []
        pairs += [min(players[-1], house[-1])] if players and house else []
        self.longest = max([self.longest, *pairs])


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [600])
def test_twelve_bots_for_ten_minutes(hall: Hall, seconds: int) -> None:
    """Keeper and server are killed during games; no player waits while two could play."""
    faulthandler.cancel_dump_traceback_later()  # this takes longer than the test timeout
    server, keeper = hall.serve(), hall.keep()
    bots = [hall.bot(f"bot{place}", f"paced{place}.py") for place in range(1, 13)]
    hall.until_ended(12, 180)

    async def main() -> Observer:
        nonlocal server, keeper
        observer = Observer(hall.url)
        watching = asyncio.create_task(observer.watch())
        for _ in range(3):
            await asyncio.sleep(seconds / 6)
            assert not watching.done(), watching.exception()
            observer.look_away(12)
            keeper.send(signal.SIGKILL)
            await asyncio.to_thread(keeper.rest)
            keeper = await asyncio.to_thread(hall.keep)
            await asyncio.sleep(seconds / 6)
            observer.look_away(20)
            server.send(signal.SIGKILL)
            await asyncio.to_thread(server.rest)
            server = await asyncio.to_thread(hall.serve)
        watching.cancel()
        return observer

    observer = asyncio.run(main())
    hall.until_ended(12)  # all have reconnected after the last restart
    for each in bots:
        each.send(signal.SIGINT)
    for each in bots:
        each.rest()
        assert each.process.returncode == 130
    keeper.send(signal.SIGINT)
    keeper.rest()
    state = require_nothing_lost_or_doubled(hall)
    require_batch_ratings(hall, state)
    LOG.info("%s games, longest idle pair %.2f s", state.played, observer.longest)
    assert observer.views > 100
    assert observer.longest <= IDLE_SECONDS
    assert not [each for each in hall.ended() if {*each.causes} & {"abandoned", "disconnect"}]
