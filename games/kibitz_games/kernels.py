"""The compile layer: one source for rules and searches, run by numba or by plain Python.

A *kernel* is a function over numpy records, arrays and numbers, decorated with `@kernel`. In
``compiled`` mode numba turns it into machine code; in ``plain`` mode the decorator gives the
function back unchanged. A process has one mode, settled by the first kernel that is decorated
(that is, by the first import of a game's rules) and never changed afterwards:

1. ``KIBITZ_PLAIN=1``, ``NUMBA_DISABLE_JIT=1`` or a missing numba: plain, whatever else is said;
2. else what `choose` was told before the first kernel was decorated;
3. else compiled.

Importing this module costs nothing: numba is imported when compiled mode is settled. A program
that draws or spectates calls ``choose("plain")`` first and never pays for numba; one that plays
or hosts leaves the default. For a server of Chinese Checkers compiled rules cost 0.4 s of CPU and
107 MB once, with a warm cache; a ply (decode, play, legal actions, view, dump) takes 16-30 us
instead of 230, so they pay for themselves after 2,000 plies.

The cache of machine code
-------------------------
numba keys a cached function by its own file only: when a callee or a table in another file
changes, the stale code is used and is silently wrong. So every function gets a cache directory
named after the sources of its whole top-level package, those of this package, and the
versions of Python, numpy and numba. ``KIBITZ_CACHE`` moves the cache. Every compilation runs
under one file lock, because two processes that write one cache entry at the same time can mix
their machine code. What is in the cache is loaded without the lock, by as many processes at once
as like: an entry is renamed into its place and never changes. Directories that nobody used for a
while are removed.
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
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from kibitz_games.api import Game, Model

Mode = Literal["compiled", "plain"]
Int: TypeAlias = "int | np.integer[Any]"
"""An integer inside a kernel: numpy's or Python's in plain mode, a machine word when compiled."""
Function = TypeVar("Function", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""What every kernel is compiled with: other threads run meanwhile, division never raises."""
KEEP_DAYS = 14
"""A cache directory that no process used for so long is removed."""
KEEP_NEWEST = 8
"""At most so many cache directories survive, however recently they were used."""

_PACKAGE = Path(__file__).parent
_wish: Mode = "compiled"
_settled: Mode | None = None


def choose(wish: Mode) -> Mode:
    """Ask for a mode; return the one in force.

    Call it before a game is imported. The answer differs from `wish` where the environment
    forbids compiling, or where an earlier import has settled the mode.
    """
    global _wish
    _wish = wish
    return _settled or _possible()


def mode() -> Mode:
    """Return the mode of this process, and settle it."""
    global _settled
    if _settled is None:
        _settled = _possible()
    return _settled


def compiled() -> bool:
    """Return whether kernels of this process are machine code."""
    return mode() == "compiled"


def _possible() -> Mode:
    forbidden = (os.environ.get(name, "0") not in ("", "0") for name in _FORBIDDERS)
    if any(forbidden) or importlib.util.find_spec("numba") is None:
        return "plain"
    return _wish


_FORBIDDERS = ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")


def word() -> Callable[[Any], int]:
    """Return the conversion to a machine word: ``i64 = word()`` at the top of a module of rules.

    That is ``np.int64`` where it matters, in machine code, and ``int`` in plain mode, where
    numpy's integers would only be slow.
    """
    return cast(Callable[[Any], int], np.int64 if compiled() else int)


def kernel(function: Function) -> Function:
    """Make `function` a kernel: machine code in compiled mode, itself in plain mode."""
    if mode() == "plain":
        return function
    import numba
    from numba.core import config

    setattr(config, "CACHE_DIR", str(_directory(_root(function))))  # noqa: B010
    dispatcher: Any = numba.njit(cache=True, **FLAGS)(function)
    dispatcher.compile = _in_turn(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def record(name: str, fields: Sequence[tuple[Any, ...]], *, source: str) -> np.dtype[Any]:
    """Return the type of a record with C layout; `source` is the defining module's ``__file__``.

    A last field of one byte carries the name and a hash of the source, so that two records
    with equal fields are different types to numba, and so that machine code cached for one
    version of a file is never run on the records of another.
    """
    digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()[:12]
    tag = f"_{name}_{digest}"
    layout = np.dtype([*fields, (tag, np.uint8)], align=True)
    return np.dtype((Record, layout))


class Record(np.record):  # type: ignore[misc]
    """A record that lives alone in an array of one element, its `box`; copies have their own."""

    def copy(self, order: Literal["C", "F", "A", "K"] | None = "C") -> Record:
        """Return a copy; an eighth of the time that numpy takes to copy field by field."""
        return _alone(np.frombuffer(bytearray(self.tobytes()), self.dtype))


class _Home(np.ndarray[Any, Any]):
    """The array of one record in plain mode; it can keep the record's facade."""

    facade: Any = None


def _alone(home: np.ndarray[Any, Any]) -> Record:
    """Return the only record of an array, with that array as its base."""
    return home[0] if _settled == "compiled" else home.view(_Home)[0]  # type: ignore[no-any-return]


def new(dtype: np.dtype[Any]) -> Record:
    """Return a record of this type with every byte zero."""
    return _alone(np.zeros(1, dtype=dtype))


def box(state: np.record) -> Any:
    """Return the array of one element that a record from `new` or `copy` lives in.

    A kernel that Python calls often takes this instead of the record: numba accepts an array in
    0.4 us and a record of thirty fields in 5 us, because numpy describes it anew each time. In
    plain mode the one element is a `facade`, which serves kernels several times as fast.
    """
    return _home(state) if _settled == "compiled" else (facade(state),)


def _home(state: np.record) -> np.ndarray[Any, Any]:
    home = state.base
    if not isinstance(home, np.ndarray) or home.shape != (1,):
        raise TypeError("this record is part of a larger array; work on its copy()")
    return home


def facade(state: np.record) -> Any:
    """Return an object with the fields of a record that lives alone, over the same bytes.

    numpy takes 2.6 us to read a field of a record and gives numpy's integers; the facade's
    fields are Python's integers and memory views. Only plain kernels gain by it.
    """
    home: Any = _home(state)
    made = getattr(home, "facade", None)
    if made is None:
        made = _facade_type(state.dtype)(lay(home.view(np.uint8)))
        if isinstance(home, _Home):
            home.facade = made
    return made


@functools.cache
def _facade_type(dtype: np.dtype[Any]) -> type:
    """Return the class of facades for one type of record."""
    assert dtype.fields is not None
    places = {name: (entry[0], entry[1]) for name, entry in dtype.fields.items()}
    scalars = {name for name, (kind, _) in places.items() if not kind.shape}

    def init(self: Any, raw: memoryview) -> None:
        for name, (kind, offset) in places.items():
            part = raw[offset : offset + kind.itemsize]
            shape = kind.shape or (1,)
            view = part.cast(cast(Any, kind.base.char), shape=shape)
            setattr(self, f"_{name}" if name in scalars else name, view)

    members = {name: _cell(f"_{name}") for name in scalars}
    return type("Facade", (), {"__init__": init, "dtype": dtype, **members})


def _cell(name: str) -> property:
    def get(self: Any) -> Any:
        return self.__dict__[name][0]

    def put(self: Any, value: Any) -> None:
        self.__dict__[name][0] = value

    return property(get, put)


def lay(array: np.ndarray[Any, np.dtype[Any]]) -> Any:
    """Return an array for kernels to use: itself, or a view of it that is quicker plainly."""
    return array if compiled() else memoryview(cast(Any, np.ascontiguousarray(array)))


def cache_directory() -> Path:
    """Return the directory that holds every cache of machine code."""
    if override := os.environ.get("KIBITZ_CACHE"):
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kibitz", appauthor=False)) / "kernels"


@functools.cache
def _lock(base: Path) -> AbstractContextManager[Any]:
    """Return the lock under which machine code is compiled; reentrant in a thread."""
    import filelock

    return filelock.FileLock(base / "compile.lock")


@functools.cache
def _base() -> Path:
    base = cache_directory()
    try:
        base.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=base).close()
    except OSError as error:
        base = Path(tempfile.mkdtemp(prefix="kibitz-kernels-"))
        message = f"cannot write the compile cache ({error}); this process compiles into {base}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return base


def warm(game: Game, options: Model | None = None, seats: int | None = None) -> None:
    """Compile or load all kernels of a game, by using each once on a real start state.

    A bot does this, and the same with its own kernels, before it says that it is ready; a
    server does it for each game that it offers before it listens.
    """
    from kibitz_games import operations

    chosen = game.Options() if options is None else options
    players = game.info.seats[0] if seats is None else seats
    state = game.start(chosen, players, game.deal(chosen, players, 0))
    operations.warm(state)
    _use(game, state, players)


def _use(game: Game, state: np.record, players: int) -> None:
    """Use everything of a game that its interface offers on a state, which is spoilt by it."""
    action = game.decode(state, game.encode(state, game.legal(state)[0]))
    game.play(state, action)
    game.view(state, None)
    game.undo(state, action)
    for seat in range(players):
        game.drop(state, seat)
    game.outcome(state)


def _in_turn(dispatcher: Any) -> Callable[[Any], Any]:
    """Return numba's "load or compile" of a function, under the lock unless it will only load.

    Who waited for the lock finds in the cache what others compiled meanwhile. The lock is taken
    before numba's own, so no two threads wait for each other.
    """
    load_or_compile = dispatcher.compile

    @functools.wraps(load_or_compile)
    def call(signature: Any) -> Any:
        with nullcontext() if _cached(dispatcher, signature) else _lock(_base()):
            return load_or_compile(signature)

    return call


def _cached(dispatcher: Any, signature: Any) -> bool:
    """Return whether the cache has the machine code of a function for these types."""
    cache, codegen = dispatcher._cache, dispatcher.targetctx.codegen()
    files = cache._cache_file
    name = files._load_index().get(cache._index_key(signature, codegen))
    return name is not None and os.path.exists(files._data_path(name))


def _root(function: Callable[..., Any]) -> Path:
    """Return the top-level package of a function, or its file where it has no package."""
    path = Path(function.__code__.co_filename).resolve()
    levels = function.__module__.count(".") + (path.name == "__init__.py")
    return path.parents[levels - 1] if levels else path


@functools.cache
def _directory(root: Path) -> Path:
    """Return the cache directory for kernels defined below `root`, and mark it as used."""
    base = _base()
    path = base / f"{root.stem}-{fingerprint(root)[:16]}"
    try:
        os.utime(path)
    except FileNotFoundError:
        with _lock(base):
            path.mkdir(exist_ok=True)
            _prune(base, path)
    return path


@functools.cache
def fingerprint(root: Path) -> str:
    """Return the hash of all that machine code of `root` depends on, as hexadecimal digits."""
    import numba

    versions = (sys.version, platform.machine(), np.__version__, numba.__version__)
    digest = hashlib.sha256(repr(versions).encode())
    for top in dict.fromkeys((_PACKAGE.resolve(), root)):
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _prune(base: Path, current: Path) -> None:
    used = {path: path.stat().st_mtime for path in base.iterdir() if path.is_dir()}
    newest = sorted(used, key=lambda path: used[path], reverse=True)
    for place, path in enumerate(newest):
        stale = used[path] < time.time() - KEEP_DAYS * 86400
        if path != current and (stale or place >= KEEP_NEWEST):
            shutil.rmtree(path, ignore_errors=True)
