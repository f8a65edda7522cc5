"""The cache of machine code: its location, its keys, and its locks.

Machine code is reused only if no statement that could be compiled into it has changed. The cache
key of numba covers only the function's file, so numba silently runs stale code after a callee or a
table in another file has changed. Here, each module has a cache directory whose name contains a
hash of

- the statements of the module and of everything it imports (see `sources`), and
- the versions of Python, numpy and numba; numba's own key covers the processor.

A search does not import the games and evaluations that are compiled into it, but calls them through
the types of its arguments, which are part of numba's key. A record type therefore contains the hash
of the module that declared it (`records.record_type`), and that module must import every function
dispatched on the type (`dispatch.set_implementation`).

``KIBITZ_CACHE`` sets the location of the cache. Each function is compiled under its own file lock,
because two processes that write the same cache entry concurrently can corrupt it; different
functions can be compiled in parallel. Loading needs no lock: entries are renamed into place and
never modified. Directories that have not been used for a while are removed.
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
"""The age in days at which unused cache directories are removed."""
KEEP_NEWEST = 8
"""The maximum number of cache directories per module, however recently they were used."""


def cache_directory() -> Path:
    """Return the parent directory of all cached machine code."""
    if override := os.environ.get("KIBITZ_CACHE"):
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kibitz", appauthor=False)) / "kernels"


@functools.cache
def fingerprint(path: Path) -> str:
    """Return the hash of all statements and libraries that machine code of a module depends on."""
    from importlib.metadata import version  # importing numba would take ten times as long

    base = writable_directory()
    statements = sources.fingerprint(sources.closure(path, base), base)
    versions = (sys.version, platform.machine(), np.__version__, version("numba"))
    return hashlib.sha256(repr((versions, statements)).encode()).hexdigest()


def depends_on(path: Path, other: Path) -> bool:
    """Return whether the fingerprint of the module `path` covers the module `other`."""
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


def compile_locked(dispatcher: Any, lock: Path) -> Callable[[Any], Any]:
    """Wrap numba's "load or compile" of a function so that it compiles under the lock file `lock`.

    A process that waited for the lock finds the code that another process compiled in the cache.
    numba's compiler lock is acquired first, so that only one thread of a process acquires file
    locks. It does so in call order, from caller to callee, and the call graph has no cycles, so
    processes cannot deadlock.
    """
    from numba.core.compiler_lock import global_compiler_lock

    load_or_compile = dispatcher.compile

    @functools.wraps(load_or_compile)
    def call(signature: Any) -> Any:
        with _timed():
            if _is_cached(dispatcher, signature):
                return load_or_compile(signature)
            with global_compiler_lock, _file_lock(lock):
                return load_or_compile(signature)

    return call


class _CompileTime(threading.local):
    """How long a thread has been compiling and loading, and whether it is doing so now."""

    seconds: float = 0.0
    running: bool = False


_COMPILE_TIME = _CompileTime()


def compile_seconds() -> float:
    """Return the total seconds that this thread has spent compiling or loading machine code.

    This includes waiting for another process to compile the same function. It is 0 in plain mode.
    """
    return _COMPILE_TIME.seconds


@contextmanager
def _timed() -> Iterator[None]:
    """Add the duration of the block to `compile_seconds`; nested blocks are not counted twice."""
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
    """Return whether the cache contains the machine code of a function for this signature."""
    cache, codegen = dispatcher._cache, dispatcher.targetctx.codegen()
    files = cache._cache_file
    name = files._load_index().get(cache._index_key(signature, codegen))
    return name is not None and os.path.exists(files._data_path(name))


@functools.cache
def _file_lock(path: Path) -> AbstractContextManager[Any]:
    """Return the interprocess lock for a lock file; it is reentrant within a thread."""
    import filelock

    return filelock.FileLock(path)


@functools.cache
def writable_directory() -> Path:
    """Return the directory for compiled code; a temporary one if the cache is not writable."""
    base = cache_directory()
    try:
        base.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=base).close()
    except OSError as error:
        base = Path(tempfile.mkdtemp(prefix="kibitz-kernels-"))
        message = f"cannot write the compile cache ({error}); this process uses {base} instead"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return base


def _prune(base: Path, name: str) -> None:
    """Remove entries unused for `KEEP_DAYS`, and all but the newest directories of a module."""
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
