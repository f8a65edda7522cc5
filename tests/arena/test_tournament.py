from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_arena.config import build, load
from kibitz_arena.config_error import ConfigError
from kibitz_arena.tournament import FOREIGN_CLOCK, Tournament
from kibitz_games.core.game import Game
from tests.tools import profiles

GOOD = """\
name: spring-final
game: chinese-checkers:size=2
time-control: 5:00+2
format: round-robin
blocks: 5
entrants:
  - {name: Ada, bot: bots/ada.py, limits: {memory: 512M, cpu: 1}}
  - {name: no, command: node 'my bot.js'}
  - name: Old
    bot: chinese-checkers/greedy
    anchor: 100
"""


def refusal(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, "final.yaml")
    return str(caught.value).splitlines()


def test_a_file_makes_an_event() -> None:
    event = load(GOOD, "final.yaml")
    assert event.names == ("Ada", "no", "Old")
    assert event.game.options == {"size": 2}
    assert event.clock.main_ms == 300_000
    assert event.time_control == "300+2"
    assert event.entrants[0].limits is not None
    assert event.entrants[0].limits.memory == 512 * 2**20
    assert event.entrants[1].command == ["node", "my bot.js"]
    assert event.entrants[1].description == "command node 'my bot.js'"
    assert event.anchors == {"Old": 100.0}
    assert (event.games_per_pairing, event.blocks_per_pairing) == (10, 5)


def test_who_comes_from_elsewhere_is_started_by_nobody() -> None:
    event = load(GOOD.replace("command: node 'my bot.js'", "remote: yes"), "final.yaml")
    assert (event.entrants[1].source, event.entrants[1].description) == ("remote", "remote")
    assert build(event.dump(), "the journal") == event


def test_flags_make_the_same_event() -> None:
    entrants = [
        {"name": "Ada", "bot": "bots/ada.py", "limits": {"memory": 512 * 2**20, "cpu": 1}},
        {"name": "no", "command": ["node", "my bot.js"]},
        {"name": "Old", "bot": "chinese-checkers/greedy", "anchor": 100.0},
    ]
    values = {
        "name": "spring-final",
        "game": {"name": "chinese-checkers", "options": {"size": 2}},
        "time_control": "300+2",
        "blocks": 5,
        "entrants": entrants,
    }
    assert build(values, "the command line") == load(GOOD, "final.yaml")


def test_an_error_of_flags_names_its_source_and_path() -> None:
    with pytest.raises(ConfigError, match=r"(?m)^the command line: seats: expected .* found 9$"):
        build(
            {"name": "x", "game": "chinese-checkers", "seats": 9, "entrants": []},
            "the command line",
        )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "blocks: 5",
            "blocs: 5",
            "final.yaml:5: blocs: unknown key 'blocs'; did you mean 'blocks'?",
        ),
        (
            "blocks: 5",
            "games: 5",
            "final.yaml:5: games: expected a multiple of the 2 seats (4 or 6) or balanced: false,"
            " found 5",
        ),
        (
            "blocks: 5",
            "blocks: five",
            "final.yaml:5: blocks: expected a valid integer, unable to"
            " parse string as an integer, found 'five'",
        ),
        (
            "blocks: 5",
            "blocks: 5\ngames: 10",
            "final.yaml:6: games: expected blocks or games, not both",
        ),
        (
            "blocks: 5",
            "balanced: false",
            "final.yaml:5: balanced: false requires games; blocks are always complete",
        ),
        (
            "blocks: 5",
            "rounds: 5",
            "final.yaml:5: rounds: only valid with format: swiss; for other formats use blocks",
        ),
        (
            "round-robin",
            "swiss",
            "final.yaml:1: rounds: expected the number of rounds, such as 2 for 3 entrants",
        ),
        (
            "round-robin",
            "free-for-all",
            "final.yaml:1: seats: expected 3 to 6 seats with format:"
            " free-for-all, found 2; for 2 use round-robin",
        ),
        (
            "blocks: 5",
            "seats: 3",
            "final.yaml:5: seats: expected 2 with format: round-robin, found"
            " 3; for more use free-for-all",
        ),
        (
            "blocks: 5",
            "seats: 3\nformat: x",
            "final.yaml:6: duplicate key 'format', first on line 4",
        ),
        ("name: no", "name: ada", "final.yaml:8: entrants.1.name: duplicate name 'ada'"),
        (
            ", limits:",
            ", stdio: x, limits:",
            "final.yaml:7: entrants.0: expected exactly one of"
            " bot, command, gomocup, stdio, remote, found bot and stdio",
        ),
        (
            "    bot: chinese-checkers/greedy\n",
            "",
            "final.yaml:9: entrants.2: expected exactly one"
            " of bot, command, gomocup, stdio, remote, found none",
        ),
        (
            "anchor: 100",
            "anchr: 100",
            "final.yaml:11: entrants.2.anchr: unknown key 'anchr'; did you mean 'anchor'?",
        ),
        (
            "command: node 'my bot.js'",
            "remote: no",
            "final.yaml:8: entrants.1.remote: expected true; omit the key otherwise, found 'no'",
        ),
        (
            "command: node 'my bot.js'",
            "remote: true, limits: {cpu: 9}",
            "final.yaml:8: entrants.1.limits: not allowed for remote entrants",
        ),
        (
            "command: node 'my bot.js'",
            "remote: true, token-file: no.token",
            "final.yaml:8: entrants.1.token-file: not allowed for remote entrants",
        ),
        (
            "cpu: 1",
            "cpu: 0.5",
            "final.yaml:7: entrants.0.limits.cpu: expected a valid integer, got a number with a"
            " fractional part, found 0.5",
        ),
        (
            "512M",
            "lots",
            "final.yaml:7: entrants.0.limits.memory: expected an amount of memory like"
            " 512M or 2G, found 'lots'",
        ),
        (
            "5:00+2",
            "fast",
            "final.yaml:3: time-control: expected a time control like 10+0.1,"
            " move=1, byo=60+3x10 or none, not 'fast'",
        ),
        (
            "size=2",
            "size=9",
            "final.yaml:2: game.options.size: a star has size 1 to 5, not 9",
        ),
        (
            "size=2",
            "sise=2",
            "final.yaml:2: game.options.sise: unknown option; did you mean 'size'?",
        ),
        ("chinese-checkers:", "chinese-chekers:", "final.yaml:2: game: unknown game"),
        (
            "blocks: 5",
            "stop: {better: [Ada, Odl]}",
            "final.yaml:5: stop.better.1: unknown entrant 'Odl'; did you mean 'Old'?",
        ),
        (
            "blocks: 5",
            "stop: {better: [Ada, Ada]}",
            "final.yaml:5: stop.better: expected two entrants who meet in every cycle",
        ),
        (
            "blocks: 5",
            "stop: {better: [Ada, Old], elo1: -1}",
            "final.yaml:5: stop.elo1: expected more than elo0 (0), found -1",
        ),
        (
            "blocks: 5",
            "ratings: {mean: 1500}",
            "final.yaml:5: ratings.mean: a mean cannot be combined with anchors",
        ),
        (
            "blocks: 5",
            "concurrency: 0",
            "final.yaml:5: concurrency: expected a number of concurrent games, or auto, found 0",
        ),
        (
            "blocks: 5",
            "deadline: 2030-05-31 18:00",
            "final.yaml:5: deadline: expected a time with"
            " a time zone, like 2030-05-31T18:00+02:00, found '2030-05-31 18:00'",
        ),
        (
            "blocks: 5",
            "openings: [{size: 3}, {size: 8}]",
            "final.yaml:5: openings.1.size: a star has size 1 to 5, not 8",
        ),
        (
            "blocks: 5",
            "challengers: 2",
            "final.yaml:5: challengers: only valid with format: gauntlet",
        ),
        (
            "round-robin\nblocks: 5",
            "swiss\nrounds: 1000\ngames: 100000",
            "final.yaml:6: games: expected at most 1,000,000 games in total, found 100,000,000",
        ),
        ("blocks: 5", "blocks: [", "final.yaml:7: expected YAML: "),
    ],
)
def test_what_does_not_add_up_is_refused_with_line_path_and_expectation(
    old: str, new: str, line: str
) -> None:
    assert old in GOOD
    assert refusal(GOOD.replace(old, new, 1))[0].startswith(line)


def test_all_that_is_wrong_is_said_at_once() -> None:
    text = (
        GOOD.replace("512M", "x").replace("blocks: 5", "blocks: 0").replace("anchor: 100", "z: 1")
    )
    assert len(refusal(text)) == 3


@pytest.mark.parametrize("text", ["", "[]", "just words", "3"])
def test_a_file_without_keys_is_refused(text: str) -> None:
    assert "expected keys and values, such as name and game" in refusal(text)[0]


def test_games_may_be_cut_short_where_that_is_said() -> None:
    event = load(GOOD.replace("blocks: 5", "games: 5\nbalanced: false"), "final.yaml")
    assert (event.games_per_pairing, event.blocks_per_pairing) == (5, 3)


def test_random_plies_are_for_games_with_an_opening() -> None:
    without = GOOD.replace("chinese-checkers:size=2", "line-nim")
    assert refusal(without.replace("blocks: 5", "openings: {random-plies: 4}")) == [
        "final.yaml:5: openings: random plies require a game with an option 'opening'"
    ]
    text = GOOD.replace("chinese-checkers:size=2", "five-in-a-row").replace(
        "blocks: 5", "openings: {random-plies: 3}"
    )
    assert load(text, "final.yaml").openings is not None


def test_an_opening_longer_than_any_play_is_refused() -> None:
    text = GOOD.replace("chinese-checkers:size=2", "five-in-a-row:size=5").replace(
        "blocks: 5", "openings: {random-plies: 30}"
    )
    assert refusal(text) == [
        "final.yaml:5: openings.random-plies: found no opening of 30 plies that 'five-in-a-row'"
        " accepts"
    ]


def test_options_that_fit_alone_may_not_fit_together() -> None:
    text = GOOD.replace("chinese-checkers:size=2", "five-in-a-row:swap=yes,opening=h8")
    assert refusal(text) == [
        "final.yaml:2: game.options.opening: an opening and a swap cannot be combined"
    ]


def test_the_rules_may_come_from_elsewhere(game: Game) -> None:
    text = GOOD.replace("chinese-checkers:", "my-game:")
    assert load(text, "final.yaml", game_of=lambda name: game).game.name == "my-game"


def test_the_hash_is_of_what_says_which_games_there_are() -> None:
    event = load(GOOD, "final.yaml")
    same = load(GOOD + "concurrency: 7\ndeadline: 2030-05-31T18:00+02:00\n", "final.yaml")
    other = load(GOOD + "seed: 7\n", "final.yaml")
    assert event.hash == same.hash != other.hash


@given(
    blocks=st.integers(1, 50),
    seed=st.integers(0, 2**53 - 1),
    names=st.lists(
        st.text("abcdefgh", min_size=1, max_size=8), min_size=2, max_size=6, unique=True
    ),
    anchor=st.none() | st.floats(-3000, 3000),
    plies=st.none() | st.integers(1, 9),
)
@settings(max_examples=profiles.examples(50), deadline=None)
def test_what_an_event_dumps_makes_it_again(
    blocks: int, seed: int, names: list[str], anchor: float | None, plies: int | None
) -> None:
    entrants = [{"name": name, "command": [name, "-x"], "anchor": anchor} for name in names]
    values = {"name": "e", "game": "x", "blocks": blocks, "seed": seed, "entrants": entrants}
    event = Tournament.model_validate(
        values | ({"openings": {"random_plies": plies}} if plies else {})
    )
    again = Tournament.model_validate(event.dump())
    assert again == event
    assert again.hash == event.hash


@pytest.mark.parametrize(
    ("entrant", "clock"),
    [
        ({"bot": "line-nim/greedy"}, "none"),
        ({"bot": "mine.py"}, FOREIGN_CLOCK),
        ({"command": ["./mine"]}, FOREIGN_CLOCK),
        ({"stdio": ["./mine"]}, FOREIGN_CLOCK),
        ({"remote": True}, FOREIGN_CLOCK),
    ],
)
def test_an_entrant_that_never_answers_stops_no_event(entrant: dict[str, Any], clock: str) -> None:
    rest = {"name": "cup", "game": "line-nim"}
    entrants = [{"name": "a", "bot": "line-nim/random"}, {"name": "b", **entrant}]
    cup = Tournament.model_validate({**rest, "entrants": entrants})
    assert str(cup.clock) == clock
    said = Tournament.model_validate({**rest, "entrants": entrants, "time-control": "none"})
    assert str(said.clock) == "none"
    assert Tournament.model_validate(cup.dump()).hash == cup.hash
