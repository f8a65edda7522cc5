"""Command lines of the isolation tools, with the files and namespaces of a sandbox."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt")
"""Directories that system programs need; bots may read all of them."""
TMPFS_BYTES: Final = 512 << 20
"""The maximum total size of a bot's files, which are in memory, in bytes."""
SCRATCH: Final = "/tmp/bot"
SCRATCHES: Final = ("/tmp", "/var/tmp", "/dev/shm", "/run")


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """The files and the network that a bot can use."""

    tool: Literal["bwrap", "setpriv", "none"]
    readable: Sequence[Path] = ()
    """The bot's own files and directories, which it can read."""
    hidden: Sequence[Path] = ()
    """Paths hidden from it, even inside a readable directory."""
    network: bool = True
    """Whether it shares the machine's network."""
    cache: Path | None = None
    """The directory with the machine code of the rules, to be copied."""


def command_line(sandbox: Sandbox, user: int | None, command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` inside a sandbox, as `user` if given."""
    if sandbox.tool == "none":
        return [*command]
    changed = [*command] if user is None else [*_as_user(user), *command]
    return changed if sandbox.tool == "setpriv" else [*_bwrap(sandbox, user is not None), *changed]


def _as_user(user: int) -> list[str]:
    number = str(user)
    who = ["--reuid", number, "--regid", number, "--clear-groups"]
    rights = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    return [shutil.which("setpriv") or "setpriv", *who, *rights]


def _bwrap(sandbox: Sandbox, as_root: bool) -> list[str]:
    words = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += [] if sandbox.network else ["--unshare-net"]
    # As root, setpriv changes the user inside the sandbox and drops the remaining capabilities.
    words += ["--cap-drop", "ALL"]
    if as_root:
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        words += [word for capability in kept for word in ("--cap-add", capability)]
    else:
        words += ["--unshare-user"]
        words += ["--disable-userns"] if supports("--disable-userns") else []
    return [*words, *_mounts(sandbox)]


def _mounts(sandbox: Sandbox) -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    yield from ("--proc", "/proc", "--dev", "/dev")
    size = ["--size", str(TMPFS_BYTES)] if supports("--size") else []
    for name in SCRATCHES:
        yield from ("--perms", "1777", *size, "--tmpfs", name)
    bound = _binds(sandbox)
    # Created here because bwrap would make the parents of private paths readable to one user only.
    for parent in sorted({parent for path in bound for parent in path.parents} - {Path("/")}):
        yield from ("--perms", "0755", "--dir", str(parent))
    for path in bound:
        yield from ("--ro-bind", str(path), str(path))
    for path in sandbox.hidden:
        yield from _hide(path.resolve(), sandbox)


def _binds(sandbox: Sandbox) -> list[Path]:
    """Return the paths to bind in addition to the system's, parents first."""
    paths: set[Path] = set()
    for path in (*_python(), *sandbox.readable):
        paths |= {path.absolute(), path.resolve()}
    if sandbox.cache is not None and sandbox.cache.is_dir():
        paths.add(sandbox.cache.resolve())
    system = [Path(name) for name in SYSTEM]
    return sorted(
        path
        for path in paths
        if path != Path("/") and not any(path.is_relative_to(directory) for directory in system)
    )


def _python() -> Iterator[Path]:
    """Yield the paths of Python and its packages, without the current directory."""
    started = (Path.cwd(), Path(sys.argv[0]).absolute().parent)
    packages = sys.path[1:] if sys.path and Path(sys.path[0]) in started else sys.path
    ours = [sys.prefix, sys.base_prefix, sys.exec_prefix, *packages]
    yield from (path for path in map(Path, ours) if path.is_absolute() and path.exists())


@functools.cache
def supports(option: str) -> bool:
    """Return whether the installed bwrap has an option."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False)
    return option in done.stdout + done.stderr


def _hide(path: Path, sandbox: Sandbox) -> list[str]:
    """Cover a path inside a bound directory; other paths do not exist in the sandbox anyway."""
    within = any(path.is_relative_to(bound) for bound in _binds(sandbox))
    if not within or not path.exists():
        return []
    if path.is_dir():
        return ["--perms", "0555", "--tmpfs", str(path), "--remount-ro", str(path)]
    return ["--ro-bind", "/dev/null", str(path)]


# Paths that a bot must be able to read


def directories_of_file(file: Path) -> list[Path]:
    """Return the directory of a file, and that of its link target."""
    return [*{file.absolute().parent, file.resolve().parent}]


def directories_of_command(command: Sequence[str], base: Path) -> list[Path]:
    """Return the directories of a program and of the files named in its arguments."""
    first = str(base / command[0]) if "/" in command[0] else shutil.which(command[0])
    words = [*([] if first is None else [first]), *command[1:]]
    files = [path for path in (base / word for word in words if word) if path.is_file()]
    directories = [directory for file in files for directory in directories_of_file(file)]
    # A program in a bin directory may need its sibling directories, as Python installations do.
    programs = ("bin", "shims")
    return [
        directory.parent
        if directory.name in programs and _is_separate_installation(directory)
        else directory
        for directory in directories
    ]


def _is_separate_installation(directory: Path) -> bool:
    """Return whether a directory's parent is one program's installation, not a user's home."""
    with contextlib.suppress(RuntimeError):
        return directory.parent not in (Path.home(), Path.home() / ".local")
    return True
