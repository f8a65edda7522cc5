from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import Timeout

from kibitz_bots.running import state_file
from kibitz_bots.running.state_file import StateFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ada.json"


def test_only_the_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        StateFile(path).write("secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_one_holder_at_a_time_has_it(path: Path) -> None:
    first = StateFile(path)
    with pytest.raises(Timeout):
        StateFile(path)
    first.close()
    StateFile(path).close()


def test_a_process_that_is_killed_while_it_writes_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = StateFile(path)
    file.write("old")

    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            file.write("half")
    assert path.read_text() == "old"
    file.write("new")
    assert sorted(each.name for each in path.parent.iterdir()) == ["ada.json", "ada.lock"]


@pytest.mark.e2e
def test_the_file_of_a_killed_process_is_free(path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from kibitz_bots.running.state_file import StateFile\n"
        "file = StateFile(Path(sys.argv[1]))\nprint('held', flush=True)\ntime.sleep(60)"
    )
    held = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(held, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "held\n"
            with pytest.raises(Timeout):
                StateFile(path)
        finally:
            child.kill()
    StateFile(path).close()


def test_files_that_nobody_used_for_long_are_removed(path: Path) -> None:
    files = {name: StateFile(path.with_stem(name)) for name in ("old", "held")}
    for file in files.values():
        file.write("secret")
    files["old"].close()
    past = time.time() - (state_file.DAYS + 1) * 86_400
    for each in path.parent.iterdir():
        os.utime(each, (past, past))
    StateFile(path).close()
    names = sorted(each.name for each in path.parent.iterdir())
    assert names == ["ada.lock", "held.json", "held.lock"]
