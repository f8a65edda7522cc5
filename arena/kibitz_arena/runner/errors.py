"""Errors of a tournament, and helpers for exception groups."""

from __future__ import annotations

from kibitz_protocol.client.errors import SessionError


class EntrantFailedError(Exception):
    """An entrant cannot be kept running; the message ends with its last output."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


def first_error(group: BaseExceptionGroup[Exception]) -> BaseException:
    """Return the first exception that is not a group, preferring errors of the session."""
    leaves = leaf_errors(group)
    return next((leaf for leaf in leaves if isinstance(leaf, SessionError)), leaves[0])


def leaf_errors(group: BaseExceptionGroup[Exception]) -> list[BaseException]:
    """Return all exceptions in a group, including nested groups."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves += leaf_errors(error) if isinstance(error, BaseExceptionGroup) else [error]
    return leaves
