"""The compile layer; whatever concerns a whole process runs in one of its own."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import filelock
import numpy as np
import pytest

from kibitz_games import kernels, registry
from kibitz_games import operations as op


def _run(code: str, **environment: str) -> str:
    """Run Python code in a process of its own and return what it printed."""
    env = {k: v for k, v in os.environ.items() if k not in ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=env | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PERFT = """
    from kibitz_games import kernels, perft, registry
    game = registry.get("chinese-checkers")
    kernels.warm(game)
    state = game.start(game.Options(size=2), 2, {})
    print(kernels.mode(), perft.perft(state, 3))
"""


def test_a_spectator_never_imports_numba() -> None:
    code = """
        import sys
        from kibitz_games import kernels
        print(kernels.choose("plain"))
        from kibitz_games import registry
        game = registry.get("chinese-checkers")
        print(game.legal(game.start(game.Options(), 2, {}))[0], "numba" in sys.modules)
    """
    assert _run(code).split() == ["plain", "377", "False"]


@pytest.mark.parametrize("name", ["KIBITZ_PLAIN", "NUMBA_DISABLE_JIT"])
def test_the_environment_has_the_last_word(name: str) -> None:
    code = """
        from kibitz_games import kernels
        print(kernels.choose("compiled"), kernels.mode())
    """
    assert _run(code, **{name: "1"}) == "plain plain"
    assert _run(code, **{name: "0"}) == "compiled compiled"


def test_without_numba_everything_runs_plain() -> None:
    code = "import sys; sys.modules['numba'] = None\n" + textwrap.dedent(PERFT)
    assert _run(code).split() == ["plain", _run(PERFT).split()[1]]


def test_the_mode_is_settled_once() -> None:
    in_force = kernels.mode()
    assert kernels.choose("plain") == in_force
    assert kernels.choose("compiled") == in_force
    assert kernels.compiled() == (in_force == "compiled")


def test_plain_start_is_quick() -> None:
    """The limit is CPU time of a whole process with its interpreter, on a slow machine."""
    before = os.times()
    _run("from kibitz_games import kernels, registry; kernels.choose('plain')")
    after = os.times()
    used = after.children_user + after.children_system
    assert used - before.children_user - before.children_system < 2.0


@pytest.mark.slow
def test_a_cold_compile_leaves_a_cache_that_the_next_process_only_reads(tmp_path: Path) -> None:
    first = _run(PERFT, KIBITZ_CACHE=str(tmp_path))
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    second = _run(PERFT, KIBITZ_CACHE=str(tmp_path))
    assert first == second
    assert len(files) > 10
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == files
    for path in files:
        assert b".numba.unresolved" not in path.read_bytes()


@pytest.mark.slow
def test_two_processes_may_compile_at_the_same_time(tmp_path: Path) -> None:
    env = os.environ | {"KIBITZ_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", textwrap.dedent(PERFT)]
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(2)]
    outputs = {process.communicate(timeout=300)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(outputs) == 1


def test_what_is_cached_is_loaded_while_others_compile(tmp_path: Path) -> None:
    source = "from kibitz_games.kernels import kernel\n\n@kernel\ndef double(x): return 2 * x\n"
    (tmp_path / "tiny.py").write_text(source)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tiny; print(tiny.double(21))"
    cache = tmp_path / "cache"
    assert _run(code, KIBITZ_CACHE=str(cache)) == "42"
    with filelock.FileLock(cache / "compile.lock"):
        assert _run(code, KIBITZ_CACHE=str(cache)) == "42"


def test_a_cache_that_cannot_be_written_is_replaced_with_a_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code = f"""
        import os, warnings
        os.environ["KIBITZ_CACHE"] = {str(blocked)!r}
        from kibitz_games import kernels
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            base = kernels._base()
        print(len(caught), base.is_dir(), "cannot write" in str(caught[0].message))
        base.rmdir()
    """
    assert _run(code) == "1 True True"


def test_the_cache_follows_every_source_below_the_root(tmp_path: Path) -> None:
    package = tmp_path / "somebody"
    package.mkdir()
    (package / "a.py").write_text("x = 1")
    prints = []
    for text in ("y = 1", "y = 2"):
        (package / "b.py").write_text(text)
        kernels.fingerprint.cache_clear()
        prints.append(kernels.fingerprint(package))
    assert prints[0] != prints[1]


def test_a_function_belongs_to_its_top_level_package() -> None:
    own = Path(kernels.__file__).resolve().parent
    assert kernels._root(registry.get) == own
    assert kernels._root(type(registry.get("chinese-checkers")).legal) == own


def test_old_caches_are_pruned(tmp_path: Path) -> None:
    now = time.time()
    for age in range(12):
        path = tmp_path / f"cache-{age}"
        path.mkdir()
        os.utime(path, (now - age * 3600, now - age * 3600))
    stale = tmp_path / "stale"
    stale.mkdir()
    os.utime(stale, (now - 15 * 86400, now - 15 * 86400))
    kernels._prune(tmp_path, stale)
    assert stale.is_dir()
    kernels._prune(tmp_path, tmp_path / "cache-0")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"cache-{age}" for age in range(kernels.KEEP_NEWEST)}


def test_records_of_two_modules_are_two_types(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("# another game\n")
    fields = [("side", np.int32)]
    mine = kernels.record("game", fields, source=__file__)
    assert mine == kernels.record("game", fields, source=__file__)
    assert mine != kernels.record("game", fields, source=str(other))
    assert mine != kernels.record("other", fields, source=__file__)


def test_copies_of_a_record_share_nothing() -> None:
    dtype = kernels.record("game", [("side", np.int32), ("row", np.int32, (3,))], source=__file__)
    record = kernels.new(dtype)
    copy = record.copy()
    copy["side"] = 1
    copy["row"][1] = 5
    assert not any(record.tobytes())
    assert kernels.box(copy)[0]["side"] == 1
    assert pickle.loads(pickle.dumps(copy)).tobytes() == copy.tobytes()


def test_only_a_record_of_its_own_has_a_box() -> None:
    dtype = kernels.record("game", [("side", np.int32)], source=__file__)
    many = np.zeros(3, dtype)
    with pytest.raises(TypeError, match="copy"):
        kernels.box(many[1])
    assert kernels.box(many[1].copy()).shape == (1,)


@pytest.mark.parametrize("name", registry.names())
def test_warming_changes_nothing(name: str) -> None:
    game = registry.get(name)
    options = game.Options()
    seats = game.info.seats[0]
    state = game.start(options, seats, game.deal(options, seats, 0))
    before = state.tobytes()
    op.warm(state)
    kernels.warm(game)
    assert state.tobytes() == before
