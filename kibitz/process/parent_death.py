"""Running a module so that it ends when its parent process is gone.

``python -P -m kibitz.process.parent_death PARENT MODULE ARGUMENTS...`` runs a module as
``python -P -m`` would. It leaves the terminal's process group first, so that Ctrl-C reaches only
the parent, which knows in which order to end what it has started. Then a thread polls the parent:
a process whose parent has died gets another one. It sends SIGTERM first, and kills a moment later.
The same thread enforces the limit of resident memory (`limits.end_if_over`).

PARENT is 0 for a process that has a supervisor (`isolation.supervisor`): this module then
only sets the limits, and the supervisor does the rest.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Sequence

from kibitz.process import limits as process_limits

POLL_SECONDS = 0.5
"""The interval at which the thread checks the parent."""
GRACE_SECONDS = 10.0
"""How long a process may take to end politely."""


def child_command(
    module: str, *arguments: str, limits: Sequence[str] = (), supervised: bool = False
) -> list[str]:
    """Return the command line that runs `module` and ends it when this process is gone.

    `limits` are ``--memory MIB``, ``--resident MIB`` and ``--cpu SECONDS``, as far as there are
    any (see `process.limits`); that of resident memory is for processes without a supervisor. With
    `supervised` another process will be its parent (`isolation.supervisor`), and ends it.
    """
    parent = "0" if supervised else str(os.getpid())
    return [
        sys.executable,
        "-P",  # files of the working directory are not modules of ours
        "-m",
        "kibitz.process.parent_death",
        parent,
        *limits,
        module,
        *arguments,
    ]


def exit_with_parent(parent: int, resident_mib: int | None = None) -> None:
    """End this process soon after process `parent` stops being its parent.

    It also ends when its resident memory is over a limit.
    """
    watched = (parent, resident_mib)
    threading.Thread(target=_watch_parent, args=watched, name="parent-watch", daemon=True).start()


def _watch_parent(parent: int, resident_mib: int | None) -> None:
    while os.getppid() == parent:
        if resident_mib is not None:
            process_limits.end_if_over(resident_mib)
        time.sleep(POLL_SECONDS)
    signal.raise_signal(signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    _kill_group()
    os._exit(1)


def _kill_group() -> None:
    """Kill what this process has started and left in its group, and with it this process."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module that the command line names."""
    parent = int(sys.argv[1])
    limits, (module, *arguments) = process_limits.split_limits(sys.argv[2:])
    if parent:
        with contextlib.suppress(OSError, AttributeError):
            os.setsid()
        exit_with_parent(parent, limits.resident_mib)
    if limits != process_limits.Limits():
        process_limits.apply_limits(limits, group=parent != 0)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        if parent and os.getppid() != parent:  # nobody is left who would look after the group
            _kill_group()


if __name__ == "__main__":
    main()
