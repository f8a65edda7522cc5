"""Seeks as used by people: two processes with equal terms find each other."""

from __future__ import annotations

import json
from contextlib import ExitStack

from tests.tools.command import Kibitz

GAME = "line-nim:free=12"


def test_bots_seek_play_and_play_again(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json"]
        there = ["--server", stack.enter_context(kibitz.start(*words)).json()["url"]]
        assert kibitz.run("seek", *there).stdout == "no open seeks\n"
        bots = ["--bot", "line-nim/random", "--rounds", "2", *there]
        ada = stack.enter_context(kibitz.start("seek", GAME, *bots, "--name", "ada"))
        while not (listed := kibitz.run("seek", "--json", *there).stdout):
            assert ada.process.poll() is None, ada.log.read_text()
        seek = json.loads(listed)
        assert (seek["host"], seek["seek"]["item"]["options"]) == ("ada", {"free": 12})
        assert "ada" in kibitz.run("seek", *there).stdout
        other = stack.enter_context(
            kibitz.start("seek", GAME, "--tc", "60+1", *bots, "--name", "eve")
        )
        bob = stack.enter_context(kibitz.start("seek", GAME, *bots, "--name", "bob"))
        for each in (ada, bob):
            each.rest()
            assert each.process.returncode == 0, each.log.read_text()
        matches = kibitz.run("match", "list", "--json", *there).stdout.splitlines()
        played = [json.loads(line) for line in matches]
        rounds = {f"{seek['lobby']}-{round}-{match}" for round in (1, 2) for match in (1, 2)}
        assert {each["match"] for each in played} == rounds, "two blocks of a balanced game"
        assert {each["result"]["cause"] for each in played} == {"rules"}
        first = {tuple(who["name"] for who in each["seats"]) for each in played}
        assert first == {("ada", "bob"), ("bob", "ada")}
        assert other.process.poll() is None, "nobody else wants a clock"


def test_a_seek_that_cannot_be_is_a_sentence(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json"]
        there = ["--server", stack.enter_context(kibitz.start(*words)).json()["url"]]
        refused = kibitz.run("seek", GAME, "--rated", "--bot", "line-nim/random", *there)
        assert refused.returncode == 2
        assert "a rated match requires an account" in refused.stderr
        nowhere = kibitz.run("seek", GAME, *there)
        assert nowhere.returncode == 2
        assert "use --bot to let a bot play" in nowhere.stderr
