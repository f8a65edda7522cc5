"""Cancellation tokens, which stop searches whose answers are no longer needed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class CancelToken(threading.Event):
    """A one-time event that calls its listeners.

    Any thread may set it or wait for it. It stays set.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.Lock()
        self._listeners: list[Callable[[], object]] = []

    def set(self) -> None:
        """Set the token and call each listener once; do nothing if it was already set."""
        with self._guard:
            super().set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    @contextlib.contextmanager
    def notifying(self, listener: Callable[[], object]) -> Iterator[None]:
        """Call `listener` when the token is set during the block, or at once if it already is.

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
