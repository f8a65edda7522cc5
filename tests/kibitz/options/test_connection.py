from __future__ import annotations

from pathlib import Path

import click
import pytest

from kibitz.options import connection


def test_a_file_goes_before_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("from-the-file\n")
    assert connection.token(path, "from-the-environment") == "from-the-file"
    assert connection.token(None, "from-the-environment") == "from-the-environment"
    assert connection.token(None, "") is None


@pytest.mark.parametrize("text", ["", "short", "two words-and-more", "x" * 129])
def test_a_file_without_a_token_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(click.BadParameter, match="token: expected one token of 8 to 128"):
        connection.token(path, None)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match="gone: expected a file with a token"):
        connection.token(tmp_path / "gone", None)


@pytest.mark.parametrize(
    ("login", "name"), [("ada", "ada"), ("DOMAIN\\ada", "DOMAINada"), ("$!", "guest")]
)
def test_a_login_becomes_a_name_that_servers_take(
    login: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: login)
    assert connection.login() == name
