"""Tells waiters what became of what they appended; one that raises stops nobody else."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.streams import Stream, Waiter

LOG = logging.getLogger("kibitz.store")
Waiting: TypeAlias = tuple[Stream | None, int, Waiter | None]
"""A stream, or None for a row of another table; the number of an entry; who is told of it."""


def tell_durable(waiting: Iterable[Waiting]) -> None:
    """Tell everybody, in order, that an entry is on the disk."""
    for stream, seq, waiter in waiting:
        if stream is not None:
            stream.durable = seq
        if waiter is not None:
            try:
                waiter.durable(seq)
            except Exception:
                LOG.exception("%s: the news that %d is durable", describe(stream), seq)


def tell_lost(waiting: Sequence[Waiting], error: StoreError) -> None:
    """Tell everybody, once each and after all streams have failed, that entries are lost."""
    told: dict[int, tuple[Stream | None, Waiter]] = {}
    for stream, _, waiter in waiting:
        if stream is not None:
            stream.failed = True
        if waiter is not None:
            told.setdefault(id(waiter), (stream, waiter))
    for stream, waiter in told.values():
        try:
            waiter.lost(error)
        except Exception:
            LOG.exception("%s: the news that entries are lost", describe(stream))


def describe(stream: Stream | None) -> str:
    """Return how a log names what was appended to."""
    return "a statement" if stream is None else f"{stream.kind} {stream.key}"
