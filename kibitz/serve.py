"""`kibitz serve`: the server, from the command line and a file to its last drained match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

if TYPE_CHECKING:
    pass

PORT = 8765

db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path(platformdirs.user_data_dir("kibitz", appauthor=False)) / "kibitz.db",
    show_default=True,
    help="The server's database.",
)
