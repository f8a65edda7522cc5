"""The cache of machine code: where it is, what it is keyed by, and who may write it.

numba keys a cached function by its own file only: when a callee or a table in another file
changes, the stale code is used and is silently wrong. So every function gets a cache directory
named after the sources of its whole top-level package, those of `DEPENDENCIES`, and the
versions of Python, numpy and numba. ``KIBITZ_CACHE`` moves the cache. A function is compiled
under a file lock of its own, because two processes that write one cache entry at the same time
can mix their machine code; different functions are compiled at the same time. What is in the
cache is loaded without the lock, by as many processes at once as like: an entry is renamed into
its place and never changes. Directories that nobody used for a while are removed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

KEEP_DAYS = 14
"""A cache directory that no process used for so long is removed."""
KEEP_NEWEST = 8
"""At most so many cache directories survive, however recently they were used."""

DEPENDENCIES = ("kibitz_games", "kibitz_search")
"""The packages whose kernels those of later packages call, in the order of who imports whom."""


def cache_directory() -> Path:
    """Return the directory that holds every cache of machine code."""
    if override := os.environ.get("KIBITZ_CACHE"):
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kibitz", appauthor=False)) / "kernels"


def kernel_directory(function: Callable[..., Any]) -> Path:
    """Return the cache directory for the machine code of a function, and mark it as used."""
    return _directory(_package_root(function))


def compile_locked(dispatcher: Any) -> Callable[[Any], Any]:
    """Return numba's "load or compile" of a function, under its lock unless it will only load.

    A process that waited for the lock finds in the cache what another one compiled meanwhile.
    The lock is taken after numba's own: then one thread of a process takes file locks, along the
    call graph from caller to callee, and as the graph has no circle no two processes can wait
    for each other.
    """
    from numba.core.compiler_lock import global_compiler_lock

    load_or_compile = dispatcher.compile
    lock = Path(f"{dispatcher._cache._cache_file._index_path}.lock")

    @functools.wraps(load_or_compile)
    def call(signature: Any) -> Any:
        with _timed():
            if _is_cached(dispatcher, signature):
                return load_or_compile(signature)
            with global_compiler_lock, _file_lock(lock):
                return load_or_compile(signature)

    return call


class _CompileTime(threading.local):
    """How long the thread has compiled and loaded, and whether it does so now."""

    seconds: float = 0.0
    running: bool = False


_COMPILE_TIME = _CompileTime()


def compile_seconds() -> float:
    """Return for how many seconds this thread has compiled or loaded machine code so far.

    Waiting for another process that compiles the same counts. It is 0 in plain mode.
    """
    return _COMPILE_TIME.seconds


@contextmanager
def _timed() -> Iterator[None]:
    """Add the time of the block to `compile_seconds`; that of a callee is part of its caller's."""
    if _COMPILE_TIME.running:
        yield
        return
    began, _COMPILE_TIME.running = time.monotonic(), True
    try:
        yield
    finally:
        _COMPILE_TIME.seconds += time.monotonic() - began
        _COMPILE_TIME.running = False


def _is_cached(dispatcher: Any, signature: Any) -> bool:
    """Return whether the cache has the machine code of a function for these types."""
    cache, codegen = dispatcher._cache, dispatcher.targetctx.codegen()
    files = cache._cache_file
    name = files._load_index().get(cache._index_key(signature, codegen))
    return name is not None and os.path.exists(files._data_path(name))


@functools.cache
def _file_lock(path: Path) -> AbstractContextManager[Any]:
    """Return the lock between processes that a file stands for; reentrant in a thread."""
    import filelock

    return filelock.FileLock(path)


@functools.cache
def writable_directory() -> Path:
    """Return the directory that this process compiles into: one of its own if it must."""
    base = cache_directory()
    try:
        base.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=base).close()
    except OSError as error:
        base = Path(tempfile.mkdtemp(prefix="kibitz-kernels-"))
        message = f"cannot write the compile cache ({error}); this process compiles into {base}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return base


def _package_root(function: Callable[..., Any]) -> Path:
    """Return the top-level package of a function, or its file where it has no package."""
    path = Path(function.__code__.co_filename).resolve()
    levels = function.__module__.count(".") + (path.name == "__init__.py")
    return path.parents[levels - 1] if levels else path


@functools.cache
def _directory(root: Path) -> Path:
    """Return the cache directory for kernels defined below `root`, and mark it as used."""
    base = writable_directory()
    path = base / f"{root.stem}-{fingerprint(root)[:16]}"
    try:
        os.utime(path)
    except FileNotFoundError:
        with _file_lock(base / "directories.lock"):
            path.mkdir(exist_ok=True)
            _prune(base, path)
    return path


@functools.cache
def fingerprint(root: Path) -> str:
    """Return the hash of all that machine code of `root` depends on, as hexadecimal digits."""
    import numba

    versions = (sys.version, platform.machine(), np.__version__, numba.__version__)
    digest = hashlib.sha256(repr(versions).encode())
    for top in _sources(root):
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(root: Path) -> list[Path]:
    """Return the packages that kernels of `root` may call, `root` itself last."""
    tops = list[Path]()
    for name in DEPENDENCIES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            tops.append(Path(spec.origin).resolve().parent)
        if root in tops:
            return tops
    return [*tops, root]


def _prune(base: Path, current: Path) -> None:
    """Remove directories that were not used for `KEEP_DAYS`, and all but the newest ones."""
    used = {path: path.stat().st_mtime for path in base.iterdir() if path.is_dir()}
    newest = sorted(used, key=lambda path: used[path], reverse=True)
    for place, path in enumerate(newest):
        stale = used[path] < time.time() - KEEP_DAYS * 86400
        if path != current and (stale or place >= KEEP_NEWEST):
            shutil.rmtree(path, ignore_errors=True)
