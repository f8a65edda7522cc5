"""The fixed set of faults, and planting them."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

from tests.tools import mutants
from tests.tools.mutants import Mutant, faults, only_found_by, plant

SOURCE = """class Clock:
    def late(self, now):
        # why
        if now >= self.deadline and \\
                self.running:
            return self.limit + 1
        self.stop()
        self.stop()
        self.start()
"""


def test_every_kind_of_statement_has_faults_and_ambiguous_ones_have_none() -> None:
    assert set(faults(ast.parse(SOURCE))) == {
        ("Clock.late", "if now >= self.deadline and self.running:", after)
        for after in (
            "if now >= self.deadline or self.running:",
            "if now > self.deadline and self.running:",
        )
    } | {
        ("Clock.late", "return self.limit + 1", "return self.limit - 1"),
        ("Clock.late", "return self.limit + 1", "return self.limit + 2"),
        ("Clock.late", "self.start()", "pass"),
    }


def test_a_fault_is_planted_in_its_place_and_nowhere_else() -> None:
    for function, before, after in faults(ast.parse(SOURCE)):
        mutant = Mutant(number=0, path="a.py", function=function, before=before, after=after)
        planted = plant(SOURCE, mutant)
        assert planted is not None
        expected = ast.unparse(ast.parse(SOURCE)).replace(before, after)
        assert ast.unparse(ast.parse(planted)) == expected
        assert "# why" in planted


def test_a_statement_that_is_gone_has_no_place() -> None:
    mutant = Mutant(number=0, path="a.py", function="late", before="return 1", after="return 2")
    assert plant(SOURCE, mutant) is None


def test_a_fault_that_is_gone_is_replaced_by_one_of_its_file_or_of_the_same_name(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "kibitz" / "local"
    folder.mkdir(parents=True)
    (folder / "clock.py").write_text(SOURCE)
    present, *_ = mutants.candidates(tmp_path, folder / "clock.py")
    gone = [replace(present, number=n, before="gone()") for n in (1, 2)]
    moved = replace(gone[1], path="kibitz/clock.py")
    filled = mutants.refill(tmp_path, [present, gone[0], moved])
    assert [mutant.number for mutant in filled] == [0, 1, 2]
    assert filled[0] == present
    assert {mutant.path for mutant in filled} == {"kibitz/local/clock.py"}
    assert len({(mutant.before, mutant.after) for mutant in filled}) == 3
    assert all(plant(SOURCE, mutant) for mutant in filled)
    assert filled == mutants.refill(tmp_path, [present, gone[0], moved])


def test_the_frozen_faults_are_two_hundred_different_ones() -> None:
    frozen = mutants.frozen()
    assert [mutant.number for mutant in frozen] == list(range(200))
    assert (
        len({(mutant.path, mutant.function, mutant.before, mutant.after) for mutant in frozen})
        == 200
    )


def test_the_mirror_comes_before_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "server" / "match"
    folder.mkdir(parents=True)
    source = tmp_path / "server" / "kibitz_server" / "match" / "engine.py"
    assert mutants.tests_of(tmp_path, source) == [folder]
    (folder / "test_engine.py").touch()
    assert mutants.tests_of(tmp_path, source) == [folder / "test_engine.py", folder]


def test_a_comparison_names_what_only_the_first_found(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for path, verdicts in ((old, ("found", "found", "missed")), (new, ("found", "missed", "gone"))):
        lines = [json.dumps({"number": n, "verdict": v}) for n, v in enumerate(verdicts)]
        path.write_text("\n".join(lines))
    assert [line.split(":")[0] for line in only_found_by(old, new)] == ["1"]
