"""The launch of an untrusted bot: its sandbox, limits, environment, descriptors and user.

Each process gets its own scratch directory, user and path to the server. All are removed when it
ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kibitz.process.isolation import entrypoint, uids
from kibitz.process.isolation.backends import Isolation
from kibitz.process.isolation.relay import Relay
from kibitz.process.isolation.sandbox import SCRATCH, Sandbox, command_line
from kibitz_server.housebots.process import inherited_environment

MAX_PROCESSES: Final = 256
"""The maximum number of processes and threads of a bot, if the kernel can count them per bot."""
MAX_FILES: Final = 1024
"""The maximum number of open files of a process."""
CACHE_VERSIONS: Final = 2
"""The number of versions of a package's machine code to give to a bot."""
MAX_FILE_BYTES: Final = 256 << 20
"""The maximum size of a file that a process may write, in bytes."""
FOREIGN_VARIABLES: Final = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHASHSEED"),
        *("LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        *("NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "KIBITZ_PLAIN", "KIBITZ_TEST_RUN"),
    }
)
"""The environment variables that untrusted code inherits. Variables that name user directories,
such as the house bots' compile cache, are excluded."""


def foreign_environment() -> dict[str, str]:
    """Return the environment of an untrusted bot: `FOREIGN_VARIABLES` and the locale.

    `kibitz_server.housebots.process` lists the variables that any bot may inherit.
    """
    inherited = inherited_environment(os.environ)
    chosen = {
        key: value
        for key, value in inherited.items()
        if key in FOREIGN_VARIABLES or key.startswith("LC_")
    }
    return chosen | {"PYTHONUNBUFFERED": "1"}


@dataclass(frozen=True, kw_only=True)
class Launch:
    """The arguments for `child.child_process` to start a process."""

    command: Sequence[str]
    env: Mapping[str, str]
    descriptors: Sequence[int] = ()


@contextlib.asynccontextmanager
async def isolated(
    isolation: Isolation,
    command: Sequence[str],
    *,
    url: str,
    seen: Sequence[Path],
    env: Mapping[str, str],
    descriptors: Sequence[int] = (),
    memory: int | None = None,
) -> AsyncIterator[Launch]:
    """Provide the isolated launch of `command`, which plays at `url` and may read `seen`.

    `env` is added to `foreign_environment`; `descriptors` are inherited; `memory` (MiB) limits all
    its processes together if cgroups are available. Start it only once, within the block; it must
    have exited before the block ends.
    """
    own = isolation.tool != "none"
    with uids.allocate(own and uids.may_change()) as user, _scratch() as scratch:
        sandbox = Sandbox(tool=isolation.tool, readable=tuple(seen), hidden=tuple(isolation.hidden))
        passed = [*descriptors]
        words: list[str] = []
        async with contextlib.AsyncExitStack() as stack:
            if isolation.tool == "bwrap" and is_local(url):
                relay = Relay(url)
                stack.push_async_callback(relay.close)
                relay.start()
                passed.append(relay.control)
                words = ["--listen", str(urlsplit(url).port), "--control", str(relay.control)]
                sandbox = replace(sandbox, network=False)
            place = await asyncio.to_thread(_prepare, isolation, scratch, user)
            sandbox = replace(sandbox, cache=place.cache)
            words = [
                *words,
                *place.words,
                *_rlimit_arguments(count_processes=counts_processes(isolation, user)),
            ]
            first = [sys.executable, "-I", "-S", entrypoint.__file__, *words, "--", *command]
            words = supervisor_command(
                command_line(sandbox, user, first), passed, user, memory, scratch
            )
            yield Launch(
                command=words,
                env={**foreign_environment(), **place.env, **_cgroup_arguments(), **env},
                descriptors=passed,
            )


def supervisor_command(
    command: Sequence[str],
    descriptors: Sequence[int] = (),
    user: int | None = None,
    memory: int | None = None,
    scratch: Path | None = None,
) -> list[str]:
    """Return the command line of a command's supervisor, a child of this process."""
    words = [sys.executable, "-P", "-m", "kibitz.process.isolation.supervisor", str(os.getpid())]
    words += [word for descriptor in descriptors for word in ("--fd", str(descriptor))]
    words += [] if user is None else ["--user", str(user)]
    words += [] if memory is None else ["--memory", str(memory)]
    words += [] if scratch is None else ["--scratch", str(scratch)]
    return [*words, "--", *command]


def is_local(url: str) -> bool:
    """Return whether a server is on this machine, so that a bot needs no network to play there."""
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    return local and parts.scheme == "ws" and (parts.port or 80) >= 1024


# Scratch directories and the compile cache


@dataclass(frozen=True)
class _Scratch:
    """A bot's writable directories and its initial machine code."""

    env: Mapping[str, str]
    words: Sequence[str] = ()
    """Options for `entrypoint`."""
    cache: Path | None = None
    """The cache directory to bind; its files are linked inside the sandbox."""


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Provide a directory for one bot; ignore errors when it is deleted."""
    path = Path(tempfile.mkdtemp(prefix="kibitz-bot-")).resolve()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _prepare(isolation: Isolation, scratch: Path, user: int | None) -> _Scratch:
    """Create the directories that a bot may write to, with links to the compile cache.

    Each bot gets its own links, since any process that loads the cache executes its code.
    """
    from kibitz_games.compiled import kernels

    parts = _current_cache(kernels.cache_directory().resolve())
    if isolation.tool == "bwrap":
        home = Path(SCRATCH)
        words = ["--mkdir", f"{home}/home", "--mkdir", f"{home}/kernels"]
        for part in parts:
            words += ["--link", str(part), f"{home}/kernels/{part.name}"]
        return _Scratch(_home_environment(home), words, kernels.cache_directory())
    for name in ("home", "kernels"):
        (scratch / name).mkdir()
    for part in parts:
        _link_or_copy(part, scratch / "kernels" / part.name)
    if user is not None:
        # Only directories change owner: the bot can replace the files, but not write into them.
        for path, _, _ in os.walk(scratch):
            os.chown(path, user, user)
    return _Scratch(_home_environment(scratch))


def _link_or_copy(source: Path, target: Path) -> None:
    """Link a cache file, which is never written in place, or copy it if linking fails."""
    own = shutil.ignore_patterns("*.lock")  # a process must be able to write its lock files
    for put in (os.link, shutil.copyfile):
        try:
            if source.is_dir():
                shutil.copytree(source, target, copy_function=put, ignore=own)
            else:
                put(source, target)
            return
        except (OSError, shutil.Error):
            shutil.rmtree(target, ignore_errors=True)


def _current_cache(shared: Path) -> list[Path]:
    """Return the parts of the compile cache that are in use: the newest versions of each package.

    The cache also has a small file for each source file that was parsed (`compiled.sources`). All
    of them are needed, as parsing takes longer than loading machine code.
    """
    from kibitz_games.compiled.sources import SUFFIX

    versions: dict[str, list[tuple[float, Path]]] = {}
    with contextlib.suppress(OSError):
        for path in shared.iterdir():
            if path.suffix != ".lock":
                name = path.name if path.suffix == SUFFIX else path.name.rpartition("-")[0]
                versions.setdefault(name, []).append((path.stat().st_mtime, path))
    return [path for dated in versions.values() for _, path in sorted(dated)[-CACHE_VERSIONS:]]


def _home_environment(home: Path) -> dict[str, str]:
    return {
        "HOME": f"{home}/home",
        "TMPDIR": f"{home}/home",
        "XDG_CACHE_HOME": f"{home}/home/.cache",
        "KIBITZ_CACHE": f"{home}/kernels",
    }


def _cgroup_arguments() -> dict[str, str]:
    """Return the environment variable that tells the supervisor the cgroup directory."""
    return {key: os.environ[key] for key in ("KIBITZ_CGROUP",) if key in os.environ}


def counts_processes(isolation: Isolation, user: int | None) -> bool:
    """Return whether the kernel counts a bot's processes separately from others.

    It counts them by user and, since Linux 5.14, by user and user namespace.
    """
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    return user is not None or (isolation.tool == "bwrap" and release >= (5, 14))


def _rlimit_arguments(*, count_processes: bool) -> list[str]:
    """Return the limits for every untrusted bot, as options for `entrypoint`."""
    words = ["--processes", str(MAX_PROCESSES)] if count_processes else []
    words += ["--files", str(MAX_FILES), "--file-bytes", str(MAX_FILE_BYTES)]
    with contextlib.suppress(OSError, ValueError):
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        words += ["--data-bytes", str(whole // 2)]
    return words
