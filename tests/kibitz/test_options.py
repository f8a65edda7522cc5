"""Every option and argument of every command, found by introspection."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import _sentence, kibitz
from kibitz.options.connection import OPENING_SECONDS
from kibitz.options.database import DatabaseType
from kibitz.options.output_path import OutputPath
from kibitz_bots.number_types import FiniteRange
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.refusals import Code
from tests.kibitz.conftest import commands

COMMANDS = dict(commands())


def parameters(*kinds: type[click.ParamType[Any]]) -> list[Any]:
    """Return the parameters of all commands with values of these types."""
    return [
        pytest.param(path, parameter, id=f"{' '.join(path)} {parameter.name}")
        for path, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, kinds)
    ]


def words_before(path: tuple[str, ...], parameter: click.Parameter) -> list[str]:
    """Return a command line with a value for each argument except `parameter`."""
    arguments = [
        each
        for each in COMMANDS[path].params
        if isinstance(each, click.Argument) and each is not parameter and each.required
    ]
    return [*path, *("1" for _ in arguments)]


# ------------------------------------------------------------------------------ databases


@pytest.mark.parametrize(("path", "parameter"), parameters(DatabaseType))
def test_only_serve_creates_a_database(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path
) -> None:
    if path == ("serve",):
        return
    file = str(tmp_path / "typo.db")
    named = [file] if isinstance(parameter, click.Argument) else [parameter.opts[0], file]
    done = CliRunner().invoke(kibitz, [*words_before(path, parameter), *named])
    assert done.exit_code == 2
    assert f"database {file!r} not found" in done.output.replace("\n", " ")
    assert f"kibitz serve --db {file}" in done.output
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------ numbers

BAD_NUMBERS = ("nan", "inf", "-inf", "1e308", "-1e308", "1e999", "9" * 40, "-1", "--", "x")


@pytest.mark.parametrize(
    ("path", "parameter"), parameters(click.types.FloatParamType, click.types.IntParamType)
)
def test_numbers_have_bounds_and_what_is_none_is_refused(
    path: tuple[str, ...], parameter: click.Parameter
) -> None:
    kind = parameter.type
    assert isinstance(kind, click.IntRange | FiniteRange)
    assert kind.min is not None
    assert kind.max is not None
    context = click.Context(COMMANDS[path])
    for text in BAD_NUMBERS:
        if text == "-1" and kind.min < 0:
            continue
        typed: Any = text
        with pytest.raises(click.BadParameter):
            kind.convert(typed, parameter, context)


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


@pytest.mark.parametrize(("path", "command"), list(COMMANDS.items()))
def test_the_help_says_what_each_option_takes(
    path: tuple[str, ...], command: click.Command
) -> None:
    context = click.Context(command, info_name=path[-1] if path else "kibitz")
    for parameter in command.params:
        shown = parameter.make_metavar(context)
        assert "_" not in shown, shown
        assert "PARSE" not in shown
        assert "<" not in shown
        if isinstance(parameter, click.Option):
            assert parameter.help, "an option without help"


@pytest.mark.parametrize(("path", "command"), list(COMMANDS.items()))
def test_every_command_says_what_it_does(path: tuple[str, ...], command: click.Command) -> None:
    assert command.help
    assert command.get_short_help_str(limit=100)
    done = CliRunner().invoke(kibitz, [*path, "--help"])
    assert done.exit_code == 0, done.output
    assert " ".join(["Usage: kibitz", *path]) in done.output


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


# ------------------------------------------------------------------------------ immediate refusals


MERGE = "number-merge/random"
SEATED = ("--with", MERGE, "--others", MERGE)


@pytest.mark.parametrize(
    "words",
    [
        ["record", "analyze", "RECORD", "--by", MERGE, "--seat", "9"],
        ["record", "bisect", "RECORD", "--by", MERGE, "--seat", "9"],
        ["record", "branch", "RECORD", "--ply", "0", *SEATED, "--seat", "9"],
        ["record", "replay", "RECORD", "--plain", "--seat", "9"],
        ["record", "export", "RECORD", "--out", "-", "--seat", "9"],
        ["record", "report", "RECORD", "--seat", "9"],
        ["record", "retry", "RECORD", MERGE, "--seat", "9"],
        ["record", "analyze", "RECORD", "--by", "line-nim/random"],
        ["record", "analyze", "RECORD", "--by", "line-nim/nobody"],
        ["record", "analyze", "RECORD", "--by", "nothing.py"],
        ["record", "bisect", "RECORD", "--by", "line-nim/random", "--seat", "1"],
        [
            *("record", "branch", "RECORD", "--ply", "0", "--seat", "1"),
            *("--with", "line-nim/random", "--others", MERGE),
        ],
        [
            *("record", "branch", "RECORD", "--ply", "0", "--seat", "1"),
            *("--with", MERGE, "--others", "line-nim/random"),
        ],
    ],
    ids=lambda words: " ".join(words),
)
def test_what_does_not_fit_the_record_is_refused_before_the_work(
    words: list[str], record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work has started")

    for module in ("evaluation.evaluate", "decisive_move.decisive_move", "branch.branch"):
        monkeypatch.setattr(f"kibitz.analysis.{module}", work)
    done = CliRunner().invoke(kibitz, [str(record) if w == "RECORD" else w for w in words])
    assert done.exit_code == 2, (done.output, done.exception)


@pytest.mark.parametrize(("path", "parameter"), parameters(click.Path))
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path
) -> None:
    if isinstance(parameter.type, click.Path) and parameter.type.exists:
        return
    if not isinstance(parameter.type, OutputPath):
        assert parameter.name in READ_PATHS
        return
    (tmp_path / "file").touch()
    context = click.Context(COMMANDS[path])
    with pytest.raises(click.BadParameter, match="is not a directory"):
        parameter.type.convert(str(tmp_path / "file" / "x.svg"), parameter, context)


READ_PATHS = {"token_file", "resume_file", "event", "root"}
"""Paths that need not exist: they are read, created specially, or not written."""


@pytest.mark.parametrize(
    "words",
    [
        ["watch", "gmae.jsonl", "--plain"],
        ["watch", "./gmae", "--plain"],
        ["record", "analyze", "gmae.jsonl", "--by", MERGE],
        ["record", "branch", "g.jsonl", "--ply", "0", "--seat", "1", *SEATED],
        ["record", "report", "gmae.jsonl"],
        ["record", "replay", "gmae.jsonl"],
        ["record", "export", "gmae.jsonl", "--out", "-"],
        ["record", "bisect", "gmae.jsonl", "--seat", "1"],
        ["record", "verify", "gmae.jsonl"],
        ["record", "retry", "gmae.jsonl", MERGE, "--seat", "1"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_that_is_not_there_dials_no_server(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dial(*_: object, **__: object) -> None:
        raise AssertionError("a server was dialed")

    monkeypatch.setattr("asyncio.run", dial)
    monkeypatch.setattr("kibitz.options.connection.Client", dial)
    done = CliRunner().invoke(kibitz, words)
    assert done.exit_code == 2, (done.output, done.exception)
    assert "gmae" in done.output or "g.jsonl" in done.output


# ------------------------------------------------------------------------------ no server

NOWHERE = "ws://127.0.0.1:1"


@pytest.mark.parametrize(
    "words",
    [
        ["lobby", "list"],
        ["match", "list"],
        ["ladder", "rated"],
        ["seek"],
        ["host", "line-nim"],
        ["watch", "X", "--plain"],
        ["match", "shadow", MERGE, "--match", "X", "--seat", "1"],
    ],
    ids=lambda words: words[0],
)
def test_a_server_that_is_not_there_is_named_with_what_to_do(words: list[str]) -> None:
    done = CliRunner().invoke(kibitz, [*words, "--server", NOWHERE])
    assert done.exit_code == 1
    assert f"no server answers: {NOWHERE}" in done.output
    assert "start one with `kibitz serve`, or choose another with --server" in done.output


def test_nobody_waits_a_second_for_a_server_that_refuses() -> None:
    assert OPENING_SECONDS < 1
