"""A client that draws gets the scene after every entry from a stage and paints, in every game.

Nothing is computed while no client draws.
"""

from __future__ import annotations

import json
import random
from typing import Any
from unittest.mock import patch

import pytest
from pydantic import TypeAdapter

from kibitz_games.core import registry
from kibitz_games.core.drawing import stage_of
from kibitz_games.core.game import TERMINAL, Game, Model, State
from kibitz_games.core.scene import Scene
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.drawing import Pick, Stage
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.records import Player, Spectating
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, Viewer
from kibitz_server.match.commands import Leave, Resign, Return
from kibitz_server.match.visibility import EntryView
from tests.games import cases
from tests.server.match.test_runner import Scenario
from tests.server.match.test_spectators import SpectatorScenario
from tests.server.match.test_visibility_changes import disorderly_play, golden_play, viewers_of
from tests.server.match.toy_games import Grid, MatchDriver, Veil, setup
from tests.tools.profiles import some


class Easel:
    """One viewer's drawing, derived from the bytes of a snapshot and of the events after it."""

    def __init__(self, shell: MatchDriver, viewer: Viewer) -> None:
        self.viewer = viewer
        snapshot = shell.match.views.snapshot(viewer, "watching", wanted="drawn")
        self.stage = json.loads(encode(snapshot))["stage"]

    def follow(self, sight: EntryView) -> None:
        event = json.loads(encode(sight.event(self.viewer, "drawn")))
        assert "view" not in event
        assert event.get("patch") != {}
        self.stage = apply(self.stage, event.get("patch", {}))

    def require(self, shell: MatchDriver) -> None:
        scene = scene_seen_by(shell, self.viewer)
        assert self.stage == json.loads(json.dumps(stage_of(scene)))


def scene_seen_by(shell: MatchDriver, viewer: Viewer) -> Scene:
    """Return the game's own drawing for a viewer."""
    game, state = shell.game, shell.state.game_state
    if viewer == REFEREE:
        return game.scene(game.referee_view(state))
    return game.scene(game.view(state, None if viewer == PUBLIC else viewer))


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_every_scene_of_the_golden_playthrough_is_painted(name: str) -> None:
    shell, turns = golden_play(registry.get(name))
    easels = [Easel(shell, viewer) for viewer in viewers_of(shell)]
    for _, move in turns:
        shell.play(**move.to_wire())
        for easel in easels:
            easel.follow(shell.views[-1])
            easel.require(shell)
    assert shell.state.result is not None


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_scenes_are_painted_whatever_happens(name: str) -> None:
    for game, options, seats in cases.setups(name):
        deal = game.deal(options, seats, 1)
        shell = MatchDriver(
            game, setup(game, seats, clock="move=1", deal=deal, **options.to_wire())
        )
        easels, told = [Easel(shell, viewer) for viewer in viewers_of(shell)], 0
        for _ in disorderly_play(shell, random.Random(f"{name} {seats}")):
            for sight in shell.views[told:]:
                for easel in easels:
                    easel.follow(sight)
            told = len(shell.views)
            for easel in easels:
                easel.require(shell)


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_the_wire_has_words_for_all_that_is_drawn(name: str) -> None:
    """The protocol's models drop unsupported shapes silently; here nothing may be dropped."""
    game, seats = registry.get(name), registry.get(name).info.seats[-1]
    shell = MatchDriver(game, setup(game, seats, deal=game.deal(game.Options(), seats, 1)))
    easels = [Easel(shell, viewer) for viewer in viewers_of(shell)]
    for _ in disorderly_play(shell, random.Random(name)):
        for easel in easels:
            require_known(Stage, easel.stage)
            for sight in shell.views[-1:]:
                easel.follow(sight)
        if shell.state.result is None:
            require_known(list[Pick], shell.match.views.your_turn(wanted="drawn").picks)


def require_known(kind: Any, sent: Any) -> None:
    plain = json.loads(json.dumps(sent))
    assert TypeAdapter(kind).validate_python(plain) == plain


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_each_legal_action_is_picked_and_no_other(name: str) -> None:
    """Even if the list of actions is not sent or is too long."""
    game, seats = registry.get(name), registry.get(name).info.seats[0]
    shell = MatchDriver(game, setup(game, seats, deal=game.deal(game.Options(), seats, 1)))
    for _ in range(12):
        state = shell.state.game_state
        turn = shell.match.views.your_turn(wanted="drawn")
        assert (turn.view, turn.legal) == (None, None)
        picks = turn.picks or []
        actions = [game.decode(state, game.Move.from_wire(pick["action"])) for pick in picks]
        assert actions == game.legal(state)
        assert len({tuple(pick["cells"]) for pick in picks}) == turn.legal_count
        assert shell.match.views.your_turn().picks is None
        chosen: Any = random.Random(name).choice(picks)["action"]
        shell.play(**chosen)
        if shell.state.result is not None:
            break


# --- cost ----------------------------------------------------------------------------------------


class Counting(Grid):
    """A grid that counts how often it is drawn."""

    def __init__(self) -> None:
        self.drawn = 0

    def scene(self, view: Any) -> Scene:
        self.drawn += 1
        return super().scene(view)


class CountingVeil(Veil):
    """A game of secrets that counts how often it is drawn."""

    def __init__(self) -> None:
        self.drawn = 0

    def scene(self, view: Any) -> Scene:
        self.drawn += 1
        return super().scene(view)


@pytest.mark.parametrize("kind", [Counting, CountingVeil])
def test_nothing_is_drawn_while_nobody_draws(kind: type[Counting | CountingVeil]) -> None:
    game = kind()
    play = Scenario(game)
    play.begin()
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    play.runner.admit_spectator(watcher.peer)
    for ply in range(4):
        play.move(ply % 2)
        play.log_store.commit()
    assert (game.drawn, play.match.views.drawn) == (0, False)


@pytest.mark.parametrize("kind", [Counting, CountingVeil])
def test_a_scene_is_drawn_once_for_all_who_share_a_viewpoint(
    kind: type[Counting | CountingVeil],
) -> None:
    game = kind()
    play = Scenario(game)
    play.begin()
    watchers = [play.connect(Player(player=f"w{n}", name="w", kind="human")) for n in range(3)]
    for watcher in watchers:
        watcher.peer.views = "drawn"
        play.runner.admit_spectator(watcher.peer)
    assert game.drawn == 1
    for ply in range(2):
        play.move(ply % 2)
        play.log_store.commit()
    play.runner.command(Leave(1, "disconnect"))  # which does not change the drawing
    play.log_store.commit()
    assert game.drawn == 3
    seen = [watcher.frames() for watcher in watchers]
    assert seen[0] == seen[1] == seen[2]
    for watcher in watchers:
        play.runner.unwatch(watcher.peer)
    play.runner.command(Return(1))
    for ply in range(2):
        play.move(ply % 2)
        play.log_store.commit()
    assert (game.drawn, play.match.views.drawn) == (3, False)


# --- connections ---------------------------------------------------------------------------------


def test_a_player_who_draws_gets_a_stage_paints_and_picks() -> None:
    play = Scenario(Veil())
    play.begin()
    back = play.another(0)
    back.peer.views = "drawn"
    play.runner.seats.claim(0, back.peer)
    play.runner.admit(0, back.peer, "rejoined")
    snapshot, turn = back.received()
    assert [pick["action"] for pick in turn["picks"]] == [{"card": card} for card in range(3)]
    stage = snapshot["stage"]
    for seat in (0, 1):
        play.move(seat, line=back if seat == 0 else None)
        play.log_store.commit()
    for message in back.received():
        stage = apply(stage, message.get("patch", {}))
    shown = play.match.views.present().stage(0)
    assert stage == json.loads(json.dumps(shown))


def test_the_end_is_drawn_where_something_was_hidden() -> None:
    for game in (Grid(), Veil()):
        play = Scenario(game)
        play.begin()
        watchers = [play.connect(Player(player=f"w{n}", name="w", kind="human")) for n in range(2)]
        for watcher, wanted in zip(watchers, ("drawn", "turn"), strict=True):
            watcher.peer.views = wanted  # type: ignore[assignment]
            play.runner.admit_spectator(watcher.peer)
        play.runner.command(Resign(0))
        play.log_store.commit()
        drawn, plain = (watcher.received()[-1] for watcher in watchers)
        assert drawn["type"] == plain["type"] == "finished"
        assert "stage" not in plain
        revealed = play.match.views.present().stage(REFEREE)
        assert drawn.get("stage") == (revealed if game.info.hidden else None)


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_who_draws_late_is_shown_the_moment_that_the_others_are(game: Game) -> None:
    seen = SpectatorScenario(game, Spectating(delay_plies=2))
    seen.shell.match.views.drawn = True  # like a runner with a delay
    shown = [stage_of(scene_seen_by(seen.shell, PUBLIC))]
    for _ in range(4):
        seen.play()
        shown.append(stage_of(scene_seen_by(seen.shell, PUBLIC)))
    seen.spectators.add(seen.queue, "drawn")
    [snapshot] = seen.screen()
    assert (snapshot["seq"], snapshot["stage"]) == (2, shown[2])
    seen.play()
    [event] = seen.screen()
    assert event["entry"]["seq"] == 3
    assert apply(snapshot["stage"], event["patch"]) == shown[3]


def test_a_runner_keeps_what_paints_are_made_of_where_there_is_a_delay() -> None:
    assert Scenario(spectating=Spectating(delay_plies=2)).match.views.drawn
    assert not Scenario().match.views.drawn


@pytest.mark.parametrize("kind", [Grid, Veil])
def test_a_drawing_that_raises_is_its_drawers_loss_alone(kind: type[Game]) -> None:
    game = kind()
    play = Scenario(game)
    play.begin()
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    watcher.peer.views = "drawn"
    play.lines["p1"].peer.views = "drawn"
    with (
        patch.object(kind, "scene", side_effect=RuntimeError),
        patch.object(type(game.notation), "cells", side_effect=RuntimeError),
    ):
        play.runner.admit_spectator(watcher.peer)
        for seat in (0, 1):
            play.move(seat)
            play.log_store.commit()
    [snapshot, *events] = [each for each in watcher.received() if each["type"] != "your_turn"]
    assert snapshot["stage"]["text"] == ["the position cannot be drawn"]
    assert [event["ply"] for event in events] == [1, 2]
    turns = [each for each in play.received(1) if each["type"] == "your_turn"]
    assert [turn.get("picks") for turn in turns] == [None]
    assert play.match.state.result is None
    play.move(0)
    play.log_store.commit()
    [event] = watcher.received()
    shown = play.match.views.present().stage(PUBLIC)
    assert apply(snapshot["stage"], event["patch"])["cells"] == shown["cells"]


def test_a_last_position_that_cannot_be_shown_is_told_to_who_draws_it() -> None:
    shown = Grid.view

    def view(game: Grid, state: State, seat: int | None) -> Model:
        if game.to_act(state) == TERMINAL:
            raise RuntimeError("planted")
        return shown(game, state, seat)

    play = Scenario(Grid())
    for opened in play.lines.values():
        opened.peer.views = "drawn"
    play.begin()
    with patch.object(Grid, "view", view):
        play.finish()
    for seat in (0, 1):
        heard = [each for each in play.received(seat) if each["type"] in ("event", "finished")]
        assert [each["type"] for each in heard[-2:]] == ["event", "finished"]
        assert heard[-1]["view"] == {}
    assert play.context.ended == [play.runner]
