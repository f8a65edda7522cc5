"""Memory and CPU limits of a bot's process, by rlimits and, where there are, cgroups.

There are two limits of memory. The limit of house bots counts *resident* memory, which a process
really uses. On Linux each process checks its own twice a second, and exits with a message when it
is over the limit. An rlimit does not suit them: compiled rules map much more than they ever use,
and a bot that hits an rlimit may die anywhere in its code. The limit of foreign bots counts
*writable private* memory.

The resource limits hold for each process. Memory is counted as writable private memory
(``RLIMIT_DATA``): a bot with compiled rules maps more than twice the address space that it ever
uses, so a limit of address space would have to be a guess. A bot that reaches its limit gets a
`MemoryError`; one that uses up its CPU time says so and exits.

If this process can write to a directory of cgroups (version 2), each bot gets its own group. The
group limits the sum over the bot and its children. At the end all processes of the group are
killed, also those that have left the process group. KIBITZ_CGROUP names the directory; the default
is the parent of this process's own group. Its ``cgroup.subtree_control`` must have ``memory``.
Without cgroups the limits hold for each process, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

MIB = 1 << 20
CPU_GRACE_S = 2
"""Seconds of CPU to say that all are used up, before the kernel kills."""
REMOVE_TIMEOUT_S = 2.0
"""How long the processes of a group may take to be gone once they are killed."""
EXIT_OUT_OF_CPU = 152
"""The exit status then: as a shell has it, 128 and SIGXCPU."""
EXIT_OUT_OF_MEMORY = 137
"""The exit status of a process over its resident memory: what a shell says of one killed for it."""
OOM_SCORE_ADJUSTMENT = 500
"""If memory runs out, the kernel kills a house bot before the server and other programs."""
SENTENCE_AT = 0.98
"""The part of its resident memory from which on a process ends itself."""
CGROUP_ROOT = Path("/sys/fs/cgroup")
GROUP_PREFIX = "kibitz-bot-"


@dataclass(frozen=True)
class Limits:
    """The limits of a process; None means unlimited."""

    memory_mib: int | None = None
    """Writable private memory, beyond which allocations fail."""
    cpu_s: int | None = None
    resident_mib: int | None = None
    """Resident memory, beyond which the process ends; the kernel also ends it before others."""


_OPTIONS = {"--memory": "memory_mib", "--cpu": "cpu_s", "--resident": "resident_mib"}


def split_limits(words: Sequence[str]) -> tuple[Limits, list[str]]:
    """Return the limits that begin a command line, in MiB and seconds, and its rest."""
    values: dict[str, int] = {}
    rest = list(words)
    while rest and rest[0] in _OPTIONS:
        values[_OPTIONS[rest[0]]] = int(rest[1])
        del rest[:2]
    return Limits(**values), rest


def apply_limits(limits: Limits, *, group: bool = True) -> None:
    """Bound this process and what it starts; without `group` the caller handles cgroups."""
    if limits.memory_mib is not None:
        _set_rlimit(resource.RLIMIT_DATA, limits.memory_mib * MIB)
    if limits.resident_mib is not None:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE_ADJUSTMENT))
    most = limits.memory_mib if limits.resident_mib is None else limits.resident_mib
    if most is not None and group and (directory := cgroup_parent()) is not None:
        enter_cgroup(directory, most)
    if (cpu_s := limits.cpu_s) is not None:
        signal.signal(signal.SIGXCPU, lambda number, frame: _out_of_cpu(cpu_s))
        _set_rlimit(resource.RLIMIT_CPU, cpu_s, grace=CPU_GRACE_S)
    _set_rlimit(resource.RLIMIT_CORE, 0)


def _set_rlimit(kind: int, most: int, grace: int = 0) -> None:
    _, hard = resource.getrlimit(kind)
    top = most if hard == resource.RLIM_INFINITY else min(most, hard)
    last = top + grace if hard == resource.RLIM_INFINITY else min(top + grace, hard)
    resource.setrlimit(kind, (top, last))


def _out_of_cpu(cpu_s: int) -> NoReturn:
    _end(f"it has used its {cpu_s} s of CPU time", EXIT_OUT_OF_CPU)


def resident_mib() -> float:
    """Return the resident memory of this process, 0 if the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / MIB


def end_if_over(limit_mib: int) -> None:
    """End this process, whatever its other threads do, if its resident memory is over a limit.

    A cgroup may have the same limit and would kill without a message, so this acts a little below
    it.
    """
    used = resident_mib()
    if used > limit_mib * SENTENCE_AT:
        why = f"it uses {used:.0f} MiB of memory, and its limit is {limit_mib} MiB"
        _end(why, EXIT_OUT_OF_MEMORY)


def _end(why: str, status: int) -> NoReturn:
    sys.__stderr__.write(f"ended: {why}\n")  # type: ignore[union-attr]
    sys.__stderr__.flush()  # type: ignore[union-attr]
    os._exit(status)


# --- groups ---------------------------------------------------------------------------------------


def cgroup_parent(root: Path = CGROUP_ROOT) -> Path | None:
    """Return the directory in which groups of bots may be made, or None."""
    named = os.environ.get("KIBITZ_CGROUP")
    directory = Path(named) if named else _own_cgroup(root)
    if directory is None or not os.access(directory, os.W_OK):
        return None
    with contextlib.suppress(OSError):
        if "memory" in (directory / "cgroup.subtree_control").read_text().split():
            return directory
    return None


def _own_cgroup(root: Path) -> Path | None:
    """Return the directory that this process's group of version 2 is in."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            if number == "0" and path != "/":
                return (root / path.lstrip("/")).parent
    return None


def _cgroup_directory(directory: Path, process: int) -> Path:
    return directory / f"{GROUP_PREFIX}{process}"


def enter_cgroup(directory: Path, memory_mib: int) -> bool:
    """Make a group for this process and go in; return whether that could be done."""
    remove_left_cgroups(directory)
    made = _cgroup_directory(directory, os.getpid())
    try:
        made.mkdir()
        (made / "memory.max").write_text(str(memory_mib * MIB))
        with contextlib.suppress(OSError):  # where nothing is swapped there is no such file
            (made / "memory.swap.max").write_text("0")
        (made / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        with contextlib.suppress(OSError):
            made.rmdir()
        return False
    return True


def remove_left_cgroups(directory: Path) -> None:
    """Remove the groups that ended processes have left."""
    for group in directory.glob(f"{GROUP_PREFIX}*"):
        owner = group.name.removeprefix(GROUP_PREFIX)
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):  # something that it started may still be in there
                group.rmdir()


def remove_cgroup(process: int, directory: Path | None = None) -> None:
    """Kill all that is left in the group of a process that has ended, and remove the group."""
    where = directory or cgroup_parent()
    if where is None or not _cgroup_directory(where, process).is_dir():
        return None
    made = _cgroup_directory(where, process)
    with contextlib.suppress(OSError):
        (made / "cgroup.kill").write_text("1")
    give_up = time.monotonic() + REMOVE_TIMEOUT_S
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            return made.rmdir()
        time.sleep(0.01)
    return None
