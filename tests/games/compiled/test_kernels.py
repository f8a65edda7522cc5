"""The compile layer; tests of process-wide behavior use separate processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import filelock
import numpy as np
import pytest

from kibitz_games.compiled import cache, kernels
from kibitz_games.core import registry
from kibitz_games.core.warmup import warm_up


def _environment(**added: str) -> dict[str, str]:
    """Return the environment for a compiling process, regardless of this one."""
    own = {k: v for k, v in os.environ.items() if k not in ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")}
    return own | added


def _run(code: str, **environment: str) -> str:
    """Run Python code in a separate process and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=_environment(**environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PERFT = """
    from kibitz_games.compiled import kernels
    from kibitz_games.conformance import perft
    from kibitz_games.core import registry
    from kibitz_games.core.warmup import warm_up
    game = registry.get("chinese-checkers")
    warm_up(game)
    state = game.start(game.Options(size=2), 2, {})
    print(kernels.get_mode(), perft.perft(state, 3))
"""


@pytest.mark.e2e
def test_a_spectator_never_imports_numba() -> None:
    code = """
        import sys
        from kibitz_games.compiled import kernels
        print(kernels.set_mode("plain"))
        from kibitz_games.core import registry
        game = registry.get("chinese-checkers")
        print(game.legal(game.start(game.Options(), 2, {}))[0], "numba" in sys.modules)
    """
    assert _run(code).split() == ["plain", "377", "False"]


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["KIBITZ_PLAIN", "NUMBA_DISABLE_JIT"])
def test_the_environment_has_the_last_word(name: str) -> None:
    code = """
        from kibitz_games.compiled import kernels
        print(kernels.set_mode("compiled"), kernels.get_mode())
    """
    assert _run(code, **{name: "1"}) == "plain plain"
    assert _run(code, **{name: "0"}) == "compiled compiled"


@pytest.mark.e2e
def test_without_numba_everything_runs_plain() -> None:
    code = "import sys; sys.modules['numba'] = None\n" + textwrap.dedent(PERFT)
    assert _run(code).split() == ["plain", _run(PERFT).split()[1]]


def test_the_mode_is_settled_once() -> None:
    in_force = kernels.get_mode()
    assert kernels.set_mode("plain") == in_force
    assert kernels.set_mode("compiled") == in_force
    assert kernels.compiled() == (in_force == "compiled")


@pytest.mark.e2e
def test_plain_start_is_quick() -> None:
    """The limit is the CPU time of a complete process on a slow machine."""
    before = os.times()
    _run("from kibitz_games.compiled import kernels; kernels.set_mode('plain')")
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


TINY = """
from kibitz_games.compiled.kernels import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def triple(x):
    return 3 * x
"""


@pytest.mark.e2e
def test_a_lock_holds_up_who_compiles_that_function_and_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    cache = tmp_path / "cache"

    def call(expression: str) -> str:
        path = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
        return f"{path}; import tiny; print(tiny.{expression})"

    assert _run(call("double(21)"), KIBITZ_CACHE=str(cache)) == "42"
    (own,) = cache.rglob("*double*.lock")
    with filelock.FileLock(own):
        assert _run(call("double(21)"), KIBITZ_CACHE=str(cache)) == "42"
        assert _run(call("triple(14)"), KIBITZ_CACHE=str(cache)) == "42"
    (other,) = cache.rglob("*triple*.lock")
    with filelock.FileLock(other):
        waiting = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", call("triple(2.5)")],  # not compiled for floats
            env=_environment(KIBITZ_CACHE=str(cache)),
            stdout=subprocess.PIPE,
            text=True,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=4)
    assert waiting.communicate(timeout=60)[0] == "7.5\n"


CALLS = """
from kibitz_games.compiled.kernels import kernel, shared_kernel

@kernel
def inner(x, constant):
    return x + constant

@shared_kernel
def outlined(x):
    return x * x

@kernel
def outer(x):
    return inner(x, 1) * inner(x, 10) + outlined(x)

@kernel
def helper(x):
    return x + 1

first = helper

@kernel
def helper(x):
    return x * 10

second = helper

@kernel
def both(x):
    return first(x) + second(x)
"""


def _called(folder: Path, *expressions: str) -> list[str]:
    """Return the values of expressions about the module `CALLS`, each from a process of its own."""
    (folder / "calls.py").write_text(CALLS)
    start = f"import sys; sys.path.insert(0, {str(folder)!r}); import calls; print(calls."
    return [_run(f"{start}{each})", KIBITZ_CACHE=str(folder / "cache")) for each in expressions]


@pytest.mark.e2e
def test_only_kernels_that_python_calls_become_machine_code(tmp_path: Path) -> None:
    """Calls with different constants share the code of a kernel."""
    assert _called(tmp_path, "outer(2)") == ["40"]
    made = {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc") if ".body" not in path.name}
    assert made == {"calls.outer"}
    bodies = sorted(path.name.split("-")[0] for path in tmp_path.rglob("*.body.*.nbc"))
    assert bodies == ["calls.inner", "calls.outer", "calls.outlined"]
    assert _called(tmp_path, "inner(2, 5)", "outlined(3.0)", "outer(3)") == ["7", "9.0", "61"]


@pytest.mark.e2e
def test_a_shared_kernel_is_called_instead_of_copied(tmp_path: Path) -> None:
    """The machine code of the other kernel has no call."""
    calls = "str(calls.outer.inspect_llvm()).count('call i32 @')"
    (found,) = _called(tmp_path, f"outer(2), {calls}")
    assert found == "40 2", "the wrapper calls `outer`, and `outer` calls `outlined`"


@pytest.mark.e2e
def test_kernels_with_one_name_from_two_processes_stay_apart(tmp_path: Path) -> None:
    """numba gives both the same number, because each is the first that its process compiles."""
    assert _called(tmp_path, "first(3)", "second(3)", "both(3)") == ["4", "30", "34"]


def test_the_time_of_compiling_is_known_and_no_callee_counts_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = iter((10.0, 17.0, 100.0, 101.0))
    monkeypatch.setattr(cache, "time", SimpleNamespace(monotonic=lambda: next(readings)))
    before = cache.compile_seconds()
    with cache._timed(), cache._timed():
        pass
    assert cache.compile_seconds() - before == 7.0
    with pytest.raises(TypeError), cache._timed():
        raise TypeError("a kernel that cannot be compiled")
    assert cache.compile_seconds() - before == 8.0


@pytest.mark.e2e
def test_a_cache_that_cannot_be_written_is_replaced_with_a_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code = f"""
        import os, warnings
        os.environ["KIBITZ_CACHE"] = {str(blocked)!r}
        from kibitz_games.compiled import cache
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            base = cache.writable_directory()
        print(len(caught), base.is_dir(), "cannot write" in str(caught[0].message))
        base.rmdir()
    """
    assert _run(code) == "1 True True"


def test_old_caches_are_pruned(tmp_path: Path) -> None:
    def used(name: str, days: float) -> Path:
        path = tmp_path / name
        path.mkdir() if "-" in name and not name.endswith(".bin") else path.touch()
        then = time.time() - days * 86400
        os.utime(path, (then, then))
        return path

    own = [used(f"games.rules-{age}", age / 24) for age in range(12)]
    kept = [*own[: cache.KEEP_NEWEST], used("games.text-1", 13), used("new.syntax", 13)]
    kept += [used("race-7-10.bin", 99), used("directories.lock", 99)]
    used("games.text-2", 15)
    used("old.syntax", 15)
    cache._prune(tmp_path, "games.rules")
    assert {*tmp_path.iterdir()} == {*kept}


def test_records_of_two_modules_are_two_types(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("GAME = 2\n")
    fields = [("side", np.int32)]
    mine = kernels.record_type("game", fields, source=__file__)
    assert mine == kernels.record_type("game", fields, source=__file__)
    assert mine != kernels.record_type("game", fields, source=str(other))
    assert mine != kernels.record_type("other", fields, source=__file__)


def test_copies_of_a_record_share_nothing() -> None:
    dtype = kernels.record_type(
        "game", [("side", np.int32), ("row", np.int32, (3,))], source=__file__
    )
    record = kernels.new(dtype)
    copy = record.copy()
    copy["side"] = 1
    copy["row"][1] = 5
    assert not any(record.tobytes())
    assert np.asarray(copy.base)[0]["side"] == 1
    assert pickle.loads(pickle.dumps(copy)).tobytes() == copy.tobytes()


def test_only_a_record_of_its_own_has_an_array() -> None:
    dtype = kernels.record_type("game", [("side", np.int32)], source=__file__)
    many = np.zeros(3, dtype)
    with pytest.raises(TypeError, match="copy"):
        kernels.as_array(many[1])
    assert len(kernels.as_array(many[1].copy())) == 1


@pytest.mark.parametrize("name", registry.names())
def test_warming_changes_nothing(name: str) -> None:
    game = registry.get(name)
    options = game.Options()
    seats = game.info.seats[0]
    state = game.start(options, seats, game.deal(options, seats, 0))
    before = state.tobytes()
    warm_up(game)
    assert state.tobytes() == before


def test_a_reader_gives_what_the_fields_hold() -> None:
    fields: list[tuple[Any, ...]] = [
        ("small", np.int32),
        ("cells", np.uint8, (40,)),
        ("few", np.int16, (2, 2)),
        ("many", np.uint16, (50,)),
        ("large", np.int64),
    ]
    kind = kernels.record_type("read", fields, source=__file__)
    state = kernels.new(kind)
    state["small"], state["large"], state["cells"] = -3, 1 << 40, range(40)
    state["few"], state["many"] = [[1, 2], [3, 4]], range(50)
    large, many, few, small, cells = kernels.RecordReader(
        kind, "large", "many", "few", "small", "cells"
    )(state)
    assert (large, few, small, cells) == (1 << 40, (1, 2, 3, 4), -3, bytes(range(40)))
    state["many"] = 0
    assert list(many) == [*range(50)]
    assert kernels.RecordReader(kind, "small")(state) == [-3]


ADDING = """
from kibitz_games.compiled.kernels import kernel

@kernel
def add(pair, third):
    return pair[0] + pair[1] + third
"""
FINISH = """
from kibitz_games.compiled.kernels import kernel

@kernel
def finish(states, end):
    states[0].end = end
"""
PLAYER = """
import shared
from kibitz_games.compiled import records

FIELDS = [("side", "i4"), ("end", "i4")]
STATE = records.record_type("{name}", FIELDS[{first}:] + FIELDS[:{first}], source=__file__)

def finished():
    state = records.new(STATE)
    shared.finish(records.as_array(state), 2)
    return [int(state[name]) for name in ("side", "end")]
"""


@pytest.mark.e2e
def test_machine_code_of_several_processes_is_not_mixed_up(tmp_path: Path) -> None:
    """numba numbers record types by process, so different types can have the same number."""
    names = ("one", "two")
    (tmp_path / "shared.py").write_text(FINISH)
    for first, name in enumerate(names):
        (tmp_path / f"{name}.py").write_text(PLAYER.format(name=name, first=first))
    environment = {"KIBITZ_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    for name in names:
        _run(f"import {name}; assert {name}.finished() == [0, 2]", **environment)
    both = "import one, two; print(one.finished(), two.finished())"
    assert _run(both, **environment).strip() == "[0, 2] [0, 2]"


@pytest.mark.e2e
def test_a_kernel_whose_compilation_was_interrupted_is_compiled_again(tmp_path: Path) -> None:
    """A process that was killed may have cached the body of a kernel, but not its entry."""
    (tmp_path / "adding.py").write_text(ADDING)
    environment = {"KIBITZ_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    added = "import adding; print(adding.add((1, 2), 3))"
    assert _run(added, **environment).strip() == "6"
    entries = [path for path in (tmp_path / "cache").rglob("*.nb[ic]") if ".body." not in path.name]
    assert entries
    for path in entries:
        path.unlink()
    assert _run(added, **environment).strip() == "6"
