"""A server, a host, bots and spectators as processes, and a killed server."""

from __future__ import annotations

import json
import signal
import socket
from contextlib import ExitStack

import pytest

from tests.tools.command import Kibitz, Running

GREEDY, RANDOM = "chinese-checkers/greedy-euclid", "chinese-checkers/random"
MATCHES = 12


@pytest.fixture
def port() -> int:
    """Return a free port, for a server that reuses it after restarts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        chosen: int = probe.getsockname()[1]
        return chosen


def serve(kibitz: Kibitz, stack: ExitStack, port: int = 0) -> tuple[Running, str]:
    words = ["serve", "--port", str(port), "--db", "kibitz.db", "--json", "--unlimited"]
    server = stack.enter_context(kibitz.start(*words))
    return server, server.json()["url"]


def test_host_bots_and_a_spectator_each_on_their_own(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        server, url = serve(kibitz, stack)
        there = ["--server", url]
        seats = f"open,house={GREEDY},name=ada"
        programme = ["chinese-checkers:size=2", "--seats", seats, "--games", "2", "--tc", "move=5"]
        host = stack.enter_context(kibitz.start("host", *programme, "--json", *there))
        lobby = host.json()["lobby"]
        watch = stack.enter_context(kibitz.start("watch", lobby, "--plain", *there))
        listed = json.loads(kibitz.run("lobby", "list", "--json", *there).stdout)
        assert listed["lobby"] == lobby
        come = [*there, "--lobby", lobby]
        bots = [
            stack.enter_context(kibitz.start("connect", RANDOM, *come, "--name", "ada")),
            stack.enter_context(kibitz.start("connect", GREEDY, *come, "--name", "bob")),
        ]
        result = json.loads(host.rest())
        assert host.process.returncode == 0
        assert [match["result"]["cause"] for match in result["matches"]] == ["rules", "rules"]
        names = {line["name"] for line in result["standings"]}
        assert names == {"ada", "bob", "house greedy-euclid"}
        lines = watch.rest().splitlines()
        assert watch.process.returncode == 0
        assert sum("begins" in line for line in lines) == 2
        told = json.loads(kibitz.run("match", "list", "--json", *there).stdout.splitlines()[0])
        assert told["result"]["cause"] == "rules"
        for bot in bots:
            bot.rest()
            assert bot.process.returncode == 0, bot.log.read_text()
        server.send(signal.SIGTERM)
        server.rest()
        assert server.process.returncode == 0


def test_a_stranger_needs_a_token_and_a_revoked_one_is_none(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["--port", "0", "--db", "kibitz.db", "--guests", "nobody", "--json"]
        url = stack.enter_context(kibitz.start("serve", *words)).json()["url"]
        ask = ["lobby", "list", "--server", url]
        refused = kibitz.run(*ask)
        assert refused.returncode == 1
        assert "unauthorized" in refused.stderr
        made = json.loads(kibitz.run("token", "new", "ada", "--db", "kibitz.db", "--json").stdout)
        (kibitz.directory / "ada.token").write_text(made["token"])
        assert kibitz.run(*ask, "--token-file", "ada.token").returncode == 0
        gone = kibitz.run("token", "revoke", str(made["id"]), "--db", "kibitz.db")
        assert gone.returncode == 0
        assert kibitz.run(*ask, "--token-file", "ada.token").returncode == 1


def test_a_server_that_is_killed_goes_on_where_it_was(kibitz: Kibitz, port: int) -> None:
    """The server is killed during twelve matches; bots and host reconnect automatically."""
    with ExitStack() as stack:
        server, url = serve(kibitz, stack, port)
        programme = ["chinese-checkers:size=3", "--seats", "2xopen", "--games", str(MATCHES)]
        host = stack.enter_context(
            kibitz.start("host", *programme, "--at-once", str(MATCHES), "--server", url)
        )
        lobby = host.line().split()[1]
        come = ["--server", url, "--lobby", lobby, "--at-once", str(MATCHES)]
        for name in ("ada", "bob"):
            stack.enter_context(kibitz.start("connect", GREEDY, *come, "--name", name))
        host.until(f"match {MATCHES} begins")
        server.send(signal.SIGKILL)
        server.rest()
        serve(kibitz, stack, port)
        report = host.rest()
        assert host.process.returncode == 0, report
        assert sum(" ends: " in line for line in report.splitlines()) == MATCHES
