"""After a terminal is killed, the same command resumes everything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.tools.command import PATIENCE_SECONDS, Kibitz, Running
from tests.tools.terminal import terminal


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_host_and_a_player_are_killed_and_come_back(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
        url = stack.enter_context(kibitz.start(*words)).json()["url"]
        there = ["--server", url]
        seats = "open,house=number-merge/random"
        hosting = ["host", "number-merge", "--seats", seats, "--title", "evening", *there]

        def host() -> Running:
            return stack.enter_context(kibitz.start(*hosting, "--json"))

        def match() -> dict[str, object]:
            lines = kibitz.run("match", "list", "--json", *there).stdout.splitlines()
            [brief] = [line for line in map(json.loads, lines) if "result" not in line]
            return dict(brief)

        first = host()
        lobby = first.json()["lobby"]
        join = ["join", lobby, "--name", "ada", *there]
        with terminal(kibitz, *join) as player:
            player.until("press r")
            player.type("r")
            player.until("Your turn")
            second_terminal = kibitz_on_a_terminal(kibitz, join)
            assert "another of your terminals" in second_terminal
            assert str(player.process.pid) in second_terminal
        first.send(signal.SIGKILL)
        first.rest()
        before = match()

        second = host()
        assert second.json() == {"lobby": lobby, "invite": None, "again": True}
        with terminal(kibitz, *join) as player:
            player.until("welcome back, ada")
            player.until("Your turn")
            player.type("0+1\r")
            until(lambda: int(str(match()["ply"])) > int(str(before["ply"])))
            assert match()["match"] == before["match"]
            player.type("\x12")  # resign: ctrl-r, and yes
            player.until("Resign this match?")
            player.type("y")
            player.until("resigned")
        with terminal(kibitz, *join) as player:  # the block's second match
            player.until("Your turn")
            player.type("\x12")
            player.until("Resign this match?")
            player.type("y")
            result = json.loads(second.rest())
        assert [each["result"]["cause"] for each in result["matches"]] == ["resignation"] * 2
        third = host()
        told = third.json()
        assert "again" not in told
        assert told["lobby"] != lobby


def kibitz_on_a_terminal(kibitz: Kibitz, words: list[str]) -> str:
    """Run the command on a terminal to its end, and return its output."""
    with terminal(kibitz, *words) as other:
        try:
            other.until("\0never")
        except (AssertionError, OSError):  # the command and its terminal have ended
            assert other.process.wait(PATIENCE_SECONDS) == 1
        return other.text


HELD = """
import time
from pathlib import Path
from kibitz import Bot

class Ada(Bot):
    jit = False

    def choose(self, turn):
        while turn.ply > 1 and Path("hold").exists():
            time.sleep(0.05)
        return turn.legal[0]

if __name__ == "__main__":
    Ada.main()
"""


@pytest.mark.parametrize(
    "words", [["-m", "kibitz", "connect", "ada.py"], ["ada.py"]], ids=["command", "main"]
)
def test_a_bot_is_killed_and_comes_back(kibitz: Kibitz, words: list[str]) -> None:
    (kibitz.directory / "ada.py").write_text(HELD)
    (kibitz.directory / "hold").touch()
    with ExitStack() as stack:
        serving = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
        url = stack.enter_context(kibitz.start(*serving)).json()["url"]
        hosting = [
            "host",
            "line-nim:free=33",
            "--no-rotate",
            "--seats",
            "open,house=line-nim/random",
        ]
        house = stack.enter_context(kibitz.start(*hosting, "--json", "--server", url))
        lobby = house.json()["lobby"]
        command = [sys.executable, *words, "--lobby", lobby, "--server", url]

        def bot() -> subprocess.Popen[str]:
            return stack.enter_context(
                subprocess.Popen(
                    command,
                    cwd=kibitz.directory,
                    env=kibitz.environment(),
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )

        def plies() -> int:
            lines = kibitz.run("match", "list", "--json", "--server", url).stdout.splitlines()
            return sum(int(json.loads(line)["ply"]) for line in lines)

        first = bot()
        until(lambda: plies() >= 2)
        # A second process of the same bot does not take another player's seat.
        _, said = bot().communicate(timeout=PATIENCE_SECONDS)
        assert "name_taken" in said
        first.kill()
        again = bot()
        (kibitz.directory / "hold").unlink()
        result = json.loads(house.rest())
        _, said = again.communicate(timeout=PATIENCE_SECONDS)
        assert again.returncode == 0, said
        [match] = result["matches"]
        assert match["result"]["cause"] == "rules"
        assert all("cause" not in seat for seat in match["result"]["seats"])
        # A player who has played to the end cannot be resumed.
        assert [*(kibitz.directory / "state" / "bots").glob("*.resume")] == []
