"""The memory that a warm bot releases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kibitz_bots.running.memory_trim import LIBRARY, PROC_MAPS, code_segments, release_llvm_pages
from kibitz_games.compiled import kernels

SAMPLE = """\
7f0000000000-7f0000365000 r--p 00000000 fe:00 131 /lib/python/binding/libllvmlite.so
7f0000365000-7f0005394000 r-xp 00365000 fe:00 131 /lib/python/binding/libllvmlite.so
7f0009677000-7f000983c000 r--p 09677000 fe:00 131 /lib/python/binding/libllvmlite.so
7f000983c000-7f0009865000 rw-p 0983c000 fe:00 131 /lib/python/binding/libllvmlite.so
7f0010000000-7f0010020000 r-xp 00001000 fe:00 132 /lib/python/libllvmlite.so/other.so
7f0020000000-7f0020001000 r-xp 00000000 00:00 0
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]
"""


def test_only_code_of_the_library_is_found() -> None:
    assert code_segments("libllvmlite", SAMPLE) == [
        (0x7F0000365000, 0x7F0005394000 - 0x7F0000365000)
    ]
    assert code_segments("libsomething", SAMPLE) == []


@pytest.mark.skipif(not PROC_MAPS.exists(), reason="says nothing of its memory")
@pytest.mark.skipif(not kernels.compiled(), reason="loads no compiler")
def test_the_code_is_out_of_memory_and_still_works() -> None:
    import llvmlite.binding as llvm

    def compiles() -> bool:
        return bool(llvm.parse_assembly("define i32 @one() { ret i32 1 }").get_function("one").name)

    assert compiles()  # so that it is in memory, even if other tests have released it
    before = _resident_code()
    assert before > 0
    release_llvm_pages()
    assert _resident_code() < before / 2
    assert compiles()


def test_a_process_without_a_compiler_has_nothing_to_give_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    monkeypatch.setattr("kibitz_bots.running.memory_trim.PROC_MAPS", _Unread())
    release_llvm_pages()


class _Unread(type(Path())):  # type: ignore[misc]
    def read_text(self, *args: object, **named: object) -> str:
        raise AssertionError("looked for what is not there")


def _resident_code() -> int:
    """Return the KiB of the library's code in memory."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split(maxsplit=1)[0]
        if not first.endswith(":"):
            inside = "r-xp" in line and LIBRARY in line
        elif inside and first == "Rss:":
            found += int(line.split()[1])
    return found
