"""Memory and CPU limits of a bot's process, by rlimits and, if available, cgroups.

House bots have a limit on *resident* memory, which a process really uses. On Linux each process
checks its own twice a second, and exits with a message when it is over the limit. An rlimit does
not suit house bots: compiled rules map much more memory than they ever use, and a bot that reaches
an rlimit may fail anywhere in its code.

Untrusted bots have an rlimit on *writable private* memory (``RLIMIT_DATA``) for each process. A
limit on the address space would be a guess, because a bot with compiled rules maps more than twice
the address space that it ever uses. A bot that reaches the limit gets a `MemoryError`. A bot that
uses up its CPU time prints a message and exits.

If this process can write to a directory of cgroups (version 2), each bot gets its own group. The
group limits the total memory of the bot and its children. At the end all processes of the cgroup
are killed, including those that have left the process group. KIBITZ_CGROUP names the directory; the
default is the parent of this process's own group. Its ``cgroup.subtree_control`` must contain
``memory``. Without cgroups the limits apply to each process, and nothing else changes.
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
"""Extra CPU seconds to report the used-up limit before the kernel kills the process."""
REMOVE_TIMEOUT_S = 2.0
"""Seconds for the processes of a cgroup to disappear after they are killed."""
EXIT_OUT_OF_CPU = 152
"""The exit status after the CPU limit, as in shells: 128 + SIGXCPU."""
EXIT_OUT_OF_MEMORY = 137
"""The exit status over the resident memory limit, as in shells: 128 + SIGKILL."""
OOM_SCORE_ADJUSTMENT = 500
"""Makes the kernel kill a house bot before the server and other programs if memory runs out."""
SENTENCE_AT = 0.98
"""The fraction of its resident memory limit at which a process exits."""
CGROUP_ROOT = Path("/sys/fs/cgroup")
GROUP_PREFIX = "kibitz-bot-"


@dataclass(frozen=True)
class Limits:
    """The limits of a process; None means unlimited."""

    memory_mib: int | None = None
    """Writable private memory, beyond which allocations fail."""
    cpu_s: int | None = None
    resident_mib: int | None = None
    """Resident memory, beyond which the process exits; the kernel also kills it before others."""


_OPTIONS = {"--memory": "memory_mib", "--cpu": "cpu_s", "--resident": "resident_mib"}


def split_limits(words: Sequence[str]) -> tuple[Limits, list[str]]:
    """Split a command line into the leading limits, in MiB and seconds, and the rest."""
    values: dict[str, int] = {}
    rest = list(words)
    while rest and rest[0] in _OPTIONS:
        values[_OPTIONS[rest[0]]] = int(rest[1])
        del rest[:2]
    return Limits(**values), rest


def apply_limits(limits: Limits, *, group: bool = True) -> None:
    """Limit this process and its children; without `group` the caller handles cgroups."""
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
    _end(f"it exceeded its CPU time limit of {cpu_s} s", EXIT_OUT_OF_CPU)


def resident_mib() -> float:
    """Return the resident memory of this process, 0 if it is unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / MIB


def end_if_over(limit_mib: int) -> None:
    """Exit, regardless of other threads, if the resident memory of this process is over a limit.

    A cgroup with the same limit would kill the process without a message, so this acts slightly
    below it.
    """
    used = resident_mib()
    if used > limit_mib * SENTENCE_AT:
        why = f"it uses {used:.0f} MiB of memory, over its limit of {limit_mib} MiB"
        _end(why, EXIT_OUT_OF_MEMORY)


def _end(why: str, status: int) -> NoReturn:
    sys.__stderr__.write(f"ended: {why}\n")  # type: ignore[union-attr]
    sys.__stderr__.flush()  # type: ignore[union-attr]
    os._exit(status)


# --- cgroups --------------------------------------------------------------------------------------


def cgroup_parent() -> Path | None:
    """Return the directory in which bots' cgroups can be created, or None."""
    named = os.environ.get("KIBITZ_CGROUP")
    directory = Path(named) if named else _own_cgroup()
    if directory is None or not os.access(directory, os.W_OK):
        return None
    with contextlib.suppress(OSError):
        if "memory" in (directory / "cgroup.subtree_control").read_text().split():
            return directory
    return None


def _own_cgroup() -> Path | None:
    """Return the directory of this process's cgroup (version 2)."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            if number == "0" and path != "/":
                return (CGROUP_ROOT / path.lstrip("/")).parent
    return None


def _cgroup_directory(directory: Path, process: int) -> Path:
    return directory / f"{GROUP_PREFIX}{process}"


def enter_cgroup(directory: Path, memory_mib: int) -> bool:
    """Create a cgroup for this process and enter it; return whether that worked."""
    remove_left_cgroups(directory)
    made = _cgroup_directory(directory, os.getpid())
    try:
        made.mkdir()
        (made / "memory.max").write_text(str(memory_mib * MIB))
        with contextlib.suppress(OSError):  # the file does not exist without swap
            (made / "memory.swap.max").write_text("0")
        (made / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        with contextlib.suppress(OSError):
            made.rmdir()
        return False
    return True


def remove_left_cgroups(directory: Path) -> None:
    """Remove the cgroups left by exited processes."""
    for group in directory.glob(f"{GROUP_PREFIX}*"):
        owner = group.name.removeprefix(GROUP_PREFIX)
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):  # a process started by it may still be in there
                group.rmdir()


def remove_cgroup(process: int, directory: Path | None = None) -> None:
    """Kill the remaining processes in the cgroup of an exited process, and remove the cgroup."""
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
