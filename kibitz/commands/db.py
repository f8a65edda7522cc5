"""`kibitz db`: check and back up a server's database, with or without the server running."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path

import click

from kibitz.commands.nodes import nodes
from kibitz.options.database import DATABASE, DatabaseType, db_option, require_file
from kibitz.options.output_path import OutputPath
from kibitz.output import echo, echo_json
from kibitz_server.maintenance.check import Findings, Problem
from kibitz_server.storage.location import Database
from kibitz_server.storage.sqlite.connection import known_faults


@click.group(short_help="Check and back up a server's database.")
def db() -> None:
    """Check or back up a server's database, while the server runs or not."""


db.add_command(nodes)


@db.command()
@click.argument("database", type=DatabaseType(exists=True), default=DATABASE, metavar="[FILE]")
@click.option(
    "--accept",
    is_flag=True,
    help="Accept the database as it is, without the missing or damaged parts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(context: click.Context, /, database: Database, accept: bool, as_json: bool) -> None:
    """Check that FILE is complete and unchanged since the server wrote it.

    FILE is by default the database in the user's data directory. Only --accept changes it; stop the
    server first. The exit status is 0 if no problem was found, else 1.
    """
    from kibitz_server.maintenance.check import check_database
    from kibitz_server.maintenance.repair import accept_losses

    file = require_file(database, "check a PostgreSQL database with amcheck and pg_verifybackup")
    findings = check_database(file)
    if accept and not findings.sound:
        accept_losses(file, findings)
        findings = check_database(file)
    _print(findings, as_json=as_json)
    context.exit(0 if findings.sound else 1)


@db.command()
@click.argument("file", type=OutputPath())
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def backup(file: Path, db: Database, as_json: bool) -> None:
    """Copy the database to FILE, which must not exist, and check the copy.

    A running server is not interrupted. The copy is a snapshot that includes everything
    acknowledged before the command began.
    """
    from kibitz_server.maintenance.backup import back_up

    source = require_file(db, "copy a PostgreSQL database with pg_dump or pg_basebackup")
    _print(back_up(source, file), as_json=as_json)


def _print(findings: Findings, *, as_json: bool) -> None:
    if as_json:
        echo_json(json.dumps(dataclasses.asdict(findings) | {"sound": findings.sound}))
        return
    for line in _lines(findings):
        echo(line)


def _lines(findings: Findings) -> list[str]:
    found = findings
    lost = f", {found.accepted} accepted as lost" if found.accepted else ""
    lines = [
        f"{found.file}: {_count(found.matches, 'match', 'es')} ({found.matches_open} open),"
        f" {_count(found.lobbies, 'lobb', 'ies', 'y')} ({found.lobbies_open} open),"
        f" {_count(found.entries, 'entr', 'ies', 'y')}, {found.rated} rated{lost}"
    ]
    lines += map(str, found.problems)
    if found.sound:
        return [*lines, "sound: complete and unchanged"]
    if not all(map(_can_accept, found.problems)):
        lines += [f"note: {fault}" for fault in known_faults(sqlite3.sqlite_version_info)]
    more = "" if all(map(_can_accept, found.problems)) else ", except damage to the file itself"
    return [
        *lines,
        f"{_count(len(found.problems), 'problem')}; restore a backup, or accept the rest as it is"
        f" with `kibitz db check --accept`{more}",
    ]


def _can_accept(problem: Problem) -> bool:
    return problem.about != "file"


def _count(number: int, word: str, plural: str = "s", singular: str = "") -> str:
    return f"{number:,} {word}{singular if number == 1 else plural}"
