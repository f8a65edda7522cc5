"""The measurement of the project's size."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.tools import size

SOURCE = '''"""Doc."""
import os


class Base:
    """Doc."""

    def one(self): ...


class Table(Base):
    def two(self, items):
        """Doc."""
        for item in items:
            if item:
                return [part for part in item if part]
        return None
'''


def test_docstrings_comments_and_line_breaks_do_not_count() -> None:
    bare = "x = [1, 2]\nif x:\n    y = 1\n"
    dressed = '"""Doc."""\n# why\nx = [\n    1,\n    2,\n]\n\nif x:\n    y = 1  # here\n'
    assert size.count_statements(ast.parse(bare)) == 3
    assert size.count_statements(ast.parse(dressed)) == 3


def test_a_function_has_its_lines_and_branches() -> None:
    one, two = size.functions_of("a.py", ast.parse(SOURCE))
    assert (one.place, one.lines, one.branches) == ("a.py:8 one", 1, 0)
    assert (two.place, two.lines, two.branches) == ("a.py:12 two", 6, 3)


def test_a_package_is_measured_with_inherited_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server" / "node_modules").mkdir(parents=True)
    (tmp_path / "server" / "a.py").write_text(SOURCE)
    (tmp_path / "server" / "a.js").write_text("// why\n\nlet x = 1;\n")
    (tmp_path / "server" / "node_modules" / "b.js").write_text("let y = 1;\n")
    monkeypatch.setattr(size, "CLASS_METHODS", 1)
    measured = size.measure(tmp_path, "server")
    assert (measured.files, measured.statements, measured.javascript_lines) == (1, 10, 1)
    assert (measured.functions, measured.large_classes, measured.long_functions) == (2, 1, 0)
    monkeypatch.setattr(size, "FUNCTION_LINES", 5)
    assert list(size.over_limits(tmp_path)) == [
        "server/a.py:12 two: 6 lines",
        "server: class Table: 2 methods",
    ]


def test_the_baseline_has_every_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = json.loads(size.BASELINE.read_text())
    assert set(baseline) == set(size.PACKAGES)
    monkeypatch.setattr(size, "PACKAGES", ("protocol",))
    size.main([])
    assert (
        f"before {sum(each['statements'] for name, each in baseline.items() if name != 'tests')}"
        in (capsys.readouterr().out)
    )
