"""The tutorials, followed from top to bottom."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools import walkthrough
from tests.tools.command import MARK, Kibitz, plain_kibitz
from tests.tools.game_package import install, search_path
from tests.tools.walkthrough import Reader

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("e2e")]

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"
FIRST_BOT = TUTORIALS / "first-bot.md"
FIRST_GAME = TUTORIALS.parent / "add-a-game.md"
DRAW = """
from kibitz_clients.render.svg import document
from kibitz_clients.render.terminal import canvas
from kibitz_games.core import registry
from kibitz_games.core.position import Position

position = Position(registry.get("avoid-three"))
while True:
    scene = position.scene()
    assert canvas.board_size(scene, canvas.fit_tile_size(scene, 52, 18))[0] <= 52
    assert canvas.draw(scene, canvas.fit_tile_size(scene, 52, 18)).rows
    assert document.render_svg(scene).startswith("<svg")
    if position.outcome is not None:
        break
    position.push(position.legal[-1])
print("drawn")
"""


@pytest.fixture
def kibitz(tmp_path: Path) -> Iterator[Kibitz]:
    """The command in an empty directory."""
    with plain_kibitz(tmp_path) as command:
        yield command


@pytest.fixture
def reader(kibitz: Kibitz) -> Reader:
    """A reader in that directory, whose processes also have the marker."""
    return Reader(kibitz.directory, {MARK: kibitz.mark})


def test_the_first_bot_plays_is_measured_examined_and_connected(
    reader: Reader, kibitz: Kibitz
) -> None:
    reader.follow(FIRST_BOT)
    assert (kibitz.directory / "records" / "better.log").is_file()
    serve, host, bot = waiting_commands()
    assert serve == ["serve"]
    with kibitz.start("serve", "--port", "0", "--db", "server.db", "--json") as server:
        at = ["--server", server.json()["url"]]
        with kibitz.start(*host, *at, "--json") as lobby:
            code = lobby.json()["lobby"]
            words = [code if word == "CODE" else word for word in bot]
            done = kibitz.run(*words, *at, seconds=150)
            assert done.returncode == 0, done.stdout + done.stderr
            standings = json.loads(lobby.rest())["standings"]
            assert [line["played"] for line in standings] == [2, 2]
            assert all(line["causes"] == {} for line in standings)


def test_the_first_tournament_is_played_and_taken_up_again(reader: Reader, kibitz: Kibitz) -> None:
    reader.follow(TUTORIALS / "first-tournament.md")


def test_the_first_game_is_written_tested_and_played(reader: Reader) -> None:
    site = reader.directory / "site"
    followed = replace(reader, environment={**reader.environment, "PYTHONPATH": search_path(site)})
    for step in walkthrough.steps(FIRST_GAME):
        followed.do(step)
        if "pip install" in step.body:
            install(reader.directory / "avoid-three", site)
    assert (reader.directory / "avoid-three.svg").read_text().startswith("<svg")
    assert followed.run(f"python - <<'EOF'{DRAW}EOF") == "drawn\n"


def waiting_commands() -> list[list[str]]:
    """Return the arguments of the commands that the page runs in three terminals."""
    lines = [step.body for step in walkthrough.steps(FIRST_BOT) if step.kind == "console"]
    return [shlex.split(line)[1:] for line in lines if line.startswith("kibitz ")]


def test_every_tutorial_is_followed() -> None:
    text = Path(__file__).read_text()
    for page in TUTORIALS.glob("*.md"):
        assert page.name in text


def test_what_is_seen_is_compared(tmp_path: Path) -> None:
    walkthrough.compare("one\n... three ...", "zero\none\ntwo and three  or four\n")
    with pytest.raises(AssertionError, match="'three' is not in"):
        walkthrough.compare("one\nthree", "three\none\n")
    with pytest.raises(AssertionError, match="exit 3"):
        Reader(tmp_path).run("exit 3")
    (tmp_path / "x.py").write_text("a\n")
    with pytest.raises(AssertionError, match="no unique place"):
        Reader(tmp_path).change("x.py", " not there\n+anything\n")
