"""Allocation of unused user ids: one for each isolated bot while it runs.

It creates no accounts, since a process may run under any user id. By convention
(https://systemd.io/UIDS-GIDS) no account or service uses ids above 0x70000000. If a container has
only 65,536 ids, those from 61184 on are reserved for services with random ids.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

WIDE_RANGE: Final = range(0x70000000, 0x7FFFFFFE)
NARROW_RANGE: Final = range(61184, 65520)
MAX_TRIES: Final = 100


class NoUserError(OSError):
    """No user id is available."""


def may_change() -> bool:
    """Return whether this process may start others as other users."""
    return os.name == "posix" and os.geteuid() == 0


@contextlib.contextmanager
def allocate(wanted: bool = True) -> Iterator[int | None]:
    """Provide a user id that no process and no other kibitz on this machine uses.

    Without `wanted` it is None, and the bot's processes run as the current user.
    """
    if not wanted:
        yield None
        return
    numbers = WIDE_RANGE if _is_mapped(WIDE_RANGE) else NARROW_RANGE
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_TRIES):
            number = numbers.start + secrets.randbelow(len(numbers))
            if _is_assigned(number) or _has_processes(number):
                continue
            # An abstract socket name, which only one process can hold and which is freed when it
            # exits.
            hold = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                hold.bind(f"\0kibitz-user-{number}")
                yield number
                return
        raise NoUserError("no free user id for a bot")


def _is_mapped(numbers: range) -> bool:
    """Return whether processes here can have these user ids at all."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            first, _, count = map(int, line.split())
            if first <= numbers.start and numbers.stop <= first + count:
                return True
    return False


def _is_assigned(number: int) -> bool:
    with contextlib.suppress(KeyError):
        pwd.getpwuid(number)
        return True
    return False


def _has_processes(number: int) -> bool:
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid == number:
                return True
    return False
