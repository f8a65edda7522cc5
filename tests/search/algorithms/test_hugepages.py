"""Tables are allocated without delay."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from kibitz_search.algorithms import hugepages

ENTRY = np.dtype([("key", np.uint64), ("value", np.float32)])


@pytest.mark.parametrize("count", [1, 100, 200_000])
def test_entries_are_zero_and_can_be_written(count: int) -> None:
    table = hugepages.zeros(count, ENTRY)
    assert table.shape == (count,)
    assert table.dtype == ENTRY
    assert table.flags.aligned
    assert not table["key"].any()
    table[-1] = (7, 0.5)
    assert table["key"][-1] == 7


@pytest.mark.skipif(not hasattr(mmap, "MAP_PRIVATE"), reason="has no private mappings")
def test_a_large_table_is_a_mapping_of_its_own_and_a_small_one_is_not() -> None:
    assert hugepages.zeros(10, ENTRY).base is None
    assert hugepages.zeros(hugepages.LARGE, np.int8).base is not None


def test_too_large_is_a_memory_error() -> None:
    with pytest.raises(MemoryError, match="cannot allocate a table of 1099511627776 MiB"):
        hugepages.zeros(1 << 60, np.dtype(np.int8))
