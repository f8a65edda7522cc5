"""The server's database on the command line: a file or a PostgreSQL URL."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
import platformdirs

from kibitz_server.storage.location import Database, PostgresURL, database_of

DATABASE = Path(platformdirs.user_data_dir("kibitz", appauthor=False)) / "kibitz.db"
"""The default path of the database."""


class DatabaseType(click.ParamType[Database]):
    """A file path or a URL such as ``postgresql://user@host/name``."""

    name = "database"
    _path = click.Path(path_type=Path, dir_okay=False)

    def __init__(self, *, exists: bool = False) -> None:
        self._exists = exists

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Database:
        database = database_of(value)
        if isinstance(database, PostgresURL):
            return database
        path = self._path.convert(value, param, ctx)
        if not isinstance(path, Path):
            raise AssertionError("click.Path must return a Path")
        if self._exists and not path.exists():
            creating = f"`kibitz serve --db {shlex.quote(str(path))}` creates one"
            self.fail(f"database {str(path)!r} not found; {creating}", param, ctx)
        return path


db_option = click.option(
    "--db",
    type=DatabaseType(exists=True),
    default=DATABASE,
    envvar="KIBITZ_DB",
    show_envvar=True,
    show_default="kibitz.db in the user's data directory",
    metavar="FILE|URL",
    help="The server's database: a file, or postgresql://user@host/name.",
)
"""The database option of other commands; only `kibitz serve` creates a database."""


def require_file(db: Database, instead: str) -> Path:
    """Return the file of a SQLite database; refuse others and suggest `instead`."""
    if isinstance(db, PostgresURL):
        raise click.ClickException(
            f"{str(db)!r} is not a SQLite file, which this command requires: {instead}"
        )
    return db
