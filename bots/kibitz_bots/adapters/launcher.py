"""Start an external program in its own process group, with limits, and end it with its parent.

``python -m kibitz_bots.adapters.launcher PARENT [--memory MIB] [--cpu SECONDS] -- COMMAND...``

PARENT is the id of the process that the command must not outlive, or 0 if another process ends the
command. The launcher becomes the command (`exec`), so no extra process remains. The limits are
resource limits (`setrlimit`), and apply to each process that the command starts. On Linux the
kernel kills the command when its parent dies; elsewhere the command is notified only by the end of
its standard input.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

PR_SET_PDEATHSIG = 1
MIB = 1 << 20
NOT_FOUND = 127
"""The exit status for a command that could not be started, as in shells."""


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of a program; None for no limit."""

    memory_mib: int | None = None
    """Address space of each process, in MiB."""
    cpu_s: int | None = None
    """CPU time of each process, in seconds."""

    @property
    def options(self) -> list[str]:
        """The limits as command-line options of this module."""
        memory = [] if self.memory_mib is None else ["--memory", str(self.memory_mib)]
        cpu = [] if self.cpu_s is None else ["--cpu", str(self.cpu_s)]
        return [*memory, *cpu]


def launch_command(
    command: Sequence[str], limits: ProcessLimits, *, supervised: bool = False
) -> list[str]:
    """Return the command line that runs `command` and ends it with this process.

    With `supervised`, the command only gets the limits: another process will start it and must end
    it.
    """
    # Running the file by path skips the imports of its packages and starts six times as fast.
    launcher = [sys.executable, "-I", "-S", __file__, "0" if supervised else str(os.getpid())]
    return [*launcher, *limits.options, "--", *command]


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="launch", description="Start a program that ends with its parent."
    )
    made.add_argument("parent", type=int)
    made.add_argument("--memory", type=int, dest="memory_mib", metavar="MIB")
    made.add_argument("--cpu", type=int, dest="cpu_s", metavar="SECONDS")
    made.add_argument("command", nargs="+")
    return made


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent dies; exit if it is already dead."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def apply_limits(limits: ProcessLimits) -> None:
    """Set the limits of this process; the command inherits them through `exec`."""
    import resource

    wanted = {
        resource.RLIMIT_AS: None if limits.memory_mib is None else limits.memory_mib * MIB,
        resource.RLIMIT_CPU: limits.cpu_s,
    }
    for kind, most in wanted.items():
        if most is not None:
            _, hard = resource.getrlimit(kind)
            top = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (top, top))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(argv: Sequence[str] | None = None) -> None:
    """Set the limits and replace this process with the command."""
    arguments = _parser().parse_args(argv)
    if arguments.parent:
        with contextlib.suppress(OSError):
            os.setsid()
        die_with_parent(arguments.parent)
    apply_limits(ProcessLimits(arguments.memory_mib, arguments.cpu_s))
    try:
        os.execvp(arguments.command[0], arguments.command)
    except OSError as error:
        sys.stderr.write(f"cannot start {arguments.command[0]!r}: {error.strerror}\n")
        sys.exit(NOT_FOUND)


if __name__ == "__main__":
    main()
