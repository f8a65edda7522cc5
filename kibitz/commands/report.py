"""`kibitz record report`: why a seat dropped out of a match."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.analysis.fault_report import build_report, report_lines
from kibitz.options.connection import server_option
from kibitz.options.record import SEAT, RecordName, require_seat, seat_from_zero
from kibitz.output import echo, echo_json
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.reports import MatchReport


@click.command(short_help="Explain why a seat dropped out of a match.")
@click.argument("match", metavar="MATCH|FILE", type=RecordName())
@click.option(
    "--seat",
    type=SEAT,
    callback=seat_from_zero,
    help="Report on this seat (counted from 1), whether at fault or not.",
)
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--resume-file",
    type=click.Path(path_type=Path, exists=True),
    help="File with the secret of the requesting player or host.",
)
def report(
    match: str, seat: int | None, server: str, as_json: bool, resume_file: Path | None
) -> None:
    """Report on the seats at fault in a record FILE or a MATCH on a server.

    After the match, a server lets each player see the report on their own seat, and the host of the
    lobby see all reports.
    """
    path = Path(match)
    try:
        report_found = (
            _report_of(read_record(path), seat)
            if path.is_file()
            else _fetch_report(match, seat, server, resume_file)
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    shown = path if path.is_file() else Path(f"{match}.jsonl")
    if as_json:
        echo_json(report_found.model_dump_json())
    else:
        echo("\n".join(report_lines(report_found, str(shown))))


def _report_of(record: Record, seat: int | None) -> MatchReport:
    require_seat(seat, len(record.setup.seats))
    return build_report(record, seat)


def _fetch_report(
    match: str, seat: int | None, server: str, resume_file: Path | None
) -> MatchReport:
    from kibitz.process.event_loop import run
    from kibitz_protocol.client.client import Client

    secret = None if resume_file is None else resume_file.read_text(encoding="utf-8").strip()

    async def ask() -> MatchReport:
        async with Client(
            server, kind="human", resume=secret, agent="kibitz record report"
        ) as client:
            return (await client.report(match, seat)).report

    return run(ask())
