"""The supervisor of one bot: starts it, waits for it, and leaves no processes behind.

``python -P -m kibitz.process.isolation.supervisor PARENT [OPTIONS] -- COMMAND...``

It runs outside the isolation, with the rights of the organizer, and is the parent of the bot's
first process. On Linux it is a *child subreaper*: orphaned processes of the bot, such as a daemon
that forked twice and left its session, become children of the supervisor instead of init. So all
the bot's processes descend from the supervisor, which finds and kills them.

If the bot has its own user, the supervisor first calls ``kill(-1)`` as that user. The kernel
signals all processes of the user at once, so even a bot that keeps forking cannot escape.

The supervisor ends when the bot's first process has ended, on SIGTERM (which it passes on), or when
its own parent is gone. It exits with the status or signal of the first process. Bots inherit no
open descriptors except those of ``--fd``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kibitz.process import limits as process_limits

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
TERM_S = 5.0
"""Seconds for the bot's first process to exit after SIGTERM."""
POLL_S = 0.5
"""The interval in seconds at which to check that the parent is alive."""
CLEAR_S = 4.0
"""Seconds until all the bot's processes must be gone."""
SHARED = (Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"))
"""Directories writable by every user. Files in the first one use memory."""
MIN_UID = 1000
"""The lowest user id whose processes may be killed."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one bot."""
    words = sys.argv[1:] if argv is None else [*argv]
    at = words.index("--")
    given, command = _parser().parse_args(words[:at]), words[at + 1 :]
    _protect()
    if os.getppid() != given.parent:
        sys.exit(1)
    if given.memory is not None and (directory := process_limits.cgroup_parent()) is not None:
        process_limits.enter_cgroup(directory, given.memory)
    heard, wake = os.pipe()
    for end in (heard, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    asked: list[int] = []
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: asked.append(number))
    status = 127
    try:
        bot = subprocess.Popen(command, pass_fds=given.fd, start_new_session=True)
        for descriptor in given.fd:
            os.close(descriptor)
        status = _wait(bot, given.parent, asked, heard)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {error.strerror}\n")
    finally:
        kill_descendants(given.user)
        if given.user is not None and given.user >= MIN_UID:
            remove_files(given.user, SHARED)
        if given.scratch is not None:
            shutil.rmtree(given.scratch, ignore_errors=True)
    _exit_like(status)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="supervisor", description="Supervise one bot.")
    made.add_argument("parent", type=int)
    made.add_argument("--fd", type=int, action="append", default=[], help="descriptors to inherit")
    made.add_argument("--user", type=int, help="the bot's own user")
    made.add_argument("--scratch", type=Path, help="the bot's own directory, removed at the end")
    made.add_argument(
        "--memory", type=int, metavar="MIB", help="memory limit of all its processes, by cgroup"
    )
    return made


def _protect() -> None:
    """Adopt orphans, get a signal when the parent exits, and prevent tracing by this user."""
    with contextlib.suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        prctl(PR_SET_DUMPABLE, 0)


def _wait(bot: subprocess.Popen[bytes], parent: int, asked: list[int], heard: int) -> int:
    """Return the exit status of the bot's first process; reap orphans in the meantime."""
    give_up = float("inf")
    while True:
        _reap(bot)
        if bot.returncode is not None:
            return bot.returncode
        if (asked or os.getppid() != parent) and give_up == float("inf"):
            give_up = time.monotonic() + TERM_S
            bot.terminate()
        if time.monotonic() > give_up:
            bot.kill()
            return bot.wait()
        select.select([heard], [], [], POLL_S)
        with contextlib.suppress(BlockingIOError):
            os.read(heard, 4096)


def _reap(bot: subprocess.Popen[bytes]) -> None:
    """Reap exited processes: the bot through its own object, all others here."""
    if sys.platform == "linux":
        with contextlib.suppress(ChildProcessError):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while (ended := os.waitid(os.P_ALL, 0, flags)) and ended.si_pid != bot.pid:
                os.waitpid(ended.si_pid, 0)
    bot.poll()


# --- cleanup -----------------------------------------------------------------------


def kill_descendants(user: int | None) -> None:
    """Kill all descendants of this process, and all processes of `user`, until none is left."""
    give_up = time.monotonic() + CLEAR_S
    while time.monotonic() < give_up:
        if user is not None:
            _kill_user(user)
        left = {*descendants(os.getpid())}
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(0.002)


def _kill_user(user: int) -> None:
    """Send SIGKILL to all processes of a user, in one call as that user."""
    child = os.fork()
    if child:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        return
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        if os.getresuid() == (user, user, user) and user >= MIN_UID:
            os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(0)


def remove_files(user: int, directories: Sequence[Path]) -> None:
    """Remove a user's files in shared directories, after all its processes have exited."""
    for directory in directories:
        with contextlib.suppress(OSError):
            for entry in os.scandir(directory):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid != user:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)


def descendants(of: int) -> Iterator[int]:
    """Yield the descendants of a process, as far as ``/proc`` shows them."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    waiting = [of]
    while waiting:
        offspring = children.get(waiting.pop(), [])
        yield from offspring
        waiting += offspring


def _parents() -> Iterator[tuple[int, int]]:
    """Yield the id of each process and of its parent."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # ID (NAME) STATE PARENT ...; the name may contain any characters.
                stat = Path("/proc", name, "stat").read_bytes()
                yield int(name), int(stat.rpartition(b")")[2].split()[1])


def _exit_like(status: int) -> None:
    """Exit with the bot's status, or by the signal that killed it."""
    if status >= 0:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError, ValueError):
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    sys.exit(128 - status)


if __name__ == "__main__":
    main()
