"""Streams and signals of the process: encodings, closed and full output, Ctrl-C and hangups."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.command_table import CommandTable
from kibitz.process import interrupts
from kibitz_protocol import printable
from kibitz_server.accounts.token_admin import TokenAdmin
from tests.kibitz.conftest import PIECE, commands

KIBITZ = (sys.executable, "-m", "kibitz")


REPLAY = ("record", "replay", "RECORD", "--plain")
PRINTING = (
    ("--help",),
    ("game", "list", "--json"),
    REPLAY,
    ("token", "new", PIECE, "--db", "k.db", "--link", "--server", "http://localhost"),
)
"""Help, JSON, a board and words of the user, each printed without a server."""
IMPORTS = tuple(
    (place.split(":")[0], [*path, name])
    for path, table in commands()
    if isinstance(table, CommandTable)
    for name, (place, _) in list(table.entries.items())[:1]
)
"""The first command of each table, and the module that it imports."""


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        *(("ascii", words) for words in PRINTING),
        ("cp1252", REPLAY),
        ("latin-1", REPLAY),
    ],
)
def test_characters_that_an_encoding_does_not_have_are_replaced(
    encoding: str, words: tuple[str, ...], record: Path
) -> None:
    """`PYTHONIOENCODING=cp1252` is the encoding of a pipe on Windows."""
    told = [str(record) if word == "RECORD" else word for word in words]
    TokenAdmin(record.with_name("k.db")).close()
    statuses = {}
    for name in (encoding, "utf-8"):
        done = subprocess.run(
            [*KIBITZ, *told],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": name},
            cwd=record.parent,
        )
        assert b"Traceback" not in done.stderr, done.stderr
        statuses[name] = (done.returncode, done.stdout.decode(name))
    assert statuses[encoding][0] == statuses["utf-8"][0]
    if "--json" in words:
        lines = [statuses[name][1].splitlines() for name in (encoding, "utf-8")]
        assert [json.loads(line) for line in lines[0]] == [json.loads(line) for line in lines[1]]


@pytest.mark.e2e
def test_a_bot_may_print_what_the_encoding_does_not_have() -> None:
    program = f"from kibitz_bots.process import main\nmain([])\nprint({PIECE!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout == b"?\n", done.stderr


def test_json_means_the_same_in_every_encoding() -> None:
    text = json.dumps({"name": f"é{PIECE}\U0001f600"}, ensure_ascii=False)
    assert printable.encodable_json(text, "utf-8") == text
    for encoding in ("ascii", "cp1252", "latin-1"):
        shown = printable.encodable_json(text, encoding).encode(encoding)
        assert json.loads(shown) == json.loads(text)


@pytest.mark.e2e
@pytest.mark.parametrize(
    "words", [("--help",), ("game", "list"), ("bot", "list", "--json"), REPLAY]
)
def test_output_that_cannot_be_written_is_one_sentence(
    words: tuple[str, ...], record: Path
) -> None:
    told = [str(record) if word == "RECORD" else word for word in words]
    for shell in (">/dev/full", ">/dev/full 2>/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {shell}', "sh", *KIBITZ, *told],
            stderr=subprocess.PIPE,
            cwd=record.parent,
        )
        error = done.stderr.decode()
        if shell != ">&-" or words != ("--help",):  # click prints no help without a stream
            assert done.returncode == 1, error
        assert "Traceback" not in error
        assert "Exception ignored" not in error


@pytest.mark.e2e
def test_a_file_never_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """Else a message for stderr would be written into a database."""
    program = (
        "import os, sys\nfrom kibitz import output\noutput.open_standard_descriptors()\n"
        f"file = os.open({str(tmp_path / 'x')!r}, os.O_CREAT | os.O_WRONLY)\nos._exit(file)"
    )
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-c", program])
        assert done.returncode > 2


# ------------------------------------------------------------------------------ Ctrl-C

INTERRUPTED_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
module, sys.argv = sys.argv[1], ["kibitz", *sys.argv[2:]]
from kibitz.__main__ import main
main()
"""
"""Runs a command and presses Ctrl-C when a module is imported first."""


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("kibitz.cli", ["games"]),
        ("click", ["games"]),
        ("kibitz.output", ["--help"]),
        ("numpy", ["bot", "list"]),
        *IMPORTS,
    ],
)
def test_ctrl_c_during_imports_is_silent(module: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, module, *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (130, "")


INTERRUPTED_EXIT = """
import atexit, os, signal, sys
from kibitz.__main__ import main
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["kibitz", "game", "list"]
main()
"""
"""Runs a command and presses Ctrl-C when Python exits."""


@pytest.mark.e2e
def test_ctrl_c_while_python_exits_is_silent() -> None:
    command = [sys.executable, "-c", INTERRUPTED_EXIT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(
    ("path", "command"),
    [each for each in commands() if not isinstance(each[1], click.Group)],
    ids=lambda each: str(each),
)
def test_ctrl_c_ends_every_command_with_its_status(
    path: tuple[str, ...], command: click.Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "callback", interrupted)
    monkeypatch.setattr(command, "params", [])
    result = CliRunner().invoke(kibitz, list(path))
    assert (result.exit_code, result.output) == (130, "")


SIGNALED = """
import asyncio, signal, sys
from kibitz.process.event_loop import draining, run
async def work():
    {body}
{before}
run(work())
"""


def signaled(body: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = SIGNALED.format(body=body, before=before)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGINT, *interrupts.TERMINATION])
def test_signals_end_what_runs_alike(number: signal.Signals) -> None:
    done = signaled(f"signal.raise_signal({int(number)}); await asyncio.Event().wait()")
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.e2e
def test_a_hangup_that_the_parent_ignores_stays_ignored() -> None:
    done = signaled(
        "signal.raise_signal(signal.SIGHUP); await asyncio.sleep(0); print('on')",
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)",
    )
    assert (done.returncode, done.stdout) == (0, "on\n")


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_server_ends_in_order_at_each_signal(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*KIBITZ, "serve", "--port", "0", "--db", str(tmp_path / "k.db"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["url"]
        server.send_signal(number)
        _, error = server.communicate()
    assert server.returncode == (130 if number == signal.SIGINT else 0)
    assert "Traceback" not in error
