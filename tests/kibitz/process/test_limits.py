"""Limits of processes: a process over a limit is ended with a reason."""

from __future__ import annotations

import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.options.match import limit_arguments
from kibitz.process import limits as process_limits
from kibitz.process.limits import Limits
from kibitz.process.parent_death import child_command


def limited(program: str, memory: int | None, cpu: int | None) -> subprocess.CompletedProcess[str]:
    begin = (
        "from kibitz.process import limits\n"
        f"limits.apply_limits(limits.Limits(memory_mib={memory}, cpu_s={cpu}))\n"
    )
    command = [sys.executable, "-c", begin + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.e2e
def test_who_hoards_memory_gets_an_error() -> None:
    done = limited("b'x' * (500 << 20)", 200, None)
    assert done.returncode == 1
    assert "MemoryError" in done.stderr
    assert limited("print(len(b'x' * (100 << 20)))", 200, None).returncode == 0


@pytest.mark.e2e
def test_who_uses_up_its_time_says_so() -> None:
    done = limited("while True: pass", None, 1)
    assert (done.returncode, done.stderr) == (152, "ended: it exceeded its CPU time limit of 1 s\n")


@pytest.mark.e2e
def test_what_a_limited_process_starts_is_limited_too() -> None:
    child = "import sys; sys.exit(len(b'x' * (500 << 20)) == 0)"
    program = (
        f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {child!r}]))"
    )
    done = limited(program, 200, None)
    assert "MemoryError" in done.stderr


def test_limits_are_read_as_they_are_written() -> None:
    words = [*limit_arguments(512, 30, resident_mib=900), "module", "--memory", "7"]
    limits = Limits(memory_mib=512, cpu_s=30, resident_mib=900)
    assert process_limits.split_limits(words) == (limits, ["module", "--memory", "7"])
    assert process_limits.split_limits([*limit_arguments(None, None), "module"]) == (
        Limits(),
        ["module"],
    )


HOARDER = """
import time
print(open("/proc/self/oom_score_adj").read(), flush=True)
hoard = bytearray(b"x") * ({size} << 20)
time.sleep({seconds})
print("still here", len(hoard) >> 20, flush=True)
"""


def bounded_hoarder(folder: Path, size: int, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program that uses `size` MiB like a house bot, with a limit of 200 MiB."""
    (folder / "hoarder.py").write_text(HOARDER.format(size=size, seconds=seconds))
    command = child_command("hoarder", limits=limit_arguments(None, None, resident_mib=200))
    env = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of resident memory")
def test_a_process_over_its_resident_memory_says_so_and_ends(tmp_path: Path) -> None:
    done = bounded_hoarder(tmp_path, 400, 3600)
    assert done.returncode == process_limits.EXIT_OUT_OF_MEMORY
    assert done.stdout.splitlines()[0] == str(process_limits.OOM_SCORE_ADJUSTMENT)
    assert re.fullmatch(
        r"ended: it uses 4\d\d MiB of memory, over its limit of 200 MiB\n", done.stderr
    )


@pytest.mark.e2e
def test_a_process_within_its_resident_memory_goes_on(tmp_path: Path) -> None:
    done = bounded_hoarder(tmp_path, 60, 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("still here 60\n")


def test_memory_that_is_only_mapped_counts_for_nothing() -> None:
    before = process_limits.resident_mib()
    with mmap.mmap(-1, 2 << 30) as untouched:
        assert len(untouched) == 2 << 30
        assert process_limits.resident_mib() < before + 512


def groups(directory: Path, controllers: str) -> Path:
    """Return a directory that looks like a cgroup."""
    (directory / "cgroup.subtree_control").write_text(controllers)
    return directory


def test_groups_are_made_where_memory_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_CGROUP", str(tmp_path))
    assert process_limits.cgroup_parent() is None
    groups(tmp_path, "cpu pids\n")
    assert process_limits.cgroup_parent() is None
    groups(tmp_path, "cpu memory pids\n")
    assert process_limits.cgroup_parent() == tmp_path


def test_a_process_enters_a_group_of_its_own(tmp_path: Path) -> None:
    assert process_limits.enter_cgroup(groups(tmp_path, "memory"), 64)
    made = tmp_path / f"kibitz-bot-{os.getpid()}"
    assert (made / "memory.max").read_text() == str(64 << 20)
    assert (made / "cgroup.procs").read_text() == str(os.getpid())


def test_groups_of_processes_that_have_ended_are_removed(tmp_path: Path) -> None:
    own, ended = tmp_path / f"kibitz-bot-{os.getpid()}", tmp_path / "kibitz-bot-999999999"
    own.mkdir()
    ended.mkdir()
    process_limits.remove_left_cgroups(tmp_path)
    assert [own.exists(), ended.exists()] == [True, False]


def test_where_no_group_can_be_made_there_is_none(tmp_path: Path) -> None:
    assert not process_limits.enter_cgroup(tmp_path / "gone", 64)


def test_a_group_is_removed(tmp_path: Path) -> None:
    (tmp_path / "kibitz-bot-7").mkdir()
    process_limits.remove_cgroup(8, tmp_path)
    # The files of a real cgroup vanish with its directory; here it must be empty.
    (tmp_path / "kibitz-bot-8").mkdir()
    process_limits.remove_cgroup(8, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] != []
