"""A frame's size bounds its cost: operations are counted for the worst frames of every type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from kibitz_protocol.wire import codec
from kibitz_protocol.wire.codec import MAX_EXPLAINED, DecodeError, decode_request
from tests.tools.heavy_frames import MODELS, full_message, invalid_frames, valid_frames

MOST_ERRORS = 64
"""The limit on errors in a frame of 16 KiB, which has room for ten thousand."""
MOST_READS = 4
"""The maximum number of JSON parses per frame: check, validation, finding the id, explanation."""


class Work:
    """Counts the operations of decoding a frame."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors = 0
        self.explained = 0
        self.reads = 0
        self._count(monkeypatch, "_refuse", self._refused)
        self._count(monkeypatch, "explain", self._explain)
        for reader in ("from_json", "_request_id"):
            self._count(monkeypatch, reader, self._read)

    def _count(
        self, monkeypatch: pytest.MonkeyPatch, name: str, count: Callable[..., None]
    ) -> None:
        right = getattr(codec, name)

        def counted(*args: Any, **named: Any) -> Any:
            count(*args)
            return right(*args, **named)

        monkeypatch.setattr(codec, name, counted)

    def _refused(self, error: ValidationError, *_: object) -> None:
        self.errors += error.error_count()

    def _explain(self, error: ValidationError, *_: object) -> None:
        self.explained += error.error_count()

    def _read(self, *_: object) -> None:
        self.reads += 1


@pytest.mark.parametrize("kind", MODELS)
def test_the_worst_frame_of_every_type_makes_few_errors(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    for frame in invalid_frames(kind):
        work = Work(monkeypatch)
        with pytest.raises(DecodeError):
            decode_request(frame)
        monkeypatch.undo()
        assert work.errors <= MOST_ERRORS, frame[:200]
        assert work.explained <= MAX_EXPLAINED
        assert work.reads <= MOST_READS
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("kind", MODELS)
def test_the_longest_valid_frames_of_every_type_are_read(kind: str) -> None:
    """The limits on fields, lists and brackets never block a message that its model accepts."""
    for frame in valid_frames(kind):
        assert decode_request(frame).type == kind


@pytest.mark.parametrize("kind", MODELS)
def test_every_field_of_every_type_is_tried(kind: str) -> None:
    assert full_message(kind).keys() == MODELS[kind].model_fields.keys()


def test_what_has_too_much_wrong_with_it_is_refused_with_its_id() -> None:
    wide = "{" + ",".join(f'"{number}":0' for number in range(65)) + "}"
    with pytest.raises(DecodeError, match="an object has 65 fields") as caught:
        decode_request(f'{{"type":"move","id":5,"match":"m","ply":0,"action":{wide}}}')
    assert caught.value.request == 5
    lists = ",".join(f'"{number:x}":[{{}}]' for number in range(30))
    item = f'{{"game":"a","options":{{{lists}}}}}'
    with pytest.raises(DecodeError, match="errors in this message") as caught:
        decode_request(f'{{"type":"seek","id":6,"terms":{{"item":{item}}}}}')
    assert caught.value.request == 6
