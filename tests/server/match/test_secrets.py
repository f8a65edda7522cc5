"""Hidden information: nothing that a viewer may not know leaves the server while a match runs.

Every game with hidden information is played twice on a complete server, in two worlds that differ
only in information hidden from one seat and the public. Both must receive the same bytes in both
worlds. All secrets contain markers, which must not reach other viewers. Other tests plant leaks in
servers and games to prove that these tests can fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game, IllegalAction
from kibitz_games.core.scene import Scene
from kibitz_protocol.wire import visibility as wire_visibility
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.records import Entry, Noted
from kibitz_protocol.wire.values import Fields
from kibitz_server.match import visibility
from tests.games import cases
from tests.server.match.toy_games import Veil, VeilView, variant
from tests.tools.indistinguishable_plays import PlayPair, draw_pair
from tests.tools.profiles import some
from tests.tools.secrecy_scenario import SecrecyTranscript, play_scenario
from tests.tools.simulation import make_template

PLIES = 26
HIDDEN = tuple(name for name in registry.names() if registry.get(name).info.hidden)
SEEN: dict[str, dict[str, Any]] = {
    "public": {"mode": "public"},
    "plies": {"mode": "public", "delay_plies": 2},
    "late": {"mode": "public", "delay_ms": 400},
    "shoulder": {"mode": "shoulder"},
    "referee": {"mode": "referee"},
    "off": {"mode": "off"},
    "quiet": {"mode": "public", "comments": "after"},
}
"""The spectator modes; over-the-shoulder spectators see the seat's view."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    make_template(tmp_path)
    return tmp_path


def hands(seat: int, play: int) -> dict[str, Any]:
    """Deal a fixed hand to the seat, and different hands to the others in each play."""
    dealt = [[(9 - play - each) * 10**11 + seat * 10 + n for n in range(3)] for each in range(3)]
    dealt[seat] = [123_456_000_000 + n for n in range(3)]
    return {"hands": dealt}


@cache
def game_of(name: str) -> Game:
    return variant(Veil, on_flag="skip") if name == "toy-veil" else registry.get(name)


@cache
def pair(name: str, last: bool) -> PlayPair:
    """Return twin plays whose differences are invisible to the first or the last seat."""
    game = game_of(name)
    if isinstance(game, Veil):
        seat = 2 if last else 0
        return draw_pair(game, 3, seat, 5, plies=PLIES, deals=(hands(seat, 0), hands(seat, 1)))
    seats = max(game.info.seats)
    return draw_pair(game, seats, seats - 1 if last else 0, 5, plies=PLIES)


def worlds(
    of: PlayPair, directory: Path, mode: str = "public", **facts: Any
) -> tuple[SecrecyTranscript, SecrecyTranscript]:
    spectating = {
        "comments": "spectators",
        **SEEN[mode],
        **({"seat": of.seat} if mode == "shoulder" else {}),
    }
    first, second = (
        play_scenario(of, play, directory, spectating=spectating, **facts) for play in (0, 1)
    )
    return first, second


def differences(first: SecrecyTranscript, second: SecrecyTranscript, mode: str) -> Iterator[str]:
    """Yield the viewers who received different messages in the two worlds without permission."""
    listeners = [first.seat, "hal", "fay", "pages", *(["eve"] if mode != "referee" else [])]
    for name in listeners:
        if first.before_end[name] != second.before_end[name]:
            heard = zip(first.before_end[name], second.before_end[name], strict=False)
            yield f"{name}: " + next((f"{a!r} {b!r}" for a, b in heard if a != b), "more")


def leaks(story: SecrecyTranscript, of: PlayPair, mode: str) -> Iterator[str]:
    """Yield every secret that reached a viewer without permission."""
    for name in (story.seat, "hal", "fay", "pages", "eve"):
        if name == "eve" and mode in ("shoulder", "referee"):
            continue
        own = of.seat if name == story.seat else None
        yield from (f"{name} heard {leak}" for leak in story.leaks(name))
        yield from (f"{name} saw {entry}" for entry in story.foreign_entries(name, own))
    said = "\n".join(story.log).encode()
    for kept in (story.secrets, story.private_notes):
        yield from (f"{t} is in the log" for ts in kept.values() for t in ts if t.encode() in said)


# --- the twins themselves -------------------------------------------------------------------

GAMES = ("toy-veil", *HIDDEN)
PAIRS = [(name, last) for name in GAMES for last in (False, True)]


@pytest.mark.parametrize(("name", "last"), PAIRS)
def test_the_two_worlds_do_differ(name: str, last: bool) -> None:
    of = pair(name, last)
    assert of.different_turns, "nobody moves differently"
    assert all(turn.seat != of.seat for turn in of.different_turns)
    assert of.turns_apart > len(of.turns) / 2
    assert any(turn.illegal for turn in of.turns) or name != "toy-veil"
    if of.game.info.on_flag == "skip":
        assert any(turn.kind == "skip" for turn in of.turns)


# --- two worlds and markers -----------------------------------------------------------------


@pytest.mark.parametrize("mode", SEEN)
@pytest.mark.parametrize(("name", "last"), some(PAIRS, 3))
def test_two_worlds_sound_the_same_to_who_may_not_know(
    name: str, last: bool, mode: str, directory: Path
) -> None:
    of = pair(name, last)
    first, second = worlds(of, directory, mode)
    assert list(differences(first, second, mode)) == []
    for story in (first, second):
        assert list(leaks(story, of, mode)) == []
        for name, known in story.views.items():
            assert known.wrong == []
            assert known.compared >= 3 or (name == "eve" and mode == "off")
    assert first.illegal_refusals == sum(len(turn.illegal) for turn in of.turns)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_pairs_of_worlds_sound_the_same(part: int, directory: Path) -> None:
    """P3: every seat, every spectator mode and every option, each with its own seeds."""
    for seed in range(part * 100, (part + 1) * 100):
        name = HIDDEN[seed % len(HIDDEN)]
        game, options = registry.get(name), cases.options(name)
        seats, mode = max(game.info.seats), [*SEEN][seed % len(SEEN)]
        of = draw_pair(
            game, seats, seed % seats, seed, plies=24, options=options[seed % len(options)]
        )
        first, second = worlds(of, directory, mode)
        assert list(differences(first, second, mode)) == [], seed
        for story in (first, second):
            assert list(leaks(story, of, mode)) == [], seed
            assert [wrong for known in story.views.values() for wrong in known.wrong] == [], seed


OTHERWISE = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name in HIDDEN
    for number in range(1, len(cases.options(name)))
]


@pytest.mark.parametrize(("name", "number"), OTHERWISE)
def test_two_worlds_sound_the_same_with_other_options(
    name: str, number: int, directory: Path
) -> None:
    """A seat's knowledge depends on the options: each kind of memory, and early deaths."""
    game, options = registry.get(name), cases.options(name)[number]
    seats = max(game.info.seats)
    of = draw_pair(game, seats, number % seats, 5 + number, plies=40, options=options)
    assert of.different_turns
    first, second = worlds(of, directory)
    assert list(differences(first, second, "public")) == []
    for story in (first, second):
        assert list(leaks(story, of, "public")) == []


@pytest.mark.parametrize("name", GAMES)
def test_the_end_reveals_all_but_what_is_its_authors_alone(name: str, directory: Path) -> None:
    of = pair(name, last=False)
    first, second = worlds(of, directory)
    for story in (first, second):
        me, eve = b"\n".join(story.after_end[story.seat]), b"\n".join(story.after_end["eve"])
        for text in [each for texts in story.secrets.values() for each in texts[:1]]:
            assert text.encode() in story.record
            if not text.startswith("detail"):
                assert text.encode() in me
        for owner, texts in story.private_notes.items():
            for text in texts:
                assert text.encode() not in story.record
                assert owner == story.seat or text.encode() not in me
                assert owner == "eve" or text.encode() not in eve
    assert first.record != second.record


@pytest.mark.parametrize("name", GAMES)
def test_over_the_shoulder_spectators_know_what_the_seat_knows(name: str, directory: Path) -> None:
    of = pair(name, last=False)
    story, _ = worlds(of, directory, "shoulder")
    assert set(story.leaks("eve")) <= set(story.secrets.get(story.seat, ()))
    assert list(story.foreign_entries("eve", of.seat)) == []
    assert "my own" in str(story.before_end["eve"]), "its own comments are shown"
    assert "for myself" not in str(story.before_end["eve"]), "its notes are not"
    assert "for myself" in str(story.before_end[story.seat])


# --- planted leaks --------------------------------------------------------------------------


class Boasting(Veil):
    """Shows all viewers which cards were played."""

    def view(self, state: Any, seat: int | None) -> Any:
        known = super().view(state, seat)
        order = state["order"][: int(state["seats"])].tolist()
        return VeilView(**{**known.model_dump(), "order": order})


class Gossiping(Veil):
    """Leaks the other seats' cards in the reason for refusing a card."""

    def decode(self, state: Any, move: Any) -> int:
        try:
            return super().decode(state, move)
        except IllegalAction:
            raise IllegalAction(f"the cards so far: {state['order'].tolist()}") from None


class Counting(Veil):
    """Makes legality depend on the others' secret actions."""

    def legal(self, state: Any) -> list[int]:
        cards = super().legal(state)
        return cards[:1] if int(state["order"][:3].astype(int).sum()) % 2 else cards


class Remembering(Veil):
    """Remembers the last inspected state, from which a faulty gate reveals too much."""

    shown: ClassVar[Any] = None
    """Shared by all plays, because the scenario serves an instance of a subclass."""

    def view(self, state: Any, seat: int | None) -> Any:
        Remembering.shown = state
        return super().view(state, seat)


def found_out(directory: Path, mode: str = "public", **facts: Any) -> list[str]:
    of = pair("toy-veil", last=False)
    first, second = worlds(of, directory, mode, **facts)
    return [*differences(first, second, mode), *leaks(first, of, mode)]


@pytest.mark.parametrize("leaky", [Boasting, Gossiping])
def test_a_game_that_leaks_is_found_out(leaky: type[Veil], directory: Path) -> None:
    assert found_out(directory, game=variant(leaky, on_flag="skip"))


def test_a_game_whose_legal_moves_leak_is_found_out() -> None:
    with pytest.raises(AssertionError, match="the legal moves reveal a secret"):
        draw_pair(variant(Counting), 3, 0, 2, plies=PLIES, deals=(hands(0, 0), hands(0, 1)))


def test_a_gate_that_hides_nothing_is_found_out(directory: Path) -> None:
    with patch.object(wire_visibility, "_redact_hidden_game", lambda entry, viewer: entry):
        found = found_out(directory)
    for kind in ('"kind": "move"', '"kind": "flag"', "detail-a"):
        assert any(kind in leak for leak in found), kind


def test_a_gate_that_shows_notes_is_found_out(directory: Path) -> None:
    def redact(entry: Entry, viewer: int, hidden: bool) -> Entry:
        return entry if isinstance(entry, Noted) else wire_visibility.redact(entry, viewer, hidden)

    with patch.object(visibility, "redact", redact):
        assert any("note-a" in leak for leak in found_out(directory))


def test_a_gate_that_shows_comments_is_found_out(directory: Path) -> None:
    with patch.object(wire_visibility, "_hears", lambda comment, viewer: True):
        found = found_out(directory)
    assert any("p0 heard kibitz-" in leak for leak in found)
    assert any("eve heard aloud-a" in leak for leak in found)


def test_a_gate_that_tells_the_changes_of_others_is_found_out(directory: Path) -> None:
    game = variant(Remembering, on_flag="skip")

    def change(before: Fields, after: Fields) -> Fields:
        return difference(before, game.referee_view(game.shown).to_wire())

    with patch.object(visibility, "difference", change):
        leaked = found_out(directory, game=game)
    assert any('"patch":' in found and '"order":' in found for found in leaked)


@pytest.mark.parametrize(("draw", "told"), [("stage_of", "stage"), ("differing_parts", "patch")])
def test_a_gate_that_draws_what_others_see_is_found_out(
    directory: Path, draw: str, told: str
) -> None:
    game = variant(Remembering, on_flag="skip")
    right = getattr(visibility, draw)

    def drawn(*scenes: Scene) -> Any:
        return right(*scenes[:-1], game.scene(game.referee_view(game.shown)))

    with patch.object(visibility, draw, drawn):
        found = found_out(directory, game=game)
    assert any(f'"{told}":' in each and "order: " in each for each in found)


def test_a_gate_that_leaves_changes_out_is_found_out(directory: Path) -> None:
    """A client that applies every change has the correct view, so omissions are detected later."""

    def some(before: Fields, after: Fields) -> Fields:
        change = difference(before, after)
        return {name: value for name, value in change.items() if name != "played"}

    of = pair("toy-veil", last=False)
    with patch.object(visibility, "difference", some):
        story = play_scenario(of, 0, directory)
    assert story.views[story.seat].wrong


@pytest.mark.slow
def test_a_server_that_publishes_its_seeds_is_found_out(directory: Path) -> None:
    with (
        patch("kibitz_server.directory.match_setup.seed_commitment", lambda seed, nonce: seed),
        patch("kibitz_server.match.record.seed_commitment", lambda seed, nonce: seed),
    ):
        assert any("heard" in leak for leak in found_out(directory))
