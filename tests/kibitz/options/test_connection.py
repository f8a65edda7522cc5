from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.options import connection
from kibitz_server.accounts.names import claim


def test_a_file_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("from-the-file\n")
    monkeypatch.delenv("KIBITZ_SERVER", raising=False)
    monkeypatch.setenv("KIBITZ_TOKEN", "from-the-environment")
    assert connection.account(path, "ws://example.org") == "from-the-file"
    assert connection.account(None, connection.URL) == "from-the-environment"
    with pytest.raises(click.UsageError, match="and is not sent to ws"):
        connection.account(None, "ws://example.org")
    monkeypatch.setenv("KIBITZ_TOKEN", "")
    assert connection.account(None, "ws://example.org") is None


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that connects as a player."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        elif {"token_file"} & {param.name for param in command.params}:
            yield (*path, name)


RANDOM = "line-nim/random"
WORDS: dict[str, list[str]] = {
    "host": ["line-nim"],
    "connect": ["line-nim/random", "--lobby", "CODE"],
    "join": ["CODE"],
    "watch": ["CODE"],
    "record branch": ["CODE", "--ply=1", "--seat=1", f"--with={RANDOM}", f"--others={RANDOM}"],
    "match shadow": ["line-nim/random", "--match", "CODE", "--seat", "1"],
    "lobby start": ["CODE"],
    "lobby kick": ["CODE", "ada"],
    "lobby close": ["CODE"],
    "lobby rematch": ["CODE"],
    "ladder keep": ["FILE"],
    "match abort": ["MATCH"],
}
"""The additional arguments that a command needs to connect."""
EXPLICIT = {"arena"}
"""Commands that read a token only from a file."""


@pytest.mark.parametrize("words", sorted(_commands(kibitz)), ids=" ".join)
@pytest.mark.parametrize(
    ("own", "server"),
    [
        (None, "ws://example.org"),
        ("wss://example.org", "wss://example.com"),
        ("wss://example.org", "ws://example.org"),
        ("ws://192.0.2.1:8765", "ws://192.0.2.1:8765"),
    ],
)
def test_no_command_sends_the_token_of_another_server_or_in_the_clear(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    own: str | None,
    server: str,
) -> None:
    name = " ".join(words)
    if name in EXPLICIT:
        return
    ladder = tmp_path / "evening.yaml"
    ladder.write_text("name: evening\ngame: line-nim\n")
    more = [str(ladder) if word == "FILE" else word for word in WORDS.get(name, [])]
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path))
    monkeypatch.setenv("KIBITZ_TOKEN", "the-token-of-ada")
    if own is None:
        monkeypatch.delenv("KIBITZ_SERVER", raising=False)
    else:
        monkeypatch.setenv("KIBITZ_SERVER", own)
    # If it still tries, it fails differently and connects to no server.
    monkeypatch.setattr("websockets.asyncio.client.connect", _refuse)
    monkeypatch.setattr("kibitz_protocol.client.connection.connect", _refuse)
    monkeypatch.setattr("kibitz.options.session.is_screen", lambda *, plain: True)
    done = CliRunner().invoke(kibitz, [*words, *more, "--server", server])
    said = done.output + capsys.readouterr().err
    assert done.exit_code == 2, said
    assert "KIBITZ_TOKEN" in said
    assert "--token-file" in said
    assert "the-token-of-ada" not in said


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("nothing may be sent")


@pytest.mark.parametrize("text", ["", "short", "two words-and-more", "x" * 129])
def test_a_file_without_a_token_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(click.BadParameter, match="token: expected one token of 8 to 128"):
        connection.token(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match="gone: cannot read the token"):
        connection.token(tmp_path / "gone")


@pytest.mark.parametrize(
    ("login", "name"),
    [
        ("ada", "ada"),
        ("DOMAIN\\ada", "DOMAINada"),
        ("$!", "guest-26f856"),
        *((name, "guest-26f856") for name in ("root", "admin", "server", "kibitz", "operator")),
    ],
)
def test_a_login_becomes_a_name_that_servers_take(
    login: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: login)
    monkeypatch.setattr("platform.node", lambda: "box")
    assert connection.login() == name
    assert claim(connection.login())
