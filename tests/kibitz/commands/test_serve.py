from __future__ import annotations

import json
import logging
import re
import socket
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.commands import serve as serving
from kibitz.commands.serve import _log, make_config, serve
from kibitz_protocol import printable
from kibitz_protocol.wire.codec import MAX_BRACKETS, MAX_FIELDS
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.handlers.hosting import MAX_KINDS
from kibitz_server.match.budget import BOUNDS, Allowance
from kibitz_server.net.connections import Quotas
from kibitz_server.net.downloads import DownloadLimits
from kibitz_server.net.rate_limit import RateLimits
from kibitz_server.storage.location import PostgresURL


def test_each_message_of_the_log_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for any text, since others control names, refusals and error messages."""
    handlers: list[logging.Handler] = []

    def added(*, level: str, **given: list[logging.Handler]) -> None:
        assert level == "INFO"
        handlers.extend(given["handlers"])

    monkeypatch.setattr("logging.basicConfig", added)
    _log("info")
    assert handlers
    assert all(isinstance(each.formatter, printable.LogFormatter) for each in handlers)


def test_an_address_in_a_file_is_that_of_a_database() -> None:
    config = make_config({"db": "postgresql://ada:s3cret@db/games"}, None)
    assert config.db == PostgresURL("postgresql://ada:s3cret@db/games")
    assert "s3cret" not in str(config)


@pytest.mark.parametrize("words", [["serve", "--port", "0", "--no-web"], ["token", "list"]])
def test_a_database_that_cannot_be_reached_is_one_sentence(words: list[str]) -> None:
    environment = {"KIBITZ_DB": "postgresql://ada:s3cret@127.0.0.1:1/games"}
    done = CliRunner().invoke(kibitz, words, env=environment)
    assert done.exit_code == 1
    [told] = done.output.splitlines()
    assert told == (
        "Error: 'postgresql://ada@127.0.0.1:1/games' cannot be reached:"
        " no PostgreSQL server is listening there"
    )


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "club.toml").write_text("[quotas")
    done = CliRunner().invoke(serve, ["--config", str(tmp_path / "club.toml")])
    assert done.exit_code == 2
    assert "club.toml" in done.output


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"not a database at all" * 100)
    done = CliRunner().invoke(kibitz, ["serve", "--db", str(tmp_path / "other.db"), "--port", "0"])
    assert done.exit_code == 1
    assert "other.db' is not an SQLite database" in done.output


@pytest.mark.parametrize(("damaged", "lines"), [(0, 5), (3, 6)])
def test_a_start_says_how_much_is_set_aside(
    damaged: int, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = SimpleNamespace(quarantine=SimpleNamespace(count=damaged))
    backend = SimpleNamespace(directory=directory)
    server = SimpleNamespace(url="ws://x", http_url="http://x", backend=backend)
    config = make_config({"db": "my games.db"}, None)
    serving._serve(config, web=False, as_json=False)(server)
    told = capsys.readouterr().out.splitlines()
    assert len(told) == lines
    if damaged:
        assert told[4] == (
            "  damaged  3 matches and lobbies were set aside;"
            " `kibitz db check 'my games.db'` lists them with reasons"
        )
    serving._serve(config, web=False, as_json=True)(server)
    assert json.loads(capsys.readouterr().out)["damaged"] == damaged


@pytest.mark.parametrize("web", [False, True])
def test_a_start_says_where_its_page_is(web: bool, capsys: pytest.CaptureFixture[str]) -> None:
    directory = SimpleNamespace(quarantine=SimpleNamespace(count=0))
    backend = SimpleNamespace(directory=directory)
    server = SimpleNamespace(url="ws://x", http_url="http://x", backend=backend)
    serving._serve(make_config({"db": "my games.db"}, None), web=web, as_json=False)(server)
    assert ("  browser  http://x/" in capsys.readouterr().out.splitlines()) == web


@pytest.mark.parametrize(
    ("guests", "expected"),
    [("loopback", "guests on this machine"), ("anyone", "anyone"), ("nobody", "only accounts")],
)
def test_a_start_says_who_may_come_and_how_to_stop(
    guests: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = SimpleNamespace(quarantine=SimpleNamespace(count=0))
    backend = SimpleNamespace(directory=directory)
    server = SimpleNamespace(url="ws://x", http_url="http://x", backend=backend)
    serving._serve(make_config({"db": "k.db", "guests": guests}, None), web=False, as_json=False)(
        server
    )
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert rows["players"].startswith(expected)
    assert rows["data"] == "k.db"
    assert rows["stop"].startswith("Ctrl-C")


def test_a_port_in_use_is_named_with_another_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ["serve", "--db", str(tmp_path / "k.db"), "--port", str(port), "--no-web"]
        done = CliRunner().invoke(kibitz, words)
    assert done.exit_code == 1
    assert f"Error: port {port} on 127.0.0.1 is already in use" in done.output
    assert f"`kibitz serve --port {port + 1}`" in done.output


@pytest.mark.parametrize("how", ["missing", "empty", "cut", "linked"])
def test_a_database_that_cannot_be_used_is_one_sentence(tmp_path: Path, how: str) -> None:
    path = tmp_path / "kibitz.db"
    if how in {"missing", "empty"}:
        (tmp_path / "kibitz.db-wal").write_bytes(b"commits")
    if how == "empty":
        path.touch()
    if how in {"cut", "linked"}:
        with TokenAdmin(path) as register:
            register.issue("ada", "human")
    if how == "cut":
        path.write_bytes(path.read_bytes()[:9000])
    if how == "linked":
        (tmp_path / "second.db").hardlink_to(path)
    done = CliRunner().invoke(kibitz, ["serve", "--db", str(path), "--port", "0"])
    assert (done.exit_code, isinstance(done.exception, SystemExit)) == (1, True)
    assert f"Error: '{path}' " in done.output
    listed = CliRunner().invoke(kibitz, ["token", "list", "--db", str(path)])
    status = 2 if how == "missing" else 1
    assert (listed.exit_code, isinstance(listed.exception, SystemExit)) == (status, True)
    assert "Traceback" not in done.output + listed.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--keep", "90"], "expected days or weeks, such as 90d or 12w, not '90'"),
        (["--keep", "0d"], "expected days or weeks"),
        (["--trusted-proxy", "proxy"], "expected an address or network such as 10.0.0.0/8"),
        (["--origin", "null"], "the origin 'null' cannot be allowed"),
    ],
)
def test_what_cannot_be_is_refused_before_the_start(
    tmp_path: Path, words: list[str], expected: str
) -> None:
    done = CliRunner().invoke(serve, ["--db", str(tmp_path / "x.db"), *words])
    assert done.exit_code == 2
    assert expected in " ".join(done.output.split())


def test_the_table_of_limits_says_what_is_usual() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "limits.md").read_text()
    config = make_config({"db": "x.db"}, None)
    rows = re.findall(r"\| ([0-9,.]+) \| `(quotas|downloads|tariff)\.(\w+)` \|", page)
    assert len(rows) >= 8
    for said, part, key in rows:
        assert getattr(getattr(config, part), key) == float(said.replace(",", "")), key


OPTIONS = {
    "connections": "--max-connections",
    "lobbies_in_all": "--max-lobbies",
    "house_bots_in_all": "--max-house-bots",
}


def test_the_table_of_limits_has_every_limit() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "limits.md").read_text()
    limits = {"quotas": Quotas, "tariff": RateLimits, "downloads": DownloadLimits}
    for part, kind in limits.items():
        for key in {each.name for each in fields(kind)} - {"costs"}:
            named = f"`{part}.{key}`" in page or f"`{OPTIONS.get(key, '?')}`" in page
            assert named or (part, key) == ("downloads", "retry_after_s"), f"{part}.{key}"


def test_the_table_of_limits_says_how_much_a_log_takes() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "limits.md").read_text()
    limits = RateLimits()
    for key in (
        "openings",
        "openings_an_address",
        "lobby_changes",
        "lobby_changes_a_player",
        "lobby_matches",
        "notes",
    ):
        rate = getattr(limits, key)
        an_hour = round(rate.per_second * 3600)
        said = f"| {rate.burst:,} at once, {an_hour:,} per hour | `tariff.{key}` |"
        assert said in page, said
    for bound in BOUNDS.values():
        if isinstance(bound, Allowance):
            first = f"| {bound.at_once:,} at once, {bound.per_hour:,} per hour"
            assert f"{first}, {bound.most:,} in total |" in page, bound
    assert f"| {MAX_FIELDS}; {MAX_BRACKETS:,} |" in page
    assert f"| {MAX_KINDS} |" in page
