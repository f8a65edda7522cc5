"""The system calls of a move: its entry is written and synced before the answer.

T3: a tracer lists the server's system calls. Every answer to a move must be preceded by a write of
its entry to the write-ahead log, and by a sync that started after that write and completed before
the answer was sent.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kibitz_protocol.client import client
from tests.tools.fleet import fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.server_process import drawn_matches, server_process

MATCHES, SIZE = 8, 12
CALLS = "trace=pwrite64,pwritev,write,writev,sendto,sendmsg,fsync,fdatasync"
ENTRY = re.compile(r'\\"kind\\":\\"move\\",\\"ply\\":(\d+),\\"seat\\":(\d+),.*?\\"id\\":(\d+)')
ANSWER = re.compile(r'\{\\"re\\":(\d+),\\"type\\":\\"done\\",\\"seq\\"')
LINE = re.compile(r"(\d+) +(\S.*)")


@dataclass
class SyscallOrder:
    """The order of the events in a trace; moves are identified by their request numbers."""

    written: dict[int, int] = field(default_factory=dict)
    """The line of the first write of each request's entry."""
    syncs: list[tuple[int, int]] = field(default_factory=list)
    """The first and last line of each sync."""
    answered: list[tuple[int, int]] = field(default_factory=list)
    """The request and line of each answer."""

    def early(self) -> Iterator[str]:
        """Yield a sentence for each answer that was sent before its sync."""
        for request, line in self.answered:
            begun = self.written.get(request)
            if begun is None:
                yield f"the answer to {request} is in line {line}, its entry was never written"
            elif not any(begun < first and last < line for first, last in self.syncs):
                yield f"{request} was written in {begun} and answered in {line}, with no sync"


def read(trace: Path) -> SyscallOrder:
    """Parse a trace of all threads; interrupted calls span two lines."""
    order = SyscallOrder()
    syncing: dict[str, int] = {}
    with trace.open(errors="replace") as lines:
        for number, text in enumerate(lines, 1):
            found = LINE.match(text)
            if found is None:
                continue
            thread, call = found.groups()
            if "sync(" in call or "sync resumed" in call:
                first = syncing.pop(thread, number)
                if "<unfinished" in call:
                    syncing[thread] = first
                else:
                    order.syncs.append((first, number))
            elif call.startswith("pwrite"):
                for _, _, request in ENTRY.findall(call):
                    order.written.setdefault(int(request), number)
            else:
                order.answered += ((int(request), number) for request in ANSWER.findall(call))
    return order


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace on this system")
async def test_every_answer_follows_the_sync_of_its_entry(
    tmp_path: Path, report: ReportFigure, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Request numbers are unique across players.
    numbers = itertools.count(1_000_000, 1_000_000)
    monkeypatch.setattr(client, "_first_request_id", lambda identity: next(numbers))
    trace = tmp_path / "trace"
    prefix = ["strace", "-f", "-e", CALLS, "-s", "100000", "-o", str(trace)]
    with server_process(tmp_path, prefix, unlimited=True) as server:
        async with (
            asyncio.timeout(280),
            fleet_of(server.url, MATCHES, drawn_matches(SIZE)) as fleet,
        ):
            await fleet.finished(MATCHES)
    order = read(trace)
    report(f"T3: {len(order.answered)} answers, {len(order.syncs)} syncs")
    assert len(order.answered) == fleet.moves == MATCHES * SIZE * SIZE
    assert list(order.early()) == []


WRITTEN = r'7 pwrite64(5, "9 1 {\"kind\":\"move\",\"ply\":0,\"seat\":0,\"id\":41}", 50, 0) = 50'
SENT = r'6 write(9, "\201\33{\"re\":41,\"type\":\"done\",\"seq\":1}", 29) = 29'
BEGUN, ENDED = "7 fdatasync(5 <unfinished ...>", "7 <... fdatasync resumed>) = 0"


@pytest.mark.parametrize(
    ("lines", "sound"),
    [
        ([WRITTEN, "7 fdatasync(5) = 0", SENT], True),
        ([WRITTEN, BEGUN, ENDED, SENT], True),
        ([WRITTEN, SENT, "7 fdatasync(5) = 0"], False),
        ([WRITTEN, BEGUN, SENT, ENDED], False),
        ([BEGUN, WRITTEN, ENDED, SENT], False),
        ([SENT], False),
    ],
)
def test_an_answer_before_its_sync_is_found_in_a_trace(
    tmp_path: Path, lines: list[str], sound: bool
) -> None:
    trace = tmp_path / "trace"
    trace.write_text("\n".join(lines))
    order = read(trace)
    assert [request for request, _ in order.answered] == [41]
    assert (list(order.early()) == []) is sound
