"""Cancellation tokens: how a search is told that nobody waits for its answer any more."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class CancelToken(threading.Event):
    """An event that is set once and for all, and calls whoever asked to be told.

    Any thread may set it or wait for it. It stays set.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.Lock()
        self._listeners: list[Callable[[], object]] = []

    def set(self) -> None:
        """Set the token and call the listeners, each once; nothing more where it was set before."""
        with self._guard:
            super().set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    @contextlib.contextmanager
    def notifying(self, listener: Callable[[], object]) -> Iterator[None]:
        """Have `listener` called when the token is set, or at once if it is, while this lasts.

        The listener is called in the thread that sets the token, so it must return soon.
        """
        with self._guard:
            if not self.is_set():
                self._listeners.append(listener)
        if self.is_set():
            listener()
        try:
            yield
        finally:
            with self._guard, contextlib.suppress(ValueError):
                self._listeners.remove(listener)
