"""Cached machine code is reused only if no statement that could affect it has changed."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from kibitz_games.compiled import cache, kernels, sources
from kibitz_games.core import registry

SEARCH = '''"""A search."""

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import kernel
from somebody.tables import WIDTH


@kernel
def search(st):
    """Return a number."""
    return WIDTH * op.compute_key(st)
'''
RULES = """
import numpy as np

from kibitz_games.compiled import kernels, operations
from somebody import board

STATE = kernels.record_type("toy", [("key", np.uint64), ("side", np.int32)], source=__file__)


@kernels.kernel
def key(st):
    return np.uint64(board.SIZE)


@kernels.kernel
def nothing(st, m):
    return np.int64(0)


operations.implement(
    STATE, max_actions=1, generate=nothing, play=nothing, undo=nothing, compute_key=key
)
"""
FILES = {
    "__init__.py": "from somebody import plot\n",
    "tables.py": "WIDTH = 3  # holes\n",
    "search.py": SEARCH,
    "board.py": "SIZE = 7\n",
    "rules.py": RULES,
    "plot.py": "COLOR = 1\n",
}
CALL = """
import numpy as np
from kibitz_games.compiled import kernels
from somebody import rules, search
print(int(search.search(kernels.new(rules.STATE))))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a search that reaches a game's rules through the type of the state."""
    folder = tmp_path / "somebody"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cache, "writable_directory", lambda: tmp_path)
    forget()
    yield folder
    forget()


def forget() -> None:
    """Make this process reread sources."""
    importlib.invalidate_caches()
    for cached in (
        sources.closure,
        sources._syntax,
        sources._home,
        sources._resolve,
        cache.fingerprint,
    ):
        cached.cache_clear()


def state_tag(path: Path) -> str:
    """Return what distinguishes a state of the module from its other versions."""
    dtype = kernels.record_type("toy", [("key", np.uint64)], source=str(path))
    assert dtype.names is not None
    return dtype.names[-1]


def keys(package: Path) -> tuple[str, str]:
    """Return the keys of the search's machine code and of the states in its signatures."""
    forget()
    return cache.fingerprint(package / "search.py"), state_tag(package / "rules.py")


@pytest.mark.skipif(not kernels.compiled(), reason="types of plain mode need no hash")
@pytest.mark.parametrize(
    ("file", "old", "new", "search", "state"),
    [
        ("tables.py", "# holes", "# pegs, of all", True, True),
        ("search.py", "Return a number.", "Return a number\n    and nothing else.", True, True),
        ("search.py", "\n\n\n@kernel", "\n\n\n\n# why\n@kernel", True, True),
        ("search.py", '"""A search."""', "", True, True),
        ("plot.py", "COLOR = 1", "COLOR = 2", True, True),
        ("tables.py", "WIDTH = 3", "WIDTH = 4", False, True),
        ("search.py", "WIDTH * ", "WIDTH + ", False, True),
        ("board.py", "SIZE = 7", "SIZE = 8", True, False),
        ("rules.py", "np.int64(0)", "np.int64(1)", True, False),
        ("rules.py", "np.uint64(board", "np.uint64(1 + board", True, False),
    ],
)
def test_what_keeps_machine_code(
    package: Path, file: str, old: str, new: str, search: bool, state: bool
) -> None:
    before = keys(package)
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    after = keys(package)
    assert (before[0] == after[0], before[1] == after[1]) == (search, state)


@pytest.mark.parametrize("library", ["numpy", "numba"])
def test_another_library_discards_it(
    package: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    before = cache.fingerprint(package / "search.py")
    monkeypatch.setattr(np, "__version__", "0.1" if library == "numpy" else np.__version__)
    versions = {library: "0.1"}
    monkeypatch.setattr(metadata, "version", lambda name: versions.get(name, "1.0"))
    forget()
    assert cache.fingerprint(package / "search.py") != before


@pytest.mark.parametrize("kept", [0, 1, 40, -1], ids=lambda kept: f"{kept} characters")
def test_a_cut_file_of_the_cache_is_made_again(package: Path, tmp_path: Path, kept: int) -> None:
    before = keys(package)
    files = list(tmp_path.glob(f"*{sources.SUFFIX}"))
    assert files
    texts = {file: file.read_text() for file in files}
    for file, text in texts.items():
        file.write_text(text[:kept])
    forget()
    assert keys(package) == before
    assert {file: file.read_text() for file in files} == texts


def test_swapped_modules_discard_it(package: Path) -> None:
    (package / "search.py").write_text(
        "from somebody.board import X\nfrom somebody.tables import X"
    )
    texts = ("X = 1", "X = 2")
    found = set()
    for first, second in (texts, texts[::-1]):
        (package / "board.py").write_text(first)
        (package / "tables.py").write_text(second)
        found.add(keys(package)[0])
    assert len(found) == 2


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ("from somebody import board", {"board.py"}),
        ("from . import board", {"board.py"}),
        ("from .board import SIZE", {"board.py"}),
        ("from somebody.board import *", {"board.py"}),
        ("def f():\n    from somebody.board import SIZE", {"board.py"}),
        ("import somebody.board", {"__init__.py", "plot.py", "board.py"}),
        ("from somebody import __doc__", {"__init__.py", "plot.py"}),
        ("import numpy, json, no_such_module", set()),
    ],
)
def test_imports_are_followed(package: Path, statement: str, imported: set[str]) -> None:
    module = package / "tables.py"
    module.write_text(statement)
    forget()
    found = sources.closure(module, package.parent)
    assert {path.name for path in found} == imported | {"tables.py"}


def test_modules_beside_a_script_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_bot.py").write_text("import own_kernels")
    (tmp_path / "own_kernels.py").write_text("import own_bot")
    forget()
    found = sources.closure(tmp_path / "own_bot.py", tmp_path)
    assert {path.name for path in found} == {"own_bot.py", "own_kernels.py"}


def test_installed_packages_are_followed_from_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    for top in ("one_bot", "other_bot"):
        (site / top).mkdir(parents=True)
        (site / top / "__init__.py").write_text("")
        (site / top / "kernels.py").write_text("from one_bot import rules")
        (site / top / "rules.py").write_text("")
    monkeypatch.syspath_prepend(site)
    forget()
    for top, followed in (("one_bot", True), ("other_bot", False)):
        found = sources.closure(site / top / "kernels.py", tmp_path)
        assert (site / "one_bot" / "rules.py" in found) == followed


def test_the_rules_of_every_game_are_covered() -> None:
    for name in registry.names():
        game = registry.get(name)
        rules = importlib.import_module(f"{type(game).__module__}.rules")
        assert rules.__file__ is not None
        files = sources.closure(Path(rules.__file__).resolve(), cache.writable_directory())
        names = {sources.dotted_name(path) for path in files}
        assert {rules.__name__, "kibitz_games.compiled.operations"} <= names
        assert f"{type(game).__module__}.render" not in names


def machine_code(folder: Path) -> set[str]:
    """Return the names of all machine code files with their modification times."""
    return {f"{path}{path.stat().st_mtime_ns}" for path in folder.rglob("*.nbc")}


@pytest.mark.e2e
def test_processes_follow_a_change_and_nothing_else(package: Path, tmp_path: Path) -> None:
    store = tmp_path / "cache"

    def call(**environment: str) -> tuple[int, bool]:
        """Return the search's result and whether something was compiled."""
        own = {
            k: v for k, v in os.environ.items() if k not in ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")
        }
        paths = {"KIBITZ_CACHE": str(store), "PYTHONPATH": str(tmp_path)}
        paths["PYTHONDONTWRITEBYTECODE"] = "1"  # .pyc files are distinguished by seconds
        before = machine_code(store)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", CALL],
            env=own | paths | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        return int(done.stdout), machine_code(store) != before

    def edit(file: str, change: Callable[[str], str]) -> None:
        path = package / file
        path.write_text(change(path.read_text()))

    assert call() == (21, True)
    assert call() == (21, False)
    edit("search.py", lambda text: "# moved down a line\n" + text)
    edit("search.py", lambda text: text.replace("Return a number.", "Return a product."))
    edit("rules.py", lambda text: text + "\n# the end\n")
    edit("plot.py", lambda text: text.replace("1", "2"))
    assert call() == (21, False)
    edit("tables.py", lambda text: text.replace("3", "5"))
    assert call() == (35, True)
    edit("board.py", lambda text: text.replace("7", "9"))
    assert call() == (45, True)
    assert call(NUMBA_CPU_NAME="generic") == (45, True)
    assert call() == (45, False)
