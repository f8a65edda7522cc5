"""An LRU cache bounded by total weight."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """A cache that drops the least recently used values to limit the total weight.

    Thread-safe.
    """

    def __init__(self, capacity: int) -> None:
        """`capacity` limits the sum of the weights passed to `put`, such as bytes."""
        self._capacity = capacity
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def weight(self) -> int:
        return self._weight

    def get(self, key: K) -> V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Store a value, unless its weight alone exceeds the capacity."""
        with self._lock:
            self._remove(key)
            if weight > self._capacity:
                return
            self._entries[key] = (value, weight)
            self._weight += weight
            while self._weight > self._capacity:
                self._remove(next(iter(self._entries)))

    def _remove(self, key: K) -> None:
        held = self._entries.pop(key, None)
        if held is not None:
            self._weight -= held[1]
