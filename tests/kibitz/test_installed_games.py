"""Games of installed packages, on a real server with bots in separate processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz, plain_kibitz
from tests.tools.game_package import declare, install, search_path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("e2e")]


@pytest.fixture
def kibitz(tmp_path: Path) -> Iterator[Kibitz]:
    """The command with a working game, a broken one, and two with the same name installed."""
    site = tmp_path / "site"
    with plain_kibitz(tmp_path, PYTHONPATH=search_path(site)) as command:
        made = command.run("game", "new", "hop")
        assert made.returncode == 0, made.stderr
        install(tmp_path / "hop", site)
        (site / "wreck.py").write_text("raise RuntimeError('out of order')\n")
        declare(site, "wreck-games", {"wreck": "wreck:GAME"})
        declare(site, "first-games", {"puddle": "first:GAME"})
        declare(site, "second-games", {"puddle": "second:GAME"})
        yield command


def test_a_game_of_a_package_is_served_played_and_drawn(kibitz: Kibitz) -> None:
    with kibitz.start("serve", "--port", "0", "--db", "kibitz.db", "--json") as server:
        at = ["--server", server.json()["url"]]
        seats = ["--seats", "open,house=hop/greedy"]
        with kibitz.start("host", "hop", *seats, *at, "--records", "results", "--json") as lobby:
            code = lobby.json()["lobby"]
            played = kibitz.run("connect", "hop/random", "--lobby", code, *at)
            assert played.returncode == 0, played.stdout + played.stderr
            summary = json.loads(lobby.rest().splitlines()[-1])
    matches = [kibitz.directory / match["record"] for match in summary["matches"]]
    assert len(matches) == 2
    for match in matches:
        footer = read_record(match).footer
        assert footer is not None
        assert footer.result.plies == 9
        drawn = kibitz.run(
            "record", "export", str(match), "--ply", "3", "--out", f"{match.stem}.svg"
        )
        assert drawn.returncode == 0, drawn.stderr
        assert "<svg" in (kibitz.directory / f"{match.stem}.svg").read_text()
    warnings = server.log.read_text()
    assert "'wreck' from the package wreck-games 0.1.0: RuntimeError" in warnings
    assert "first-games 0.1.0 and second-games 0.1.0 each provide a game 'puddle'" in warnings


def test_the_lists_have_the_games_that_load(kibitz: Kibitz) -> None:
    for noun in ("game", "bot"):
        listed = kibitz.run(noun, "list")
        assert listed.returncode == 0, listed.stderr
        assert "hop" in listed.stdout
        assert "wreck" not in listed.stdout
        assert "puddle" not in listed.stdout
    assert "hop/hop.md" in kibitz.run("game", "show", "hop").stdout
    refused = kibitz.run("game", "show", "puddle")
    assert refused.returncode == 1
    assert "first-games 0.1.0 and second-games 0.1.0" in refused.stderr
