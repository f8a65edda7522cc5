"""The manual's examples are valid messages in a valid order."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import decode_request, decode_server_message, encode
from kibitz_protocol.wire.messages import Answer, Finished, Request, Snapshot
from kibitz_protocol.wire.refusals import CloseCode

MANUAL = (Path(__file__).parents[2] / "docs" / "protocol" / "README.md").read_text("utf-8")
EXCHANGE = re.findall(r"^([<>]) (\{.*\})$", MANUAL, flags=re.MULTILINE)


def test_every_line_of_the_exchange_is_a_message() -> None:
    assert len(EXCHANGE) > 12
    asked: dict[int, Request] = {}
    for direction, line in EXCHANGE:
        if direction == ">":
            request = decode_request(line.encode())
            asked[request.id] = request
            continue
        message = decode_server_message(line)
        if isinstance(message, Answer):
            assert message.type in (asked.pop(message.re).answer, "refused")
    # The page shows no answers to requests after the break.
    assert sorted(asked) == [5, 6, 7]


def test_the_seed_is_the_one_that_was_committed_to() -> None:
    news = [decode_server_message(line) for direction, line in EXCHANGE if direction == "<"]
    snapshot = next(message for message in news if isinstance(message, Snapshot))
    finished = next(message for message in news if isinstance(message, Finished))
    secrets = finished.seed + finished.nonce
    assert hashlib.sha256(secrets.encode()).hexdigest() == snapshot.commitment


def test_every_time_control_reads_as_the_manual_says() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `(\{[^`]*\})` \|$", MANUAL, flags=re.MULTILINE)
    assert len(rows) >= 6
    for text, wire in rows:
        control = TimeControl.parse(text)
        assert control == TimeControl.model_validate_json(wire)
        assert encode(control) == encode(TimeControl.parse(str(control)))


def test_every_close_code_of_ours_is_explained() -> None:
    ours = {value for name, value in vars(CloseCode).items() if name.isupper()}
    explained = re.findall(r"^\| (4[0-9]{3}) \|", MANUAL, flags=re.MULTILINE)
    assert {int(code) for code in explained} == ours
