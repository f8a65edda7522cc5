"""Errors of a tournament, and those in groups, as task groups raise them."""

from __future__ import annotations

from kibitz_protocol.client.errors import SessionError


class EntrantFailedError(Exception):
    """An entrant that cannot be kept running; the message ends with its last output."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


def first_error(group: BaseExceptionGroup[Exception]) -> BaseException:
    """Return the first exception that is no group; an error of the session comes first."""
    leaves = leaf_errors(group)
    return next((leaf for leaf in leaves if isinstance(leaf, SessionError)), leaves[0])


def leaf_errors(group: BaseExceptionGroup[Exception]) -> list[BaseException]:
    """Return the exceptions of a group and of the groups in it."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves += leaf_errors(error) if isinstance(error, BaseExceptionGroup) else [error]
    return leaves
