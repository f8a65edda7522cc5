"""`kibitz seek`: its list, and its reading of arguments."""

from __future__ import annotations

import json
from typing import Any

from kibitz.commands.seek import _item, bot_command, seek_lines
from kibitz.options.notation import parse_game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbyBrief, ProgrammeItem, SeekTerms

TERMS = SeekTerms(
    item=ProgrammeItem(
        game="line-nim", options={"free": 12}, time_control=TimeControl.parse("10+0.1")
    )
)


def brief(lobby: str, **fields: Any) -> LobbyBrief:
    known: dict[str, Any] = {
        "lobby": lobby,
        "name": "ada seeks",
        "host": "ada",
        "state": "gathering",
        "joinable": "open",
        "watchable": True,
        "games": ["line-nim"],
        "members": 1,
        "places": 2,
        "seek": TERMS,
    }
    return LobbyBrief.model_validate(known | fields)


def test_open_seeks_are_listed_and_nothing_else() -> None:
    briefs = [
        brief("L1"),
        brief("L2", seek=None),
        brief("L3", state="running"),
        brief("L4", members=2),
    ]
    head, line = seek_lines(briefs, as_json=False)
    assert head.split() == ["code", "by", "game", "clock", "seats", "rated", "options"]
    assert line.split() == ["L1", "ada", "line-nim", "10+0.1", "1/2", "no", "free=12"]
    (told,) = seek_lines(briefs, as_json=True)
    assert json.loads(told)["lobby"] == "L1"
    assert seek_lines(briefs[1:], as_json=False) == ["no open seeks"]


def test_a_bot_seeks_as_kibitz_bot_does() -> None:
    given = {
        "bot": "mybot.py",
        "wait_s": 60,
        "server": "ws://a",
        "rounds": 2,
        "name": "ada",
        "token_file": None,
    }
    words = bot_command(TERMS, given)
    assert words[1:6] == ["-P", "-m", "kibitz", "connect", "mybot.py"]
    assert SeekTerms.model_validate_json(words[words.index("--seek") + 1]) == TERMS
    assert words[-2:] == ["--name", "ada"]
    assert "--token-file" not in words


def test_a_game_is_for_as_few_as_it_can_be() -> None:
    given = {"tc": TimeControl(), "players": None, "each": None}
    assert _item(parse_game("chinese-checkers:size=3"), given).seats == 2
    assert _item(parse_game("chinese-checkers"), given | {"players": 3}).seats == 3
    assert _item(parse_game("unknown-here"), given).seats == 2
