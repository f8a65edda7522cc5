"""`kibitz ladder`: what it prints of a ladder."""

from __future__ import annotations

from kibitz.commands.ladder import shown
from kibitz_protocol.wire.lobbies import LadderLine, LadderTable


def table(places: int, players: int) -> LadderTable:
    lines = [
        LadderLine(
            place=place,
            key=f"a{place}",
            name=f"bot {place}",
            kind="bot",
            rating=1700.4 - place,
            deviation=61.6,
            matches=12,
            last_played=1_893_553_445,
        )
        for place in range(1, places + 1)
    ]
    return LadderTable(game="line", players=players, matches=24, lines=lines)


def test_a_ladder_is_a_table() -> None:
    head, heads, first, second = shown(table(2, 2))
    assert head == "line: 2 players, 24 rated matches"
    assert heads.split() == [
        "place",
        "name",
        "kind",
        "rating",
        "sure",
        "to",
        *["matches", "last", "played"],
    ]
    assert first.split() == ["1", "bot", "1", "bot", "1699", "+-62", "12", "2030-01-02"]
    assert second.split()[0] == "2"


def test_what_is_left_off_is_said() -> None:
    assert list(shown(table(1, 30)))[-1] == "  and 29 more players; see --first and --count"
