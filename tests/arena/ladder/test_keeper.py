"""The keeper on a simulated lobby in virtual time: kills at any point, and failures."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from kibitz_arena.ladder.entries import FORMAT, GameCancelled, GameEnded, GameRequested
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.ratings import RatedGame, rate, rate_entrants
from kibitz_arena.runner.arranged_lobby import LobbyGoneError
from kibitz_protocol.wire.messages import LobbyClosed
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import commands
from tests.arena.ladder.runs import IdleMonitor, KeeperRun, ladder, virtually
from tests.arena.ladder.simulated_lobby import LOBBY, Behaviour

pytestmark = pytest.mark.filterwarnings(
    "ignore::async_solipsism.exceptions.ResolutionWarning"  # waits shorter than it can measure
)
HOUSE = [{"bot": "line-nim/random", "rating": 1000}, {"bot": "line-nim/greedy"}]
HOUSE_NAMES = {"house random", "house greedy"}
NAMES = [f"bot{number}" for number in range(12)]


def require_nothing_lost_or_doubled(run: KeeperRun) -> LadderState:
    """Require that the journal contains exactly the finished matches with their results."""
    parsed = FORMAT.parse(run.path.read_bytes())
    ended = [each for each in parsed.entries if isinstance(each, GameEnded)]
    requested = {each.tag: each for each in parsed.entries if isinstance(each, GameRequested)}
    assert max(Counter(each.tag for each in ended).values()) == 1
    assert max(run.lobby.begun.values()) == 1
    assert {each.match for each in ended} == run.lobby.results.keys()
    for each in ended:
        tag, names, result = run.lobby.results[each.match]
        assert tag == each.tag
        assert [seat.rank for seat in result.seats] == each.ranks
        players = [name.partition("@")[0] for name in requested[tag].entrants]
        assert [_member_name(name) for name in players] == list(names)
    return LadderState.fold(run.ladder, parsed.entries)


def _member_name(entrant: str) -> str:
    return f"house {entrant.partition('/')[2]}" if "/" in entrant else entrant


def require_batch_ratings(state: LadderState, run: KeeperRun) -> None:
    """Require the ladder's ratings to equal one computation over the server's matches."""
    mine = rate_entrants([*state.entrants], state.rated, run.ladder.anchors, run.ladder.mean)
    names = sorted(state.entrants)
    groups: Counter[frozenset[str]] = Counter()
    games = []
    requested = [
        each
        for each in FORMAT.parse(run.path.read_bytes()).entries
        if isinstance(each, GameEnded | GameRequested)
    ]
    players = {each.tag: each.entrants for each in requested if isinstance(each, GameRequested)}
    for entry in requested:
        if isinstance(entry, GameRequested):
            continue
        who = players[entry.tag]
        result = run.lobby.results[entry.match][2]
        together = frozenset(who)
        block = f"{sorted(together)} {groups[together] // len(who)}"
        groups[together] += 1
        ranks = tuple(seat.rank for seat in result.seats)
        games.append(RatedGame(block, tuple(names.index(name) for name in who), ranks))
    anchors = {names.index(name): known for name, known in run.ladder.anchors.items()}
    batch = rate(len(names), games, anchors=anchors, mean=run.ladder.mean)
    for index, name in enumerate(names):
        assert mine[name].rating == pytest.approx(batch.rating[index], abs=0.01)
        assert mine[name].low == pytest.approx(batch.low[index], abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [600, pytest.param(3600, marks=pytest.mark.slow)])
def test_twelve_bots_while_all_is_killed_again_and_again(tmp_path: Path, seconds: int) -> None:
    """Ten minutes or an hour: no player waits for long, and nothing is lost or duplicated."""

    async def main() -> KeeperRun:
        strength = {name: 60.0 * place for place, name in enumerate(NAMES)}
        how = Behaviour(strength=strength, seconds=(5.0, 40.0), trouble=0.01)
        run = KeeperRun(tmp_path / "j", ladder(house=HOUSE, at_once=20), how)
        run.lossy = 0.05
        monitor = IdleMonitor(run, house=HOUSE_NAMES, paused=lambda name: False)
        run.begin()
        for name in NAMES:
            run.lobby.come(name, "v1")
        for second in range(seconds):
            for _ in range(5):
                await asyncio.sleep(0.2)
                monitor.sample()
            run.check()
            if second % 100 == 60:
                await run.kill()
                await asyncio.sleep(run.rng.uniform(0, 20))
                run.begin()
                monitor.forget()
            if second % 170 == 130:
                run.lobby.kill()
                await asyncio.sleep(run.rng.uniform(0, 5))
                run.lobby.restart()
                monitor.forget()
        await run.end()
        assert run.keepers == seconds // 100 + 1
        assert monitor.longest <= 2.0, monitor.longest
        return run

    run = virtually(main())
    state = require_nothing_lost_or_doubled(run)
    require_batch_ratings(state, run)
    assert not state.outstanding
    assert state.played > seconds / 6
    players = [state.entrants[f"{name}@v1"] for name in NAMES]
    assert min(each.games for each in players) > 0.6 * max(each.games for each in players)


@pytest.mark.slow
def test_pairs_change_seats_on_one_deal_and_meet_everybody(tmp_path: Path) -> None:
    async def main() -> LadderState:
        run = KeeperRun(tmp_path / "j", ladder(at_once=3), Behaviour(seconds=(1, 5)))
        run.begin()
        for name in NAMES[:6]:
            run.lobby.come(name)
        await asyncio.sleep(600)
        await run.end()
        return run.state

    state = virtually(main())
    entries = FORMAT.parse((tmp_path / "j").read_bytes()).entries
    games = [each for each in entries if isinstance(each, GameRequested)]
    blocks: dict[tuple[frozenset[str], int], list[GameRequested]] = {}
    for game in games:
        blocks.setdefault((frozenset(game.entrants), game.block), []).append(game)
    whole = [block for block in blocks.values() if len(block) == 2]
    assert len(whole) > 50
    for one, other in whole:
        assert one.seed == other.seed
        assert one.entrants == other.entrants[::-1]
    met = [state.met(a, b) for a in NAMES[:6] for b in NAMES[:6] if a < b]
    assert min(met) > 0
    assert max(met) <= 3 * min(met)


def test_who_crashes_again_and_again_is_paused_ever_longer(tmp_path: Path) -> None:
    async def main() -> None:
        how = Behaviour(seconds=(1, 3), fails=lambda name: name == "bad")
        run = KeeperRun(tmp_path / "j", ladder(pause={"after": 2, "minutes": 1}), how)
        run.begin()
        for name in ("ada", "bob", "bad"):
            run.lobby.come(name)
        await asyncio.sleep(600)
        bad, games = run.state.entrants["bad"], run.state.played
        # Two games, a minute; two, two minutes; two, four; two, eight.
        assert bad.games == 8
        assert bad.pauses == 4
        assert games > 100
        await run.end()

    virtually(main())


def test_a_house_bot_is_company_and_never_plays_another_one(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(house=HOUSE), Behaviour(seconds=(1, 3)))
        run.begin()
        await asyncio.sleep(30)
        assert run.state.requested == 0
        run.lobby.come("ada")
        await asyncio.sleep(60)
        ada = run.state.entrants["ada"]
        assert ada.games > 10
        assert run.state.met("ada", "line-nim/random") >= 4
        assert run.state.met("line-nim/greedy", "line-nim/random") == 0
        await run.end()

    virtually(main())


def test_versions_are_entrants_of_their_own_and_old_ones_retire(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada", "1")
        run.lobby.come("bob")
        await asyncio.sleep(30)
        games = run.state.entrants["ada@1"].games
        run.lobby.leave("ada")
        await asyncio.sleep(5)
        run.lobby.come("ada", "2")
        await asyncio.sleep(30)
        assert run.state.retired("ada@1")
        assert not run.state.retired("ada@2")
        assert games <= run.state.entrants["ada@1"].games <= games + 1
        assert run.state.entrants["ada@2"].games > 5
        await run.end()

    virtually(main())


def test_a_game_whose_player_is_away_keeps_nobody_from_playing(tmp_path: Path) -> None:
    """The server keeps it waiting, and voids it when the player is gone for good."""

    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        for name in ("ada", "bob", "cyd"):
            run.lobby.come(name)
        await asyncio.sleep(10)
        # A bot loses its connection at the moment of a pairing.
        real, gone = run.host.arrange, asyncio.Event()

        async def arrange(lobby: str, matches: object) -> object:
            run.host.arrange = real  # type: ignore[method-assign]
            run.lobby.command(commands.Disconnected("p-cyd"))
            gone.set()
            return await real(lobby, matches)  # type: ignore[arg-type]

        run.host.arrange = arrange  # type: ignore[assignment, method-assign]
        await gone.wait()
        monitor = IdleMonitor(run, house=set(), paused=lambda name: name == "cyd")
        for _ in range(400):
            await asyncio.sleep(0.2)
            monitor.sample()
        assert monitor.longest <= 2.0
        assert run.state.met("ada", "bob") > 10
        await run.end()
        require_nothing_lost_or_doubled(run)

    virtually(main())


def test_refusals_of_a_moment_and_of_a_game(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.host.refusals = [Code.RATE_LIMITED, Code.UNAVAILABLE]
        for name in ("ada", "bob"):
            run.lobby.come(name)
        await asyncio.sleep(20)
        assert run.state.played > 3
        assert run.state.cancelled == 0
        run.host.refusals = [Code.BAD_SEATS]
        await asyncio.sleep(20)
        cancelled = run.state.cancelled
        assert cancelled == 1
        played = run.state.played
        await asyncio.sleep(5)
        assert run.state.played == played, "its players are not paired for half a minute"
        await asyncio.sleep(35)
        assert run.state.played > played
        await run.end()
        require_nothing_lost_or_doubled(run)

    virtually(main())


def test_a_player_that_leaves_as_it_is_paired_is_not_asked_for_in_vain_for_ever(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada")
        run.lobby.come("bob")
        await asyncio.sleep(5)
        run.host.put = lambda message: None  # type: ignore[method-assign]  # no news any more
        run.lobby.leave("bob")
        await asyncio.sleep(20)
        assert len(run.host.asked) < 60
        run.check()
        entries = FORMAT.parse((tmp_path / "j").read_bytes()).entries
        assert any(isinstance(each, GameCancelled) for each in entries)
        await run.kill()

    virtually(main())


def test_a_lobby_that_is_gone_is_an_error_and_its_results_are_kept(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada")
        run.lobby.come("bob")
        await asyncio.sleep(20)
        run.host.put(LobbyClosed(lobby=LOBBY, reason="failed"))
        await asyncio.sleep(1)
        with pytest.raises(LobbyGoneError, match="failed"):
            run.check()

    virtually(main())


def test_a_ladder_moves_to_a_new_lobby_when_one_has_had_its_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz_arena.ladder.keeper.MAX_REQUESTS", 5)

    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada")
        run.lobby.come("bob")
        await asyncio.sleep(60)
        assert run.state.played == 5
        with pytest.raises(LobbyGoneError):
            run.check()
        assert run.lobby.engine.state.phase == "closed"

    virtually(main())


def test_a_changed_file_opens_a_new_lobby_when_the_games_are_over(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(places=8), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada")
        run.lobby.come("bob")
        await asyncio.sleep(20)
        await run.end()
        run.ladder = ladder(places=8, at_once=2, patience=1.0)
        run.begin()
        await asyncio.sleep(20)
        run.check_runs()
        await run.end()
        run.ladder = ladder(places=9)
        run.begin()
        await asyncio.sleep(20)
        with pytest.raises(LobbyGoneError):
            run.check()
        assert run.lobby.engine.state.phase == "closed"
        require_nothing_lost_or_doubled(run)

    virtually(main())


def test_who_only_comes_and_goes_leaves_no_trace(tmp_path: Path) -> None:
    """Players who do not play cannot grow the journal."""

    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        await asyncio.sleep(1)
        size = run.path.stat().st_size
        for version in range(200):
            run.lobby.come("eve", str(version))
            await asyncio.sleep(0.3)
            run.lobby.leave("eve")
        assert run.path.stat().st_size == size
        assert not run.state.entrants
        await run.end()

    virtually(main())


def test_stopping_plays_what_runs_to_its_end(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(5, 10)))
        run.begin()
        for name in NAMES[:4]:
            run.lobby.come(name)
        await asyncio.sleep(2)
        assert len(run.state.outstanding) == 2
        await run.end()
        assert run.state.played == 2
        assert not run.state.outstanding

    virtually(main())


def test_the_journal_of_a_failing_disk_is_gone_on_with_from_the_disk(tmp_path: Path) -> None:
    async def main() -> None:
        run = KeeperRun(tmp_path / "j", ladder(), Behaviour(seconds=(1, 3)))
        run.begin()
        run.lobby.come("ada")
        run.lobby.come("bob")
        await asyncio.sleep(10)

        def full(lines: bytes) -> None:
            raise OSError(28, "No space left on device")

        run.journal.write = full  # type: ignore[method-assign]
        await asyncio.sleep(10)
        with pytest.raises(OSError, match="No space"):
            run.check()
        run.begin()
        await asyncio.sleep(30)
        await run.end()
        require_nothing_lost_or_doubled(run)

    virtually(main())
