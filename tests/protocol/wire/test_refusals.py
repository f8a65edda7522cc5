"""Every refusal has an explanation, and every close code is one of ours."""

from __future__ import annotations

from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.messages import Refused
from kibitz_protocol.wire.refusals import HINTS, MEANINGS, CloseCode, Code


def test_every_code_has_a_meaning_and_a_hint() -> None:
    for table in (MEANINGS, HINTS):
        assert list(table) == list(Code)
        assert all(sentence and sentence[-1] not in ".!" for sentence in table.values())


def test_close_codes_are_different_and_in_the_private_range() -> None:
    codes = [value for name, value in vars(CloseCode).items() if name.isupper()]
    assert len(set(codes)) == len(codes)
    # RFC 6455, section 7.4.2: 4000 to 4999 are for private use.
    assert all(4000 <= code <= 4999 for code in codes)


def test_the_error_of_a_refusal_says_all_of_it() -> None:
    refused = Refused(
        re=1, code=Code.STALE, message="ply 4 is past", hint="hurry", retry_after_ms=5, ply=6
    )
    error = RefusedError.of(refused)
    assert str(error) == "stale: ply 4 is past (hurry)"
    assert (error.code, error.message, error.hint) == (Code.STALE, "ply 4 is past", "hurry")
    assert (error.retry_after_ms, error.ply) == (5, 6)
    assert str(RefusedError(Code.OVER, "it is over")) == "over: it is over"
