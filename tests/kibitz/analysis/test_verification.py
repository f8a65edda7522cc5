"""Honest records are valid; each kind of tampering is detected even with recomputed hashes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from kibitz.analysis.verification import IncompleteRecord, verify, verify_record
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, Record, chain_hash, seed_commitment
from tests.kibitz.analysis.conftest import RECORDS
from tests.tools.honest_records import honest_record
from tests.tools.measurements import ReportFigure
from tests.tools.tampered_records import TIMED, played_record

Lines: TypeAlias = list[dict[str, Any]]
"""The setup, entries and footer of a record, as JSON objects."""
Tamper: TypeAlias = Callable[[Lines], Any]


def hashed(lines: Lines) -> list[bytes]:
    """Write the lines with a matching end of the hash chain."""
    texts = [json.dumps(line, separators=(",", ":")).encode() for line in lines]
    if lines[-1].get("kind") != "end":
        return texts
    link = EMPTY_CHAIN
    for text in texts[:-1]:
        link = chain_hash(link, text)
    ends = json.dumps(lines[-1] | {"hash": ""}, separators=(",", ":")).encode()
    link = chain_hash(link, ends)
    return [*texts[:-1], ends.replace(b'"hash":""', b'"hash":"%s"' % link.encode())]


def number(lines: Lines) -> None:
    """Renumber the entries."""
    for seq, line in enumerate(lines[1:], start=1):
        if line["kind"] != "end":
            line["seq"] = seq


def write(path: Path, texts: list[bytes]) -> Path:
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return path


def holds(record: Record, games: dict[str, Game]) -> bool:
    """Verify an honest record; return whether it is complete."""
    if record.footer is None:
        with pytest.raises(IncompleteRecord):
            verify_record(record, games)
        return False
    return verify_record(record, games).entries == len(record.entries)


def fault(path: Path, games: dict[str, Game]) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is what is looked at
        verify(path, games)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDS.glob("*.jsonl")))
def test_honest_records_hold(name: str, all_games: dict[str, Game]) -> None:
    path = RECORDS / f"{name}.jsonl"
    found = verify(path, all_games)
    assert found.hash == json.loads(path.read_bytes().splitlines()[-1])["hash"]


@pytest.mark.parametrize("name", ["line-nim", "five-in-a-row", "chinese-checkers", "tanks"])
def test_whatever_happens_in_a_match_its_record_holds(
    name: str, all_games: dict[str, Game]
) -> None:
    for seed in range(4):
        holds(honest_record(name, seed), all_games)


@pytest.mark.slow
def test_two_hundred_honest_records_of_every_game_hold(
    all_games: dict[str, Game], report: ReportFigure
) -> None:
    for name in all_games:
        over = 0
        seen: set[str] = set()
        for seed in range(200):
            record = honest_record(name, seed)
            over += holds(record, all_games)
            seen |= {entry.kind for entry in record.entries}
        report(
            f"{name}: 200 records hold, {over} of matches that are over, {len(seen)} kinds of entry"
        )
        assert over >= 100
        assert {"move", "flag", "leave", "return", "note", "comment", "resign"} <= seen


# --- with new hashes -----------------------------------------------------------------------------


def first_move(lines: Lines) -> dict[str, Any]:
    return next(entry for entry in lines[1:] if entry["kind"] == "move")


def _illegal_move(lines: Lines) -> None:
    first_move(lines)["action"] = {"index": 38}


def _wrong_seat(lines: Lines) -> None:
    first_move(lines)["seat"] = 1


def _other_winner(lines: Lines) -> None:
    one, two = lines[-1]["result"]["seats"]
    one["rank"], two["rank"] = two["rank"], one["rank"]


def _other_score(lines: Lines) -> None:
    lines[-1]["result"]["seats"][0]["score"] = 0.25


def _other_points(lines: Lines) -> None:
    lines[-1]["result"]["seats"][0]["points"] = 99.0


def _no_points(lines: Lines) -> None:
    del lines[-1]["result"]["seats"][0]["points"]


def _other_detail(lines: Lines) -> None:
    lines[-1]["result"]["seats"][0]["detail"] = "it gave up"


def _takeover(lines: Lines) -> None:
    lines[-1]["result"]["seats"][0]["takeover"] = True


def _other_reason(lines: Lines) -> None:
    lines[-1]["result"]["reason"] = "because"


def _fewer_plies(lines: Lines) -> None:
    lines[-1]["result"]["plies"] -= 1


def _other_seed(lines: Lines) -> None:
    lines[0]["seed"] = "0" * 64


def _other_seed_and_commitment(lines: Lines) -> None:
    lines[0]["seed"] = f"{12345:064x}"
    _commit(lines)


def _commit(lines: Lines) -> None:
    lines[0]["commitment"] = seed_commitment(lines[0]["seed"], lines[0].get("nonce", ""))


def _other_nonce(lines: Lines) -> None:
    lines[0]["nonce"] = "0" * 64


def _no_nonce(lines: Lines) -> None:
    del lines[0]["nonce"]
    _commit(lines)


def _short_seed(lines: Lines) -> None:
    lines[0]["seed"] = lines[0]["seed"][-16:]
    _commit(lines)


def _no_seed(lines: Lines) -> None:
    lines[0]["seed"] = ""


def _other_deal(lines: Lines) -> None:
    lines[0]["deal"]["row"] = lines[0]["deal"]["row"][::-1]


def _other_rules(lines: Lines) -> None:
    lines[0]["rules_version"] += 1


def _other_options(lines: Lines) -> None:
    lines[0]["options"]["preset"] = "classic"


def _less_time(lines: Lines) -> None:
    first_move(lines)["elapsed_ms"] -= 5


def _more_allowance(lines: Lines) -> None:
    first_move(lines)["allowance_ms"] = 5_000


def _longer_wait(lines: Lines) -> None:
    first_move(lines)["wait_ms"] = first_move(lines).get("wait_ms", 0) + 5


def _time_backwards(lines: Lines) -> None:
    lines[3] |= {"at_ms": lines[2]["at_ms"] - 1, "elapsed_ms": 0}


def _no_request(lines: Lines) -> None:
    del first_move(lines)["id"]


def _resigned_after_the_end(lines: Lines) -> None:
    last = lines[-2]
    lines.insert(-1, {"kind": "resign", "seq": 0, "at_ms": last["at_ms"], "seat": 0})
    number(lines)


def _without_the_end(lines: Lines) -> None:
    del lines[-1]


def _ended_early(lines: Lines) -> None:
    del lines[-2]
    lines[-1]["result"]["plies"] -= 1


def _forfeit_without_flag(lines: Lines) -> None:
    del lines[-3]
    number(lines)


def _flag_too_soon(lines: Lines) -> None:
    lines[-3]["elapsed_ms"] -= 1_000


def _given_up_while_present(lines: Lines) -> None:
    lines[-2]["cause"] = "disconnect"


BRANCH_PLY = 3


def branch_of(lines: Lines) -> Lines:
    """Return a record whose first plies are those of another match."""
    lines = copy.deepcopy(lines)
    origin = {"match": "origin", "ply": BRANCH_PLY, "seed": lines[0]["seed"]}
    lines[0] |= {"branch": origin, "seed": "ab" * 32}
    _commit(lines)
    begun = lines[BRANCH_PLY]["at_ms"]
    for number, entry in enumerate(lines[1:-1], start=1):
        entry["at_ms"] = max(0, entry["at_ms"] - begun)
        if number <= BRANCH_PLY:
            for name in {*entry} & {"elapsed_ms", "wait_ms", "id"}:
                del entry[name]
    return lines


def _other_origin_seed(lines: Lines) -> None:
    lines[0]["branch"]["seed"] = lines[0]["seed"]


def _short_origin_seed(lines: Lines) -> None:
    lines[0]["branch"]["seed"] = "5"


def _later_branch(lines: Lines) -> None:
    lines[0]["branch"]["ply"] += 1


def _earlier_branch(lines: Lines) -> None:
    lines[0]["branch"]["ply"] -= 1


def _no_branch(lines: Lines) -> None:
    del lines[0]["branch"]


def _remark_in_the_opening(lines: Lines) -> None:
    first_move(lines)["comment"] = {"text": "mine"}


def _resigned_in_the_opening(lines: Lines) -> None:
    lines.insert(2, {"kind": "resign", "seq": 0, "at_ms": 0, "seat": 0})
    number(lines)


TAMPERED: list[tuple[str, Tamper, str]] = [
    ("plain", _illegal_move, "not legal"),
    ("plain", _wrong_seat, "not the turn of seat 0"),
    ("plain", _other_winner, "rank: expected 2, not 1"),
    ("plain", _other_score, "score: expected 0.0, not 0.25"),
    ("plain", _other_points, "points: expected"),
    ("plain", _other_reason, "result.reason: expected"),
    ("plain", _fewer_plies, "result.plies: expected"),
    ("plain", _other_seed, "commitment: expected the SHA-256"),
    ("plain", _other_seed_and_commitment, "expected the start drawn from the seed"),
    ("plain", _other_nonce, "commitment: expected the SHA-256"),
    ("plain", _no_nonce, "nonce: expected 64 hexadecimal digits, not ''"),
    ("plain", _short_seed, "seed: expected 64 hexadecimal digits"),
    ("plain", _no_seed, "expected the seed of a finished match"),
    ("plain", _other_deal, "expected the start drawn from the seed"),
    ("plain", _other_rules, "rules version"),
    ("plain", _other_options, "expected the start drawn from the seed"),
    ("timed", _less_time, "elapsed_ms: expected"),
    ("timed", _more_allowance, "allowance_ms: expected at most"),
    ("timed", _longer_wait, "elapsed_ms: expected"),
    ("timed", _time_backwards, "does not follow"),
    ("timed", _no_request, "expected the number of the player's request"),
    ("plain", _resigned_after_the_end, "expected only the footer"),
    ("plain", _without_the_end, "expected a footer, found the end of the file"),
    ("plain", _other_detail, "detail: expected '', not 'it gave up'"),
    ("plain", _takeover, "takeover: expected None, not True"),
    ("plain", _no_points, "points: expected"),
    ("plain", _ended_early, "expected no footer: the match is not over"),
    ("timed", _forfeit_without_flag, "its flag has not fallen"),
    ("timed", _flag_too_soon, "elapsed_ms: expected at least"),
    ("timed", _given_up_while_present, "cause"),
    ("branch", _other_origin_seed, "expected the start drawn from the seed"),
    ("branch", _short_origin_seed, "branch.seed: expected 64 hexadecimal digits"),
    ("branch", _later_branch, "expected only moves without times in the first 4 plies"),
    ("branch", _earlier_branch, "expected the number of the player's request"),
    ("branch", _no_branch, "expected the start drawn from the seed"),
    ("branch", _remark_in_the_opening, "expected only moves without times in the first 3 plies"),
    ("branch", _resigned_in_the_opening, "expected only moves without times"),
]


@pytest.fixture(scope="module")
def played() -> dict[str, Lines]:
    plain = played_record(None)
    return {"plain": plain, "timed": played_record(TIMED), "branch": branch_of(plain)}


@pytest.mark.parametrize(("kind", "tamper", "sentence"), TAMPERED)
def test_tampering_is_found_though_the_hashes_fit(
    tmp_path: Path,
    all_games: dict[str, Game],
    played: dict[str, Lines],
    kind: str,
    tamper: Tamper,
    sentence: str,
) -> None:
    lines = copy.deepcopy(played[kind])
    verify(write(tmp_path / "honest.jsonl", hashed(lines)), all_games)
    tamper(lines)
    assert sentence in fault(write(tmp_path / "r.jsonl", hashed(lines)), all_games)


@pytest.mark.parametrize(
    ("lag", "move", "sentence"),
    [
        ({"bank_ms": 0}, {"allowance_ms": 1}, "allowance_ms: expected at most 0, not 1"),
        ({"standstill_ms": 0}, {"lag_ms": 900_000}, "lag_ms: expected an abort, not 900000"),
    ],
)
def test_a_record_that_forgives_more_than_its_setup_says_is_found(
    tmp_path: Path,
    all_games: dict[str, Game],
    played: dict[str, Lines],
    lag: dict[str, int],
    move: dict[str, int],
    sentence: str,
) -> None:
    lines = copy.deepcopy(played["timed"])
    lines[0]["lag"] = lag
    first_move(lines).update(move)
    assert sentence in fault(write(tmp_path / "r.jsonl", hashed(lines)), all_games)
