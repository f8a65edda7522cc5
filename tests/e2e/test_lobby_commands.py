"""What a host asks for from another terminal than the one that follows the lobby."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.tools.command import Kibitz

GAME = "line-nim"


@pytest.fixture
def there(kibitz: Kibitz) -> Iterator[list[str]]:
    """A running server, as options."""
    words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
    with kibitz.start(*words) as server:
        yield ["--server", server.json()["url"]]


def test_a_host_starts_plays_again_removes_and_closes(kibitz: Kibitz, there: list[str]) -> None:
    seats = f"house={GAME}/greedy,house={GAME}/random"
    with ExitStack() as stack:
        words = ["host", GAME, "--seats", seats, "--games", "2", "--json", "--no-wait"]
        code = stack.enter_context(kibitz.start(*words, *there)).json()["lobby"]
        with kibitz.start("watch", code, *there) as watching:
            watching.until("ends")
        again = kibitz.run("lobby", "rematch", code, *there)
        assert again.stdout == f"lobby {code} plays its programme again\n"
        closed = kibitz.run("lobby", "close", code, *there)
        assert closed.stdout == f"lobby {code} is closed\n"


def test_a_host_that_follows_is_helped_by_another_terminal(
    kibitz: Kibitz, there: list[str]
) -> None:
    words = ["host", GAME, "--seats", f"open,house={GAME}/random", "--json", *there]
    with kibitz.start(*words) as host:
        code = host.json()["lobby"]
        refused = kibitz.run("lobby", "start", code, *there)
        assert (refused.returncode, "seat" in refused.stderr) == (1, True)
        wrong = kibitz.run("lobby", "kick", code, "nobody", *there)
        assert wrong.returncode == 2
        assert f"expected a member of lobby {code}" in wrong.stderr
        kibitz.run("lobby", "close", code, *there)
        host.rest()


def test_who_is_not_the_host_is_told_so(kibitz: Kibitz, there: list[str]) -> None:
    found = kibitz.run("lobby", "start", "abc", *there)
    assert (found.returncode, "no host of lobby abc" in found.stderr) == (1, True)
