"""Launching an untrusted bot: its process gets nothing useful for an attack."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kibitz.process.isolation.backends import Isolation, Tool, unusable
from kibitz.process.isolation.launch import (
    CACHE_VERSIONS,
    FOREIGN_VARIABLES,
    _current_cache,
    counts_processes,
    foreign_environment,
    is_local,
    isolated,
)
from kibitz_server.housebots.process import ENVIRONMENT_ALLOWED, secret_descriptor

NOWHERE = "ws://127.0.0.1:8765"


async def output(code: str, tool: Tool = "none", descriptors: Sequence[int] = ()) -> str:
    """Return the output of a program that is started like a bot."""
    words = [sys.executable, "-I", "-S", "-c", code]
    async with isolated(
        Isolation(tool), words, url=NOWHERE, seen=[], env={}, descriptors=descriptors
    ) as launch:
        process = await asyncio.create_subprocess_exec(
            *launch.command,
            env=launch.env,
            pass_fds=tuple(launch.descriptors),
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        said, _ = await process.communicate()
        assert process.returncode == 0
        return said.decode().strip()


def test_the_environment_is_a_list_of_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KIBITZ_TOKEN", "KIBITZ_RESUME", "KIBITZ_LOBBY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_ALL", "C")
    found = foreign_environment()
    assert "secret" not in found.values()
    assert found["LC_ALL"] == "C"
    assert found["PATH"] == os.environ["PATH"]
    assert "HOME" not in found


def test_foreign_code_is_given_a_part_of_what_house_bots_inherit() -> None:
    numba = {"NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT"}
    assert FOREIGN_VARIABLES - numba < ENVIRONMENT_ALLOWED
    assert not FOREIGN_VARIABLES & {"HOME", "TMPDIR", "XDG_CACHE_HOME", "KIBITZ_CACHE"}


def test_a_secret_is_read_once_and_to_its_end() -> None:
    with (
        secret_descriptor("a secret") as descriptor,
        open(os.dup(descriptor.fileno()), "rb") as file,
    ):
        assert file.read() == b"a secret"
        assert file.read() == b""


@pytest.mark.e2e
async def test_a_bot_inherits_a_secret_and_shows_it_to_nobody() -> None:
    with secret_descriptor("of-this-bot") as descriptor:
        code = (
            "import os, sys\n"
            f"assert open({descriptor.fileno()}).read() == 'of-this-bot'\n"
            "assert 'of-this-bot' not in [*sys.argv, *os.environ.values()]\n"
            "print('good')"
        )
        assert await output(code, descriptors=[descriptor.fileno()]) == "good"


@pytest.mark.e2e
@pytest.mark.parametrize("tool", ["none", "setpriv", "bwrap"])
async def test_its_home_and_its_cache_are_its_own_and_gone_afterwards(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tool != "none" and (why := unusable(tool, [], [])) is not None:
        pytest.skip(why)
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)
    (tmp_path / "kernel").write_text("good code")
    (tmp_path / "rules-1").mkdir()
    (tmp_path / "rules-1" / "kernel.nbc").write_text("machine code")
    (tmp_path / "rules-1" / "kernel.lock").touch()
    monkeypatch.setenv("KIBITZ_CACHE", str(tmp_path))
    code = (
        "import os\n"
        "cache = os.environ['KIBITZ_CACHE']\n"
        "assert open(cache + '/kernel').read() == 'good code'\n"
        "assert os.listdir(cache + '/rules-1') == ['kernel.nbc']\n"
        "assert open(cache + '/rules-1/kernel.nbc').read() == 'machine code'\n"
        "open(cache + '/new', 'w').write('bad code')\n"
        "os.replace(cache + '/new', cache + '/kernel')\n"
        "open(os.environ['HOME'] + '/diary', 'w').write('mine')\n"
        "print(cache)"
    )
    cache = Path(await output(code, tool))
    assert cache != tmp_path
    with pytest.raises(FileNotFoundError):
        os.stat(cache)
    assert (tmp_path / "kernel").read_text() == "good code"


@pytest.mark.e2e
@pytest.mark.parametrize("tool", ["none", "setpriv", "bwrap"])
async def test_files_and_memory_are_bounded(tool: Tool) -> None:
    if tool != "none" and (why := unusable(tool, [], [])) is not None:
        pytest.skip(why)
    code = (
        "import resource\n"
        "for kind in ('NOFILE', 'FSIZE', 'DATA', 'CORE'):\n"
        "    print(resource.getrlimit(getattr(resource, 'RLIMIT_' + kind))[1])"
    )
    files, file_bytes, data, core = map(int, (await output(code, tool)).split())
    assert 0 < files <= 1024
    assert 0 < file_bytes <= 256 << 20
    assert data > 0
    assert core == 0


@pytest.mark.e2e
async def test_bubblewrap_shows_nothing_of_the_machine() -> None:
    if (why := unusable("bwrap", [], [])) is not None:
        pytest.skip(why)
    code = (
        "import os, socket\n"
        "assert len([name for name in os.listdir('/proc') if name.isdigit()]) < 6\n"
        "assert [name for _, name in socket.if_nameindex()] == ['lo']\n"
        "assert not os.path.exists('/var/log')\n"
        "print(os.path.exists('/home') and os.listdir('/home'))"
    )
    assert await output(code, "bwrap") in ("False", "[]")


@pytest.mark.parametrize("release", ["5.13.0-generic", "5.14", "6.1.0-18-amd64"])
def test_processes_are_counted_where_they_are_not_those_of_others(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "release", lambda: release)
    assert counts_processes(Isolation("setpriv"), 0x70000000)
    assert not counts_processes(Isolation("none"), None)
    assert counts_processes(Isolation("bwrap"), None) is (release != "5.13.0-generic")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("ws://127.0.0.1:8765", True),
        ("ws://localhost:8765", True),
        ("ws://[::1]:8765", True),
        ("ws://127.0.0.1", False),
        ("ws://example.org:8765", False),
        ("wss://127.0.0.1:8765", False),
    ],
)
def test_a_network_of_its_own_is_for_servers_of_this_machine(url: str, here: bool) -> None:
    assert is_local(url) is here


def test_a_bot_gets_the_newest_machine_code_and_all_parsed_sources(tmp_path: Path) -> None:
    for number in range(CACHE_VERSIONS + 1):
        (tmp_path / f"games.rules-{number:016x}").mkdir()
        (tmp_path / f"{number:032x}.syntax").touch()
    (tmp_path / "directories.lock").touch()
    found = _current_cache(tmp_path)
    assert len([path for path in found if path.suffix == ".syntax"]) == CACHE_VERSIONS + 1
    assert len([path for path in found if path.is_dir()]) == CACHE_VERSIONS
    assert len(found) == 2 * CACHE_VERSIONS + 1
