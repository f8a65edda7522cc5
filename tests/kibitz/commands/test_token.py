"""`kibitz token`: the tokens that a server's operator hands to players."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import segno
from click.testing import CliRunner, Result

from kibitz.cli import kibitz
from kibitz_server.accounts.token_admin import TokenAdmin


def issue(path: Path, *words: str) -> Result:
    TokenAdmin(path / "x.db").close()  # as created by `kibitz serve`
    return CliRunner().invoke(kibitz, ["token", "new", "ada", "--db", str(path / "x.db"), *words])


def test_a_token_alone_is_one_line(tmp_path: Path) -> None:
    done = issue(tmp_path)
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) == 1


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("https://games.example.org", "https://games.example.org/"),
        ("wss://games.example.org/ws", "https://games.example.org/"),
        ("https://example.org/kibitz", "https://example.org/kibitz/"),
        ("wss://example.org/kibitz/ws", "https://example.org/kibitz/"),
        ("ws://192.0.2.7:8765", "http://192.0.2.7:8765/"),
    ],
)
def test_a_link_has_the_token_where_browsers_keep_it_to_themselves(
    tmp_path: Path, server: str, page: str
) -> None:
    done = issue(tmp_path, "--link", "--server", server)
    assert done.exit_code == 0, done.output
    token, link, *code = done.output.splitlines()
    parts = urlsplit(link)
    assert parts._replace(fragment="").geturl() == page
    assert unquote(parts.fragment) == f"token={token}"
    size = segno.make_qr(link, error="l").symbol_size()
    assert (max(map(len, code)), len(code)) == (size[0], (size[1] + 1) // 2)


def test_json_has_the_link_where_it_is_asked_for(tmp_path: Path) -> None:
    plain, linked = (
        json.loads(issue(tmp_path, "--json", *more).output) for more in ([], ["--link"])
    )
    assert "link" not in plain
    assert linked["link"] == f"http://127.0.0.1:8765/#token={linked['token']}"


@pytest.mark.parametrize("server", ["games.example.org", "ftp://games.example.org", "https://"])
def test_a_link_needs_an_address_and_else_no_token_is_made(tmp_path: Path, server: str) -> None:
    done = issue(tmp_path, "--link", "--server", server)
    assert done.exit_code == 2
    assert "expected an address like https://games.example.org" in done.output
    with TokenAdmin(tmp_path / "x.db") as register:
        assert register.tokens() == []


def test_the_list_tells_how_long_a_token_is_valid_and_when_it_was_revoked(tmp_path: Path) -> None:
    made = [
        json.loads(issue(tmp_path, "--json", *days).output)["id"] for days in ([], ["--days", "1"])
    ]
    database = ["--db", str(tmp_path / "x.db")]
    CliRunner().invoke(kibitz, ["token", "revoke", str(made[0]), *database])
    listed = CliRunner().invoke(kibitz, ["token", "list", *database, "--json"])
    shown = {line["id"]: line for line in json.loads(listed.output)}
    assert [shown[id]["expires"] is None for id in made] == [True, False]
    assert [shown[id]["revoked"] is None for id in made] == [False, True]
    head, *rows = CliRunner().invoke(kibitz, ["token", "list", *database]).output.splitlines()
    assert head.split() == ["id", "account", "kind", "created", "valid", "until", "revoked"]
    assert len(rows) == 2
