from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

import kibitz as names
from kibitz.cli import COMMANDS, GROUPS, _sentence, kibitz


def test_every_command_of_the_table_exists_and_says_what_the_table_says() -> None:
    context = click.Context(kibitz)
    for name, (_, line) in COMMANDS.items():
        command = kibitz.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(limit=100) == line


@pytest.mark.e2e
def test_the_help_imports_no_command() -> None:
    """This makes the help appear at once."""
    program = (
        "import sys\nfrom kibitz.cli import kibitz\n"
        "kibitz.main(['--help'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'numpy', 'numba', 'websockets', 'textual', 'asyncio'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Play and host:" in done.stdout


def test_the_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(kibitz, ["--version"])
    assert result.output == f"kibitz, version {version('kibitz')}\n"


def test_the_help_lists_every_command_once_in_its_group() -> None:
    lines = CliRunner().invoke(kibitz, ["--help"]).output.splitlines()
    for title, group in GROUPS.items():
        start = lines.index(f"{title}:") + 1
        rows = lines[start : start + len(group)]
        assert [row.split()[0] for row in rows] == list(group)
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names)) == len(COMMANDS)


def test_kibitz_alone_shows_the_three_commands_to_start_with() -> None:
    result = CliRunner().invoke(kibitz, [])
    assert result.exit_code == 0
    shown = re.findall(r"^  kibitz ([a-z-]+)", result.output, re.MULTILINE)
    assert shown == ["demo", "new-bot", "serve"]


def test_an_unknown_command_is_named() -> None:
    result = CliRunner().invoke(kibitz, ["arenas"])
    assert result.exit_code == 2
    assert "No such command 'arenas'" in result.output


def test_every_public_name_is_there() -> None:
    for name in names.__all__:
        assert getattr(names, name).__name__ == name or name == "TimeControl"
    assert set(names.__all__) < set(dir(names))
    assert names.__version__


def test_a_name_that_is_not_public_is_named() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Bott'"):
        _ = names.Bott


def test_whoever_reads_the_output_may_stop_reading() -> None:
    assert _sentence(BrokenPipeError(32, "Broken pipe")) is None
    assert _sentence(OSError(28, "No space left on device")) is not None
