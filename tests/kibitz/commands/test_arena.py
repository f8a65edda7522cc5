"""`kibitz arena`: its input, its refusals, and the page about both."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.commands.arena import _services, arena
from kibitz.process.isolation.backends import Isolation
from kibitz.workers.port import PoolError
from kibitz_arena.config import load
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.tournament import Entrant, EntrantLimits, StopRule, Tournament

ROOT = Path(__file__).parents[3]
PAGES = ("how-to/tournaments.md", "how-to/isolation.md", "reference/tournament-files.md")
PAGE = "".join((ROOT / "docs" / page).read_text() for page in PAGES)
WHO = ["--players", "line-nim/random", "line-nim/greedy"]
FILE = """\
name: cup
game: line-nim
time-control: 10+0.1
entrants:
  - {name: Ada, bot: line-nim/random}
  - {name: Bob, bot: line-nim/greedy}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cup.yaml").write_text(FILE)
    return tmp_path


def refused(*words: str) -> str:
    """Return why a command line is refused before anything starts."""
    done = CliRunner().invoke(kibitz, ["arena", *words])
    assert done.exit_code == 2, done.output
    assert not [*Path.cwd().glob("*.arena")]
    return " ".join(done.output.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "expected a tournament file or directory, or --game and --players"),
        (["cup.yaml", "more.yaml"], "expected a tournament file or directory"),
        (["none.yaml"], "none.yaml: expected a tournament file"),
        (["."], ".: expected a tournament's directory, with journal.jsonl"),
        (["cup.yaml", "--tc", "9"], "--tc needs --game; in a tournament file, set it there"),
        (["cup.yaml", "--memory", "9"], "--memory needs --game"),
        (["cup.yaml", "--", "x"], "a program after -- needs --game"),
        (["cup.yaml", "--concurrency", "0"], "expected a number of at least 1, or auto, not '0'"),
        (["--game", "line-nim", "--players", "line-nim/random"], "entrants: expected at least 2"),
        (["--game", "nim", *WHO], "'nim'"),
        (
            ["--game", "line-nim", *WHO, "--games", "3"],
            "flags: games: expected a multiple of the 2",
        ),
        (["--game", "line-nim", *WHO, "--sprt", "5"], "--sprt: expected ELO0,ELO1"),
        (["--game", "line-nim", *WHO, "--stdio"], "--stdio needs a program after --"),
        (
            ["--game", "line-nim", *WHO, "--opening", "random=2"],
            "openings: random plies require a game",
        ),
        (["--game", "line-nim", *WHO, "--", "no-such"], "no-such: no such program"),
        (["--game", "line-nim", *WHO, "mine.py"], "entrants.2.bot: mine.py: file not found"),
        (["--game", "line-nim", *WHO, "--remote", "Ada"], "remote: expected --server"),
        (["--game", "line-nim", *WHO, "--rated"], "rated: expected --server"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nonsense_is_refused_in_a_sentence(words: list[str], sentence: str, here: Path) -> None:
    assert sentence in refused(*words)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("line-nim/greedy", "line-nim/gredy", "cup.yaml:6: entrants.1.bot: unknown bot"),
        ("bot: line-nim/greedy", "stdio: no-such -x", "cup.yaml:6: entrants.1.stdio: no-such: no"),
        ("bot: line-nim/greedy", "gomocup: 'true'", "cup.yaml:6: entrants.1.gomocup: "),
        (
            "bot: line-nim/greedy",
            "remote: true",
            "cup.yaml:6: entrants.1.remote: expected --server",
        ),
        (
            "line-nim/greedy}",
            "line-nim/greedy, token-file: bob.token}",
            "cup.yaml:6: entrants.1.token-file: expected --server",
        ),
        ("time-control", "rated: true\ntime-control", "cup.yaml:3: rated: expected --server"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_started_is_said_with_its_line(
    old: str, new: str, sentence: str, here: Path
) -> None:
    (here / "cup.yaml").write_text(FILE.replace(old, new))
    assert sentence in refused("cup.yaml")


def test_guests_are_not_rated_and_a_token_has_to_be_there(here: Path) -> None:
    text = FILE.replace("name: cup", "name: cup\nrated: true")
    (here / "cup.yaml").write_text(text.replace("greedy}", "greedy, token-file: bob.token}"))
    said = refused("cup.yaml", "--server", "ws://127.0.0.1:1")
    assert "entrants.0.token-file: expected the token of an account" in said
    assert "entrants.1.token-file: bob.token: cannot read the token" in said


def options() -> list[str]:
    return [param.opts[-1] for param in arena.params if param.param_type_name == "option"]


def keys(*models: Any) -> list[str]:
    return sorted({key.replace("_", "-") for model in models for key in model.model_fields})


@pytest.mark.parametrize("key", keys(Tournament, Entrant, StopRule, EntrantLimits))
def test_every_key_of_an_event_is_on_the_page(key: str) -> None:
    assert re.search(rf"\b{key}\b", PAGE)


@pytest.mark.parametrize("option", options())
def test_every_option_is_on_the_page_or_is_a_key_of_a_file(option: str) -> None:
    plain = option.removeprefix("--").replace("tc", "time-control")
    obvious = {"players", "game", "quiet", "verbose", "help"}
    assert option in PAGE or plain in [*keys(Tournament), *keys(Entrant), *obvious]


def test_the_file_of_the_page_is_an_event() -> None:
    event = load((ROOT / "docs/examples/course.yaml").read_text(), "course.yaml")
    assert {entrant.source for entrant in event.entrants} == {"bot", "stdio"}
    assert event.limits.memory == 2**30
    assert event.anchors == {"random": 0.0}


def test_an_event_whose_workers_are_not_to_be_had_ends_with_what_is_said_of_that(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def nobody(where: str) -> AsyncIterator[object]:
        raise PoolError(f"{where}: expected a Ray cluster: nothing is listening there")
        yield

    monkeypatch.setattr("kibitz.commands.arena.worker_pool", nobody)
    (here / "mine.py").write_text("def agent(observation): return 0\n")
    strangers = "".join(f"  - {{name: {name}, bot: mine.py}}\n" for name in ("Cyd", "Dan"))
    (here / "cup.yaml").write_text(FILE + strangers)
    words = ["arena", "cup.yaml", "--jail", "none", "--workers", "ray://there:1"]
    done = CliRunner().invoke(kibitz, words)
    assert done.exit_code == 2
    assert "entrants are trusted" in done.output
    assert "Error: ray://there:1: expected a Ray cluster: nothing is listening there" in done.output


@pytest.mark.parametrize(
    ("server", "far"),
    [(None, False), ("ws://127.0.0.1:8765", False), ("wss://games.example.org", True)],
)
def test_the_network_is_said_to_be_open_for_a_server_elsewhere(
    server: str | None, far: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz.commands.arena.choose_isolation", lambda *_: Isolation("bwrap"))
    given = {"token_file": None, "isolation": "auto", "server": server}
    services = _services(load(FILE, "cup.yaml"), TournamentDirectory(here), given)
    assert ("the network is open" in services.isolation_sentence) == far
