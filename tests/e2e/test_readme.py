"""The README, followed line by line in its order, like a reader with three terminals."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kibitz_protocol.wire.recordfile import read_record
from tests.tools import walkthrough
from tests.tools.command import Kibitz, Running
from tests.tools.terminal import terminal

README = Path(__file__).parents[2] / "README.md"
ELSEWHERE = {
    "make demo": "tests/e2e/test_demo.py runs the demo, tests/project/test_makefile.py the target",
    ". .venv/bin/activate": "the tests run in an environment already",
    "pip install kibitz": "tests/e2e/test_extras.py covers this install and the next one",
    "pip install 'kibitz[server]'": "tests/e2e/test_extras.py",
    "make test": "it would run this test",
    "make docs": "tests/project/test_docs.py builds the site",
    "docker compose up": "tests/e2e/test_containers.py, where Docker is installed",
}
"""The lines that this test does not run, and why."""
_INLINE = re.compile(r"`((?:pip|make|docker) [^`\n]+)`")
_ADDRESS = re.compile(r"address +(ws://\S+)")
_CODE = re.compile(r"\b([a-z0-9]{6})\b")


class Pages:
    """The README's command lines, and which of them have not been run yet."""

    def __init__(self, text: str) -> None:
        blocks = [step.body for step in walkthrough.steps(README) if step.kind == "sh"]
        self._text = text
        self.left = [*"".join(blocks).splitlines(), *_INLINE.findall(text)]

    def words(self, start: str, code: str = "") -> list[str]:
        """Take the only line with this start and return its arguments, with the lobby's code."""
        [line] = [line for line in self.left if line.startswith(start)]
        self.left.remove(line)
        return [code if word == "CODE" else word for word in shlex.split(line)[1:]]

    def bot(self) -> str:
        """Return the file that the reader saves as mybot.py."""
        assert "`mybot.py`" in self._text
        [step] = [step for step in walkthrough.steps(README) if step.kind == "python"]
        return step.body


@contextmanager
def hosted(kibitz: Kibitz, words: list[str]) -> Iterator[tuple[Running, str]]:
    """Open a lobby; yield the command and the code that it prints."""
    with kibitz.start(*words) as host:
        found = _CODE.search(host.until("lobby").partition("lobby")[2])
        assert found is not None
        yield host, found[1]


@pytest.fixture
def pages() -> Pages:
    return Pages(README.read_text(encoding="utf-8"))


def test_the_readme_is_followed_to_its_end(kibitz: Kibitz, pages: Pages) -> None:
    first_games(kibitz, pages)
    own_bot(kibitz, pages)
    own = {"KIBITZ_SERVE_PORT": "0", "KIBITZ_SERVE_DB": str(kibitz.directory / "kibitz.db")}
    with replace(kibitz, variables=own).start(*pages.words("kibitz serve")) as server:
        found = _ADDRESS.search(server.until("address"))
        assert found is not None
        lobby(replace(kibitz, variables={"KIBITZ_SERVER": found[1]}), pages)
    assert set(pages.left) <= set(ELSEWHERE), "a line is neither run nor listed"
    assert set(ELSEWHERE) <= set(pages.left), "a line is no longer in the README"


def first_games(kibitz: Kibitz, pages: Pages) -> None:
    """Play two games between house bots, and step through the record of the first one."""
    done = kibitz.run(*pages.words("kibitz play connect-four"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^alphabeta +2 ", done.stdout, re.MULTILINE)
    *words, pattern = pages.words("kibitz record replay")
    [path] = kibitz.directory.glob(pattern)
    footer = read_record(path).footer
    assert footer is not None
    with terminal(kibitz, *words, str(path)) as screen:
        screen.until("alphabeta")
        screen.type("\x1b[C\x1b[C")
        screen.until(f"step 2 of {footer.result.plies}")


def own_bot(kibitz: Kibitz, pages: Pages) -> None:
    """Save the bot and play it against a house bot."""
    (kibitz.directory / "mybot.py").write_text(pages.bot(), encoding="utf-8")
    done = kibitz.run(*pages.words("kibitz play chinese-checkers mybot.py"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^mybot +1 ", done.stdout, re.MULTILINE)
    row = r"1 chinese-checkers \d+ \w+ (records/\S+) 1\. \w+ [12]\. \w+ "
    found = re.search(row, " ".join(done.stdout.split()))
    assert found is not None
    assert read_record(kibitz.directory / found[1]).footer is not None


def lobby(kibitz: Kibitz, pages: Pages) -> None:
    """Host twice: the bot takes the seat while a spectator watches, and then a person takes it."""
    host_words = pages.words("kibitz host")
    with hosted(kibitz, host_words) as (host, code):
        with terminal(kibitz, *pages.words("kibitz watch", code)) as spectator:
            done = kibitz.run(*pages.words("kibitz connect", code))
            assert done.returncode == 0, done.stderr
            spectator.until("Downhill")
        assert re.search(r"^Downhill +4 ", host.rest(), re.MULTILINE)
    with (
        hosted(kibitz, host_words) as (_, code),
        terminal(kibitz, *pages.words("kibitz join", code)) as player,
    ):
        player.until("greedy-hand")
