"""The conditions of rated play, each for every way to start a rated match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbySettings, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.directory.rated import RatedMatches, standard_options
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.lobby.entries import Joined, Opened, Started
from kibitz_server.lobby.rated_conditions import (
    CONDITIONS,
    MIN_TIME_MS,
    RatedPlan,
    rated_problem,
    seat_time_ms,
)
from kibitz_server.lobby.schedule import PlannedMatch, arranged_seed
from kibitz_server.lobby.state import LobbyState
from tests.server.lobby.test_engine import player as named
from tests.server.match.toy_games import Grid, Veil
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {game.info.name: game for game in (Grid(), Veil())}
CLOCK = {"main_ms": 60_000, "increment_ms": 1000}
ITEM: dict[str, Any] = {"game": "toy-grid", "seats": 2, "games": 1, "time_control": CLOCK}
OPEN = {"kind": "open"}
HOUSE = {"kind": "house", "personality": "toy-grid/random"}
GOOD: dict[str, Any] = {"seats": [OPEN, OPEN], "programme": [ITEM], "rated": True}


def of_item(**fields: Any) -> dict[str, Any]:
    """Return settings with a changed programme item."""
    return {"programme": [{**ITEM, **fields}]}


def house(personality: str) -> dict[str, Any]:
    return {"kind": "house", "personality": personality}


BREACHES: dict[str, tuple[str, dict[str, Any]]] = {
    # an action of a host: the condition that it violates, and the changed settings
    "a seed": ("seeds", of_item(seed=7)),
    "one seat": ("seats", of_item(seats=1)),
    "fixed seats": ("rotation", of_item(rotate=False)),
    "options": ("options", of_item(options={"columns": 2, "rows": 2, "row": 2})),
    "no clock": ("clock", of_item(time_control={})),
    "1 ms a move": ("clock", of_item(time_control={"move_ms": 1})),
    "1 ms in all": ("clock", of_item(time_control={"main_ms": 1})),
    "499 ms a move": ("clock", of_item(time_control={"move_ms": 499})),
    "nobody watches": ("spectators", {"spectating": {"mode": "off"}}),
    "all is shown": ("spectators", {"spectating": {"mode": "referee"}}),
    "a seat is shown": ("spectators", {"spectating": {"mode": "shoulder", "seat": 0}}),
    "live comments": ("spectators", {"spectating": {"comments": "spectators"}}),
    "advice": ("spectators", {"spectating": {"comments": "everybody"}}),
    "nobody enters": ("spectators", {"watchable": False}),
    "a stand-in": ("conduct", {"conduct": {"on_leave": "replace", "stand_in": "toy-grid/random"}}),
    "no grace": ("conduct", {"conduct": {"grace_ms": 0}}),
    "endless grace": ("conduct", {"conduct": {"grace_ms": 10**9}}),
    "one illegal move": ("conduct", {"conduct": {"max_illegal": 1}}),
    "a tuned house bot": ("house bots", {"seats": [OPEN, house("toy-grid/random:time=0.1")]}),
    "twins": ("house bots", {"seats": [OPEN, HOUSE, HOUSE]}),
}
IN_ITEMS = {"seeds", "seats", "rotation", "options", "clock"}
"""Conditions on the programme item, which is all that a seek or an arrangement specifies."""


def settings(**differing: Any) -> LobbySettings:
    return LobbySettings.model_validate({**GOOD, **differing})


def plan(account: bool = True, **differing: Any) -> RatedPlan:
    return RatedPlan(settings(**differing), account, lambda item: standard_options(GAMES, item))


# --- the table itself -----------------------------------------------------------------------


def test_every_condition_is_broken_by_something() -> None:
    assert {name for name, _ in BREACHES.values()} | {"account"} == set(CONDITIONS)
    assert rated_problem(plan()) is None


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_breaks_its_condition_and_no_other(breach: str) -> None:
    name, differing = BREACHES[breach]
    broken = {each for each, holds in CONDITIONS.items() if holds(plan(**differing)) is not None}
    assert broken == {name}
    found = rated_problem(plan(**differing))
    assert found is not None
    assert "expected" in found[1]
    assert rated_problem(plan(**{**differing, "rated": False})) is None, "others may have it"


def test_guests_host_nothing_that_is_rated() -> None:
    found = rated_problem(plan(account=False))
    assert found is not None
    assert found[0] == "unauthorized"
    bots = [house("toy-grid/random"), house("toy-grid/first")]
    assert rated_problem(plan(account=False, seats=bots)) is not None
    assert rated_problem(plan(seats=bots)) is None


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("20+0", True),
        ("19.9+0", False),
        ("10+0.25", True),
        ("move=0.5", True),
        ("move=0.49", False),
        ("byo=0.001+1x0.5", True),
        ("bank=20,move=0.001", True),
    ],
)
def test_a_clock_has_to_be_enough_for_a_match(text: str, enough: bool) -> None:
    control = TimeControl.parse(text)
    assert (seat_time_ms(control) >= MIN_TIME_MS) is enough
    differing = of_item(time_control=control.model_dump())
    assert (rated_problem(plan(**differing)) is None) is enough


def test_usual_options_may_be_written_out() -> None:
    usual = GAMES["toy-grid"].Options().model_dump(exclude_none=True)
    item = ProgrammeItem.model_validate({"game": "toy-grid", "options": usual})
    assert standard_options(GAMES, item)
    assert not standard_options(GAMES, item.model_copy(update={"options": {"columns": 2}}))


# --- over the wire: each condition, each way to start a match -------------------------------


class Personalities(HouseBots):
    """Existing house bots, so that a lobby has no other errors."""

    def __init__(self, accounts: Accounts) -> None:
        super().__init__(
            None, lambda work: None, "ws://nowhere", accounts, lambda player, output: None
        )

    def knows(self, personality: str) -> bool:
        return True

    def flaw(self, personality: str) -> str | None:
        return None

    def seats(self, personality: str) -> list[int]:
        return []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        server.backend.house_bots = Personalities(server.backend.accounts)
        yield server


def refuse_host(server: VirtualServer, differing: dict[str, Any]) -> dict[str, Any]:
    ada = server.account_client("ada")
    return ada.ask("host", settings={**GOOD, **differing})


def refuse_seek(server: VirtualServer, differing: dict[str, Any]) -> dict[str, Any]:
    ada = server.account_client("ada")
    return ada.ask("seek", terms={"item": differing["programme"][0], "rated": True})


def let_in_earlier(server: VirtualServer, lobby: str, differing: dict[str, Any]) -> None:
    """Give a lobby settings that an earlier server accepted."""
    state = server.backend.registry.lobbies[lobby].engine.state
    changed = LobbySettings.model_validate({**state.settings.model_dump(), **differing})
    state.opened = state.opened.model_copy(update={"settings": changed})


def refuse_rematch(server: VirtualServer, differing: dict[str, Any]) -> dict[str, Any]:
    ada, bob = server.account_client("ada"), server.account_client("bob")
    lobby = ada.ask("host", settings=GOOD)["lobby"]
    for request in ("join", "ready"):
        for player in (ada, bob):
            player.ask(request, lobby=lobby)
    ada.ask("resign", match=f"{lobby}-1-1")
    server.advance(0.5)
    let_in_earlier(server, lobby, differing)
    return ada.ask("rematch", lobby=lobby)


def started_arranged(server: VirtualServer) -> tuple[ScriptedClient, str, list[str]]:
    host = server.account_client("host")
    chosen = {**GOOD, "programme": [], "arranged": True}
    lobby = host.ask("host", settings=chosen)["lobby"]
    keys = []
    for name in ("ada", "bob"):
        player = server.account_client(name)
        for request in ("join", "ready"):
            assert player.ask(request, lobby=lobby)["type"] == "done"
        keys.append(player.messages()[0]["player"])
    assert host.ask("start", lobby=lobby)["type"] == "done"
    return host, lobby, keys


def refuse_arrange(server: VirtualServer, differing: dict[str, Any]) -> dict[str, Any]:
    host, lobby, keys = started_arranged(server)
    item = differing.get("programme", [ITEM])[0]
    if "programme" not in differing:
        let_in_earlier(server, lobby, differing)
    matches = [{"tag": "t", "item": item, "players": keys[: item["seats"]]}]
    return host.ask("arrange", lobby=lobby, matches=matches)


WAYS: dict[str, Callable[[VirtualServer, dict[str, Any]], dict[str, Any]]] = {
    "host": refuse_host,
    "seek": refuse_seek,
    "rematch": refuse_rematch,
    "arrange": refuse_arrange,
}
FREE_WHERE_ARRANGED = {"seeds", "rotation"}
"""An arrangement's seed determines which matches share a deal, its order of players the seating."""


def is_said(condition: str, way: str) -> bool:
    """Return whether a request of this kind can violate a condition."""
    if way == "seek":
        return condition in IN_ITEMS
    return way != "arrange" or condition not in FREE_WHERE_ARRANGED


CASES = [
    (breach, way) for breach, way in product(BREACHES, WAYS) if is_said(BREACHES[breach][0], way)
]


@pytest.mark.parametrize(("breach", "way"), CASES)
def test_each_condition_holds_in_each_way(server: VirtualServer, breach: str, way: str) -> None:
    lobbies = len(server.backend.registry.lobbies)
    answer = WAYS[way](server, BREACHES[breach][1])
    assert answer["type"] == "refused", answer
    assert answer["code"] in ("bad_option", "bad_seats")
    assert answer["message"]
    if way in ("host", "seek"):
        assert len(server.backend.registry.lobbies) == lobbies


@pytest.mark.parametrize("way", WAYS)
def test_what_keeps_the_conditions_is_let_in(server: VirtualServer, way: str) -> None:
    answer = WAYS[way](server, of_item())
    assert answer["type"] in ("done", "arranged"), answer


@pytest.mark.parametrize("way", ["host", "seek"])
def test_guests_are_refused(server: VirtualServer, way: str) -> None:
    eve = server.guest_client("eve")
    fields = {"settings": GOOD} if way == "host" else {"terms": {"item": ITEM, "rated": True}}
    answer = eve.ask(way, **fields)
    assert (answer["code"], "requires an account" in answer["message"]) == ("unauthorized", True)


@pytest.mark.parametrize("seat", [OPEN, {"kind": "reserved", "name": "eve"}])
@pytest.mark.parametrize("way", ["join", "seek"])
def test_no_guest_takes_a_seat(server: VirtualServer, way: str, seat: dict[str, Any]) -> None:
    """With no kind of seat, not even one reserved by name."""
    ada, eve = server.account_client("ada"), server.guest_client("eve")
    if way == "seek":
        ada.ask("seek", terms={"item": ITEM, "rated": True})
        answer = eve.ask("seek", terms={"item": ITEM, "rated": True})
    else:
        lobby = ada.ask("host", settings={**GOOD, "seats": [OPEN, seat]})["lobby"]
        answer = eve.ask("join", lobby=lobby)
    assert (answer["code"], "requires an account" in answer["message"]) == ("unauthorized", True)


def test_who_arranges_rated_matches_plays_none(server: VirtualServer) -> None:
    host, lobby, _ = started_arranged(server)
    answer = host.ask("join", lobby=lobby)
    assert (answer["code"], "no seat" in answer["message"]) == ("wrong_state", True)


@pytest.mark.parametrize("arranged", [False, True])
@pytest.mark.parametrize("breach", ["nothing", *BREACHES])
def test_what_an_earlier_server_let_in_is_played_unrated(
    server: VirtualServer, breach: str, arranged: bool
) -> None:
    ada, bob = server.account_client("ada"), server.account_client("bob")
    lobby = ada.ask("host", settings=GOOD)["lobby"]
    for each in (ada, bob):
        each.ask("join", lobby=lobby)
    condition, differing = BREACHES.get(breach, ("", {}))
    let_in_earlier(server, lobby, {**differing, "arranged": arranged})
    state = server.backend.registry.lobbies[lobby].engine.state
    players = tuple(each.player for each in state.seats.by_seat())
    planned = PlannedMatch(1, state.settings.programme[0], players, 7)
    backend = server.backend
    matches = RatedMatches(backend.rating_log, backend.accounts, GAMES)
    rated = matches.keys(state, planned)
    free = breach == "nothing" or (arranged and condition == "rotation")
    assert rated == ([each.player for each in players] if free else None)


def test_a_match_with_a_guest_of_an_earlier_server_is_not_rated(server: VirtualServer) -> None:
    ada, eve = server.account_client("ada"), server.guest_client("eve")
    lobby = ada.ask("host", settings={**GOOD, "rated": False})["lobby"]
    for each in (ada, eve):
        each.ask("join", lobby=lobby)
    let_in_earlier(server, lobby, {"rated": True})
    for each in (ada, eve):
        each.ask("ready", lobby=lobby)
    assert server.backend.registry.matches[f"{lobby}-1-1"].engine.state.setup.rated is None


# --- deals and the first player -------------------------------------------------------------


def opened(number: int, *, drawn: bool) -> Opened:
    return Opened(
        lobby=f"L{number}",
        host=named("host"),
        settings=settings(),
        invite="i",
        created="2026-01-01T00:00:00Z",
        seed=number,
        hidden=["toy-veil"],
        drawn=drawn,
    )


def first_players(drawn: bool) -> set[str]:
    first = set()
    for number in range(40):
        state = LobbyState(opened(number, drawn=drawn))
        for seat, name in enumerate(("ada", "bob")):
            joined = Joined(
                seq=seat + 1, player=named(name), seat=seat, capabilities=Capabilities()
            )
            state.apply(joined)
        state.apply(Started(seq=3, round=1, base_seed=state.round.seed))
        [fixture] = list(state.round.waiting)
        first.add(fixture.players[0].name)
    return first


def test_the_server_draws_who_begins_rated_matches() -> None:
    """Otherwise the host would always move first, and could leave after a block's first match."""
    assert first_players(drawn=True) == {"ada", "bob"}
    assert first_players(drawn=False) == {"ada"}


@pytest.mark.parametrize("game", GAMES)
def test_the_host_s_seed_says_which_arranged_matches_share_a_deal_and_not_which(
    game: str,
) -> None:
    hidden = {"toy-veil"}

    def seed(number: int | None, tag: str, base: int) -> int:
        item = ProgrammeItem(game=game, seed=number)
        return arranged_seed(item, tag, base, hidden, drawn=True)

    shared = game not in hidden
    assert (seed(5, "a", 1) == seed(5, "b", 1)) is shared
    assert len({seed(5, "a", 1), seed(6, "a", 1)}) == (2 if shared else 1)
    assert seed(5, "a", 1) != seed(5, "a", 2), "it depends on what only the server knows"
    assert seed(5, "a", 1) != 5
