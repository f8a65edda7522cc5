from __future__ import annotations

from typing import Any, Literal

import pytest

from kibitz.options import notation
from kibitz_arena.report.formatting import option_value
from kibitz_games.core import registry
from kibitz_games.core.game import Model
from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat, ReservedSeat
from kibitz_protocol.wire.records import Branch, Spectating


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("chess", "chess", {}),
        ("star:size=3", "star", {"size": 3}),
        ("star:pass=no,stop=any,low=-2", "star", {"pass": False, "stop": "any", "low": -2}),
        ("star:corners=0+3+5", "star", {"corners": [0, 3, 5]}),
        ("star:opening=h8+g7", "star", {"opening": ["h8", "g7"]}),
        ("star:share=2/5", "star", {"share": "2/5"}),
    ],
)
def test_game(text: str, name: str, options: dict[str, Any]) -> None:
    assert notation.parse_game(text) == notation.GameChoice(name, options)


@pytest.mark.parametrize("text", ["", ":size=3", "star:size", "star:=3", "star:size=", "star:a=1,"])
def test_a_game_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        notation.parse_game(text)


def test_an_option_is_given_once() -> None:
    with pytest.raises(ValueError, match="'size' is given twice"):
        notation.parse_options(["size=3", "size=4"], "star")


class Shape(Model):
    """Options of every kind."""

    stones: tuple[str, ...] = ()
    corners: tuple[int, ...] | None = None
    share: str = "mean"
    rocks: Literal["29", "none"] = "29"
    size: int = 4
    open: bool = False


class _Shapely:
    Options = Shape


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> str:
    """A fake built-in game with options of every kind."""
    monkeypatch.setattr(registry, "names", lambda: ("shapes",))
    monkeypatch.setattr(registry, "get", {"shapes": _Shapely}.__getitem__)
    return "shapes"


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("stones=h8+g7", ["h8", "g7"]),
        ("stones=h8", ["h8"]),
        ("stones=7", ["7"]),
        ("corners=0+3", [0, 3]),
        ("corners=2", [2]),
        ("corners=a", "a"),
        ("share=2/5", "2/5"),
        ("share=7", "7"),
        ("share=1+2", "1+2"),
        ("rocks=29", "29"),
        ("size=3", 3),
        ("size=wide", "wide"),
        ("open=yes", True),
        ("open=off", False),
        ("unknown=h8+g7", ["h8", "g7"]),
        ("unknown=2/5", "2/5"),
    ],
)
def test_a_value_is_what_the_game_takes(shapes: str, typed: str, value: object) -> None:
    found = notation.parse_options([typed], shapes)
    assert list(found.values()) == [value]
    assert [type(each) for each in found.values()] == [type(value)]


@pytest.mark.parametrize("value", [True, False, 3, "any", ["h8", "g7"], ["h8"], (1, 2)])
def test_what_is_written_reads_back(shapes: str, value: object) -> None:
    keys = {bool: "open", int: "size", str: "share", list: "stones", tuple: "corners"}
    read = notation.parse_options([f"{keys[type(value)]}={option_value(value)}"], shapes)
    expected = list(value) if isinstance(value, tuple) else value
    assert list(read.values()) == [expected]


def test_seats() -> None:
    text = "open,house=star/deep:depth=3,time=0.5,name=ada,2xopen,2xhouse=star/random"
    assert notation.parse_seats(text) == [
        OpenSeat(),
        HouseSeat(personality="star/deep:depth=3,time=0.5"),
        ReservedSeat(name="ada"),
        OpenSeat(),
        OpenSeat(),
        HouseSeat(personality="star/random"),
        HouseSeat(personality="star/random"),
    ]


@pytest.mark.parametrize("text", ["0xopen", "65xopen", "99999999xhouse=star/random"])
def test_a_seat_is_repeated_no_more_than_a_lobby_has_seats(text: str) -> None:
    with pytest.raises(ValueError, match="expected a seat repeated 1 to 64 times"):
        notation.parse_seats(text)


@pytest.mark.parametrize(
    "text", ["", "opened", "house=", "open,,open", "name=", "ada", "2xname=ada"]
)
def test_seats_that_cannot_be_read_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="expected seats like"):
        notation.parse_seats(text)


def test_a_house_seat_needs_a_personality_as_the_protocol_has_it() -> None:
    with pytest.raises(ValueError, match="personality") as caught:
        notation.parse_seats("house=nobody")
    assert notation.error_message(caught.value).startswith("personality: ")


@pytest.mark.parametrize(
    ("mode", "delay", "expected"),
    [
        ("off", None, Spectating(mode="off")),
        ("public", "3", Spectating(delay_plies=3)),
        ("referee", "1.5s", Spectating(mode="referee", delay_ms=1500)),
        ("shoulder=2", "10s", Spectating(mode="shoulder", seat=1, delay_ms=10_000)),
        *(
            (f"shoulder={seat}", None, Spectating(mode="shoulder", seat=seat - 1))
            for seat in range(1, 17)
        ),
    ],
)
def test_spectating(mode: str, delay: str | None, expected: Spectating) -> None:
    assert notation.parse_spectating(mode, delay) == expected


def test_who_sees_comments() -> None:
    wanted = Spectating(mode="off", comments="everybody")
    assert notation.parse_spectating("off", None, "everybody") == wanted


@pytest.mark.parametrize(
    ("mode", "delay"), [("all", None), ("shoulder", None), ("public", "1.5"), ("public", "soon")]
)
def test_spectators_that_cannot_be_read_are_named(mode: str, delay: str | None) -> None:
    with pytest.raises(ValueError, match="expected"):
        notation.parse_spectating(mode, delay)


def test_a_branch_is_a_match_and_a_ply() -> None:
    assert notation.parse_branch("abc-1-1@12") == Branch(match="abc-1-1", ply=12)


@pytest.mark.parametrize("text", ["abc-1-1", "@3", "abc@", "abc@-1", "abc@x", "a@b@3", "abc@1001"])
def test_a_branch_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|match|ply"):
        notation.parse_branch(text)
