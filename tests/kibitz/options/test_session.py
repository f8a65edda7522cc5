"""How interactive clients connect."""

from __future__ import annotations

import pytest

from kibitz.options.session import client_factory
from kibitz_protocol.client.client import Client


@pytest.mark.parametrize(("asked", "views"), [({}, "every"), ({"views": "none"}, "none")])
def test_screens_are_sent_every_view_and_lines_of_text_none(
    asked: dict[str, str], views: str
) -> None:
    connect = client_factory(None, "ws://127.0.0.1:1", "ada", None, print, **asked)  # type: ignore[arg-type]
    client = connect()
    assert isinstance(client, Client)
    assert client._identity.views == views
