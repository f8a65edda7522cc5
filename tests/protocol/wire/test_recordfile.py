"""Record files: they round-trip, and errors name the invalid line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.recordfile import (
    EMPTY_CHAIN,
    RecordError,
    RecordExport,
    chain_hash,
    footer_hash,
    parse_record,
    read_record,
    record_lines,
    seed_commitment,
    write_record,
)
from kibitz_protocol.wire.records import Comment, Entry, Hidden, Moved, Noted, Resigned
from tests.tools.sample_messages import ENTRIES, RESULT, SETUP


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m1.jsonl"


def _lines() -> list[bytes]:
    return list(record_lines(SETUP, ENTRIES, RESULT))


def test_what_is_written_is_read_back(path: Path) -> None:
    write_record(path, SETUP, ENTRIES, RESULT)
    record = read_record(path)
    assert (record.setup, record.entries) == (SETUP, ENTRIES)
    assert record.footer is not None
    assert record.footer.result == RESULT
    assert record.footer.hash == footer_hash(record.link, _lines()[-1][:-1], record.footer.hash)
    assert not record.torn
    assert path.read_bytes() == b"".join(_lines())


def test_a_record_may_start_with_a_byte_order_mark(path: Path) -> None:
    write_record(path, SETUP, ENTRIES)
    plain = read_record(path)
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read_record(path) == plain
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first + b"\n" + codecs.BOM_UTF8 + rest)
    with pytest.raises(RecordError):
        read_record(path)


def test_the_chain_runs_over_the_bytes_of_every_line() -> None:
    # Two links computed with the command sha256sum: of "a", and of that link and "b".
    first = chain_hash(EMPTY_CHAIN, b"a")
    assert first == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert (
        chain_hash(first, b"b")
        == "d107b7d075043599f95950cf82591afa47c4dce9b4d343dc6fbecb1b051ee3ef"
    )


def test_the_hash_covers_the_footer_too() -> None:
    """It is the link of the footer with an empty string instead of the hash."""
    *before, last = (line.removesuffix(b"\n") for line in _lines())
    link = EMPTY_CHAIN
    for line in before:
        link = chain_hash(link, line)
    claimed = json.loads(last)["hash"]
    assert last.count(claimed.encode()) == 1
    assert chain_hash(link, last.replace(claimed.encode(), b"")) == claimed


def test_a_match_that_goes_on_has_no_footer(path: Path) -> None:
    write_record(path, SETUP, ENTRIES[:2])
    record = read_record(path)
    assert (len(record.entries), record.footer) == (2, None)


def test_a_setup_alone_is_a_record(path: Path) -> None:
    write_record(path, SETUP, ())
    assert read_record(path).entries == ()


def test_a_failed_write_leaves_what_was_there(path: Path) -> None:
    write_record(path, SETUP, ENTRIES, RESULT)
    before = path.read_bytes()

    def breaking() -> object:
        yield ENTRIES[0]
        raise ZeroDivisionError("planted")

    with pytest.raises(ZeroDivisionError):
        write_record(path, SETUP, breaking(), RESULT)  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def _broken(*changes: tuple[int, Callable[[bytes], bytes]]) -> list[bytes]:
    lines = _lines()
    for index, change in changes:
        lines[index] = change(lines[index])
    return lines


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], r"record:1: expected a setup line, found the end of the file"),
        ([b"\n"], r"record:1: not JSON"),
        ([b"{}\n"], r"record:1: match: missing"),
        (_lines()[1:], r"record:1: (schema|match|seq): "),
        (_broken((0, lambda line: line.replace(b"record/1", b"record/9"))), r"record:1: schema: "),
        (
            _broken((0, lambda line: line.replace(b'"seed":"0', b'"seed":"1'))),
            r"record:1: commitment: expected the SHA-256 of seed and nonce",
        ),
        (
            _broken((1, lambda line: line.replace(b'"ply":0', b'"ply":"0"'))),
            r'record:2: ply: expected an integer, not "0"',
        ),
        (
            _broken((3, lambda line: line.replace(b'"kind":"return"', b'"kind":"retreat"'))),
            r'record:4: kind: .*"retreat"',
        ),
        (_broken((2, lambda line: line[:-9] + b"\n")), r"record:3: not JSON"),
        (_broken((2, lambda line: b"")), r"record:3: not JSON"),
        ([*_lines()[:2], *_lines()[3:]], r"record:3: seq: expected 2, not 3"),
        ([*_lines(), b"\n"], r"record:14: expected nothing after the footer"),
        ([*_lines(), _lines()[-1]], r"record:14: expected nothing after the footer"),
        (
            _broken((1, lambda line: line.replace(b'"elapsed_ms":400', b'"elapsed_ms":401'))),
            r"record:13: hash: expected [0-9a-f]{64}, the last link of the hash chain",
        ),
        (
            _broken((12, lambda line: line.replace(b'"rank":1', b'"rank":true'))),
            r"record:13: result.seats.0.rank: expected an integer, not true",
        ),
        (
            list(record_lines(SETUP, (), RESULT.model_copy(update={"seats": RESULT.seats[:1]}))),
            r"record:2: result.seats: expected 2 seats, not 1",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(lines: list[bytes], complaint: str) -> None:
    with pytest.raises(RecordError, match=complaint):
        parse_record(lines)


def test_errors_name_the_file(path: Path) -> None:
    path.write_bytes(b"{}\n")
    with pytest.raises(RecordError) as caught:
        read_record(path)
    assert (caught.value.path, caught.value.line) == (str(path), 1)
    assert str(caught.value).startswith(f"{path}:1: ")


def test_a_line_without_end_is_not_read_into_memory(path: Path) -> None:
    path.write_bytes(b"x" * (1024 * 1024 + 2))
    with pytest.raises(RecordError, match="expected a line of at most 1048576 bytes"):
        read_record(path)


@given(st.integers(0, sum(map(len, _lines()))))
def test_a_torn_record_is_read_as_far_as_it_goes_only_when_asked(cut: int) -> None:
    lines = b"".join(_lines())[:cut].splitlines(keepends=True)
    try:
        strict = parse_record(lines)
    except RecordError:
        if cut < len(_lines()[0]):
            return
        torn = parse_record(lines, torn=True)
        assert torn.torn
        assert torn.footer is None
        assert torn.entries == ENTRIES[: len(lines) - 2]
    else:
        assert lines[-1].endswith((b"\n", b"}"))
        assert parse_record(lines, torn=True) == strict


def test_torn_is_no_excuse_for_a_wrong_line() -> None:
    lines = _broken((1, lambda line: line.replace(b'"seq":1', b'"seq":7')))[:2]
    lines[1] = lines[1].rstrip(b"\n")
    with pytest.raises(RecordError, match="seq: expected 1, not 7"):
        parse_record(lines, torn=True)


def test_other_line_ends_are_no_other_lines() -> None:
    lines = [line.replace(b"\n", b"\r\n") for line in _lines()]
    assert parse_record(lines) == parse_record(_lines())


TEXT = st.text(max_size=50)
COMMENTS = st.builds(
    Comment,
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    depth=st.none() | st.integers(0, 10_000),
    nodes=st.none() | st.integers(0, 2**53 - 1),
    line=st.none() | st.lists(TEXT, max_size=4),
    text=st.none() | TEXT,
)
SCALARS = st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
ACTIONS = st.dictionaries(st.text(min_size=1, max_size=8), SCALARS, max_size=8)
SEATS = st.integers(0, 15)
TIMES = st.integers(0, 2**53 - 1)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    kinds: list[Entry] = []
    for seq in range(1, draw(st.integers(0, 6)) + 1):
        seat, at = draw(SEATS), draw(TIMES)
        one: st.SearchStrategy[Entry] = st.one_of(
            st.builds(Resigned, seq=st.just(seq), at_ms=st.just(at), seat=st.just(seat)),
            st.builds(Noted, seq=st.just(seq), at_ms=st.just(at), seat=st.just(seat), text=TEXT),
            st.builds(
                Moved,
                seq=st.just(seq),
                at_ms=st.just(at),
                seat=st.just(seat),
                ply=TIMES,
                action=ACTIONS,
                id=st.none() | st.integers(1, 2**53 - 1),
                comment=st.none() | COMMENTS,
            ),
        )
        kinds.append(draw(one))
    return kinds


@given(entries())
def test_every_entry_is_read_back_as_it_was(some: list[Entry]) -> None:
    lines = list(record_lines(SETUP, some))
    record = parse_record(lines)
    assert record.entries == tuple(some)
    assert [type(value) for one in record.entries for value in _values(one)] == [
        type(value) for one in some for value in _values(one)
    ]
    assert list(record_lines(record.setup, record.entries)) == lines


def _values(entry: Entry) -> list[object]:
    """Return the values of an action with types, since True equals 1."""
    return list(entry.action.values()) if isinstance(entry, Moved) else []


def test_an_export_of_a_log_is_the_record_whatever_pieces_it_comes_in() -> None:
    log = [encode(entry) for entry in ENTRIES]
    for size in (1, 3, len(log)):
        export = RecordExport(encode(SETUP))
        pieces = [export.entries(log[at : at + size]) for at in range(0, len(log), size)]
        assert b"".join([export.head, *pieces, export.footer(RESULT)]) == b"".join(_lines())


def test_a_public_export_has_bare_numbers_for_notes_and_is_a_record() -> None:
    """A comment that mentions notes is not a note and is kept."""
    said = Comment(text='"kind":"note"')
    secret = Noted(seq=1, at_ms=5, seat=0, text='canary "kind":"move"')
    move = Moved(seq=2, at_ms=9, ply=0, seat=0, action={"to": 1}, comment=said)
    export = RecordExport(encode(SETUP), notes=False)
    text = export.head + export.entries([encode(secret), encode(move)]) + export.footer(RESULT)
    assert b"canary" not in text
    read = parse_record(text.splitlines(keepends=True))
    assert read.entries == (Hidden(seq=1, at_ms=5), move)


def test_the_commitment_is_the_hash_of_seed_and_nonce() -> None:
    assert SETUP.commitment == seed_commitment(SETUP.seed, SETUP.nonce)
    # Computed with the command sha256sum, of "ab".
    assert seed_commitment("a", "b").startswith("fb8e20fc2e4c3f24")
