"""Pending requests: ids, repeated requests, lost requests."""

from __future__ import annotations

import pytest

from kibitz_protocol.client.requests import PendingRequests, Requester
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import Host, ListGames, Move, Request, Watch
from tests.tools.sample_messages import REQUESTS, SETTINGS


def _move(asking: PendingRequests, ply: int = 0) -> Move:
    return Move(id=asking.new_id(), match="m1", ply=ply, action={"to": 1})


def _add(asking: PendingRequests, request: Request, requester: Requester = "caller") -> None:
    asking.add(request, encode(request), requester)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.type)
def test_every_request_says_why_it_may_be_repeated_or_why_not(request_: Request) -> None:
    assert (request_.repeatable is None) != (request_.unrepeatable is None)


def test_ids_grow_and_are_taken_once() -> None:
    asking = PendingRequests(first_id=7)
    move = _move(asking)
    _add(asking, move)
    assert move.id == 7
    assert asking.new_id() == 8
    with pytest.raises(ValueError, match="request id 7"):
        _add(asking, move)
    with pytest.raises(ValueError, match="request id 9"):
        _add(asking, ListGames(id=9))


def test_an_answer_is_taken_once() -> None:
    asking = PendingRequests()
    move = _move(asking)
    _add(asking, move)
    pending = asking.pop(move.id)
    assert pending is not None
    assert pending.request is move
    assert asking.pop(move.id) is None
    assert len(asking) == 0


def test_a_break_keeps_the_requests_of_callers() -> None:
    asking = PendingRequests()
    requests: list[Request] = [
        Host(id=asking.new_id(), settings=SETTINGS),
        _move(asking),
        Watch(id=asking.new_id(), match="m1"),
    ]
    for request in requests[:2]:
        _add(asking, request)
    _add(asking, requests[2], "session")
    for pending in asking:
        pending.sent = True
    asking.keep_callers()
    assert [pending.request for pending in asking] == requests[:2]


def test_withdrawn_it_is_gone_unless_it_was_sent() -> None:
    asking = PendingRequests()
    unsent, sent = _move(asking), _move(asking)
    _add(asking, unsent)
    _add(asking, sent)
    asking.get(sent.id).sent = True  # type: ignore[union-attr]
    for move in (unsent, sent):
        asking.withdraw(move.id)
    asking.withdraw(99)
    assert [pending.requester for pending in asking] == ["nobody"]
    asking.keep_callers()
    assert len(asking) == 0


def test_it_knows_the_moves_on_their_way() -> None:
    asking = PendingRequests()
    _add(asking, _move(asking, ply=3))
    assert asking.has_move("m1", 3)
    assert not asking.has_move("m1", 4)
    assert not asking.has_move("m2", 3)
