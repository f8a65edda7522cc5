"""A host's commands in a second terminal while the first follows the lobby."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest

from tests.tools.command import Kibitz

GAME = "line-nim"


@pytest.fixture
def there(kibitz: Kibitz) -> Iterator[list[str]]:
    """The command-line options for a running server."""
    words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
    with kibitz.start(*words) as server:
        yield ["--server", server.json()["url"]]


def test_a_host_starts_plays_again_removes_and_closes(kibitz: Kibitz, there: list[str]) -> None:
    seats = f"house={GAME}/greedy,house={GAME}/random"
    words = ["host", GAME, "--seats", seats, "--games", "2", "--json", "--no-wait"]
    code = json.loads(kibitz.run(*words, *there).stdout)["lobby"]
    wait_for_state(kibitz, there, code, "finished")
    again = kibitz.run("lobby", "rematch", code, *there)
    assert again.stdout == f"lobby {code} is playing its programme again\n", again.stderr
    wait_for_state(kibitz, there, code, "finished")
    kicked = kibitz.run("lobby", "kick", code, "2", *there)
    assert kicked.stdout.endswith(f" was removed from lobby {code}\n"), kicked.stderr
    closed = kibitz.run("lobby", "close", code, *there)
    assert closed.stdout == f"lobby {code} was closed\n", closed.stderr


def wait_for_state(kibitz: Kibitz, there: list[str], code: str, state: str) -> None:
    """Poll the lobbies until this one is in a state."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        listed = kibitz.run("lobby", "list", "--json", *there).stdout.splitlines()
        if (code, state) in [(each["lobby"], each["state"]) for each in map(json.loads, listed)]:
            return
    raise AssertionError(f"lobby {code} is not {state}: {listed}")


def test_a_host_that_follows_is_helped_by_another_terminal(
    kibitz: Kibitz, there: list[str]
) -> None:
    words = ["host", GAME, "--seats", f"open,house={GAME}/random", "--json", *there]
    with kibitz.start(*words) as host:
        code = host.json()["lobby"]
        refused = kibitz.run("lobby", "start", code, *there)
        # The bot is missing or not ready yet, or the other seat is open.
        assert refused.returncode == 1
        assert re.search("seat|is not ready", refused.stderr), refused.stderr
        wrong = kibitz.run("lobby", "kick", code, "nobody", *there)
        assert wrong.returncode == 2
        assert f"expected a member of lobby {code}" in wrong.stderr
        kibitz.run("lobby", "close", code, *there)
        host.rest()


def test_who_is_not_the_host_is_told_so(kibitz: Kibitz, there: list[str]) -> None:
    found = kibitz.run("lobby", "start", "abc", *there)
    assert (found.returncode, "no host of lobby abc" in found.stderr) == (1, True)
