"""A server's rating list with house bots, from the hosting command to the one that shows it."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from tests.tools.command import Kibitz

GAME = "line-nim"
BOTS = (f"{GAME}/greedy", f"{GAME}/random")


@pytest.mark.slow
def test_house_bots_are_rated_by_their_personality(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
        there = ["--server", stack.enter_context(kibitz.start(*words)).json()["url"]]
        assert kibitz.run("ladder", "rated", *there).stdout == "no rated matches yet\n"
        seats = ",".join(f"house={bot}" for bot in BOTS)
        made = kibitz.run("token", "new", "ada", "--db", "kibitz.db", "--json")
        (kibitz.directory / "ada.token").write_text(json.loads(made.stdout)["token"])
        host = ["host", GAME, "--seats", seats, "--games", "4", "--tc", "60+1", *there]
        refused = kibitz.run(*host, "--rated")
        assert "a rated match requires an account" in refused.stderr
        for rated in ([], ["--rated", "--token-file", "ada.token"]):
            kibitz.run(*host, *rated)
        (table,) = map(
            json.loads, kibitz.run("ladder", "rated", GAME, "--json", *there).stdout.splitlines()
        )
        assert (table["game"], table["matches"], table["players"]) == (GAME, 4, 2)
        assert sorted(line["key"] for line in table["lines"]) == sorted(BOTS)
        assert {line["matches"] for line in table["lines"]} == {4}
        shown = kibitz.run("ladder", "rated", *there).stdout
        assert f"{GAME}: 2 players, 4 rated matches" in shown
        assert all(bot in shown for bot in BOTS)
