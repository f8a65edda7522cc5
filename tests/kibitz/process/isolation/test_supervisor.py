"""The parent of a bot's processes: it exits with the bot's status and leaves no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kibitz.process.isolation import supervisor, uids
from kibitz.process.isolation.launch import supervisor_command

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read().endswith("\\n"):
    time.sleep(0.01)
"""
BOMB = """
import os, time
print("begun", flush=True)
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                time.sleep(0.01)
                os._exit(0)
time.sleep(600)
"""


def run(code: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(code, *words), timeout=60, capture_output=True)


def command(code: str, *words: str) -> list[str]:
    return supervisor_command([sys.executable, "-I", "-S", "-c", code, *words])


def gone(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return True


@pytest.mark.e2e
@pytest.mark.parametrize("status", [0, 3])
def test_it_ends_with_the_status_of_the_bot(status: int) -> None:
    assert run(f"import sys; sys.exit({status})").returncode == status


@pytest.mark.e2e
def test_it_ends_by_the_signal_that_ended_the_bot() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(code).returncode == -signal.SIGKILL


@pytest.mark.e2e
def test_a_command_that_cannot_be_started_is_said() -> None:
    done = subprocess.run(supervisor_command(["/nowhere/bot"]), capture_output=True, timeout=60)
    assert done.returncode == 127
    assert b"cannot start '/nowhere/bot': No such file or directory" in done.stderr


@pytest.mark.e2e
@LINUX
def test_a_daemon_that_forked_twice_ends_with_the_bot(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    assert run(DAEMON, str(file)).returncode == 0
    assert gone(int(file.read_text()))


@pytest.mark.e2e
def test_what_only_the_bot_needs_is_gone_whoever_has_started_it(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "home").mkdir(parents=True)
    words = supervisor_command([sys.executable, "-I", "-S", "-c", ""], scratch=scratch)
    assert subprocess.run(words, timeout=60, check=False).returncode == 0
    assert not scratch.exists()


@pytest.mark.e2e
@LINUX
def test_a_daemon_ends_when_the_bot_is_asked_to_end(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    process = subprocess.Popen(command(DAEMON + "\ntime.sleep(600)", str(file)))
    wait_for(file)
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    assert gone(int(file.read_text()))


@pytest.mark.e2e
@LINUX
def test_all_ends_when_who_started_it_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    starter = (
        "import subprocess, sys, time\n"
        "from kibitz.process.isolation.launch import supervisor_command\n"
        f"code = {DAEMON + 'time.sleep(600)'!r}\n"
        "words = [sys.executable, '-I', '-S', '-c', code, sys.argv[1]]\n"
        "subprocess.Popen(supervisor_command(words))\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", starter, str(file)])
    wait_for(file)
    process.kill()
    process.wait()
    give_up = time.monotonic() + 30
    while not gone(int(file.read_text())):
        assert time.monotonic() < give_up
        time.sleep(0.02)


@pytest.mark.e2e
@LINUX
@pytest.mark.skipif(not uids.may_change(), reason="only root can give a bot a user of its own")
def test_not_even_a_bot_that_never_stops_forking_stays() -> None:
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        pytest.skip("no Python that every user can run")
    with uids.allocate() as user:
        own = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
        words = [*own, python, "-I", "-S", "-c", BOMB]
        process = subprocess.Popen(
            supervisor_command(words, user=user), cwd="/", stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"begun\n"
            time.sleep(0.2)
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()
        assert [each.pid for each in psutil.process_iter() if owner(each) == user] == []


def owner(process: psutil.Process) -> int | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        return int(process.uids().real)
    return None


def wait_for(file: Path) -> None:
    give_up = time.monotonic() + 30
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < give_up
        time.sleep(0.01)


@pytest.mark.e2e
def test_it_inherits_nothing_to_the_bot_but_what_it_is_told(tmp_path: Path) -> None:
    with (tmp_path / "said").open("w") as said, (tmp_path / "other").open("w") as other:
        for each in (said, other):
            os.set_inheritable(each.fileno(), True)
        code = (
            "import os\n"
            f"os.fstat({said.fileno()})\n"
            "try:\n"
            f"    os.fstat({other.fileno()})\n"
            "except OSError:\n"
            "    raise SystemExit(5)\n"
        )
        words = supervisor_command([sys.executable, "-I", "-S", "-c", code], [said.fileno()])
        fds = (said.fileno(), other.fileno())
        assert subprocess.run(words, pass_fds=fds, timeout=60).returncode == 5


def test_files_that_a_user_leaves_in_shared_directories_are_removed(tmp_path: Path) -> None:
    shared, kept = tmp_path / "shared", tmp_path / "kept"
    shared.mkdir()
    kept.write_text("mine")
    (shared / "file").write_text("x" * 100)
    (shared / "folder" / "inner").mkdir(parents=True)
    (shared / "link").symlink_to(kept)
    supervisor.remove_files(os.getuid() + 1, [shared])
    assert {path.name for path in shared.iterdir()} == {"file", "folder", "link"}
    supervisor.remove_files(os.getuid(), [shared, tmp_path / "nowhere"])
    assert list(shared.iterdir()) == []
    assert kept.read_text() == "mine"
