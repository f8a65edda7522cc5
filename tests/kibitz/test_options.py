"""Every option and argument of every command, found by looking at the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.commands.serve import DatabaseType


def commands(
    command: click.Command = kibitz, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command, groups too, with its words."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


PARAMETERS = [
    pytest.param(path, each, id=f"{' '.join(path)} {each.name}")
    for path, command in commands()
    for each in command.params
]


def words_before(path: tuple[str, ...], parameter: click.Parameter) -> list[str]:
    """Return a command with something for each of its arguments but `parameter`."""
    arguments = [
        each
        for each in dict(commands())[path].params
        if isinstance(each, click.Argument) and each is not parameter and each.required
    ]
    return [*path, *("1" for _ in arguments)]


# ------------------------------------------------------------------------------ databases


@pytest.mark.parametrize(("path", "parameter"), PARAMETERS)
def test_only_serve_creates_a_database(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path
) -> None:
    if not isinstance(parameter.type, DatabaseType) or path == ("serve",):
        return
    file = str(tmp_path / "typo.db")
    named = [file] if isinstance(parameter, click.Argument) else [parameter.opts[0], file]
    done = CliRunner().invoke(kibitz, [*words_before(path, parameter), *named])
    assert done.exit_code == 2
    assert f"there is no database {file!r}" in done.output.replace("\n", " ")
    assert f"kibitz serve --db {file}" in done.output
    assert list(tmp_path.iterdir()) == []
