"""The cache of machine code: its location, its keys, and its locks.

Machine code is reused only if no statement that could be compiled into it has changed. numba itself
keys a function by its own file. When a callee or a table in another file changes, it silently runs
stale code. Here the functions of a module have a directory named after

- the statements of the module and of all that it imports (see `sources`),
- the versions of Python, numpy and numba; numba adds the processor to its own key.

A search imports neither the games nor the evaluations that are compiled into it. It reaches them
through the types of its arguments, which are part of numba's key. The type of a record carries the
same hash of the module that declared it (`records.record_type`), and that module must import every
function that is dispatched on it (`dispatch.set_implementation`).

``KIBITZ_CACHE`` moves the cache. Each function is compiled under its own file lock, because two
processes that write one cache entry at the same time can mix their machine code; different
functions are compiled at the same time. Loading from the cache takes no lock, and any number of
processes may do it at once: an entry is renamed into its place and never changes. Directories that
no process has used for a while are removed.
"""

from __future__ import annotations

import functools
import hashlib
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

from kibitz_games.compiled import sources

KEEP_DAYS = 14
"""A cache directory that no process used for so long is removed."""
KEEP_NEWEST = 8
"""At most so many cache directories of a module survive, however recently they were used."""


def cache_directory() -> Path:
    """Return the directory that holds every cache of machine code."""
    if override := os.environ.get("KIBITZ_CACHE"):
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kibitz", appauthor=False)) / "kernels"


@functools.cache
def fingerprint(path: Path) -> str:
    """Return the hash of all statements and libraries that machine code of a module depends on."""
    import numba

    base = writable_directory()
    statements = sources.fingerprint(sources.closure(path, base), base)
    versions = (sys.version, platform.machine(), np.__version__, numba.__version__)
    return hashlib.sha256(repr((versions, statements)).encode()).hexdigest()


def depends_on(path: Path, other: Path) -> bool:
    """Return whether the fingerprint of a module covers another one."""
    return other in sources.closure(path, writable_directory())


@functools.cache
def module_directory(path: Path) -> Path:
    """Return the cache directory for the machine code of a module, and mark it as used."""
    base, name = writable_directory(), sources.dotted_name(path)
    directory = base / f"{name}-{fingerprint(path)[:16]}"
    try:
        os.utime(directory)
    except FileNotFoundError:
        with _file_lock(base / "directories.lock"):
            directory.mkdir(exist_ok=True)
            _prune(base, name)
    return directory


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
    """Return the directory that this process compiles into, a private one if necessary."""
    base = cache_directory()
    try:
        base.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=base).close()
    except OSError as error:
        base = Path(tempfile.mkdtemp(prefix="kibitz-kernels-"))
        message = f"cannot write the compile cache ({error}); this process compiles into {base}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return base


def _prune(base: Path, name: str) -> None:
    """Remove directories unused for `KEEP_DAYS`, and all but the newest ones of a module."""
    entries = [path for path in base.iterdir() if path.is_dir() or path.suffix == sources.SUFFIX]
    used = {path: path.stat().st_mtime for path in entries}
    oldest = time.time() - KEEP_DAYS * 86400
    newest = sorted(base.glob(f"{name}-*"), key=lambda path: used[path], reverse=True)
    for path, last in used.items():
        if path in newest[KEEP_NEWEST:] or last < oldest:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
