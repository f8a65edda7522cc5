from __future__ import annotations

import importlib
import re
import subprocess
import sys
import types
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import kibitz as names
from kibitz.cli import SECTIONS, _sentence, kibitz
from kibitz.command_table import CommandTable, suggestions
from kibitz.commands.nouns import NOUN_COMMANDS
from kibitz_protocol.client.errors import SessionError
from tests.kibitz.conftest import commands


def tables() -> dict[str, CommandTable]:
    """Return the lazily loaded command groups by their words."""
    return {" ".join(path): each for path, each in commands() if isinstance(each, CommandTable)}


def test_every_command_of_a_table_exists_and_says_what_the_table_says() -> None:
    assert set(tables()) == {"", "bot", "game", "match", "record"}
    for table in tables().values():
        context = click.Context(table)
        for name, (_, line) in table.entries.items():
            command = table.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert command.get_short_help_str(limit=100) == line


def test_a_command_is_a_word_or_a_singular_noun_and_a_verb() -> None:
    paths = [path for path, _ in commands()]
    groups = {path for path, each in commands() if isinstance(each, click.Group)} - {()}
    assert max(map(len, paths)) == 2
    assert {path[0] for path in paths if len(path) == 2} == {name for (name,) in groups}
    assert not [name for (name,) in groups if name.endswith("s")]


@pytest.mark.e2e
def test_the_help_imports_no_command() -> None:
    """This makes the help appear immediately."""
    program = (
        "import sys\nfrom kibitz.cli import kibitz\n"
        "kibitz.main(['--help'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'numpy', 'numba', 'websockets', 'textual', 'asyncio'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Manage:" in done.stdout


@pytest.mark.e2e
@pytest.mark.parametrize(
    "words",
    [
        ("bot", "new", "mybot.py", "--game", "line-nim"),
        ("bot", "list", "--game", "line-nim"),
        ("game", "show", "line-nim"),
    ],
    ids=" ".join,
)
def test_facts_about_a_game_do_not_import_the_compiler(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    program = (
        "import sys\nfrom kibitz.cli import kibitz\n"
        f"kibitz.main({[*words]}, standalone_mode=False)\n"
        "sys.exit('numba' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(kibitz, ["--version"])
    assert result.output == f"kibitz, version {version('kibitz')}\n"


def test_the_help_lists_every_command_once_in_its_group() -> None:
    lines = CliRunner().invoke(kibitz, ["--help"]).output.splitlines()
    for title, group in SECTIONS.items():
        start = lines.index(f"{title}:") + 1
        rows = lines[start : start + len(group)]
        assert [row.split()[0] for row in rows] == list(group)
    names = [name for group in SECTIONS.values() for name in group]
    assert len(names) == len(set(names)) == len(tables()[""].entries)


def test_kibitz_alone_shows_the_three_commands_to_start_with() -> None:
    result = CliRunner().invoke(kibitz, [])
    assert result.exit_code == 0
    shown = re.findall(r"^  kibitz ([a-z-]+(?: new)?)", result.output, re.MULTILINE)
    assert shown == ["demo", "bot new", "serve"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["arenas"], "'kibitz arena'"),
        (["replay"], "'kibitz record replay'"),
        (["analyse"], "'kibitz record analyze'"),
        (["match", "abrot"], "'kibitz match abort'"),
        (["lobbies"], "'kibitz lobby'"),
    ],
)
def test_a_mistyped_command_brings_the_closest_one(words: list[str], meant: str) -> None:
    result = CliRunner().invoke(kibitz, words, prog_name="kibitz")
    assert result.exit_code == 2
    assert f"No such command {words[-1]!r}. Did you mean {meant}" in result.output


def test_a_word_like_no_command_brings_no_suggestion() -> None:
    result = CliRunner().invoke(kibitz, ["xylophone"])
    assert result.exit_code == 2
    assert result.output.endswith("No such command 'xylophone'.\n")
    assert suggestions("list", NOUN_COMMANDS) == ["bot list", "game list", "match list"]


@pytest.mark.parametrize(
    ("words", "names"),
    [("kibitz re", ["record"]), ("kibitz record re", ["replay", "report", "retry"])],
)
def test_a_shell_completes_nouns_and_verbs(words: str, names: list[str]) -> None:
    variables = {
        "_KIBITZ_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    result = CliRunner().invoke(kibitz, prog_name="kibitz", env=variables)
    assert result.output.split() == [f"plain,{name}" for name in names]


def test_a_command_that_needs_unix_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "termios", None)
    table = CommandTable(sections={"Commands": {"run": ("needs_unix:run", "Run.")}})

    def load(name: str) -> types.ModuleType:
        return importlib.import_module("termios")

    monkeypatch.setattr("kibitz.command_table.import_module", load)
    with pytest.raises(click.ClickException, match="`kibitz run` needs a Unix system"):
        table.get_command(click.Context(table, info_name="kibitz"), "run")


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


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ([SessionError("it broke")], "it broke"),
        ([SessionError("it broke"), SessionError("it broke")], "it broke"),
        ([SessionError("it broke"), OSError(28, "full")], "it broke\n[Errno 28] full"),
        ([SessionError("it broke"), ExceptionGroup("", [OSError("full")])], "it broke\nfull"),
        ([SessionError("it broke"), RuntimeError("a bug")], None),
    ],
)
def test_errors_of_several_tasks_are_sentences_unless_one_is_a_bug(
    errors: list[Exception], sentence: str | None
) -> None:
    assert _sentence(ExceptionGroup("several tasks", errors)) == sentence
