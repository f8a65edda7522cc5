"""The state of other nodes, derived from their lines."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_server.directory.other_nodes import (
    STALE_S,
    Elsewhere,
    LobbyLine,
    NodeLine,
    OtherNodes,
    node_key,
)
from kibitz_server.storage.interface import HallExchange, OtherNode

HERE, THERE = "ws://here.example.org", "ws://there.example.org"
B = OtherNode("b", THERE, True, "life-b")
MATE = OtherNode("mate", HERE, True, "life-m")


class Scene:
    def __init__(self) -> None:
        self.now = 0.0
        self.others = OtherNodes(HERE, lambda: self.now)

    def hear(
        self,
        *lines: tuple[str, str, LobbyLine | NodeLine | None],
        nodes: tuple[OtherNode, ...] = (B, MATE),
        whole: bool = False,
        settled: bool = True,
    ) -> list[str]:
        """Process an exchange; return the matches that have ended."""
        texts = tuple(
            (key, node, None if line is None else line.model_dump_json().encode())
            for key, node, line in lines
        )
        found = HallExchange(nodes, texts, whole, settled, frozenset(), "life", b"key", 0)
        return [brief.match for brief in self.others.apply(found)]


def line(key: str, *players: str, listed: bool = True) -> LobbyLine:
    brief = LobbyBrief(
        lobby=key,
        name="a lobby",
        host="Ada",
        state="running",
        joinable="open",
        watchable=True,
        games=["line-nim"],
        members=2,
        places=2,
    )
    match = MatchBrief(match=f"{key}-1-1", lobby=key, game="line-nim", seats=[])
    return LobbyLine(lobby=key, brief=brief, listed=listed, players=[*players], matches=[match])


def test_lobbies_matches_and_players_are_found() -> None:
    scene = Scene()
    scene.hear(("x", "b", line("x", "p1", "p2")))
    place = Elsewhere("x", B)
    others = scene.others
    assert (others.lobby("x"), others.match("x-1-1"), others.player("p2")) == (place,) * 3
    assert (others.lobby("y"), others.match("y-1-1"), others.player("p3")) == (None,) * 3
    assert others.is_busy("p1")
    assert [each.lobby for each in others.listed()] == ["x"]
    assert others.urls == [THERE]


def test_a_line_takes_the_place_of_the_one_before() -> None:
    scene = Scene()
    scene.hear(("x", "b", line("x", "p1")))
    scene.hear(("x", "b", line("x", "p2", listed=False)))
    assert scene.others.player("p1") is None
    assert scene.others.player("p2") == Elsewhere("x", B)
    assert list(scene.others.listed()) == []
    scene.hear(("x", "b", None))
    assert scene.others.player("p2") is None
    assert scene.others.match("x-1-1") is None


def test_where_all_is_read_again_what_is_not_there_is_gone() -> None:
    scene = Scene()
    scene.hear(("x", "b", line("x", "p1")))
    scene.hear(("y", "b", line("y", "p1")), whole=True)
    assert scene.others.player("p1") == Elsewhere("y", B)
    assert scene.others.lobby("x") is None


def test_nobody_is_sent_to_a_dead_node_or_one_of_the_same_address() -> None:
    scene = Scene()
    scene.hear(("x", "b", line("x", "p1")), ("y", "mate", line("y", "p2")))
    assert scene.others.player("p2") is None
    dead = OtherNode("b", THERE, False, "life-b")
    scene.hear(nodes=(dead, MATE))
    assert scene.others.lobby("x") is None
    assert list(scene.others.listed()) == [line("y", "p2")]
    assert scene.others.is_busy("p1")  # it keeps its name until that is settled
    assert not scene.others.beside
    assert scene.others.urls == []
    scene.hear(("x", "c", line("x", "p1")), nodes=(OtherNode("c", "ws://c", True, "life-c"),))
    place = scene.others.player("p1")
    assert place is not None
    assert place.node.name == "c"


def test_who_is_connected_to_a_living_node_is_busy() -> None:
    scene = Scene()
    both = (B, OtherNode("c", "ws://c", True, "life-c"))
    scene.hear(
        (node_key("b"), "b", NodeLine(players=frozenset({"g1"}))),
        (node_key("c"), "c", NodeLine(players=frozenset({"a1"}))),
        nodes=both,
    )
    others = scene.others
    assert others.is_busy("g1")  # a guest keeps its name
    assert others.is_busy("a1")
    scene.hear((node_key("b"), "b", NodeLine(players=frozenset({"g2"}))), nodes=both)
    assert not others.is_busy("g1")
    assert others.is_busy("g2")
    scene.hear(nodes=both[:1])
    assert not others.is_busy("a1")
    assert others.is_busy("g2")
    scene.hear((node_key("b"), "b", None), nodes=())
    assert not others.is_busy("g2")


def test_open_lobbies_count_for_their_hosts_wherever_they_are() -> None:
    scene = Scene()
    hosted = [line(key, "p1", "p2") for key in "xyz"]
    hosted[0].host, hosted[0].house_seats, hosted[1].host = "p1", 3, "p2"
    scene.hear(*((each.lobby, "b", each) for each in hosted))
    assert scene.others.hosted_by("p1") == [hosted[0]]
    assert scene.others.hosted_by("p3") == []
    scene.hear(nodes=())  # that node is dead: its lobby is open and will be taken over soon
    assert scene.others.hosted_by("p1") == [hosted[0]]
    scene.hear(("x", "c", hosted[0]), nodes=(OtherNode("c", "ws://c", True, "life-c"),))
    assert scene.others.hosted_by("p1") == [hosted[0]]
    scene.hear(("x", "c", None), nodes=())
    assert scene.others.hosted_by("p1") == []


def test_matches_that_end_elsewhere_are_told_once() -> None:
    scene = Scene()
    ended = [MatchBrief(match=f"m{number}", game="line-nim", seats=[]) for number in range(3)]
    assert scene.hear((node_key("b"), "b", NodeLine(finished=ended[:2]))) == ["m0", "m1"]
    assert scene.hear((node_key("b"), "b", NodeLine(finished=ended[1:]))) == ["m2"]


def test_nothing_is_certain_before_it_is_settled_or_when_nothing_was_heard_for_long() -> None:
    scene = Scene()
    assert not scene.others.certain
    scene.hear(settled=False)
    assert not scene.others.certain
    scene.hear()
    assert scene.others.certain
    scene.now = STALE_S + 0.1
    assert not scene.others.certain


def test_a_lobby_that_is_here_now_is_forgotten() -> None:
    scene = Scene()
    scene.hear(("x", "b", line("x", "p1")))
    scene.others.forget("x")
    scene.others.forget("x")
    assert scene.others.player("p1") is None
    assert scene.others.match("x-1-1") is None
