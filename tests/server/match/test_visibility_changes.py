"""A client can derive every view from its first view and the messages after it, in every game.

In games with hidden information, it applies the changes one after the other. In the others, it
applies the entries, by the rules, to the position that the first view shows.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_clients.matches.viewer_events import Replayer
from kibitz_games.core import registry
from kibitz_games.core.game import Game, Model, State
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.records import Moved
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, Viewer
from kibitz_server.match.commands import Leave, Note, Resign, Return
from kibitz_server.match.visibility import EntryView, MatchViews
from tests.games import cases
from tests.games.conformance.test_playthrough import DATA
from tests.server.match.toy_games import MatchDriver, setup
from tests.tools.profiles import some
from tests.tools.view_follower import as_text

HIDDEN = tuple(name for name in registry.names() if registry.get(name).info.hidden)
OPEN = tuple(name for name in registry.names() if name not in HIDDEN)
PLIES = 60
_TURN = re.compile(r" *\d+ seat (\d) (.+?) +of +\d+, key ")


def golden_play(game: Game) -> tuple[MatchDriver, Iterator[tuple[int, Any]]]:
    """Return a match at the start of a golden playthrough, and its moves with their seats."""
    lines = Path(DATA / f"playthrough-{game.info.name}.txt").read_text().splitlines()
    seats = int(lines[0].split()[-2])
    options, deal = (json.loads(line.partition(" ")[2]) for line in lines[1:3])
    shell = MatchDriver(game, setup(game, seats, deal=deal, **options))
    turns = [found for line in lines if (found := _TURN.match(line))]
    assert turns
    return shell, ((int(turn[1]) - 1, game.notation.parse(turn[2])) for turn in turns)


def viewers_of(shell: MatchDriver) -> tuple[Viewer, ...]:
    return (*range(len(shell.setup.seats)), PUBLIC, REFEREE)


class Follower:
    """One viewer's view, derived from the initial view and the bytes of the events."""

    def __init__(self, shell: MatchDriver, viewer: Viewer) -> None:
        self.viewer = viewer
        self._game = shell.game
        self.view = as_sent(MatchViews(shell.state).present().of(viewer))
        self._state: State | None = None
        if not shell.game.info.hidden:
            self._state = shell.game.sample(shell.game.View.model_validate(self.view), 0)

    def follow(self, sight: EntryView) -> None:
        event = sight.event(self.viewer)
        assert event.view is None
        if self._state is None:
            sent = json.loads(encode(event))
            self.view = apply(self.view, sent.get("patch", {}))
            return
        assert event.patch is None
        game, entry = self._game, event.entry
        assert isinstance(entry, Moved), "in a golden playthrough nothing else happens"
        game.play(self._state, game.decode(self._state, game.Move.from_wire(entry.action)))
        self.view = as_sent(game.view(self._state, None).to_wire())


def as_sent(view: Fields) -> Fields:
    sent: Fields = json.loads(json.dumps(view))
    return sent


def seen_by(shell: MatchDriver, viewer: Viewer) -> Fields:
    """Return the game's own view for a viewer."""
    game, state = shell.game, shell.state.game_state
    seen: Model
    if viewer == REFEREE:
        seen = game.referee_view(state)
    else:
        seen = game.view(state, None if viewer == PUBLIC else viewer)
    return seen.to_wire()


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_every_view_of_the_golden_playthrough_is_followed(name: str) -> None:
    shell, turns = golden_play(registry.get(name))
    followers = [Follower(shell, viewer) for viewer in viewers_of(shell)]
    for seat, move in turns:
        assert shell.state.to_act == seat
        shell.play(**move.to_wire())
        for each in followers:
            each.follow(shell.views[-1])
            assert as_text(each.view) == as_text(seen_by(shell, each.viewer))
            whole = shell.views[-1].event(each.viewer, "every").view
            assert as_text(each.view) == as_text(whole or {})
    assert shell.state.result is not None


@pytest.mark.parametrize("name", OPEN)
def test_an_open_game_goes_on_from_the_view_of_any_snapshot(name: str) -> None:
    shell, turns = golden_play(registry.get(name))
    followers: list[Follower] = []
    for ply, (_, move) in enumerate(turns):
        if ply % 5 == 2:
            followers = [Follower(shell, PUBLIC), *followers[:3]]
        shell.play(**move.to_wire())
        now = as_text(without_counts(seen_by(shell, PUBLIC)))
        for each in followers:
            each.follow(shell.views[-1])
            assert as_text(without_counts(each.view)) == now
    assert followers


def without_counts(view: Fields) -> Fields:
    """Remove counts of earlier positions, which only clients from the start have."""
    return {name: value for name, value in view.items() if name != "repeats"}


def disorderly_play(shell: MatchDriver, chance: random.Random) -> Iterator[None]:
    """Play at random, with flags, absences and notes between the moves, and a resignation."""
    for _ in range(PLIES):
        if shell.state.result is not None:
            return
        seat = chance.randrange(len(shell.setup.seats))
        match chance.randrange(12):
            case 0:
                shell.tick(2_000)
            case 1:
                shell.do(Note(seat, "thinking"))
            case 2:
                shell.do(Leave(seat, "disconnect"))
                shell.do(Return(seat))
            case 3 if chance.randrange(4) == 0:
                shell.do(Resign(seat))
            case _:
                legal = shell.game.legal(shell.state.game_state)
                shell.play(**shell.wire(chance.choice(legal)))
        yield


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", HIDDEN)
def test_changes_are_followed_whatever_happens(name: str, seed: int) -> None:
    for game, options, seats in cases.setups(name):
        deal = game.deal(options, seats, seed)
        shell = MatchDriver(
            game, setup(game, seats, clock="move=1", deal=deal, **options.to_wire())
        )
        followers = [Follower(shell, viewer) for viewer in viewers_of(shell)]
        told = 0
        for _ in disorderly_play(shell, random.Random(f"{name} {seed} {seats}")):
            for sight in shell.views[told:]:
                for each in followers:
                    each.follow(sight)
            told = len(shell.views)
            for each in followers:
                assert as_text(each.view) == as_text(seen_by(shell, each.viewer))


@pytest.mark.parametrize("name", OPEN)
def test_the_entries_of_an_open_game_tell_all_whatever_happens(name: str) -> None:
    """The client's rules, which replay records, also replay the messages it receives."""
    for game, options, seats in cases.setups(name):
        deal = game.deal(options, seats, 1)
        shell = MatchDriver(
            game, setup(game, seats, clock="move=1", deal=deal, **options.to_wire())
        )
        replayer, told = Replayer(game, shell.setup), 0
        for _ in disorderly_play(shell, random.Random(f"{name} {seats}")):
            for sight in shell.views[told:]:
                event = sight.event(0)
                assert (event.view, event.patch) == (None, None)
                replayer.apply(event.entry)
            told = len(shell.views)
            assert as_text(replayer.view()) == as_text(seen_by(shell, PUBLIC))
