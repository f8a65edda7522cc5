"""Fault reports: what a seat was sent before it dropped out, and what it answered."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from kibitz.builtin_games import find_game
from kibitz_protocol import printable
from kibitz_protocol.atomic_write import write_atomically
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import UNDECIDED
from kibitz_protocol.wire.reports import MatchReport, Received, SeatReport


def build_report(record: Record, seat: int | None = None) -> MatchReport:
    """Return the report of a record. Raises `ValueError` if that is impossible."""
    from kibitz_server.match import report as match_report

    game = find_game(record.setup.game)
    if game is None:
        raise ValueError(f"game {record.setup.game!r} not found")
    return match_report.match_report(game, record.setup, record.entries, seat)


def write_beside(path: Path) -> Path | None:
    """Write a report beside the record at `path` if a seat was at fault; return its path."""
    return write_report(build_report(read_record(path)), path, path.parent)


def write_report(report: MatchReport, record: Path, directory: Path) -> Path | None:
    """Write a report if a seat, or the server, was at fault; return its path.

    The match of ``MATCH.jsonl`` gets ``MATCH.report.txt`` for people and ``MATCH.report.json``
    for programs.
    """
    if not report.seats and report.cause not in UNDECIDED:
        return None
    written = directory / f"{record.stem}.report.txt"
    written.write_text("\n".join(report_lines(report, str(record))) + "\n", encoding="utf-8")
    text = printable.json(report.model_dump_json(indent=1))
    written.with_suffix(".json").write_text(text, encoding="utf-8")
    return written


def write_text(report: MatchReport, path: Path) -> None:
    """Write the report of a match on a server as text, atomically."""
    lines = report_lines(report, f"{report.match}.jsonl")
    write_atomically(path, "\n".join(lines) + "\n")


def report_lines(report: MatchReport, record: str) -> Iterator[str]:
    """Yield a report as lines of text; `record` is the location of its record."""
    return map(printable.line, _match_lines(report, record))


def _match_lines(report: MatchReport, record: str) -> Iterator[str]:
    reason = f", {report.reason}" if report.reason else ""
    ended = f"ended by {report.cause}{reason} after {report.plies} plies"
    yield f"match {report.match}: {report.game}, {ended}"
    if not report.seats:
        yield "no seat was at fault"
    for seat in report.seats:
        yield ""
        yield from _seat_lines(seat, record)


def _seat_lines(seat: SeatReport, record: str) -> Iterator[str]:
    detail = f": {seat.detail}" if seat.detail else ""
    yield f"seat {seat.seat + 1}, {seat.player.name}: {seat.cause or 'no fault'}{detail}"
    yield f"  last sent:     {json.dumps(seat.sent) if seat.sent else 'nothing'}"
    yield f"  last received: {_received(seat.received)}"
    for refused in seat.refused[-5:]:
        yield f"  refused:       {_received(refused)}"
    yield "  its output:" if seat.notes else "  its output:    none"
    yield from (f"    | {line}" for line in seat.notes)
    yield "  its clock (milliseconds):"
    if seat.earlier:
        yield f"    ... {seat.earlier} earlier turns"
    yield "       ply   elapsed allowance   charged      left"
    for line in seat.ledger:
        left = "-" if line.left_ms is None else line.left_ms
        flag = "  the flag fell" if line.flagged else ""
        lag = f"  plus {line.lag_ms} of server stall" if line.lag_ms else ""
        numbers = (line.ply, line.elapsed_ms, line.allowance_ms, line.charged_ms, left)
        yield "    " + "{:>6}{:>10}{:>10}{:>10}{:>10}".format(*numbers) + flag + lag
    if seat.sent is not None:
        yield f"  to retry:      {retry_command(record, seat.seat, int(str(seat.sent['ply'])))}"


def retry_command(record: str, seat: int, ply: int) -> str:
    """Return the command that sends the same turn to a bot again."""
    words = ["kibitz", "record", "retry", record, "--seat", str(seat + 1), "--ply", str(ply)]
    return f"{shlex.join(words)} BOT"


def _received(what: Received | None) -> str:
    if what is None:
        return "nothing"
    action = f" {what.action}" if what.action else ""
    detail = f" ({what.detail})" if what.detail else ""
    return f"{what.kind}{action} at ply {what.ply}{detail}"
