"""Fixtures for tests of all commands: the list of commands, and a sample record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kibitz.cli import kibitz
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import write_record
from tests.tools import fake_connection as testing

PIECE = "♟"
"""A character that cp1252, latin-1 and ASCII lack."""


def commands(
    command: click.Command = kibitz, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and group with its words."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A two-player record with a player name that legacy encodings cannot represent."""
    played = testing.play_record(
        registry.get("number-merge"), [f"ada{PIECE}", "bo"], 4, lambda play: int(play.legal[0])
    )
    write_record(tmp_path / "m.jsonl", played.setup, played.entries)
    return tmp_path / "m.jsonl"
