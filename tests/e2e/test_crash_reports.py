"""A bot author's steps from a crash to its report and a retry of the same turn."""

from __future__ import annotations

import json
import shlex
from contextlib import ExitStack

import pytest

from tests.tools.command import Kibitz

CRASHING = """
import sys
from kibitz import Bot

class Crashing(Bot):
    def choose(self, turn):
        print("so far so good", file=sys.stderr)
        return turn.legal[0] if turn.ply < 4 else 1 / 0
"""
MENDED = CRASHING.replace("1 / 0", "turn.legal[-1]")


def test_a_crash_leaves_the_command_that_asks_the_same_again(kibitz: Kibitz) -> None:
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    (kibitz.directory / "mended.py").write_text(MENDED)
    played = kibitz.run("play", "line-nim", "crashing.py", "line-nim/random", "--json")
    assert played.returncode == 1
    path = next(iter(json.loads(played.stdout)["reports"].values()))
    text = (kibitz.directory / path).read_text()
    assert "| so far so good" in text
    line = text.split("to retry:")[1].splitlines()[0]
    again = shlex.split(line.replace("BOT", "crashing.py"))
    failed = kibitz.run(*again[1:])
    assert failed.returncode == 1
    assert "not legal: the bot crashed: ZeroDivisionError: division by zero" in failed.stdout
    mended = kibitz.run(*again[1:-1], "mended.py")
    assert mended.returncode == 0
    assert mended.stdout.splitlines()[-1] == "legal"
    record = again[3]
    assert kibitz.run("record", "report", record).stdout == text


@pytest.mark.slow
def test_a_server_tells_the_owner_and_the_host_and_nobody_else(kibitz: Kibitz) -> None:
    (kibitz.directory / "crashing.py").write_text(CRASHING)
    with ExitStack() as stack:
        serve = ["serve", "--port", "0", "--db", "kibitz.db", "--json"]
        url = stack.enter_context(kibitz.start(*serve)).json()["url"]
        words = ["--players", "line-nim/random", "crashing.py", "--games", "2", "--name", "cup"]
        done = kibitz.run("arena", "--game", "line-nim", *words, "--server", url, "--json")
        assert done.returncode == 1, done.stderr
        game = json.loads(done.stdout)["games"][0]
        asked = ["record", "report", game["match"], "--server", url]
        cup = kibitz.directory / "cup.arena"

        own = kibitz.run(*asked, "--resume-file", str(cup / "bots/crashing.resume"))
        assert own.returncode == 0, own.stderr
        assert "| so far so good" in own.stdout
        assert "so far so good" not in (cup / game["record"]).read_text()
        assert "| so far so good" in (cup / game["report"]).read_text()

        secret = json.loads((cup / "host.resume").read_text())["resume"]
        (kibitz.directory / "host.secret").write_text(secret)
        host = kibitz.run(*asked, "--resume-file", "host.secret")
        assert host.stdout == own.stdout

        other = kibitz.run(*asked, "--resume-file", str(cup / "bots/random.resume"))
        assert (other.returncode, "no seat was at fault" in other.stdout) == (0, True)
        assert "so far so good" not in other.stdout
        (kibitz.directory / "nobody.secret").write_text("nobody-has-this-secret")
        nobody = kibitz.run(*asked, "--resume-file", "nobody.secret")
        assert nobody.returncode == 1
        assert nobody.stdout == ""
