from __future__ import annotations

from typing import Any

import pytest

from kibitz import notation
from kibitz_protocol.records import Spectating
from kibitz_protocol.rooms import HouseSeat, OpenSeat, ReservedSeat


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("chess", "chess", {}),
        ("star:size=3", "star", {"size": 3}),
        ("star:pass=no,stop=any,low=-2", "star", {"pass": False, "stop": "any", "low": -2}),
        ("star:corners=0+3+5", "star", {"corners": [0, 3, 5]}),
    ],
)
def test_game(text: str, name: str, options: dict[str, Any]) -> None:
    assert notation.game(text) == notation.GameChoice(name, options)


@pytest.mark.parametrize("text", ["", ":size=3", "star:size", "star:=3", "star:size=", "star:a=1,"])
def test_a_game_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        notation.game(text)


def test_an_option_is_given_once() -> None:
    with pytest.raises(ValueError, match="'size' is given twice"):
        notation.options(["size=3", "size=4"])


def test_seats() -> None:
    assert notation.seats("open,house=star/deep:depth=3,time=0.5,name=ada,2xopen") == [
        OpenSeat(),
        HouseSeat(personality="star/deep:depth=3,time=0.5"),
        ReservedSeat(name="ada"),
        OpenSeat(),
        OpenSeat(),
    ]


@pytest.mark.parametrize("text", ["", "opened", "house=", "open,,open", "name=", "ada"])
def test_seats_that_cannot_be_read_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="expected seats like"):
        notation.seats(text)


def test_a_house_seat_needs_a_personality_as_the_protocol_has_it() -> None:
    with pytest.raises(ValueError, match="personality") as caught:
        notation.seats("house=nobody")
    assert notation.sentence(caught.value).startswith("personality: ")


@pytest.mark.parametrize(
    ("mode", "delay", "expected"),
    [
        ("off", None, Spectating(mode="off")),
        ("public", "3", Spectating(delay_plies=3)),
        ("referee", "1.5s", Spectating(mode="referee", delay_ms=1500)),
        ("shoulder=2", "10s", Spectating(mode="shoulder", seat=2, delay_ms=10_000)),
    ],
)
def test_spectating(mode: str, delay: str | None, expected: Spectating) -> None:
    assert notation.spectating(mode, delay) == expected


@pytest.mark.parametrize(
    ("mode", "delay"), [("all", None), ("shoulder", None), ("public", "1.5"), ("public", "soon")]
)
def test_spectators_that_cannot_be_read_are_named(mode: str, delay: str | None) -> None:
    with pytest.raises(ValueError, match="expected"):
        notation.spectating(mode, delay)
