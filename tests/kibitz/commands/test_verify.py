"""`kibitz record verify` never reports a truncated or changed record as fully valid."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import AsyncMock

import pytest
from click.testing import CliRunner

from kibitz.commands.verify import EXIT_BAD, EXIT_INCOMPLETE, verify
from kibitz_protocol.wire.recordfile import Record, read_record, record_lines
from kibitz_protocol.wire.records import Engine
from tests.kibitz.analysis.conftest import RECORDS
from tests.kibitz.analysis.test_verification import branch_of, hashed
from tests.tools.honest_records import honest_record
from tests.tools.profiles import some
from tests.tools.tampered_records import played_record

Lines: TypeAlias = list[bytes]
Place: TypeAlias = tuple[str | int, ...]
"""The path of a value in an object: keys and indices."""
NIM = (RECORDS / "line-nim.jsonl").read_bytes().splitlines(keepends=True)
GONE = object()
KINDS = ("move", "flag", "resign", "leave", "return", "forfeit", "note", "comment")


def checked(path: Path, text: bytes) -> tuple[int, str]:
    """Return the command's exit status and output for a record."""
    path.write_bytes(text)
    done = CliRunner().invoke(verify, [str(path)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done.exit_code, done.output


def full_record(name: str) -> Record:
    """Return the first finished match of a game, with a complete setup."""
    records = (honest_record(name, seed) for seed in itertools.count())
    return with_full_setup(next(each for each in records if each.footer is not None))


def records_of_all_kinds() -> Iterator[tuple[Record, set[str]]]:
    """Yield finished matches that add new kinds of entries, with these entries."""
    missing = set(KINDS)
    for name, seed in itertools.product(("tanks", "chinese-checkers"), range(120)):
        record = honest_record(name, seed)
        found = {entry.kind for entry in record.entries} & missing
        if record.footer is not None and found:
            yield with_full_setup(record), found | {"setup", "end"}
            missing -= found
        if not missing:
            return
    raise AssertionError(f"no record has {missing}")


def with_full_setup(record: Record) -> Record:
    """Return a record whose setup has a value in every field."""
    setup = record.setup.model_copy(
        update={
            "lobby": "bcdfgh",
            "block": 2,
            "tag": "final",
            "rated": [seat.player for seat in record.setup.seats],
            "engines": [Engine(name="mine", version="1", parameters={"depth": 3})]
            + [None] * (len(record.setup.seats) - 1),
            "server": "kibitz",
        }
    )
    assert record.footer is not None
    return Record(setup, record.entries, record.footer, "")


def lines_of(record: Record) -> Lines:
    assert record.footer is not None
    footer = record.footer
    return [*record_lines(record.setup, record.entries, footer.result, footer.sent)]


def leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the paths of all values, including nested ones."""
    if path:
        yield path
    within = value.items() if isinstance(value, dict) else ()
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, each in (*within, *listed):
        yield from leaves(each, (*path, key))


def mutations(value: Any) -> list[Any]:
    """Return replacements for a value; `GONE` removes it."""
    match value:
        case bool():
            return [GONE, not value]
        case int() | float():
            return [GONE, value + 1]
        case str():
            return [GONE, value + "x", ""] if value else [GONE, "x"]
        case list():
            return [GONE, [*value, *value[-1:]], value[::-1]]
        case dict():
            return [GONE, {**value, "more": 1}]
        case _:
            return [GONE, 1]


def mutated(line: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(line)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


@pytest.fixture(scope="module", params=some(["line-nim", "tanks"], 1))
def lines(request: pytest.FixtureRequest) -> Lines:
    """Records of games without and with hidden information."""
    return lines_of(full_record(request.param))


def test_the_whole_record_holds(tmp_path: Path, lines: Lines) -> None:
    assert checked(tmp_path / "r.jsonl", b"".join(lines)) == (
        0,
        f"{tmp_path / 'r.jsonl'}: valid\n",
    )


def test_the_origin_of_a_branch_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in hashed(branch_of(played_record(None)))))
    done = CliRunner().invoke(verify, [str(path)])
    assert done.output == f"{path}: valid, continued from ply 3 of match origin\n"
    done = CliRunner().invoke(verify, [str(path), "--json"])
    assert json.loads(done.output)["branch"] == {"match": "origin", "ply": 3}


def test_a_record_that_is_cut_off_after_any_line_is_incomplete(
    tmp_path: Path, lines: Lines
) -> None:
    """The last line without its line break is still complete."""
    path = tmp_path / "r.jsonl"
    assert checked(path, b"")[0] == EXIT_BAD
    for count in range(1, len(lines)):
        status, output = checked(path, b"".join(lines[:count]))
        assert status == EXIT_INCOMPLETE
        assert output.endswith("the record is incomplete and cannot be verified\n")


def test_a_record_that_is_cut_off_within_any_line_is_incomplete(tmp_path: Path) -> None:
    for number, line in enumerate(NIM):
        for end in (1, len(line) // 2, len(line) - 2):
            status, _ = checked(tmp_path / "r.jsonl", b"".join([*NIM[:number], line[:end]]))
            assert status == (EXIT_INCOMPLETE if number else EXIT_BAD), (number, end)


def test_a_change_of_any_field_of_any_kind_of_line_is_found(tmp_path: Path) -> None:
    for record, kinds in records_of_all_kinds():
        lines = lines_of(record)
        found = [json.loads(line) for line in lines]
        names = [line.get("kind", "setup") for line in found]
        for kind in kinds:
            assert changes_found(tmp_path, lines, found, names.index(kind)) > 4


def changes_found(tmp_path: Path, lines: Lines, found: list[Any], number: int) -> int:
    """Change values of a line in turn; return the number of detected changes."""
    tried = 0
    for place in some([*leaves(found[number])], 6):
        value: Any = found[number]
        for key in place:
            value = value[key]
        for other in mutations(value):
            if other == value:
                continue
            text = encode_line(mutated(found[number], place, other))
            changed = [*lines[:number], text, *lines[number + 1 :]]
            status, output = checked(tmp_path / "r.jsonl", b"".join(changed))
            assert status == EXIT_BAD, (place, other, output)
            tried += 1
    return tried


def encode_line(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _renamed(texts: Lines) -> None:
    texts[0] = texts[0].replace(b'"name":"greedy"', b'"name":"nobody"')


def _other_seed(texts: Lines) -> None:
    head = json.loads(texts[0])
    texts[0] = encode_line(head | {"started": "2026-01-01T00:00:00Z", "number": 7})


@pytest.mark.parametrize("change", [_renamed, _other_seed])
def test_a_record_that_was_changed_after_its_end_was_cut_off_does_not_hold(
    tmp_path: Path, change: Callable[[Lines], None]
) -> None:
    texts = NIM[:-1]
    change(texts)
    assert texts[0] != NIM[0]
    assert checked(tmp_path / "r.jsonl", b"".join(texts))[0] == EXIT_INCOMPLETE


def test_of_several_records_the_worst_counts(tmp_path: Path) -> None:
    whole, cut, bad = (tmp_path / f"{name}.jsonl" for name in ("whole", "cut", "bad"))
    whole.write_bytes(b"".join(NIM))
    cut.write_bytes(NIM[0])
    bad.write_bytes(b"".join([*NIM[:-1], NIM[-1].replace(b'"rank":2', b'"rank":1')]))
    runner = CliRunner()
    for files, status in (
        ([whole, whole], 0),
        ([cut, whole], EXIT_INCOMPLETE),
        ([bad, cut], EXIT_BAD),
        ([cut, bad], EXIT_BAD),
    ):
        assert runner.invoke(verify, [str(path) for path in files]).exit_code == status
    said = runner.invoke(verify, ["--json", str(whole), str(cut), str(bad)]).output.splitlines()
    told = [json.loads(line) for line in said]
    assert [(each["holds"], each["complete"]) for each in told] == [
        (True, True),
        (False, False),
        (False, True),
    ]


@pytest.mark.parametrize("own", ["same", "other", "none"])
def test_a_record_can_be_compared_with_that_of_the_server(
    tmp_path: Path, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(NIM))
    record = read_record(path)
    assert record.footer is not None
    footer = record.footer if own == "same" else record.footer.model_copy(update={"hash": "0"})
    held = replace(record, footer=None if own == "none" else footer)
    monkeypatch.setattr("kibitz_clients.matches.fetch.fetch_record", AsyncMock(return_value=held))
    done = CliRunner().invoke(verify, [str(path), "--against"])
    assert done.exit_code == (0 if own == "same" else EXIT_BAD)
    if own != "same":
        expected = "none" if own == "none" else "0"
        assert done.output.endswith(f"the hash of the server's own record, {expected}\n")
