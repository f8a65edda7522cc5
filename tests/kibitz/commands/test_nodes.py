"""`kibitz db nodes`, and the errors of `kibitz serve` about impossible names."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from kibitz.commands.nodes import nodes
from kibitz.commands.serve import make_config
from kibitz_server.storage import opening
from kibitz_server.storage.interface import NodeEntry

URL = "postgresql://kibitz@db.example.org/games"


def test_nodes_are_shown_with_what_they_own(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        NodeEntry("a", "wss://a.example.org", "serving", 0.5, 3, 7),
        NodeEntry("b", "wss://b.example.org", "dead", 99.0, 0, 0),
    ]
    monkeypatch.setattr(opening, "list_nodes", lambda db: found)
    lines = CliRunner().invoke(nodes, ["--db", URL]).output.splitlines()
    assert lines[0].split()[:6] == ["a", "serving", "3", "lobbies,", "7", "matches"]
    assert lines[1].split()[:2] == ["b", "dead"]
    shown = json.loads(CliRunner().invoke(nodes, ["--db", URL, "--json"]).output)
    assert [each["state"] for each in shown] == ["serving", "dead"]


def test_a_file_has_no_nodes(tmp_path: Path) -> None:
    (tmp_path / "kibitz.db").touch()
    result = CliRunner().invoke(kibitz, ["db", "nodes", "--db", str(tmp_path / "kibitz.db")])
    assert result.exit_code == 1
    assert "nodes need a PostgreSQL database" in result.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"db": URL, "node": "a"}, "given together"),
        ({"db": URL, "public_url": "wss://a.example.org"}, "given together"),
        ({"db": "x.db", "node": "a", "public_url": "wss://a.example.org"}, "share a PostgreSQL"),
        ({"db": URL, "node": "A b", "public_url": "wss://a.example.org"}, "a node name must have"),
        ({"db": URL, "node": "main", "public_url": "wss://a.example.org"}, "a node name must have"),
        ({"db": URL, "node": "a", "public_url": "ftp://a.example.org"}, "ws:// or wss://"),
    ],
)
def test_a_node_that_cannot_be_is_refused_with_a_sentence(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(click.BadParameter, match=said):
        make_config(given, None)


@pytest.mark.parametrize("said", ["wss://example.org/a", "https://example.org/a/"])
def test_players_are_sent_to_where_a_node_has_its_websocket(said: str) -> None:
    config = make_config({"db": URL, "node": "a", "public_url": said}, None)
    identity = config.identity()
    assert identity is not None
    assert identity.url == "wss://example.org/a/"
