"""Records: the memory that kernels work on, and fast access to it from Python.

A state is one numpy record. `record_type` declares its fields, `new` creates one, `as_array`
prepares it for a kernel, and a `RecordReader` reads many of its fields in one call.
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
    """Return a record type with C layout; `source` is the ``__file__`` of the defining module.

    The name of an extra one-byte field at the end contains the name of the type and a hash of the
    source, so that numba distinguishes two types with equal fields. The hash covers all modules
    that the source imports, so machine code cached for another version of the operations is never
    used with this type.
    """
    path = Path(source).resolve()
    key = fingerprint(path) if compiled() else hashlib.sha256(bytes(path)).hexdigest()
    tag = f"_{name}_{key[:12]}"
    _SOURCES[tag] = path
    layout = np.dtype([*fields, (tag, np.uint8)], align=True)
    return np.dtype((StateRecord, layout))


_SOURCES: dict[str, Path] = {}
"""The defining module of each type, by the name of the type's last field."""


def source_of(dtype: np.dtype[Any]) -> Path:
    """Return the path of the module that declared a type with `record_type`."""
    assert dtype.names is not None
    return _SOURCES[dtype.names[-1]]


_ALONE = (1,)
"""The shape of an array with one record."""


class StateRecord(np.record):  # type: ignore[misc]
    """A record that is the only element of its own array (see `as_array`); so are its copies."""

    # numpy looks up fields and attributes in Python; these C functions do the same ten times as
    # fast. Setting an attribute always sets a field, since records have no other attributes.
    __getitem__ = np.void.__getitem__  # type: ignore[assignment]
    __getattribute__ = object.__getattribute__
    __setattr__ = np.void.__setitem__

    def __getattr__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except (KeyError, ValueError):
            raise AttributeError(f"no field {name!r} in a record of type {_label(self)}") from None

    def copy(self, order: Literal["C", "F", "A", "K"] | None = "C") -> StateRecord:
        """Return a copy, eight times as fast as numpy, which copies field by field."""
        return _record_of(np.frombuffer(bytearray(self.tobytes()), self.dtype))

    # Copies made by numpy are not in an array of their own, so kernels would not accept them.
    def __copy__(self) -> StateRecord:
        return self.copy()

    def __deepcopy__(self, memo: object) -> StateRecord:
        return self.copy()

    def __reduce__(self) -> Any:
        return _from_bytes, (self.dtype, self.tobytes())


def _label(state: np.record) -> str:
    """Return the name that was passed to `record_type`."""
    return str((state.dtype.names or ("",))[-1]).rpartition("_")[0].lstrip("_")


class _RecordArray(np.ndarray[Any, Any]):
    """The array of one record in plain mode; it can cache the record's proxy."""

    proxy: Any = None


def _record_of(home: np.ndarray[Any, Any]) -> StateRecord:
    """Return the only record of an array; the record's base is the array."""
    return home[0] if compiled() else home.view(_RecordArray)[0]  # type: ignore[no-any-return]


def _from_bytes(dtype: np.dtype[Any], raw: bytes) -> StateRecord:
    """Return an unpickled record, in an array of its own."""
    return _record_of(np.frombuffer(bytearray(raw), dtype))


def new(dtype: np.dtype[Any]) -> StateRecord:
    """Return a record of this type, filled with zeros."""
    return _record_of(np.zeros(1, dtype=dtype))


def as_array(state: np.record) -> Any:
    """Return the one-element array that contains a record from `new` or `copy`.

    Kernels that Python calls often take this array instead of the record: numba needs 0.4 us to
    identify the type of an array, but 5 us for a record of thirty fields, because numpy describes
    it again on each call. In plain mode the element is a `plain_proxy`, whose fields are several
    times as fast to read.
    """
    home: Any = state.base
    # In plain mode the array is a `_RecordArray`. A move comes here several times, so look at the
    # type first: it is cheaper than asking for the mode.
    if type(home) is np.ndarray and home.shape == _ALONE:
        return home
    if compiled():
        raise _not_alone()
    return (plain_proxy(state),)


def _array_of(state: np.record) -> np.ndarray[Any, np.dtype[Any]]:
    home = state.base
    if isinstance(home, np.ndarray) and home.shape == _ALONE:
        return home
    raise _not_alone()


def _not_alone() -> TypeError:
    return TypeError("this record is part of a larger array; use its copy()")


def plain_proxy(state: np.record) -> Any:
    """Return an object with the fields of a record from `new` or `copy`, sharing its memory.

    numpy takes 2.6 us to read a field and returns numpy integers; the proxy's fields are Python
    integers and memory views. Only plain kernels benefit.
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
    """Return the proxy class for a record type."""
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
    """Return the bytes of a record from `new` or `copy` as a writable view."""
    return _array_of(state).view(np.uint8)


def words_of(state: np.record, count: int) -> memoryview:
    """Return a writable view of the first words of a record, also within a larger array."""
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
    """Return the records for kernels: the array itself if compiled, otherwise plain proxies."""
    if compiled():
        return states
    raw = states.view(np.uint8).reshape(len(states), states.dtype.itemsize)
    return [_proxy_type(states.dtype)(memoryview(cast(Any, row))) for row in raw]


def kernel_array(array: np.ndarray[Any, np.dtype[Any]]) -> Any:
    """Return an array for use in kernels: a memory view in plain mode, because it is faster."""
    return array if compiled() else memoryview(cast(Any, np.ascontiguousarray(array)))


class RecordReader:
    """Reads several fields of a record in one call, as Python values.

    A number becomes an int, an array of unsigned bytes a `bytes`, a short array a tuple, and a long
    one a memory view of a copy. Multidimensional arrays are read row by row. numpy takes 0.5 us for
    one number; a reader takes about as long for twenty. ::

        _FIELDS = RecordReader(STATE, "ply", "side", "board")
        ply, side, board = _FIELDS(state)
    """

    SHORT = 32
    """The maximum length of arrays that become tuples; longer ones become memory views."""

    def __init__(self, dtype: np.dtype[Any], *names: str) -> None:
        assert dtype.fields is not None
        layout, end, count = "=", 0, 0
        places: dict[str, int | slice] = {}
        self._long: list[tuple[int, Any]] = []
        """The index in `names` and the number format of each long array."""
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
        # The extra slice makes the getter return a tuple even for a single name.
        self._pick = itemgetter(*[places[name] for name in names], slice(0))

    def __call__(self, state: np.record) -> list[Any]:
        """Return the values of the fields in the order of `names`."""
        home: Any = _array_of(state)
        read: list[Any]
        *read, _ = self._pick(self._unpack(home))
        for place, kind in self._long:
            read[place] = memoryview(read[place]).cast(kind)
        return read
