"""House bots: processes are started, read from, ended and always reaped."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest

from kibitz_protocol.wire.messages import HouseBotLine
from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import Identity
from kibitz_server.accounts.sign_in import Accounts, Admission
from kibitz_server.housebots import process as module
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.housebots.process import HouseBotProcess
from tests.server.fakes import house_bot, wait_until

pytestmark = pytest.mark.e2e


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def worked(code: str) -> HouseBotProcess:
    employee = HouseBotProcess()
    await employee.run(python(code), dict(os.environ))
    return employee


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.e2e
async def test_exit_status_and_last_lines_are_kept() -> None:
    employee = await worked(
        "import sys\nfor n in range(100): print('line', n)\n"
        "sys.stderr.write('oh no\\n'); sys.exit(3)"
    )
    assert employee.status == 3
    words = employee.log_tail.splitlines()
    assert words[-3:] == ["line 99", "oh no", "the bot's process ended with status 3"]
    assert len(words) == module.LOG_LINES + 1


@pytest.mark.e2e
async def test_what_it_writes_is_made_fit_to_print() -> None:
    employee = await worked("import os\nos.write(1, b'\\x1b[31m\\xff' + b'x' * 10000)")
    [line, _] = employee.log_tail.splitlines()
    assert line.isprintable()
    assert len(line) <= module.LINE_BYTES


@pytest.mark.e2e
async def test_a_command_that_cannot_be_started() -> None:
    employee = HouseBotProcess()
    await employee.run(["/nowhere/bot"], {})
    assert employee.status == 127
    assert "cannot start '/nowhere/bot'" in employee.log_tail


@pytest.mark.e2e
async def test_a_signal_is_a_negative_status() -> None:
    employee = await worked("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert employee.status == -9


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit(3)", "the process ended with status 3"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "the process ended with status -9: it was killed, probably because memory ran out",
        ),
        (
            "import sys; print('ended: it uses 300 MiB of memory, and its limit is 200 MiB');"
            " sys.exit(137)",
            "the process ended with status 137: it uses 300 MiB of memory, and its limit is"
            " 200 MiB",
        ),
    ],
)
async def test_an_end_has_a_reason_that_the_log_and_the_lobby_are_given(
    code: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    tasks: list[asyncio.Future[None]] = []

    def spawn(work: Callable[[], Awaitable[None]]) -> None:
        tasks.append(asyncio.ensure_future(work()))

    staff = staff_of(Agency(code), spawn)
    ended: list[str] = []
    hire(staff, lambda process: ended.append(process.end_reason))
    await wait_until(lambda: bool(ended))
    assert ended == [reason]
    assert f"house bot grid/greedy: {reason}" in caplog.messages


@pytest.mark.e2e
@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_dismissed_process_ends_with_all_that_it_started(
    stubborn: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(module, "TERM_TIMEOUT_S", 0.3)
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if stubborn else ""
    note = f"{tmp_path}/pids"
    code = (
        f"import os, signal, time, pathlib;{ignore}\n"
        "child = os.fork()\n"
        f"if child: pathlib.Path({note!r}).write_text(f'{{os.getpid()}} {{child}}')\n"
        "time.sleep(60)"
    )
    employee = HouseBotProcess()
    working = asyncio.create_task(employee.run(python(code), dict(os.environ)))
    pids = await written(note)
    employee.stop()
    await asyncio.wait_for(working, 10)
    assert employee.status == (-9 if stubborn else -15)
    for pid in pids:
        await gone(pid)


async def written(note: str) -> list[int]:
    """Wait until the process has written its id."""
    await wait_until(lambda: bool(read(note)), 20)
    return [int(pid) for pid in read(note).split()]


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


async def gone(pid: int) -> None:
    """Wait until a process, possibly an orphan, has exited or is a zombie."""
    await wait_until(lambda: not alive(pid) or ") Z" in read(f"/proc/{pid}/stat"), 5)


class Agency:
    def __init__(self, code: str) -> None:
        self.code = code

    def bots(self) -> Sequence[HouseBotLine]:
        return [house_bot("grid/greedy"), house_bot("grid/steady", seats=[2])]

    def flaw(self, personality: str) -> str | None:
        return "depth: no" if "depth=no" in personality else None

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        return [*python(self.code), personality, url, lobby]


class Identities:
    """Accounts that create identities; the test calls `saved` when one is on disk."""

    def __init__(self) -> None:
        self.saved: Callable[[bool], None] = lambda saved: None

    def house_bot(
        self, name: str, former: Player | None, then: Callable[[bool], None]
    ) -> Admission:
        self.saved = then
        player = Player(player="h1", name=name, kind="house")
        return Admission(Identity(player, account=False, skeleton=None), "secret")


class StoredIdentities(Identities):
    """Accounts that store each identity soon."""

    def house_bot(
        self, name: str, former: Player | None, then: Callable[[bool], None]
    ) -> Admission:
        asyncio.get_running_loop().call_soon(then, True)
        return super().house_bot(name, former, then)


def staff_of(
    agency: Agency,
    spawn: Callable[[Callable[[], Awaitable[None]]], None],
    identities: Identities | None = None,
) -> HouseBots:
    accounts = cast(Accounts, identities or StoredIdentities())
    return HouseBots(agency, spawn, "ws://here", accounts, lambda player, output: None)


def hire(
    staff: HouseBots, ended: Callable[[HouseBotProcess], object] = lambda process: None
) -> HouseBotProcess:
    def told(process: HouseBotProcess, player: Player) -> None:
        ended(process)

    process, _ = staff.start("grid/greedy", "abc", None, told, seats=None, taken=())
    return process


@pytest.mark.e2e
async def test_staff_gets_its_secret_by_a_descriptor_and_its_end_is_told() -> None:
    tasks: list[asyncio.Future[None]] = []

    def spawn(work: Callable[[], Awaitable[None]]) -> None:
        tasks.append(asyncio.ensure_future(work()))

    code = (
        "import os, sys\n"
        "assert 'secret' not in [*sys.argv, *os.environ.values()]\n"
        "print(*sys.argv[1:], open(int(os.environ['KIBITZ_RESUME_FD'])).read())"
    )
    staff = staff_of(Agency(code), spawn)
    ended: list[HouseBotProcess] = []
    employee = hire(staff, ended.append)
    await wait_until(lambda: staff.count == 1)
    await asyncio.gather(*tasks)
    assert ended == [employee]
    assert employee.log_tail.startswith("grid/greedy ws://here abc secret\n")
    assert staff.count == 0


@pytest.mark.e2e
async def test_a_house_bot_gets_no_secret_of_the_servers_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = ("KIBITZ_TOKEN", "KIBITZ_ANYTHING_NEW", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY")
    for name in secrets:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("KIBITZ_RESUME", "canary of the server's own")
    monkeypatch.setenv("KIBITZ_CACHE", "/cache")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    tasks: list[asyncio.Future[None]] = []

    def spawn(work: Callable[[], Awaitable[None]]) -> None:
        tasks.append(asyncio.ensure_future(work()))

    code = (
        "import os\nfor name, value in os.environ.items():\n"
        " if 'canary' in value or name.startswith(('KIBITZ_', 'LC_ALL')): print(name, value)"
    )
    employee = hire(staff_of(Agency(code), spawn))
    await wait_until(lambda: bool(tasks))
    await asyncio.gather(*tasks)
    told = employee.log_tail.splitlines()
    assert "canary" not in employee.log_tail
    assert {"KIBITZ_CACHE /cache", "LC_ALL C.UTF-8"} <= set(told)


async def test_who_was_dismissed_before_it_started_never_starts() -> None:
    spawned: list[Callable[[], Awaitable[None]]] = []
    identities = Identities()
    staff = staff_of(Agency(""), spawned.append, identities)
    hire(staff).stop()
    identities.saved(True)
    staff.close()
    hire(staff)
    identities.saved(True)
    assert spawned == []


async def test_a_bot_without_a_stored_identity_has_failed() -> None:
    identities = Identities()
    ended: list[str] = []
    staff = staff_of(Agency(""), lambda work: None, identities)
    hire(staff, lambda process: ended.append(process.end_reason))
    identities.saved(False)
    assert ended == ["the process ended with status 127"]
