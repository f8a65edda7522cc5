"""Runs a module that exits when its parent process is gone.

``python -P -m kibitz.process.parent_death PARENT MODULE ARGUMENTS...`` runs a module as ``python -P
-m`` would. It first leaves the terminal's process group, so that Ctrl-C reaches only the parent,
which stops its children in the right order. A thread polls the parent process id, which changes
when the parent dies. The thread then sends SIGTERM to this process, and SIGKILL ten seconds later.
The same thread enforces the resident memory limit (`limits.end_if_over`).

PARENT is 0 for a process with a supervisor (`isolation.supervisor`): this module then only sets the
limits, and the supervisor does the rest.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Sequence

from kibitz.process import limits as process_limits

POLL_SECONDS = 0.5
"""The interval in seconds at which the thread checks the parent."""
GRACE_SECONDS = 10.0
"""Seconds for a process to exit after SIGTERM."""


def child_command(
    module: str, *arguments: str, limits: Sequence[str] = (), supervised: bool = False
) -> list[str]:
    """Return the command line that runs `module` and stops it when this process is gone.

    `limits` are ``--memory MIB``, ``--resident MIB`` and ``--cpu SECONDS``, if any (see
    `process.limits`); the resident memory limit requires a process without a supervisor. With
    `supervised` another process (`isolation.supervisor`) is the parent and stops it.
    """
    parent = "0" if supervised else str(os.getpid())
    return [
        sys.executable,
        "-P",  # do not import modules from the working directory
        "-m",
        "kibitz.process.parent_death",
        parent,
        *limits,
        module,
        *arguments,
    ]


def exit_with_parent(parent: int, resident_mib: int | None = None) -> None:
    """Exit soon after process `parent` stops being the parent of this one.

    Also exit when resident memory is over the limit.
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
    """Kill this process and everything else in its process group."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module named on the command line."""
    parent = int(sys.argv[1])
    limits, (module, *arguments) = process_limits.split_limits(sys.argv[2:])
    if parent:
        with contextlib.suppress(OSError, AttributeError):
            os.setsid()
        exit_with_parent(parent, limits.resident_mib)
    if limits != process_limits.Limits():
        process_limits.apply_limits(limits, group=parent != 0)
    sys.argv = [module, *arguments]
    _import_package(module)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        if parent and os.getppid() != parent:  # no other process is left to clean up the group
            _kill_group()


def _import_package(module: str) -> None:
    """Import the package of a module without garbage collections, which would free nothing."""
    package = module.partition(".")[0]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return  # `runpy` runs or reports it
    gc.disable()
    try:
        importlib.import_module(package)
    finally:
        gc.freeze()
        gc.enable()


if __name__ == "__main__":
    main()
