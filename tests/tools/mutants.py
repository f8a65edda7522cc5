"""A fixed set of two hundred small faults that the tests must find.

Before tests are deleted, each fault is planted individually and the tests are run: a smaller suite
must find every fault that the larger one found.

``python -m tests.tools.mutants freeze`` chooses the faults by a fixed seed and writes
`mutants.jsonl`. ``python -m tests.tools.mutants refill`` replaces those whose statement no longer
exists by faults of the same file or, if the file is gone too, of the files that took over its work.
``python -m tests.tools.mutants run --tree TREE --out FILE`` plants them one at a
time in a copy of the project (never in a working tree) and runs the tests of the affected module.
It appends a line for each verdict, and resumes an interrupted run. ``python -m tests.tools.mutants
compare OLD NEW`` lists the faults that only OLD found.

A fault is stored as the text of its statement rather than as a line number, so it can be planted
after files were moved. If the statement no longer exists, the verdict is "gone".

The tests of a fault are the file that mirrors its module and, if that finds nothing, the folder of
that file. Kernels compiled by numba are excluded, because compiling each fault would take minutes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
STORE: Final = Path(__file__).with_name("mutants.jsonl")
SEED: Final = 34
QUOTA: Final = {
    "server/kibitz_server": 80,
    "protocol/kibitz_protocol": 25,
    "bots/kibitz_bots": 20,
    "arena/kibitz_arena": 20,
    "clients/kibitz_clients": 15,
    "kibitz": 20,
    "games/kibitz_games": 20,
}
"""The number of faults per package."""
TIMEOUT_S: Final = 480
FAILED: Final = {1, 2}
"""pytest's exit statuses for failed tests and for collection errors."""
COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A fault."""

    number: int
    path: str
    """The file at the time of freezing, relative to the project's root."""
    function: str
    """The qualified name of the function around the statement."""
    before: str
    """The statement as formatted by `ast.unparse`; only the first line of an `if` or `while`."""
    after: str


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("freeze")
    commands.add_parser("refill")
    runner = commands.add_parser("run")
    runner.add_argument("--tree", type=Path, required=True)
    runner.add_argument("--out", type=Path, required=True)
    comparison = commands.add_parser("compare")
    comparison.add_argument("old", type=Path)
    comparison.add_argument("new", type=Path)
    options = parser.parse_args(arguments)
    if options.command in ("freeze", "refill"):
        chosen = choose(ROOT) if options.command == "freeze" else refill(ROOT, frozen())
        STORE.write_text("".join(json.dumps(asdict(mutant)) + "\n" for mutant in chosen))
        return 0
    if options.command == "run":
        run(options.tree.resolve(), options.out)
        return 0
    missed = only_found_by(options.old, options.new)
    print("\n".join(missed) or "every fault that the first run found is found by the second")
    return bool(missed)


# --- choosing ---------------------------------------------------------------------------------


def choose(root: Path) -> list[Mutant]:
    """Choose the faults of every package with the fixed seed."""
    chance = random.Random(SEED)
    mutants: list[Mutant] = []
    for package, count in QUOTA.items():
        for chosen in chance.sample(candidates(root, root / package), count):
            mutants.append(replace(chosen, number=len(mutants)))
    return mutants


def refill(root: Path, mutants: list[Mutant]) -> list[Mutant]:
    """Replace the faults whose statement is gone; each number is the seed of its replacement."""
    kept = {replace(mutant, number=0) for mutant in mutants}
    filled: list[Mutant] = []
    for mutant in mutants:
        if locate(root, mutant) is None:
            fresh = [each for each in _closest(root, root / mutant.path) if each not in kept]
            chosen = random.Random(f"{SEED} {mutant.number}").choice(fresh)
            kept.add(chosen)
            mutant = replace(chosen, number=mutant.number)
        filled.append(mutant)
    return filled


def _closest(root: Path, path: Path) -> list[Mutant]:
    """List the faults of a file, else of its namesakes in the package, else of its folder."""
    package = next(root / name for name in QUOTA if path.is_relative_to(root / name))
    places = [path, *sorted(package.rglob(path.name)), *path.parents]
    return next(found for place in places if (found := candidates(root, place)))


def candidates(root: Path, place: Path) -> list[Mutant]:
    """List the possible faults of a file or of a folder's files, all with the number 0."""
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.exists() else []
    return [
        Mutant(
            number=0,
            path=str(path.relative_to(root)),
            function=function,
            before=before,
            after=after,
        )
        for path in files
        if "numba" not in path.read_text() and "kernel" not in path.read_text()
        for function, before, after in faults(ast.parse(path.read_bytes()))
    ]


def frozen() -> list[Mutant]:
    """Return the stored faults."""
    return [Mutant(**json.loads(line)) for line in STORE.read_text().splitlines()]


def faults(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """List the possible faults of a module: function, statement before and after.

    Statements that occur twice in their function are excluded, since they could not be located
    again.
    """
    for name, function in _functions(tree, ""):
        statements = [node for node in ast.walk(function) if _is_simple(node)]
        texts = [_text(node) for node in statements]
        for node, text in zip(statements, texts, strict=True):
            if texts.count(text) == 1:
                for mutated in _variants(node):
                    yield name, text, mutated


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """List functions that are not nested in functions, with qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _is_simple(node: ast.AST) -> bool:
    """Return whether a node is a simple statement or the head of an `if` or `while`."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    return isinstance(
        node, ast.Assign | ast.AugAssign | ast.Return | ast.If | ast.While | ast.Raise
    )


def _text(statement: ast.AST) -> str:
    """Return a statement's source; only the first line of an `if` or `while`."""
    text = ast.unparse(statement)
    return text.split("\n")[0] if isinstance(statement, ast.If | ast.While) else text


def _variants(statement: ast.AST) -> Iterator[str]:
    """Yield variants of the statement with one error each."""
    if isinstance(statement, ast.Expr):
        yield "pass"
        return
    head = ast.parse(ast.unparse(statement)).body[0]
    if isinstance(head, ast.If | ast.While):
        head.body, head.orelse = [ast.Pass()], []
    yield from map(_text, map(_only_statement, _altered(head)))


def _only_statement(source: str) -> ast.stmt:
    return ast.parse(source).body[0]


def _altered(statement: ast.stmt) -> Iterator[str]:
    for number, node in enumerate(ast.walk(statement)):
        alteration = _alteration(node)
        if alteration is not None:
            copy = ast.parse(ast.unparse(statement)).body[0]
            target = list(ast.walk(copy))[number]
            change = _alteration(target)
            assert change is not None, "the copy has the same nodes"
            change()
            yield ast.unparse(copy)


def _alteration(node: ast.AST) -> Callable[[], None] | None:
    """Return a function that makes a node wrong in place, None if there is none."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        return lambda: node.ops.__setitem__(0, COMPARISONS[type(node.ops[0])]())
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return lambda: setattr(node, "op", other)
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        return lambda: setattr(node, "op", OPERATORS[type(node.op)]())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return lambda: setattr(node, "value", not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return lambda: setattr(node, "value", int(node.value) + 1)  # type: ignore[arg-type]
    return None


# --- planting ---------------------------------------------------------------------------------


def run(tree: Path, out: Path) -> None:
    """Plant each fault in `tree` and write the verdict of its tests as a JSON line."""
    done = (
        {json.loads(line)["number"] for line in out.read_text().splitlines()}
        if out.exists()
        else {}
    )
    for mutant in frozen():
        if mutant.number not in done:
            verdict = judge(tree, mutant)
            with out.open("a") as file:
                file.write(json.dumps({"number": mutant.number, **verdict}) + "\n")


def judge(tree: Path, mutant: Mutant) -> dict[str, str]:
    """Plant one fault, run its tests, and remove the fault."""
    place = locate(tree, mutant)
    if place is None:
        return {"verdict": "gone"}
    path, planted = place
    sound = path.read_text()
    path.write_text(planted)
    try:
        for tests in tests_of(tree, path):
            if _fails(tree, tests):
                return {"verdict": "found", "tests": str(tests.relative_to(tree))}
        return {"verdict": "missed"}
    finally:
        path.write_text(sound)


def locate(tree: Path, mutant: Mutant) -> tuple[Path, str] | None:
    """Return the file that now contains the statement, and its text with the fault."""
    package = next(name for name in QUOTA if mutant.path.startswith(f"{name}/"))
    files = sorted((tree / package).rglob("*.py"), key=lambda path: path != tree / mutant.path)
    for path in files:
        source = path.read_text()
        planted = plant(source, mutant)
        if planted is not None:
            return path, planted
    return None


def plant(source: str, mutant: Mutant) -> str | None:
    """Return the source with the fault, None if it does not contain the statement."""
    for name, function in _functions(ast.parse(source), ""):
        if name.rpartition(".")[2] != mutant.function.rpartition(".")[2]:
            continue
        matching = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.stmt) and _is_simple(node) and _text(node) == mutant.before
        ]
        if len(matching) == 1:
            return _replaced(source, matching[0], mutant.after)
    return None


def _replaced(source: str, statement: ast.stmt, text: str) -> str:
    """Replace a statement, or the condition of an `if` or `while`, with `text`."""
    part: ast.stmt | ast.expr = statement
    if isinstance(statement, ast.If | ast.While):
        part = statement.test
        text = text.partition(" ")[2].removesuffix(":")
        text = f"({text})"
    lines = source.encode().splitlines(keepends=True)
    assert part.end_lineno is not None
    assert part.end_col_offset is not None
    first, last = part.lineno - 1, part.end_lineno - 1
    head, tail = lines[first][: part.col_offset], lines[last][part.end_col_offset :]
    inner = text.replace("\n", "\n" + " " * part.col_offset).encode()
    return b"".join([*lines[:first], head + inner + tail, *lines[last + 1 :]]).decode()


def tests_of(tree: Path, path: Path) -> list[Path]:
    """Return the test file that mirrors a module, then its folder, or the closest that exist."""
    parts = [part for part in path.relative_to(tree).parts if not part.startswith("kibitz_")]
    folder = tree.joinpath("tests", *parts[:-1])
    mirror = folder / f"test_{parts[-1]}"
    while not folder.is_dir():
        folder = folder.parent
    return [*([mirror] if mirror.exists() else []), folder]


def _fails(tree: Path, tests: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-qx", "-n0", "-p", "no:cacheprovider", str(tests)]
    environment = os.environ | {"HYPOTHESIS_PROFILE": "quick"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True  # a fault that makes a test hang counts as found
    return done.returncode in FAILED


def only_found_by(old: Path, new: Path) -> list[str]:
    """Describe the faults that the first run found and the second missed."""
    verdicts = [
        {each["number"]: each["verdict"] for each in map(json.loads, path.read_text().splitlines())}
        for path in (old, new)
    ]
    return [
        f"{mutant.number}: {mutant.path}, {mutant.function}: {mutant.before!r} as {mutant.after!r}"
        for mutant in frozen()
        if verdicts[0].get(mutant.number) == "found" and verdicts[1].get(mutant.number) == "missed"
    ]


if __name__ == "__main__":
    sys.exit(main())
