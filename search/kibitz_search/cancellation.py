"""Cancellation tokens, for stopping searches whose results are no longer needed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class CancelToken(threading.Event):
    """A one-time event that calls its listeners.

    Any thread may set it; it cannot be cleared.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.Lock()
        self._listeners: list[Callable[[], object]] = []

    def set(self) -> None:
        """Set the token and call each listener once; do nothing if it is already set."""
        with self._guard:
            super().set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    @contextlib.contextmanager
    def notifying(self, listener: Callable[[], object]) -> Iterator[None]:
        """Call `listener` if the token is set during the block, or immediately if it is already
        set.

        The listener runs in the thread that sets the token, so it must return quickly.
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
