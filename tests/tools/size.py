"""Measure the size of the source code: statements, functions, classes and files of each package.

``python -m tests.tools.size`` prints a table with a baseline for comparison, ``--json`` prints the
figures as JSON. ``python -m tests.tools.size --json > tests/tools/size_baseline.json`` stores a new
baseline; the current one is from November 2026, before mechanisms were removed and merged.
Statements are statement nodes of the syntax tree without docstrings, so comments, blank lines and
line breaks do not change the count. ``--long`` lists the functions and classes over the limits.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BASELINE: Final = Path(__file__).with_name("size_baseline.json")
PACKAGES: Final = (
    "protocol",
    "games",
    "search",
    "training",
    "server",
    "bots",
    "arena",
    "clients",
    "kibitz",
    "benchmarks",
    "docs",
    "tests",
)
FUNCTION_LINES: Final = 60
"""`--long` lists functions longer than this."""
CLASS_METHODS: Final = 30
"""`--long` lists classes with more methods than this, including inherited ones."""
BRANCHES: Final = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.comprehension,
)
SKIPPED: Final = {"node_modules", ".venv", "__pycache__", "build", "site"}
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of one package."""

    files: int
    statements: int
    javascript_lines: int
    sql_lines: int
    functions: int
    long_functions: int
    """The number of functions with more than `FUNCTION_LINES` lines."""
    large_classes: int
    """The number of classes with more than `CLASS_METHODS` methods, including inherited ones."""
    median_lines: float
    p90_lines: float
    median_branches: float
    p90_branches: float


@dataclass(frozen=True)
class Function:
    """One function or method."""

    place: str
    lines: int
    branches: int


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--against", type=Path, default=BASELINE, help="the JSON baseline")
    parser.add_argument("--long", action="store_true", help="list what exceeds the limits")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to measure")
    options = parser.parse_args(arguments)
    if options.long:
        print("\n".join(over_limits(options.root)))
        return
    sizes = {name: measure(options.root, name) for name in PACKAGES}
    if options.json:
        print(json.dumps({name: asdict(size) for name, size in sizes.items()}, indent=1))
        return
    _print_table(sizes, json.loads(options.against.read_text()))


def measure(root: Path, package: str) -> Size:
    """Return the size of the Python, JavaScript and SQL files in a folder."""
    trees = list(_trees(root, package))
    functions = [each for path, tree in trees for each in functions_of(path, tree)]
    lines = [function.lines for function in functions]
    branches = [function.branches for function in functions]
    classes = _classes(trees)
    return Size(
        files=len(trees),
        statements=sum(count_statements(tree) for _, tree in trees),
        javascript_lines=_code_lines(root / package, "*.js", "//"),
        sql_lines=_code_lines(root / package, "*.sql", "--"),
        functions=len(functions),
        long_functions=sum(count > FUNCTION_LINES for count in lines),
        large_classes=sum(len(_methods(name, classes)) > CLASS_METHODS for name in classes),
        median_lines=statistics.median(lines or [0]),
        p90_lines=_percentile(lines, 0.9),
        median_branches=statistics.median(branches or [0]),
        p90_branches=_percentile(branches, 0.9),
    )


def over_limits(root: Path) -> Iterator[str]:
    """List the functions and classes over the limits, except in tests."""
    for package in PACKAGES:
        if package == "tests":
            continue
        trees = list(_trees(root, package))
        for path, tree in trees:
            for function in functions_of(path, tree):
                if function.lines > FUNCTION_LINES:
                    yield f"{function.place}: {function.lines} lines"
        classes = _classes(trees)
        for name in classes:
            methods = len(_methods(name, classes))
            if methods > CLASS_METHODS:
                yield f"{package}: class {name}: {methods} methods"


def count_statements(tree: ast.AST) -> int:
    """Return the number of statements in a tree, without docstrings."""
    return sum(isinstance(node, ast.stmt) and not _is_docstring(node) for node in ast.walk(tree))


def functions_of(path: str, tree: ast.AST) -> Iterator[Function]:
    """List functions and methods with their line counts, without decorators, and branch counts.

    Branches of a nested function also count for the enclosing function.
    """
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            branches = sum(isinstance(part, BRANCHES) for part in ast.walk(node))
            yield Function(f"{path}:{node.lineno} {node.name}", lines, branches)


def _is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a bare string: a docstring of a module, function or field."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _classes(trees: list[tuple[str, ast.Module]]) -> dict[str, ast.ClassDef]:
    return {
        node.name: node
        for _, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def _methods(name: str, classes: dict[str, ast.ClassDef]) -> set[str]:
    """Return the names of a class's methods, including those inherited within its package."""
    node = classes.get(name)
    if node is None:
        return set()
    own = {part.name for part in node.body if isinstance(part, FunctionNode)}
    rest = {key: value for key, value in classes.items() if key != name}
    for base in node.bases:
        target = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(target, ast.Name):
            own |= _methods(target.id, rest)
    return own


def _trees(root: Path, package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in _sources(root / package, "*.py"):
        yield str(path.relative_to(root)), ast.parse(path.read_bytes())


def _sources(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if not SKIPPED & set(path.parts))


def _code_lines(folder: Path, pattern: str, comment: str) -> int:
    lines = [
        line.strip()
        for path in _sources(folder, pattern)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return sum(bool(line) and not line.startswith(comment) for line in lines)


def _percentile(values: list[int], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0


def _print_table(sizes: dict[str, Size], before: dict[str, dict[str, float]]) -> None:
    print(
        f"{'package':<12}{'statements':>11}{'before':>8}{'files':>7}{'before':>8}{'js':>7}"
        f"{'sql':>5}{'functions':>11}{'>60':>5}{'classes >30':>13}{'lines p50/p90':>15}"
        f"{'branches p50/p90':>18}"
    )
    for name, size in sizes.items():
        then = before.get(name, {})
        print(
            f"{name:<12}{size.statements:>11}{then.get('statements', ''):>8}{size.files:>7}"
            f"{then.get('files', ''):>8}{size.javascript_lines:>7}{size.sql_lines:>5}"
            f"{size.functions:>11}{size.long_functions:>5}{size.large_classes:>13}"
            f"{f'{size.median_lines:g}/{size.p90_lines:g}':>15}"
            f"{f'{size.median_branches:g}/{size.p90_branches:g}':>18}"
        )
    shipped = [size.statements for name, size in sizes.items() if name != "tests"]
    earlier = [int(then["statements"]) for name, then in before.items() if name != "tests"]
    print(f"all but the tests: {sum(shipped)} statements, before {sum(earlier)}")


if __name__ == "__main__":
    main()
