"""The tutorials, followed from top to bottom; `test_add_a_game.py` follows the one about games."""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools import walkthrough
from tests.tools.command import END_SECONDS, MARK, Kibitz, ended, marked
from tests.tools.walkthrough import Reader

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("e2e")]

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"
FIRST_BOT = TUTORIALS / "first-bot.md"


@pytest.fixture
def kibitz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kibitz]:
    """The command in an empty directory; nothing that it starts outlives the test, or compiles."""
    monkeypatch.setenv("KIBITZ_PLAIN", "1")
    command = Kibitz(tmp_path, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


@pytest.fixture
def reader(kibitz: Kibitz) -> Reader:
    """A reader in that directory, whose processes have the mark too."""
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


def waiting_commands() -> list[list[str]]:
    """Return the words of the commands that the page runs in three terminals."""
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
    with pytest.raises(AssertionError, match="no single place"):
        Reader(tmp_path).change("x.py", " not there\n+anything\n")
