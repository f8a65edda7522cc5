"""The sizes of the installations."""

from __future__ import annotations

import pytest

from benchmarks import install_sizes
from benchmarks.install_sizes import EXTRAS, InstalledSize, Sizes, load_results, needed
from docs.generate.install_sizes import BEGIN, END, PURPOSES, page
from docs.generate.markdown import NoMarkersError


def test_an_extra_needs_its_own_packages_and_those_of_the_extras_in_it() -> None:
    assert {"kibitz", "pydantic", "websockets"} <= needed("")
    assert "numpy" not in needed("")
    assert {"numpy", "uvloop"} <= needed("server")
    assert needed("server") < needed("arena") < needed("all")
    assert "numba" in needed("all") - needed("server")


def test_the_sizes_add_up_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_sizes, "size_of", lambda name: 2**20)
    for size in install_sizes.measure(5 * 2**20):
        assert size.packages == len(needed(size.extra))
        assert size.mib == 5 + size.packages - 1


def test_the_files_of_a_package_are_counted() -> None:
    assert install_sizes.size_of("click") > 100_000


def test_every_install_is_measured_and_has_a_purpose() -> None:
    assert [size.extra for size in load_results().installs] == [*EXTRAS]
    assert set(PURPOSES) == set(EXTRAS)


def test_the_table_has_a_row_for_each_install() -> None:
    installs = [InstalledSize(extra="server", mib=120, packages=20)]
    sizes = Sizes(machine="one core", commit="abc", installs=installs)
    text = page(f"before\n{BEGIN}\nold\n{END}\nafter\n", sizes)
    assert "| `kibitz[server]` | 120 | 20 | `kibitz serve`" in text
    assert "old" not in text
    with pytest.raises(NoMarkersError):
        page("no markers", sizes)
