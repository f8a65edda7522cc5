"""Changes of a lobby: applying them all gives the content of `lobby_view`."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.client.lobby_views import LobbyViews
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import LobbyChanged
from kibitz_protocol.wire.records import Cause
from kibitz_server.lobby.commands import (
    BotFailed,
    Close,
    Disconnected,
    Join,
    Kick,
    Leave,
    Ready,
    Rematch,
    Start,
)
from kibitz_server.lobby.views import changing_part, match_brief
from tests.server.lobby.test_engine import LobbyDriver, player, settings

NAMES = ("ada", "bob", "cyd", "dan")


class Follower:
    """A client that received the full lobby once and applies changes in order of arrival."""

    def __init__(self, room: LobbyDriver) -> None:
        self.room = room
        self.told = self.present()
        self.views = LobbyViews()
        self.views.tell(self.expected())
        self.live = set(room.engine.state.round.running)

    def expected(self) -> Any:
        return self.room.view(None, spectators=2)

    def present(self) -> dict[str, Any]:
        engine = self.room.engine
        return changing_part(engine.state, engine.presence.connected, 2)

    def listen(self) -> LobbyChanged | None:
        state = self.room.engine.state
        for match in self.live - set(state.round.running):
            self.views.match_ended(state.id, match)
        for match in sorted(set(state.round.running) - self.live):
            self.views.match_started(state.id, match_brief(state, match))
        self.live = set(state.round.running)
        former, self.told = self.told, self.present()
        patch = difference(former, self.told)
        if not patch:
            return None
        sent = decode_server_message(encode(LobbyChanged(lobby=state.id, patch=patch)))
        assert isinstance(sent, LobbyChanged)
        self.views.change(sent)
        return sent

    def assert_knows_all(self) -> None:
        known, wanted = self.views.views[self.room.engine.state.id], self.expected()
        assert known == wanted
        assert known.by_seat() == [*wanted.members.values()]
        assert known.table() == [*wanted.standings.values()]


def gathering() -> LobbyDriver:
    return LobbyDriver(
        settings(
            OpenSeat(),
            OpenSeat(),
            OpenSeat(),
            HouseSeat(personality="toy/dull"),
            programme=[ProgrammeItem(game="toy", games=6)],
            auto_start=False,
        )
    )


COMMANDS = st.sampled_from(
    [
        *(Join(player(name)) for name in NAMES),
        *(Ready(name, ready) for name in NAMES for ready in (True, True, False)),
        *(Leave(name) for name in NAMES),
        *(Disconnected(name) for name in NAMES),
        Kick("host", "ada"),
        Join(player("bot", "house"), house_seat=3),
        Ready("bot"),
        BotFailed(3, "it broke"),
        *[Start("host")] * 4,
        Rematch("host"),
        Close("host"),
        *["end"] * 10,
    ]
)


@given(st.lists(st.tuples(COMMANDS, st.booleans()), max_size=60))
def test_changes_put_in_are_the_lobby_however_many_are_told_together(
    steps: list[tuple[Any, bool]],
) -> None:
    room = gathering()
    follower = Follower(room)
    for command, listens in steps:
        if command != "end":
            room.command(command)
        elif room.engine.state.round.running:
            room.end()
        if listens:
            follower.listen()
            follower.assert_knows_all()
    follower.listen()
    follower.assert_knows_all()
    assert follower.listen() is None, "nothing has changed since"


@given(st.lists(COMMANDS, max_size=30))
def test_who_is_told_a_change_twice_or_late_knows_no_less(steps: list[Any]) -> None:
    """A new client receives the full lobby, followed by changes that are already included."""
    room = gathering()
    early = Follower(room)
    for command in steps:
        if command != "end":
            room.command(command)
        elif room.engine.state.round.running:
            room.end()
    late = Follower(room)
    changed = early.listen()
    if changed is not None:
        late.views.change(changed)
        late.views.change(changed)
    late.assert_knows_all()


def playing() -> LobbyDriver:
    room = gathering()
    for name in ("ada", "bob", "cyd"):
        room.command(Join(player(name)))
    room.command(Join(player("bot", "house"), house_seat=3))
    for name in ("ada", "bob", "cyd", "bot"):
        room.command(Ready(name))
    room.command(Start("host"))
    return room


def test_a_match_that_begins_changes_nothing_that_has_to_be_told_and_one_that_ends_two_lines() -> (
    None
):
    room = playing()
    follower = Follower(room)
    follower.listen()
    (match, *_) = room.engine.state.round.running
    players = {each.player for each in room.engine.state.round.running[match].players}
    room.end()
    changed = follower.listen()
    assert changed is not None
    assert changed.patch.keys() == {"done", "standings"}
    lines = changed.patch["standings"]
    assert isinstance(lines, dict)
    assert lines.keys() == players
    counts = {"played", "points", "wins", "draws", "losses"}
    assert all(isinstance(line, dict) and line.keys() < counts for line in lines.values())


def test_a_match_of_the_server_s_own_trouble_changes_no_line() -> None:
    room = playing()
    follower = Follower(room)
    follower.listen()
    room.end(Cause.INFRASTRUCTURE)
    assert follower.listen() is None
    follower.assert_knows_all()


def test_that_a_programme_was_stopped_is_told_until_its_rematch() -> None:
    room = playing()
    follower = Follower(room)
    follower.listen()
    while room.engine.state.round.running:
        room.end(Cause.INFRASTRUCTURE)
    changed = follower.listen()
    assert changed is not None
    assert changed.patch["stopped"] == room.engine.state.round.stopped != ""
    room.command(Rematch("host"))
    changed = follower.listen()
    assert changed is not None
    assert changed.patch["stopped"] == ""
    follower.assert_knows_all()


def test_a_change_of_a_lobby_that_was_not_told_is_passed_over() -> None:
    views = LobbyViews()
    assert views.change(LobbyChanged(lobby="L", patch={"done": 1})) is None
    assert views.match_ended("L", "L-1-1") is None
    assert views.views == {}
