"""Numbers as libraries have them that the tests do without."""

from __future__ import annotations


class Tensor:
    """Stands in for a tensor of one element, which is an integer by ``__index__`` only."""

    def __init__(self, value: int, dtype: str = "torch.int64") -> None:
        self._value = value
        self.dtype = dtype

    def __index__(self) -> int:
        return self._value
