"""The launch of an untrusted bot: its sandbox, limits, environment, descriptors and user.

Each start of a process creates its own scratch directory, user and way to the server. All are
removed after its end.
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
"""Processes and threads of a bot, where they can be counted."""
MAX_FILES: Final = 1024
"""Files that a process may have open."""
CACHE_VERSIONS: Final = 2
"""Versions of a package's machine code that a bot is given."""
MAX_FILE_BYTES: Final = 256 << 20
"""The longest file that a process may write."""
FOREIGN_VARIABLES: Final = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHASHSEED"),
        *("LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        *("NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "KIBITZ_PLAIN", "KIBITZ_TEST_RUN"),
    }
)
"""The part of a house bot's environment that foreign code gets: no variable that names a directory
of the user, such as the compile cache of the house bots."""


def foreign_environment() -> dict[str, str]:
    """Return the environment of a foreign bot: `FOREIGN_VARIABLES` and the locale.

    `kibitz_server.housebots.process` has the one list of what any bot may inherit.
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
    """How to start a process: what `child.child_process` is called with."""

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
    """Provide the launch of `command` in isolation, which plays at `url` and may read `seen`.

    `env` comes on top of `foreign_environment`; `descriptors` are inherited; `memory` (MiB) is for
    all its processes together, where there are cgroups. Start it within the block, and only once;
    at the end of the block it must have ended.
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
    """Return the command line of the supervisor of a command, to be started by this process."""
    words = [sys.executable, "-P", "-m", "kibitz.process.isolation.supervisor", str(os.getpid())]
    words += [word for descriptor in descriptors for word in ("--fd", str(descriptor))]
    words += [] if user is None else ["--user", str(user)]
    words += [] if memory is None else ["--memory", str(memory)]
    words += [] if scratch is None else ["--scratch", str(scratch)]
    return [*words, "--", *command]


def is_local(url: str) -> bool:
    """Whether a server is one of this machine, so that a bot needs no network to play there."""
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    return local and parts.scheme == "ws" and (parts.port or 80) >= 1024


# What is in it


@dataclass(frozen=True)
class _Scratch:
    """A bot's writable directories and the machine code that it starts with."""

    env: Mapping[str, str]
    words: Sequence[str] = ()
    """Options of `entrypoint`."""
    cache: Path | None = None
    """The directory to bind, since it is copied inside."""


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Provide a directory for one bot; ignore errors when deleting it."""
    path = Path(tempfile.mkdtemp(prefix="kibitz-bot-")).resolve()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _prepare(isolation: Isolation, scratch: Path, user: int | None) -> _Scratch:
    """Make the directories that a bot may write to, with a copy of the compile cache.

    Each bot has its own copy, since any process that loads the cache runs the code in it.
    """
    from kibitz_games.compiled import kernels

    parts = _current_cache(kernels.cache_directory().resolve())
    if isolation.tool == "bwrap":
        home = Path(SCRATCH)
        words = ["--mkdir", f"{home}/home", "--mkdir", f"{home}/kernels"]
        for part in parts:
            words += ["--copy", str(part), f"{home}/kernels/{part.name}"]
        return _Scratch(_home_environment(home), words, kernels.cache_directory())
    for name in ("home", "kernels"):
        (scratch / name).mkdir()
    for part in parts:
        _link_or_copy(part, scratch / "kernels" / part.name)
    if user is not None:
        # The files stay ours: the bot may replace them in its own directories, but not write them.
        for path, _, _ in os.walk(scratch):
            os.chown(path, user, user)
    return _Scratch(_home_environment(scratch))


def _link_or_copy(source: Path, target: Path) -> None:
    """Link a part of a cache, which is never written in place, or copy it where that cannot be."""
    try:
        if source.is_dir():
            shutil.copytree(source, target, copy_function=os.link)
        else:
            os.link(source, target)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        entrypoint.copy_cache(source, target)


def _current_cache(shared: Path) -> list[Path]:
    """Return what of the compile cache is in use: for each package the newest versions."""
    versions: dict[str, list[tuple[float, Path]]] = {}
    with contextlib.suppress(OSError):
        for path in shared.iterdir():
            if path.suffix != ".lock":
                versions.setdefault(path.name.rpartition("-")[0], []).append(
                    (path.stat().st_mtime, path)
                )
    return [path for dated in versions.values() for _, path in sorted(dated)[-CACHE_VERSIONS:]]


def _home_environment(home: Path) -> dict[str, str]:
    return {
        "HOME": f"{home}/home",
        "TMPDIR": f"{home}/home",
        "XDG_CACHE_HOME": f"{home}/home/.cache",
        "KIBITZ_CACHE": f"{home}/kernels",
    }


def _cgroup_arguments() -> dict[str, str]:
    """Return what the supervisor needs to find the directory of groups."""
    return {key: os.environ[key] for key in ("KIBITZ_CGROUP",) if key in os.environ}


def counts_processes(isolation: Isolation, user: int | None) -> bool:
    """Whether the kernel counts a bot's processes apart from those of others.

    It counts them by user, and since Linux 5.14 by user and user namespace.
    """
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    return user is not None or (isolation.tool == "bwrap" and release >= (5, 14))


def _rlimit_arguments(*, count_processes: bool) -> list[str]:
    """Return the limits that hold for every untrusted bot, as `entrypoint` takes them."""
    words = ["--processes", str(MAX_PROCESSES)] if count_processes else []
    words += ["--files", str(MAX_FILES), "--file-bytes", str(MAX_FILE_BYTES)]
    with contextlib.suppress(OSError, ValueError):
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        words += ["--data-bytes", str(whole // 2)]
    return words
