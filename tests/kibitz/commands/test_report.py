"""Reports of records, and retrying recorded turns."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.analysis import fault_report
from kibitz.cli import kibitz
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Moved
from kibitz_protocol.wire.reports import MatchReport

ROOT = Path(__file__).parents[3]
RECORD = ROOT / "docs/images/line-nim.jsonl"
BOTS = {
    "legal": "return turn.legal[0]",
    "illegal": "return {'x': 99, 'y': 0, 'length': 1}",
    "crashing": "return 1 // 0",
    "rubbish": "return 'e4'",
    "counting": "self.seen = getattr(self, 'seen', 0) + 1; return turn.legal[self.seen - 1]",
}


@pytest.fixture(scope="module")
def record() -> Record:
    return read_record(RECORD)


@pytest.fixture(scope="module")
def turns(record: Record) -> list[int]:
    """The plies at which seat 0 had the move."""
    return [each.ply for each in record.entries if isinstance(each, Moved) and each.seat == 0]


def bot(directory: Path, kind: str) -> str:
    path = directory / f"{kind}.py"
    lines = ["from kibitz import Bot", f"class {kind.title()}(Bot):"]
    path.write_text("\n".join([*lines, "    def choose(self, turn):", f"        {BOTS[kind]}\n"]))
    return str(path)


def retry(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["record", "retry", str(RECORD), *words])


def test_a_match_that_the_rules_ended_leaves_no_report(record: Record, tmp_path: Path) -> None:
    found = fault_report.build_report(record)
    assert found.seats == []
    assert fault_report.write_report(found, RECORD, tmp_path) is None
    assert not [*tmp_path.iterdir()]
    assert "no seat was at fault" in [*fault_report.report_lines(found, str(RECORD))]


def test_a_report_is_written_for_people_and_for_programs(record: Record, tmp_path: Path) -> None:
    found = fault_report.build_report(record, 1)
    written = fault_report.write_report(found, Path("records/m1.jsonl"), tmp_path)
    assert written == tmp_path / "m1.report.txt"
    text = written.read_text()
    [seat] = found.seats
    assert seat.sent is not None
    command = f"kibitz record retry records/m1.jsonl --seat 2 --ply {seat.sent['ply']} BOT"
    assert f"  to retry:      {command}\n" in text
    assert json.dumps(seat.sent) in text
    assert MatchReport.model_validate_json((tmp_path / "m1.report.json").read_bytes()) == found


def test_the_command_reports_on_a_file(record: Record) -> None:
    told = CliRunner().invoke(kibitz, ["record", "report", str(RECORD)])
    assert (told.exit_code, "no seat was at fault" in told.output) == (0, True)
    told = CliRunner().invoke(kibitz, ["record", "report", str(RECORD), "--seat", "2", "--json"])
    report = MatchReport.model_validate_json(told.output)
    assert [seat.seat for seat in report.seats] == [1]


def test_a_turn_is_asked_again_and_the_answer_is_judged(tmp_path: Path, turns: list[int]) -> None:
    words = ["--seat", "1", "--ply", str(turns[1])]
    done = retry(*words, bot(tmp_path, "legal"))
    assert done.exit_code == 0, done.output
    answer, verdict = done.output.splitlines()
    assert {"x", "y"} <= json.loads(answer).keys()
    assert verdict == "legal"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("illegal", "not legal: "),
        ("crashing", "not legal: the bot crashed: ZeroDivisionError: integer division"),
        ("rubbish", "not legal: "),
    ],
)
def test_an_answer_that_is_none_has_status_one(kind: str, sentence: str, tmp_path: Path) -> None:
    done = retry("--seat", "1", bot(tmp_path, kind))
    assert done.exit_code == 1, done.output
    assert sentence in done.output


def test_a_bot_that_remembers_is_sent_the_turns_before(tmp_path: Path, turns: list[int]) -> None:
    counting, words = bot(tmp_path, "counting"), ["--seat", "1", "--ply", str(turns[2])]
    alone = json.loads(retry(*words, counting).output.splitlines()[0])
    after = json.loads(retry(*words, "--all", counting).output.splitlines()[0])
    first = json.loads(retry(*words, bot(tmp_path, "legal")).output.splitlines()[0])
    assert alone == first != after


@pytest.mark.e2e
def test_a_program_is_asked_over_its_lines(tmp_path: Path, turns: list[int]) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable} -I\n"
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    told = json.loads(line)\n"
        "    if told['type'] == 'turn':\n"
        "        print(json.dumps(told['legal'][0]), flush=True)\n"
    )
    program.chmod(0o755)
    words = ["--seat", "1", "--ply", str(turns[1])]
    done = retry(*words, "--", str(program))
    assert done.exit_code == 0, done.output
    assert done.output == retry(*words, bot(tmp_path, "legal")).output


def test_a_turn_that_the_seat_never_had_is_refused_with_those_it_had(tmp_path: Path) -> None:
    done = retry("--seat", "1", "--ply", "999", bot(tmp_path, "legal"))
    assert done.exit_code == 1
    assert "999" in done.output
