"""Records: the memory that kernels work on, and the quick ways to it from Python.

A state is one numpy record. `record_type` declares its fields, `new` makes one, `as_array` hands it
to a kernel, and a `RecordReader` reads many of its fields in one call.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from kibitz_games.compiled.cache import fingerprint
from kibitz_games.compiled.mode import compiled


def record_type(name: str, fields: Sequence[tuple[Any, ...]], *, source: str) -> np.dtype[Any]:
    """Return the type of a record with C layout; `source` is the defining module's ``__file__``.

    A last field of one byte carries the name and a hash of the source, so that two records
    with equal fields are different types to numba. The hash covers all modules that the source
    imports: a kernel that another module dispatches on the type is never run with machine code
    that was cached for another version of the operations.
    """
    path = Path(source).resolve()
    key = fingerprint(path) if compiled() else hashlib.sha256(bytes(path)).hexdigest()
    tag = f"_{name}_{key[:12]}"
    _SOURCES[tag] = path
    layout = np.dtype([*fields, (tag, np.uint8)], align=True)
    return np.dtype((StateRecord, layout))


_SOURCES: dict[str, Path] = {}
"""The module of each type, by the name of its last field."""


def source_of(dtype: np.dtype[Any]) -> Path:
    """Return the file of the module that declared a type with `record_type`."""
    assert dtype.names is not None
    return _SOURCES[dtype.names[-1]]


_ALONE = (1,)
"""The shape of an array of one record."""


class StateRecord(np.record):  # type: ignore[misc]
    """A record that lives alone in an array of one element, `as_array`; copies have their own."""

    # numpy looks a field and an attribute up in Python; these are the same in C, ten times as fast.
    # Names that are set are always fields: a record has nothing else.
    __getitem__ = np.void.__getitem__  # type: ignore[assignment]
    __getattribute__ = object.__getattribute__
    __setattr__ = np.void.__setitem__

    def __getattr__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except (KeyError, ValueError):
            raise AttributeError(f"no field {name!r} in a record of type {_label(self)}") from None

    def copy(self, order: Literal["C", "F", "A", "K"] | None = "C") -> StateRecord:
        """Return a copy; an eighth of the time that numpy takes to copy field by field."""
        return _record_of(np.frombuffer(bytearray(self.tobytes()), self.dtype))

    # numpy's own copies have no array of their own, so no kernel would accept them.
    def __copy__(self) -> StateRecord:
        return self.copy()

    def __deepcopy__(self, memo: object) -> StateRecord:
        return self.copy()

    def __reduce__(self) -> Any:
        return _from_bytes, (self.dtype, self.tobytes())


def _label(state: np.record) -> str:
    """Return the name that `record_type` was given."""
    return str((state.dtype.names or ("",))[-1]).rpartition("_")[0].lstrip("_")


class _RecordArray(np.ndarray[Any, Any]):
    """The array of one record in plain mode; it can keep the record's proxy."""

    proxy: Any = None


def _record_of(home: np.ndarray[Any, Any]) -> StateRecord:
    """Return the only record of an array, with that array as its base."""
    return home[0] if compiled() else home.view(_RecordArray)[0]  # type: ignore[no-any-return]


def _from_bytes(dtype: np.dtype[Any], raw: bytes) -> StateRecord:
    """Return the record of a pickle, in its own array."""
    return _record_of(np.frombuffer(bytearray(raw), dtype))


def new(dtype: np.dtype[Any]) -> StateRecord:
    """Return a record of this type with every byte zero."""
    return _record_of(np.zeros(1, dtype=dtype))


def as_array(state: np.record) -> Any:
    """Return the array of one element that a record from `new` or `copy` lives in.

    A kernel that Python calls often takes this instead of the record: numba accepts an array in
    0.4 us and a record of thirty fields in 5 us, because numpy describes it anew each time. In
    plain mode the one element is a `plain_proxy`, which serves kernels several times as fast.
    """
    if not compiled():
        return (plain_proxy(state),)
    home = state.base  # `_array_of` in place: each move passes here several times
    if isinstance(home, np.ndarray) and home.shape == _ALONE:
        return home
    raise _not_alone()


def _array_of(state: np.record) -> np.ndarray[Any, np.dtype[Any]]:
    home = state.base
    if isinstance(home, np.ndarray) and home.shape == _ALONE:
        return home
    raise _not_alone()


def _not_alone() -> TypeError:
    return TypeError("this record is part of a larger array; work on its copy()")


def plain_proxy(state: np.record) -> Any:
    """Return an object with the fields of a record that lives alone, over the same bytes.

    numpy takes 2.6 us to read a field of a record and gives numpy's integers; the proxy's
    fields are Python's integers and memory views. Only plain kernels gain by it.
    """
    home: Any = _array_of(state)
    made = getattr(home, "proxy", None)
    if made is None:
        made = _proxy_type(state.dtype)(kernel_array(home.view(np.uint8)))
        if isinstance(home, _RecordArray):
            home.proxy = made
    return made


@functools.cache
def _proxy_type(dtype: np.dtype[Any]) -> type:
    """Return the class of proxies for one type of record."""
    assert dtype.fields is not None
    places = {name: (entry[0], entry[1]) for name, entry in dtype.fields.items()}
    scalars = {name for name, (kind, _) in places.items() if not kind.shape}

    def init(self: Any, raw: memoryview) -> None:
        self.words = raw[: len(raw) // 8 * 8].cast("Q")
        for name, (kind, offset) in places.items():
            part = raw[offset : offset + kind.itemsize]
            shape = kind.shape or (1,)
            view = part.cast(cast(Any, kind.base.char), shape=shape)
            setattr(self, f"_{name}" if name in scalars else name, view)

    members = {name: _field_property(f"_{name}") for name in scalars}
    return type("RecordProxy", (), {"__init__": init, "dtype": dtype, **members})


def _field_property(name: str) -> property:
    def get(self: Any) -> Any:
        return self.__dict__[name][0]

    def put(self: Any, value: Any) -> None:
        self.__dict__[name][0] = value

    return property(get, put)


def as_bytes(state: np.record) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes of a record from `new` or `copy`, to read and write."""
    return _array_of(state).view(np.uint8)


def words_of(state: np.record, count: int) -> memoryview:
    """Return the first words of a record to read and write, also of one in a larger array."""
    home: Any = state.base
    if home.shape == _ALONE:
        words: memoryview = plain_proxy(state).words
        return words[:count]
    first = _address(state) - _address(home)
    raw = memoryview(home.view(np.uint8).reshape(-1))
    return raw[first : first + 8 * count].cast("Q")


def _address(owner: Any) -> int:
    return int(owner.__array_interface__["data"][0])


def batch(states: np.ndarray[Any, np.dtype[Any]]) -> Any:
    """Return what kernels take for an array of records: itself, or plain proxies of its records."""
    if compiled():
        return states
    raw = states.view(np.uint8).reshape(len(states), states.dtype.itemsize)
    return [_proxy_type(states.dtype)(memoryview(cast(Any, row))) for row in raw]


def kernel_array(array: np.ndarray[Any, np.dtype[Any]]) -> Any:
    """Return an array for kernels to use: itself, or a view of it that is quicker plainly."""
    return array if compiled() else memoryview(cast(Any, np.ascontiguousarray(array)))


class RecordReader:
    """Reads chosen fields of records of one type in a single call, as Python's own values.

    A number becomes an int, an array of unsigned bytes a `bytes`, a short array a tuple, and a long
    one a memory view of a copy. Arrays of several axes are read row by row. numpy takes 0.5 us for
    one number; a reader takes about as long for twenty. ::

        _FIELDS = RecordReader(STATE, "ply", "side", "board")
        ply, side, board = _FIELDS(state)
    """

    SHORT = 32
    """Arrays of so many numbers become tuples; longer ones memory views."""

    def __init__(self, dtype: np.dtype[Any], *names: str) -> None:
        assert dtype.fields is not None
        layout, end, count = "=", 0, 0
        places: dict[str, int | slice] = {}
        self._long: list[tuple[int, Any]] = []
        """Of each long array its place among `names` and the format of its numbers."""
        for offset, name in sorted((dtype.fields[name][1], name) for name in names):
            kind = dtype.fields[name][0]
            items = kind.itemsize // kind.base.itemsize
            places[name] = count
            layout += f"{offset - end}x"
            end = offset + kind.itemsize
            if not kind.shape:
                layout += kind.char
                count += 1
            elif kind.base == np.uint8:
                layout += f"{items}s"
                count += 1
            elif items > self.SHORT:
                layout += f"{kind.itemsize}s"
                self._long.append((names.index(name), kind.base.char))
                count += 1
            else:
                layout += f"{items}{kind.base.char}"
                places[name] = slice(count, count + items)
                count += items
        self._unpack = struct.Struct(layout.replace("l", "q").replace("L", "Q")).unpack_from
        # With a single name, the getter would return its value instead of a tuple of one.
        self._pick = itemgetter(*[places[name] for name in names], slice(0))

    def __call__(self, state: np.record) -> list[Any]:
        """Return the values of the fields, in the order in which they were named."""
        home: Any = _array_of(state)
        read: list[Any]
        *read, _ = self._pick(self._unpack(home))
        for place, kind in self._long:
            read[place] = memoryview(read[place]).cast(kind)
        return read
