"""The table of handlers: every request of the protocol has the right one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from kibitz_protocol.wire.messages import ClientMessage, Hello, Move
from kibitz_server.handlers.requests import RequestHandlers
from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.virtual_server import virtual_server

WITH_A_WAY_OF_THEIR_OWN = {Hello, Move}
TYPES = set(get_args(get_args(ClientMessage)[0]))


@pytest.fixture
def handlers(tmp_path: Path) -> Iterator[RequestHandlers]:
    make_template(tmp_path)
    with virtual_server({Grid().info.name: Grid()}, tmp_path) as server:
        yield server.backend.handlers


def test_every_type_of_request_has_exactly_one_handler(handlers: RequestHandlers) -> None:
    assert handlers.handlers.keys() | WITH_A_WAY_OF_THEIR_OWN == TYPES
    assert not handlers.handlers.keys() & WITH_A_WAY_OF_THEIR_OWN


def test_every_handler_takes_the_type_that_it_is_called_with(handlers: RequestHandlers) -> None:
    for kind, handler in handlers.handlers.items():
        assert get_type_hints(handler)["request"] is kind
