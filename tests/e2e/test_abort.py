"""The operator aborts a match without a result from a terminal."""

from __future__ import annotations

import json
import time

from tests.tools.command import Kibitz

GAME = "line-nim"


def running_match(kibitz: Kibitz, there: list[str]) -> str:
    """Wait for a running match and return it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        listed = kibitz.run("match", "list", "--json", *there).stdout.splitlines()
        running = [each for each in map(json.loads, listed) if each.get("result") is None]
        if running:
            return str(running[0]["match"])
    raise AssertionError("no match runs")


def test_an_operator_ends_a_match_and_nobody_else_does(kibitz: Kibitz) -> None:
    serve = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--operator", "Olga"]
    with kibitz.start(*serve, "--pace", "60") as server:
        there = ["--server", server.json()["url"]]
        for name in ("olga", "ada"):
            made = kibitz.run("token", "new", name, "--db", "kibitz.db", "--json")
            (kibitz.directory / f"{name}.token").write_text(json.loads(made.stdout)["token"])
        seats = f"house={GAME}/greedy,house={GAME}/random"
        kibitz.run("host", GAME, "--seats", seats, "--games", "2", "--no-wait", *there)
        match = running_match(kibitz, there)
        refused = kibitz.run("match", "abort", match, "--token-file", "ada.token", *there)
        assert (refused.returncode, "operator" in refused.stderr) == (1, True)
        asked = ["--reason", "a test", "--token-file", "olga.token", *there]
        words = ["match", "abort", match, *asked]
        assert kibitz.run(*words).stdout == f"match {match} was aborted\n"
        over = kibitz.run(*words)
        assert (over.returncode, "over" in over.stderr) == (1, True)
        listed = kibitz.run("match", "list", "--json", *there).stdout.splitlines()
        briefs = {each["match"]: each for each in map(json.loads, listed)}
        assert briefs[match]["result"]["cause"] == "aborted"
