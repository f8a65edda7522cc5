"""Every option and argument of every command, found by looking at the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import _sentence, kibitz
from kibitz.commands.serve import DatabaseType
from kibitz_bots.number_types import FiniteRange
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.refusals import Code


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


# ------------------------------------------------------------------------------ numbers

BAD_NUMBERS = ("nan", "inf", "-inf", "1e308", "-1e308", "1e999", "9" * 40, "-1", "--", "x")


@pytest.mark.parametrize(("path", "parameter"), PARAMETERS)
def test_numbers_have_bounds_and_what_is_none_is_refused(
    path: tuple[str, ...], parameter: click.Parameter
) -> None:
    kind = parameter.type
    if not isinstance(kind, click.types.FloatParamType | click.types.IntParamType):
        return
    assert isinstance(kind, click.IntRange | FiniteRange)
    assert kind.min is not None
    assert kind.max is not None
    context = click.Context(dict(commands())[path])
    for text in BAD_NUMBERS:
        with pytest.raises(click.BadParameter):
            kind.convert(text, parameter, context)


@pytest.mark.parametrize(
    "words",
    [
        ["token", "new", "ada", "--days", "nan"],
        ["host", "line-nim", "--grace", "1e308"],
        ["host", "line-nim", "--grace", "nan"],
        ["serve", "--pace", "nan"],
        ["demo", "--pace", "nan"],
        ["arena", "x.yaml", "--wait", "inf"],
        ["play", "line-nim", "--memory", "9" * 30],
    ],
)
def test_a_number_out_of_its_bounds_is_named_before_anything_begins(words: list[str]) -> None:
    done = CliRunner().invoke(kibitz, words)
    assert done.exit_code == 2
    assert f"Invalid value for '{words[-2]}'" in done.output


# ------------------------------------------------------------------------------ help


@pytest.mark.parametrize(("path", "parameter"), PARAMETERS)
def test_the_help_says_what_each_option_takes(
    path: tuple[str, ...], parameter: click.Parameter
) -> None:
    context = click.Context(dict(commands())[path], info_name=path[-1] if path else "kibitz")
    shown = parameter.make_metavar(context)
    assert "_" not in shown, shown
    assert "PARSE" not in shown
    assert "<" not in shown
    if isinstance(parameter, click.Option):
        assert parameter.help, "an option without help"


@pytest.mark.parametrize(("path", "command"), list(commands()))
def test_every_command_says_what_it_does(path: tuple[str, ...], command: click.Command) -> None:
    assert command.help
    assert command.get_short_help_str(limit=100)
    assert "Traceback" not in CliRunner().invoke(kibitz, [*path, "--help"]).output


# ------------------------------------------------------------------------------ errors

WIRE_PATHS = re.compile(r"settings|programme|\.0\.|conduct|grace_ms|at_once|Extra inputs|pydantic")


@pytest.mark.parametrize(
    "words",
    [
        ["host", "line-nim:foo=3"],
        ["host", "chinese-checkers:size=banana"],
        ["host", "line-nim", "--seats", "65xopen"],
        ["host", "line-nim", "--seats", "open,what"],
        ["host", "line-nim", "--title", "x" * 1000],
        ["host", "line-nim", "--spectate", "shoulder=0"],
        ["host", "line-nim", "--spectate", "shoulder=99"],
        ["host", "line-nim", "--stand-in", "x" * 1000],
        ["host", "line-nim", "--players", "16"],
        ["host", "line-nim", "--tc", "fast"],
        ["seek", "line-nim:foo=2"],
        ["play", "line-nim:foo=3", "line-nim/random", "line-nim/random"],
        ["play", "line-nim", "line-nim/random", "line-nim/random", "--option", "foo=3"],
        ["play", "chinese-checkers:size=banana", "chinese-checkers/random"],
    ],
    ids=" ".join,
)
def test_bad_settings_are_named_in_the_words_of_the_command_line(words: list[str]) -> None:
    done = CliRunner().invoke(kibitz, words)
    assert done.exit_code == 2, done.output
    assert not WIRE_PATHS.search(done.output), done.output


def test_a_refusal_of_the_server_is_told_without_the_path_in_the_message() -> None:
    error = RefusedError(
        Code.BAD_OPTION, "settings.programme.0.options.foo: Extra inputs are not permitted", "x"
    )
    assert _sentence(error) == "bad_option: foo: Extra inputs are not permitted (x)"
